"""The answer page as data: a question with its answer becomes what is drawn, a posted form becomes answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import parse_qsl

from afterword import errors
from afterword.core import answers as answers_rules
from afterword.core.answers import Given, InvalidAnswer
from afterword.core.questions import Question
from afterword.texts import Texts

FIELDS_MAX: Final = 1_000
BODY_BYTES_MAX: Final = 1_048_576
NUMBER_DIGITS_MAX: Final = 4
STARS: Final = "stars"

Fields = Mapping[str, list[str]]
Kind = Literal["scale", "stars", "smileys", "choices", "text", "statement"]
Go = Literal["next", "back", "send"]

# What the ends of a scale say when the author gave no labels.
END_LABELS: Final[Mapping[str, tuple[str, str]]] = {
    "nps": ("Not at all likely", "Extremely likely"),
    "csat": ("Very dissatisfied", "Very satisfied"),
    "ces": ("Strongly disagree", "Strongly agree"),
}
SMILEYS: Final[Mapping[int, Sequence[str]]] = {
    3: ("Bad", "Neutral", "Good"),
    5: ("Very bad", "Bad", "Neutral", "Good", "Very good"),
}
MOUTHS: Final[Mapping[str, str]] = {  # paths in a drawing of 24 by 24
    "Very bad": "M7.8 17c1.2-2 2.6-3 4.2-3s3 1 4.2 3",
    "Bad": "M8 16.4c1.2-1 2.4-1.5 4-1.5s2.8.5 4 1.5",
    "Neutral": "M8 15.6h8",
    "Good": "M8 14.6c1.2 1.1 2.4 1.6 4 1.6s2.8-.5 4-1.6",
    "Very good": "M7.4 13.6c1 2.4 2.6 3.6 4.6 3.6s3.6-1.2 4.6-3.6z",
}
MISFIT: Final = "This answer does not fit the question."
SENTENCES: Final[Mapping[str, str]] = {
    "required": "Please answer this question.",
    "unknown_value": "Please choose one of the answers shown.",
    "out_of_range": "Please choose one of the answers shown.",
    "exclusive": "This choice excludes the others. Please choose either this one or others.",
    "too_few": "Choose at least {count}.",
    "too_many": "Choose up to {count}.",
    "too_long": "Please shorten this answer to {count} characters.",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a question's controls hold: an answer that is stored, or whatever was typed and may be wrong."""

    chosen: frozenset[int] = frozenset()
    text: str = ""
    other_text: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """A key, star, face or choice."""

    value: int
    label: str
    checked: bool
    mouth: str = ""
    other: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """What the template draws of one question, in the reader's language."""

    id: str
    name: str
    kind: Kind
    title: str
    help: str
    required: bool
    error: str
    note: str
    many: bool
    low: str
    high: str
    options: Sequence[Option]
    other_name: str
    other_text: str
    other_max: int
    text: str
    length_max: int
    multiline: bool


@dataclass(frozen=True, slots=True)
class Posted:
    """A page as it was posted. `page` counts from 1; `start` names the start on a public link."""

    page: int
    go: Go
    token: str
    start: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class PageAnswers:
    """What a posted page gives: answers that fit (None: left blank), and sentences about those that do not."""

    given: Mapping[str, Given | None]
    wrong: Mapping[str, str]


def read_body(body: bytes) -> Posted:
    """The form of a page; raises Malformed when it cannot be one of ours."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS_MAX, encoding="utf-8", errors="strict"
        )
    except ValueError as error:
        raise errors.Malformed("This form could not be read.", code="malformed_form") from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    asked = _first(fields, "go")
    go: Go = "back" if asked == "back" else "send" if asked == "send" else "next"
    page = page_number(_first(fields, "page"))
    return Posted(page or 1, go, _first(fields, "token"), _first(fields, "start"), fields)


def page_number(text: str | None) -> int | None:
    """The page that a query or a form names, from 1; None for anything else."""
    if not text or not text.isascii() or not text.isdigit() or len(text) > NUMBER_DIGITS_MAX:
        return None
    return int(text) or None


def read_page(questions: Sequence[Question], fields: Fields, *, texts: Texts) -> PageAnswers:
    """The answers to the questions of a page. A required one that was left blank is no answer taken back."""
    given: dict[str, Given | None] = {}
    wrong: dict[str, str] = {}
    for question in questions:
        if not question.is_answered:
            continue
        try:
            answer = answers_rules.read_form(question, fields)
        except InvalidAnswer as error:
            wrong[question.question_id] = sentence(error.code, texts=texts, limit=error.limit)
            continue
        if answer is not None or not question.is_required:
            given[question.question_id] = answer
    return PageAnswers(given, wrong)


def sentence(code: str, *, texts: Texts, limit: int | None = None) -> str:
    """What is wrong with an answer, in the reader's language."""
    text = SENTENCES.get(code, MISFIT)
    if "{count}" not in text:
        return texts(text)
    return texts(MISFIT) if limit is None else texts(text, count=limit)


def preselected(question: Question, text: str) -> Given | None:
    """The answer that a link in a message marks, or None where it does not fit."""
    try:
        return answers_rules.read_form(question, {answers_rules.field_name(question.question_id): [text]})
    except InvalidAnswer:
        return None


def shown_answer(given: Given | None) -> Shown:
    """Controls that hold a checked answer."""
    if given is None:
        return Shown()
    match given.value:
        case str(text):
            return Shown(text=text)
        case int(value):
            return Shown(frozenset([value]), other_text=given.other_text or "")
        case values:
            return Shown(frozenset(values), other_text=given.other_text or "")


def shown_input(question: Question, fields: Fields) -> Shown:
    """Controls that hold what was posted, right or wrong."""
    values = fields.get(answers_rules.field_name(question.question_id), [])
    other_text = _first(fields, answers_rules.other_field_name(question.question_id))
    if question.shape == "text":
        return Shown(text="".join(values[:1]))
    numbers = [int(text) for text in values if text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS_MAX]
    return Shown(frozenset(numbers), other_text=other_text)


def view_of(question: Question, *, shown: Shown, texts: Texts, error: str = "", note: str = "") -> QuestionView:
    """What the template draws: a localized question, what its controls hold and what is wrong with that."""
    kind = _kind(question)
    low, high = _ends(question, texts) if kind in {"scale", "stars"} else ("", "")
    return QuestionView(
        id=question.question_id,
        name=answers_rules.field_name(question.question_id),
        kind=kind,
        title=question.title,
        help="\n".join(part for part in (question.description, _bounds(question, texts)) if part),
        required=question.is_required,
        error=error,
        note=note,
        many=question.shape == "choices",
        low=low,
        high=high,
        options=_options(question, kind, shown, texts=texts, ends=(low, high)),
        other_name=answers_rules.other_field_name(question.question_id),
        other_text=shown.other_text,
        other_max=answers_rules.OTHER_TEXT_CHARACTERS_MAX,
        text=shown.text,
        length_max=question.length_max or 0,
        multiline=question.multiline is not False,
    )


def _kind(question: Question) -> Kind:
    match question.shape:
        case "scale" if question.type == "smileys":
            return "smileys"
        case "scale":
            return "stars" if question.style == STARS else "scale"
        case "choice" | "choices":
            return "choices"
        case "text":
            return "text"
        case "none":
            return "statement"


def _ends(question: Question, texts: Texts) -> tuple[str, str]:
    low, high = END_LABELS.get(question.type, ("", ""))
    return question.low_label or texts(low), question.high_label or texts(high)


def _options(question: Question, kind: Kind, shown: Shown, *, texts: Texts, ends: tuple[str, str]) -> list[Option]:
    if kind == "choices":
        return [
            Option(choice.value, choice.label, choice.value in shown.chosen, other=choice.other)
            for choice in question.choices
        ]
    keys = question.scale
    if kind == "smileys":
        faces = zip(keys, SMILEYS[len(keys)], strict=True)
        return [Option(key, texts(name), key in shown.chosen, MOUTHS[name]) for key, name in faces]
    if kind == "stars":
        labels = {key: texts("{value} of {most} stars", value=key, most=keys[-1]) for key in keys}
    else:
        labels = dict(zip((keys[0], keys[-1]), ends, strict=True)) if keys else {}
    return [Option(key, labels.get(key, ""), key in shown.chosen) for key in keys]


def _bounds(question: Question, texts: Texts) -> str:
    """How many to choose, in words."""
    if question.shape != "choices":
        return ""
    least, most = question.choices_min or 0, question.choices_max
    if most is None:
        return texts("Choose at least {count}.", count=least) if least > 1 else texts("You can choose more than one.")
    if least == most:
        return texts("Choose exactly {count}.", count=most)
    if least > 1:
        return texts("Choose between {least} and {most}.", least=least, most=most)
    return texts("Choose up to {count}.", count=most)


def _first(fields: Fields, name: str) -> str:
    return next(iter(fields.get(name, ())), "")
