"""Prepares questions and answers for the template of the answer page, in the reader's language."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from afterword.asking.instances import answer_page
from afterword.asking.instances.answer_page import NUMBER_DIGITS_MAX, TEXTS, Fields, Wrong, bounds, first
from afterword.core.answers import values as answer_forms
from afterword.core.answers.files import EXTENSIONS, accepted
from afterword.core.answers.values import CONTACT_CHARACTERS_MAX, OTHER, OTHER_TEXT_CHARACTERS_MAX, REMOVE, Given
from afterword.core.questionnaires.question_types import TYPES, YES_NO, Number, Question, Shape
from afterword.core.questionnaires.visuals import Picture, read_address
from afterword.kit.texts import Texts

SEARCHED_CHOICES_MIN: Final = 21  # above a list of fewer stands no search field
GRID_CHARACTERS: Final = 68  # of a line beside which no word of a column's label is broken
GRID_ROW_LABEL: Final = 1.5  # the width of a row's label in columns
NUMBER_CHARACTERS_MAX: Final = 24

# One control; the title is its label.
LABELLED: Final = frozenset({"dropdown", "text", "number", "slider", "date", "time", "date_time", "consent", "files"})


class File(msgspec.Struct, frozen=True):
    file_id: str
    name: str
    size: str


class Shown(msgspec.Struct, frozen=True):
    """The values of a question's controls: the stored answer, or input that may be wrong.

    `parts` are texts by row, ranked choice or contact field, and the text of an open choice (`OTHER`).
    """

    chosen: frozenset[int] = frozenset()
    text: str = ""
    parts: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    files: Sequence[File] = ()


class Option(msgspec.Struct, frozen=True):
    value: int
    label: str
    checked: bool
    mouth: str = ""
    other: bool = False
    exclusive: bool = False
    picture: Picture | None = None


class Line(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    label: str
    text: str
    wrong: bool
    options: Sequence[Option] = ()
    type: str = "text"
    mode: str = "text"
    autocomplete: str = "off"


class Section(msgspec.Struct, frozen=True):
    title: str
    lead: str


class QuestionView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    shape: Shape
    kind: str  # the template of its controls
    section: Section | None
    title: str
    help: str
    required: bool
    error: str
    note: str
    many: bool
    low: str
    high: str
    options: Sequence[Option]
    lines: Sequence[Line]
    is_grid: bool
    is_searched: bool
    other_name: str
    other_text: str
    text: str
    length_max: int
    multiline: bool
    mode: str
    least: str
    most: str
    step: str
    point: str
    files: Sequence[File]
    remove_name: str
    accept: str

    @property
    def is_labelled(self) -> bool:
        """True if the title labels a single control; else it is the legend of a group."""
        return self.kind in LABELLED

    @property
    def is_single(self) -> bool:
        return self.shape in {"scale", "choice", "yes_no"} and not self.is_labelled


def shown_answer(question: Question, given: Given | None, texts: Texts) -> Shown:  # noqa: PLR0911  one for each kind
    other = {} if given is None or given.other_text is None else {OTHER: given.other_text}
    match None if given is None else given.value:
        case None:
            return Shown()
        case bool(ticked):
            return Shown(frozenset([int(ticked)]))
        case int(number) | float(number) if question.shape == "number":
            return Shown(text=texts.number(number))
        case int(value):
            return Shown(frozenset([value]), parts=other)
        case list(entries) if question.shape == "files":
            return Shown(files=[_file(one, texts) for one in entries if isinstance(one, dict)])
        case list(values) if question.ranks:
            return Shown(parts={str(value): str(rank) for rank, value in enumerate(values, 1)})
        case list(values):
            return Shown(frozenset(one for one in values if isinstance(one, int)), parts=other)
        case dict(parts):
            return Shown(parts={part: str(value) for part, value in parts.items()})
        case text:
            return Shown(text=str(text))


def _file(entry: Mapping[str, int | str], texts: Texts) -> File:
    return File(str(entry["file_id"]), str(entry["name"]), answer_page.written_size(int(entry["bytes"]), texts))


def shown_input(question: Question, fields: Fields) -> Shown:
    question_id = question.question_id
    values = fields.get(answer_forms.field_name(question_id), [])
    names = [*answer_forms.parts(question), OTHER]
    numbers = [text for text in values if text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS_MAX]
    return Shown(
        frozenset(int(text) for text in numbers),
        text="".join(values[:1]),
        parts={name: first(fields, answer_forms.field_name(question_id, name)) for name in names},
    )


def view_of(
    question: Question,
    *,
    shown: Shown,
    texts: Texts,
    wrong: Wrong | None = None,
    note: str = "",
    section: Section | None = None,
) -> QuestionView:
    kind = question.control
    has_ends = kind == "slider" or (question.shape == "scale" and not TYPES[question.type].faces)
    low, high = _ends(question, texts) if has_ends else ("", "")
    return QuestionView(
        id=question.question_id,
        name=answer_forms.field_name(question.question_id),
        shape=question.shape,
        kind=kind,
        section=section,
        title=question.title,
        help="\n".join(part for part in (question.description, _bounds(question, texts)) if part),
        required=question.is_required,
        error=wrong.sentence if wrong else "",
        note=note,
        many=question.shape == "choices" or (question.files_max or 0) > 1,
        low=low,
        high=high,
        options=_options(question, kind, shown, texts=texts, ends=(low, high)),
        lines=_lines(question, shown, wrong, texts),
        is_grid=bool(question.rows) and _fits_grid(question),
        is_searched=kind == "dropdown" and len(question.choices) >= SEARCHED_CHOICES_MIN,
        other_name=answer_forms.field_name(question.question_id, OTHER),
        other_text=shown.parts.get(OTHER, ""),
        text=shown.text,
        length_max=_length_max(question),
        multiline=question.multiline is not False,
        mode=_mode(question),
        least=_bound(question, question.date_min, question.number_min, "00:00"),
        most=_bound(question, question.date_max, question.number_max, "23:59"),
        step=str(10 ** -(question.decimals or 0)),
        point=texts.point,
        files=shown.files,
        remove_name=answer_forms.field_name(question.question_id, REMOVE),
        accept=_accepted(question),
    )


def _ends(question: Question, texts: Texts) -> tuple[str, str]:
    low, high = TYPES[question.type].ends
    return question.low_label or texts(low), question.high_label or texts(high)


def _fits_grid(question: Question) -> bool:
    """Whether the longest word of the labels fits its column on a wide page."""
    words = [word for one in question.choices for word in one.label.replace("-", " ").split()]
    longest = max(map(len, words), default=0)
    return longest * (len(question.choices) + GRID_ROW_LABEL) <= GRID_CHARACTERS


def _options(question: Question, kind: str, shown: Shown, *, texts: Texts, ends: tuple[str, str]) -> list[Option]:
    if question.shape == "consent":
        return [Option(1, question.title, 1 in shown.chosen)]
    if TYPES[question.type].subject == "boolean":
        return [Option(value, texts(text), value in shown.chosen) for value, text in YES_NO.items()]
    if question.choices and not question.ranks:
        return [
            Option(
                choice.value,
                choice.label,
                choice.value in shown.chosen,
                other=choice.other,
                exclusive=choice.exclusive,
                picture=read_address(choice.picture or ""),
            )
            for choice in question.choices
        ]
    keys = question.scale
    if faces := TYPES[question.type].faces:
        named = zip(keys, faces[len(keys)], strict=True)
        return [Option(key, texts(name), key in shown.chosen, TEXTS["mouths"][name]) for key, (_, name) in named]
    if kind == "stars":
        labels = {key: texts("{value} of {most} stars", value=key, most=keys[-1]) for key in keys}
    else:
        labels = dict(zip((keys[0], keys[-1]), ends, strict=True)) if keys else {}
    return [Option(key, labels.get(key, ""), key in shown.chosen) for key in keys]


def _lines(question: Question, shown: Shown, wrong: Wrong | None, texts: Texts) -> list[Line]:
    found: list[Line] = []
    needs_all = wrong is not None and question.is_required and bool(question.rows or question.contact_fields)
    for part, label in answer_forms.parts(question).items():
        text = shown.parts.get(part, "")
        own, input_type, mode, autocomplete = TEXTS["contact"].get(part, (label, "text", "text", "off"))
        found.append(
            Line(
                name=answer_forms.field_name(question.question_id, part),
                label=texts(own) if question.contact_fields else label,
                text=text,
                wrong=(wrong is not None and wrong.part == part) or (needs_all and not text.strip()),
                options=_line_options(question, text),
                type=input_type,
                mode=mode,
                autocomplete=autocomplete,
            )
        )
    return found


def _line_options(question: Question, text: str) -> list[Option]:
    labels = {choice.value: choice.label for choice in question.choices}
    if question.ranks:
        labels = {rank: str(rank) for rank in range(1, question.ranks + 1)}
    return [Option(value, label, str(value) == text) for value, label in labels.items()]


def _length_max(question: Question) -> int:
    match question.shape:
        case "contact":
            return CONTACT_CHARACTERS_MAX
        case "number":
            return NUMBER_CHARACTERS_MAX
        case "choice" | "choices":
            return OTHER_TEXT_CHARACTERS_MAX
        case _:
            return question.length_max or 0


def _bound(question: Question, date: str | None, number: Number | None, time: str) -> str:
    match question.shape:
        case "date_time":
            return f"{date}T{time}" if date else ""
        case "number":
            return "" if number is None else str(number)
        case _:
            return date or ""


def _mode(question: Question) -> str:
    """The `inputmode`; numeric keyboards of phones have no minus."""
    if question.shape != "number" or (question.number_min is not None and question.number_min < 0):
        return "text"
    return "decimal" if question.decimals else "numeric"


def _bounds(question: Question, texts: Texts) -> str:
    match question.shape:
        case "number" | "date" | "date_time":
            return bounds(question, texts, TEXTS["bounds"][question.shape])
        case "choices":
            return _count(question, texts)
        case "files":
            return _files(question, texts)
        case _ if not question.ranks:
            return ""
        case _ if question.ranks == len(question.choices):
            return texts("1 is the best place, {count} the last.", count=question.ranks)
        case _:
            return texts("Choose your best {count}: 1 is the best place.", count=question.ranks)


def _count(question: Question, texts: Texts) -> str:
    least, most = question.choices_min or 0, question.choices_max
    if most is None:
        return texts("Choose at least {count}.", count=least) if least > 1 else texts("You can choose more than one.")
    if least == most:
        return texts("Choose exactly {count}.", count=most)
    if least > 1:
        return texts("Choose between {least} and {most}.", least=least, most=most)
    return texts("Choose up to {count}.", count=most)


def _files(question: Question, texts: Texts) -> str:
    types, size = answer_page.allowed_files(question, texts)
    allowed = texts("Allowed: {types}. Each file may have {size}.", types=types, size=size)
    return (
        allowed if question.files_max == 1 else f"{allowed} {texts('Choose up to {count}.', count=question.files_max)}"
    )


def _accepted(question: Question) -> str:
    """The kinds that the browser offers, by ending and by media type: telephones know only the latter."""
    if question.shape != "files":
        return ""
    endings = accepted(question)
    kinds = [kind for kind, ending in EXTENSIONS.items() if f".{ending}" in endings]
    return ",".join([*endings, *kinds])
