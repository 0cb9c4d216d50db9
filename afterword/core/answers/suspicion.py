"""Signs that a response may be a machine's, or was given without reading: some hold it back, others mark it."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from afterword.core.answers.values import Given
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import WORDS_A_SECOND, reading_seconds
from afterword.core.questionnaires.questions import Question

Flag = Literal["burst", "too_fast", "hidden_field", "speeding", "straight_lining"]
Judgement = Literal["held", "accepted", "rejected"]
HOLDING: Final[frozenset[Flag]] = frozenset({"burst", "too_fast", "hidden_field"})
FLAGS: Final[tuple[Flag, ...]] = ("burst", "too_fast", "hidden_field", "speeding", "straight_lining")
TOO_FAST_SHARE: Final = 0.1  # of the usual time for these answers: nobody reads so fast
SPEEDING_SHARE: Final = 1 / 3  # the usual border of survey research
TAP_SECONDS: Final = 2  # for an answer that is chosen, or a row of it
ROWS_MIN: Final = 4  # of a matrix; the same answer in three rows says little


def usual_seconds(definition: Definition, answers: Mapping[str, Given | None]) -> float:
    found = 0.0
    for question in definition.questions():
        given = answers.get(question.question_id)
        if given is not None:
            found += reading_seconds(question) + _giving_seconds(question, given)
    return found


def is_too_fast(definition: Definition, answers: Mapping[str, Given | None], *, seconds: float) -> bool:
    return seconds < TOO_FAST_SHARE * usual_seconds(definition, answers)


def is_speeding(definition: Definition, answers: Mapping[str, Given], *, seconds: float) -> bool:
    return seconds < SPEEDING_SHARE * usual_seconds(definition, answers)


def is_straight(definition: Definition, answers: Mapping[str, Given]) -> bool:
    """Whether a matrix of at least ROWS_MIN answered rows has one answer alone."""
    for question in definition.questions():
        given = answers.get(question.question_id)
        if question.shape == "matrix" and given is not None and isinstance(given.value, dict):
            rows: dict[str, Any] = given.value
            if len(rows) >= ROWS_MIN and len({str(value) for value in rows.values()}) == 1:
                return True
    return False


def _giving_seconds(question: Question, given: Given) -> float:
    """Typed texts count as read: people also paste them, and browsers fill fields in."""
    match given.value:
        case str() if question.shape == "text":
            return len(given.value.split()) / WORDS_A_SECOND
        case dict() if question.shape == "matrix":
            return TAP_SECONDS * len(given.value)
        case _:
            return TAP_SECONDS
