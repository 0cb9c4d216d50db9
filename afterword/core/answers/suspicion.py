"""Signs that a response may be a machine's, or was given without reading: some hold it back, others mark it."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_args

from afterword.core import keys
from afterword.core.answers.values import Given
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import WORDS_A_SECOND, reading_seconds
from afterword.core.questionnaires.questions import Question

TOKEN_CHARACTERS: Final = 32


def token_of(secret: bytes, purpose: str, subject: str) -> str:
    """The token of a form: hexadecimal, the same each time."""
    return _digest(secret, purpose, subject).hex()[:TOKEN_CHARACTERS]


def is_token(token: str, *, secret: bytes, purpose: str, subject: str) -> bool:
    """Whether we gave out this token for this purpose and subject."""
    sent = token.encode("utf-8", "replace")
    return (
        keys.find(secret, lambda one: hmac.compare_digest(sent, token_of(one, purpose, subject).encode())) is not None
    )


def number_of(secret: bytes, purpose: str, subject: str) -> int:
    """A number of 128 bits that nobody can guess without the first secret: the same each time."""
    return int.from_bytes(_digest(keys.addresses_of(secret), purpose, subject)[:16])


def _digest(secret: bytes, purpose: str, subject: str) -> bytes:
    return hmac.digest(secret, f"{purpose}\n{subject}".encode(), hashlib.sha256)


def draws_of(secret: bytes, purpose: str, subject: str) -> Callable[[], float]:
    """Draws from 0 up to but not including 1 that come out the same each time: a form and its POST must agree."""
    count = 0

    def draw() -> float:
        nonlocal count
        count += 1
        return (number_of(secret, purpose, f"{subject}\n{count}") >> 75) / (1 << 53)

    return draw


Flag = Literal[
    "burst", "too_fast", "hidden_field", "provisional", "many_links", "one_network", "automated",
    "speeding", "straight_lining",
]  # fmt: skip
Judgement = Literal["held", "accepted", "rejected"]
FLAGS: Final[tuple[Flag, ...]] = get_args(Flag)
HOLDING: Final[frozenset[Flag]] = frozenset(FLAGS) - {"speeding", "straight_lining"}
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
        if question.rows and given is not None and isinstance(given.value, dict):
            rows: dict[str, Any] = given.value
            if len(rows) >= ROWS_MIN and len({str(value) for value in rows.values()}) == 1:
                return True
    return False


def _giving_seconds(question: Question, given: Given) -> float:
    """Typed texts count as read: people also paste them, and browsers fill fields in."""
    match given.value:
        case str() if question.shape == "text":
            return len(given.value.split()) / WORDS_A_SECOND
        case dict() if question.rows:
            return TAP_SECONDS * len(given.value)
        case _:
            return TAP_SECONDS
