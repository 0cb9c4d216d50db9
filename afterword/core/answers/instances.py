"""The lifetime of an instance, the changes of a posted page, the facts of its metadata, and the state of a link."""

import unicodedata
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

import msgspec

from afterword.core.answers.progress import PageSequence, score
from afterword.core.answers.values import Given, InvalidAnswer, check
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.metadata import GLOBAL, Declared, typed
from afterword.core.questionnaires.question_types import Question
from afterword.errors import FieldError, Sentence

TAG_CHARACTERS_MAX: Final = 50
INSTANCE_TAGS_MAX: Final = 50
_DOTS: Final = frozenset({".", ".."})  # special in a path, which names a tag to delete


class InvalidTag(ValueError):
    """Not a tag; `code` is stable, the sentence does not repeat it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def normalise(text: str) -> str:
    """The tag: composed, in lower case, with single spaces and none around it. Raises InvalidTag."""
    tag = " ".join(unicodedata.normalize("NFC", text).lower().split())
    if not tag:
        raise InvalidTag("too_short", "A tag has at least one character.")
    if len(tag) > TAG_CHARACTERS_MAX:
        raise InvalidTag("too_long", Sentence("A tag has at most {n} characters.", n=TAG_CHARACTERS_MAX))
    if tag in _DOTS or "/" in tag or any(unicodedata.category(one) in {"Cc", "Cs"} for one in tag):
        raise InvalidTag("invalid_format", "A tag has neither slashes nor control characters.")
    return tag


VALID_DAYS_MAX: Final = 3650


class Edit(msgspec.Struct):
    """The changes of a posted page.

    `after`: all stored answers then, `score`: their points, `quotas`: those that they count toward, `wrong`: refused
    ones.
    """

    after: dict[str, Given]
    score: int | None = None
    quotas: list[Ending] = msgspec.field(default_factory=list[Ending])
    changed: dict[str, Given] = msgspec.field(default_factory=dict[str, Given])
    removed: list[str] = msgspec.field(default_factory=list[str])
    wrong: tuple[FieldError, ...] = ()


class Lifetime(Protocol):
    @property
    def valid_days(self) -> int: ...  # steps of 24 hours; 0 is no expiry

    @property
    def sent_time(self) -> datetime | None: ...

    @property
    def created_time(self) -> datetime: ...


def expires_time(instance: Lifetime) -> datetime | None:
    """The first moment that takes nothing: steps of 24 hours from `sent_time`, else `created_time`; None is never."""
    if instance.valid_days == 0:
        return None
    return (instance.sent_time or instance.created_time) + timedelta(days=instance.valid_days)


def is_expired(instance: Lifetime, now: datetime) -> bool:
    end = expires_time(instance)
    return end is not None and now >= end


def edit(
    definition: Definition,
    question_ids: Collection[str],
    stored: Mapping[str, Given],
    given: Mapping[str, Given | None],
    facts: Facts,
) -> Edit:
    """Check what was given (None: taken back) and compare it with what is stored.

    Answers to questions that are hidden then are removed, or not taken. `facts` are those of the metadata.
    """
    result = Edit(dict(stored))
    for question_id, answer in given.items():
        if answer is None:
            if result.after.pop(question_id, None) is not None:
                result.removed.append(question_id)
            continue
        try:
            checked = _check(definition.question(question_id), answer)
        except InvalidAnswer as error:
            result.wrong += (FieldError(error.code, error.message, pointer=_pointer(question_id)),)
            continue
        if result.after.get(question_id) != checked:
            result.after[question_id] = result.changed[question_id] = checked
    sequence = PageSequence(definition, question_ids, result.after, facts)
    hidden, result.quotas = sequence.hidden, sequence.quotas
    result.score = score(definition, result.after, hidden)
    for question_id in hidden & result.after.keys():
        del result.after[question_id]
        result.changed.pop(question_id, None)
        if question_id in stored:
            result.removed.append(question_id)
    return result


def missing(
    definition: Definition, question_ids: Collection[str], answers: Mapping[str, Given], facts: Facts
) -> tuple[FieldError, ...]:
    return tuple(
        FieldError("required", "This question needs an answer.", pointer=_pointer(question_id))
        for question_id in PageSequence(definition, question_ids, answers, facts).missing()
    )


def facts_of(questionnaire: Mapping[str, str], responder: Mapping[str, str], declared: Declared = GLOBAL) -> Facts:
    return {
        f"{kind}_metadata:{name}": typed(definitions[name].type, text) if name in definitions else text
        for kind, values, definitions in (
            ("questionnaire", questionnaire, declared.questionnaire),
            ("responder", responder, declared.responder),
        )
        for name, text in values.items()
    }


def documents(answers: Mapping[str, Given]) -> list[dict[str, object]]:
    return [
        {"question_id": question_id, "value": given.value, "other_text": given.other_text}
        for question_id, given in answers.items()
    ]


def _check(question: Question | None, answer: Given) -> Given:
    if question is None:
        raise InvalidAnswer("unknown_id", "This question is not asked here.")
    return check(question, answer.value, answer.other_text)


def _pointer(question_id: str) -> str:
    return f"/answers/{question_id}"


State = Literal["off", "scheduled", "open", "over"]
STATES: Final[tuple[State, ...]] = ("open", "scheduled", "over", "off")


def state_of(*, active: bool, opens_time: datetime | None, closes_time: datetime | None, now: datetime) -> State:
    """`opens_time` is the first open moment, `closes_time` the first that is not."""
    if not active:
        return "off"
    if closes_time is not None and closes_time <= now:
        return "over"
    return "scheduled" if opens_time is not None and now < opens_time else "open"
