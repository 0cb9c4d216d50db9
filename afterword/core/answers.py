"""Answers: is this one valid for its question, what is it called, which questions are dealt, which page comes next."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from afterword.core import conditions
from afterword.core.definition import Definition, Group
from afterword.core.questions import TYPES, Question, localized
from afterword.core.reading import is_array, is_integer

OTHER_TEXT_CHARACTERS_MAX = 500
PERCENT = 100

Value: TypeAlias = int | str | list[int]
Answers: TypeAlias = "Mapping[str, Given]"


@dataclass(frozen=True, slots=True)
class Given:
    """A checked answer: the value in its stored form, and the text beside the choice that opens one."""

    value: Value
    other_text: str | None = None


class InvalidAnswer(ValueError):
    """Not an answer to this question. `code` is stable; `limit` is the bound that it broke, for translated pages."""

    def __init__(self, question_id: str, code: str, message: str, *, limit: int | None = None) -> None:
        super().__init__(message)
        self.question_id = question_id
        self.code = code
        self.message = message
        self.limit = limit


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an instance: a group and those of its questions that are shown, in order."""

    group: Group
    questions: tuple[Question, ...]

    @property
    def group_id(self) -> str:
        """The group's id, which names the page."""
        return self.group.group_id


# One answer ---------------------------------------------------------------------------------------------------


def check(question: Question, value: object, other_text: str | None = None) -> Given:
    """The stored form of a JSON value. Raises InvalidAnswer; a value that is missing or blank is invalid as well."""
    match question.shape:
        case "scale":
            given = Given(_check_scale(question, value))
        case "choice":
            given = Given(_check_choice(question, value))
        case "choices":
            given = Given(_check_choices(question, value))
        case "text":
            given = Given(_check_text(question, value))
        case "none":
            raise InvalidAnswer(question.question_id, "unknown_value", "This asks nothing.")
    return _with_other_text(question, given, other_text)


def read_form(question: Question, fields: Mapping[str, Sequence[str]]) -> Given | None:
    """The answer among the fields of a posted page, or None when the question was left blank. Raises InvalidAnswer.

    A text beside a choice that nobody ticked ticks it, unless another single choice was made: people write first.
    """
    values = [text for text in fields.get(field_name(question.question_id), ()) if text.strip()]
    other_text = _clean("".join(fields.get(other_field_name(question.question_id), ())[:1]), multiline=False) or None
    other = question.other_choice
    if other is not None and other_text is not None and (not values or question.shape == "choices"):
        values = [*values, str(other.value)]
    if not values or not question.is_answered:
        return None
    if question.shape == "text":
        return check(question, values[0]) if _clean(values[0], multiline=True) else None
    numbers = list(dict.fromkeys(_integer(question, text) for text in values))
    if question.shape != "choices" and len(numbers) > 1:
        raise InvalidAnswer(question.question_id, "too_many", "One answer is possible.", limit=1)
    value = numbers if question.shape == "choices" else numbers[0]
    chosen = other is not None and other.value in numbers
    return check(question, value, other_text if chosen else None)


def field_name(question_id: str) -> str:
    """The name of a question's field in a posted page."""
    return f"q_{question_id}"


def other_field_name(question_id: str) -> str:
    """The name of the field for the text beside a choice."""
    return f"q_{question_id}_other"


def segment(question: Question, value: object) -> str | None:
    """The segment of a score (`promoter`, `satisfied`, `easy` …), or None for types without."""
    for name, low, high in TYPES[question.type].segments:
        if is_integer(value) and low <= value <= high:
            return name
    return None


def label(question: Question, value: object, locale: str) -> str | None:
    """The labels of what was chosen, in `locale`, joined by a comma; None for types without choices."""
    if question.shape not in {"choice", "choices"}:
        return None
    chosen = value if is_array(value) else [value]
    shown = localized(question, locale)
    labels = [choice.label for choice in map(shown.choice, chosen) if choice is not None]
    return ", ".join(labels) or None


def _check_scale(question: Question, value: object) -> int:
    if not is_integer(value):
        raise InvalidAnswer(question.question_id, "wrong_type", "A whole number is expected.")
    if value not in question.scale:
        low, high = question.scale[0], question.scale[-1]
        raise InvalidAnswer(question.question_id, "out_of_range", f"A number from {low} to {high} is expected.")
    return value


def _check_choice(question: Question, value: object) -> int:
    if not is_integer(value):
        raise InvalidAnswer(question.question_id, "wrong_type", "The value of a choice is expected.")
    if question.choice(value) is None:
        raise InvalidAnswer(question.question_id, "unknown_value", "There is no such choice.")
    return value


def _check_choices(question: Question, value: object) -> list[int]:
    if not is_array(value):
        raise InvalidAnswer(question.question_id, "wrong_type", "A list of values is expected.")
    values = [_check_choice(question, one) for one in value[: len(question.choices) + 1]]
    chosen = sorted(set(values))
    if len(chosen) != len(value):
        raise InvalidAnswer(question.question_id, "duplicate", "No choice can be made twice.")
    exclusive = [choice for choice in map(question.choice, chosen) if choice is not None and choice.exclusive]
    if exclusive and len(chosen) > 1:
        raise InvalidAnswer(question.question_id, "exclusive", "One of these choices stands alone.")
    low, high = question.choices_min or 0, question.choices_max or len(question.choices)
    if not chosen or (len(chosen) < low and not exclusive):
        raise InvalidAnswer(question.question_id, "too_few", f"Choose at least {max(low, 1)}.", limit=max(low, 1))
    if len(chosen) > high:
        raise InvalidAnswer(question.question_id, "too_many", f"Choose at most {high}.", limit=high)
    return chosen


def _check_text(question: Question, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidAnswer(question.question_id, "wrong_type", "A text is expected.")
    text = _clean(value, multiline=question.multiline is not False)
    high = question.length_max or 0
    if not text:
        raise InvalidAnswer(question.question_id, "too_short", "The text is blank.", limit=1)
    if len(text) > high:
        raise InvalidAnswer(question.question_id, "too_long", f"At most {high} characters are possible.", limit=high)
    return text


def _with_other_text(question: Question, given: Given, other_text: str | None) -> Given:
    text = _clean(other_text or "", multiline=False)
    if not text:
        return given
    other = question.other_choice
    chosen = given.value if isinstance(given.value, list) else [given.value]
    if other is None or other.value not in chosen:
        raise InvalidAnswer(question.question_id, "exclusive", "A text belongs to the choice that opens it.")
    if len(text) > OTHER_TEXT_CHARACTERS_MAX:
        limit = OTHER_TEXT_CHARACTERS_MAX
        raise InvalidAnswer(question.question_id, "too_long", f"At most {limit} characters are possible.", limit=limit)
    return Given(given.value, text)


_INTEGER: Final = re.compile(r"-?[0-9]{1,4}\Z")


def _integer(question: Question, text: str) -> int:
    if not _INTEGER.match(text.strip()):
        raise InvalidAnswer(question.question_id, "wrong_type", "A whole number is expected.")
    return int(text)


def _clean(text: str, *, multiline: bool) -> str:
    """Trimmed, with line breaks as one character (or spaces), without other control characters or lone surrogates."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(one for one in lines if one in "\n\t" or unicodedata.category(one) not in {"Cc", "Cs"})
    return kept.strip() if multiline else " ".join(kept.split())


# One instance -------------------------------------------------------------------------------------------------


def deal(definition: Definition, *, draw: Callable[[], float]) -> list[str]:
    """The ids of the questions that one instance gets, in order.

    `draw` gives a number from 0 up to but not including 1, and is called once per question of less than 100 %.
    """
    return [
        question.question_id
        for group in definition.groups
        if group.enabled
        for question in group.questions
        if question.enabled and _is_drawn(question, draw)
    ]


def pages(
    definition: Definition,
    dealt: Collection[str],
    answers: Answers,
    *,
    metadata: conditions.Facts = conditions.NO_FACTS,
) -> list[Page]:
    """The pages on the way of these answers, from the first to the end. `metadata`: further facts for conditions.

    Within a page nothing is hidden after the question at which the way enters it: what follows may still change.
    """
    facts = _facts(answers, metadata)
    found: list[Page] = []
    question = _first(definition, dealt)
    while question is not None:
        group = definition.group_of(question.question_id)
        shown = _dealt_from(group, dealt, question)
        found.append(Page(group, shown))
        question = _leave(definition, dealt, shown, facts)
    return found


def path(
    definition: Definition,
    dealt: Collection[str],
    answers: Answers,
    *,
    metadata: conditions.Facts = conditions.NO_FACTS,
) -> list[Question]:
    """The questions that these answers lead through, jumps inside pages included."""
    facts = _facts(answers, metadata)
    found: list[Question] = []
    question = _first(definition, dealt)
    while question is not None:
        found.append(question)
        question = _after(definition, dealt, question, facts)
    return found


def missing_required(
    definition: Definition,
    dealt: Collection[str],
    answers: Answers,
    *,
    group_id: str | None = None,
    metadata: conditions.Facts = conditions.NO_FACTS,
) -> list[str]:
    """The ids of required questions on the way that have no answer; of one page only where `group_id` is given."""
    group = None if group_id is None else definition.group(group_id)
    inside = None if group is None else {question.question_id for question in group.questions}
    return [
        question.question_id
        for question in path(definition, dealt, answers, metadata=metadata)
        if question.is_required
        and question.question_id not in answers
        and (inside is None or question.question_id in inside)
    ]


def _is_drawn(question: Question, draw: Callable[[], float]) -> bool:
    if question.display_probability >= PERCENT or not question.is_answered:
        return True
    return draw() * PERCENT < question.display_probability


def _facts(answers: Answers, metadata: conditions.Facts) -> dict[str, object]:
    return {**metadata, **{f"question:{question_id}": given.value for question_id, given in answers.items()}}


def _first(definition: Definition, dealt: Collection[str]) -> Question | None:
    return next((question for question in definition.questions() if question.question_id in dealt), None)


def _after(
    definition: Definition, dealt: Collection[str], question: Question, facts: conditions.Facts
) -> Question | None:
    """The next dealt question: the target of the first jump that holds, or the one after a target that is not dealt."""
    everything = definition.questions()
    place = definition.place(question.question_id) + 1
    for jump in question.jumps:
        if conditions.matches(jump.conditions, facts):
            if jump.target_question_id is None:
                return None
            place = definition.place(jump.target_question_id)
            break
    return next((one for one in everything[place:] if one.question_id in dealt), None)


def _dealt_from(group: Group, dealt: Collection[str], first: Question) -> tuple[Question, ...]:
    ids = [question.question_id for question in group.questions]
    place = ids.index(first.question_id)
    return tuple(question for question in group.questions[place:] if question.question_id in dealt)


def _leave(
    definition: Definition, dealt: Collection[str], shown: Sequence[Question], facts: conditions.Facts
) -> Question | None:
    """The first question beyond a page, on the way that begins with the page's first question."""
    ids = {one.question_id for one in shown}
    question: Question | None = shown[0]
    while question is not None and question.question_id in ids:
        question = _after(definition, dealt, question, facts)
    return question
