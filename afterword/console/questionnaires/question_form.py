"""The fields of a question's form, by its type, with their labels and what is wrong with each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from afterword.console.questionnaires.outline import TYPES, Problem
from afterword.console.text import NOTHING
from afterword.core.questionnaires import questions
from afterword.core.questionnaires.question_forms import Values, fields_of, picture_name
from afterword.core.questionnaires.question_types import FIELDS, FILE_TYPES, FILES_MAX
from afterword.errors import FieldError
from afterword.instances.file_texts import written_size
from afterword.texts import Texts

Kind = Literal["text", "number", "date", "area", "check", "choice", "checks"]
LINES_CHARACTERS_MAX: Final = 20_000
LABELS: Final[Mapping[str, str]] = {
    "title": "Question", "description": "Explanation below it", "display_name": "Name in reports",
    "required": "An answer is required", "enabled": "Shown to customers",
    "display_probability": "Shown to so many of 100 people", "low_label": "Label of the low end",
    "high_label": "Label of the high end", "scale_min": "Lowest value", "scale_max": "Highest value",
    "style": "Shown as", "randomize": "In random order", "rows": "Rows", "choices": "Choices",
    "other": "Opens a field for words", "exclusive": "Excludes the others", "choices_min": "Least number of choices",
    "choices_max": "Greatest number of choices", "rank_max": "Only the best",
    "length_max": "Longest answer in characters", "multiline": "Several lines", "number_min": "Least number",
    "number_max": "Greatest number", "decimals": "Decimals", "date_min": "First day", "date_max": "Last day",
    "points": "Points", "scored": "Its answer counts as points", "contact_fields": "Fields",
    "file_types": "Kinds of files", "files_max": "Greatest number of files",
    "bytes_max": "Greatest size of each file",
}  # fmt: skip
HINTS: Final[Mapping[str, str]] = {
    "choices": "One on each line; paste as many as you like. A line that changes little keeps its answers.",
    "rows": "One on each line. A line that changes little keeps its answers.",
    "choices_max": "Empty: all of them.",
    "points": "A number for each choice, in their order: 10, 5, 0. Empty: none. Their sum is the score of a response.",
    "scored": "The number of the answer, or 1 for yes, is added to the score of a response.",
    "rank_max": "Empty: all of them are ordered.",
    "display_name": "A short one. Empty: the question itself.",
    "file_types": "Each file is checked by its content. A kiosk, which works without a connection, leaves it out.",
}
STYLES: Final[Mapping[str, Mapping[str, str]]] = {
    "rating": {"numbers": "Numbers", "stars": "Stars"},
    "single_choice": {"": "All choices below each other", "dropdown": "A list that opens"},
    "number": {"": "A field", "slider": "A slider"},
}
CONTACTS: Final[Mapping[str, str]] = {
    "name": "Name", "email": "E-mail address", "phone": "Telephone number", "preferred_time": "Time for a call",
    "street": "Street and number", "postal_code": "Postal code", "city": "City", "region": "Region",
    "country": "Country",
}  # fmt: skip
KINDS_OF_FILES: Final[Mapping[str, str]] = {
    "picture": "Pictures", "pdf": "PDF", "document": "Text documents (Word, OpenDocument)",
    "spreadsheet": "Spreadsheets (Excel, OpenDocument)", "text": "Plain text and CSV",
}  # fmt: skip
_MEGABYTE: Final = 1_048_576
_SIZES: Final = (1, 2, 5, 10)  # megabytes
MORE: Final = ("display_name", "enabled", "display_probability")  # folded
_KINDS: Final[Mapping[str, Kind]] = {
    "title": "area", "description": "area", "choices": "area", "rows": "area", "required": "check",
    "enabled": "check", "randomize": "check", "scored": "check", "points": "text", "multiline": "check",
    "scale_min": "choice", "scale_max": "choice", "style": "choice", "other": "choice", "exclusive": "checks",
    "contact_fields": "checks", "file_types": "checks", "files_max": "choice", "bytes_max": "choice",
    "display_name": "text", "low_label": "text", "high_label": "text", "number_min": "text", "number_max": "text",
    "date_min": "date", "date_max": "date",
}  # fmt: skip
_MOST: Final[Mapping[str, int]] = {
    "title": questions.TITLE_CHARACTERS_MAX, "description": questions.DESCRIPTION_CHARACTERS_MAX,
    "display_name": questions.DISPLAY_NAME_CHARACTERS_MAX, "low_label": questions.END_LABEL_CHARACTERS_MAX,
    "high_label": questions.END_LABEL_CHARACTERS_MAX, "choices": LINES_CHARACTERS_MAX, "points": 1_000,
    "rows": LINES_CHARACTERS_MAX,
}  # fmt: skip
_ORDER: Final = (
    "title", "description", "rows", "choices", "points", "other", "exclusive", "contact_fields", "file_types",
    "files_max", "bytes_max", "scale_min", "scale_max", "style", "low_label", "high_label", "choices_min",
    "choices_max", "rank_max", "number_min", "number_max", "decimals", "date_min", "date_max", "length_max",
    "multiline", "randomize", "scored", "required", *MORE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: Kind
    label: str
    value: str | list[str]
    hint: str = ""
    options: Sequence[tuple[str, str]] = ()
    most: int = 20


@dataclass(frozen=True, slots=True)
class Wrong:
    """Problems as the macros of fields take a refusal."""

    errors: Sequence[FieldError]


def fields(words: Texts, question: Mapping[str, Any], values: Values) -> list[Field]:
    question_type = str(question.get("type"))
    known = set(fields_of(question_type))
    known |= {"points"} if "choices" in known and question_type != "ranking" else set()
    if "choices" in known and question_type in {"single_choice", "multiple_choice"}:
        known |= {"other", "exclusive"} if question_type == "multiple_choice" else {"other"}
    return [_field(words, question, name, values.get(name, "")) for name in _ORDER if name in known]


def pictures(
    words: Texts, question: Mapping[str, Any], values: Values, offered: Sequence[tuple[str, str]]
) -> list[Field]:
    """A field for each choice that has a label; `offered`: the paths and names of pictures."""
    if str(question.get("type")) not in {"single_choice", "multiple_choice"} or question.get("style"):
        return []
    found: list[Field] = []
    for value, label in _labels(question):
        name = picture_name({"value": value})
        chosen = str(values.get(name, ""))
        others = [] if not chosen or chosen in dict(offered) else [(chosen, words("the picture that it has"))]
        options = [("", words("none")), *others, *offered]
        found.append(Field(name, "choice", words("Picture of “{label}”", label=label), chosen, "", options))
    return found


def wrong_of(question_id: str, problems: Iterable[Problem]) -> Wrong:
    own = [one for one in problems if one.question_id == question_id and one.is_error and one.member]
    return Wrong([FieldError("wrong", one.text, pointer=f"/{one.member}") for one in own])


def differences(words: Texts, theirs: Values, mine: Values) -> list[tuple[str, str]]:
    """The labels and texts of what is stored, where the form has another one."""
    return [
        (words(LABELS[name]), _shown(words, name, theirs[name]))
        for name in _ORDER
        if name in theirs and theirs[name] != mine.get(name)
    ]


def types(words: Texts) -> list[tuple[str, str]]:
    return [(name, words(text)) for name, text in TYPES.items()]


def _field(words: Texts, question: Mapping[str, Any], name: str, value: str | list[str]) -> Field:
    label, kind = words(LABELS[name]), _KINDS.get(name, "number")
    if name == "choices" and question.get("type") == "matrix":
        label = words("Columns")
    if name == "title" and question.get("type") == "statement":
        label = words("Text")
    return Field(
        name,
        kind,
        label,
        value,
        words(HINTS[name]) if name in HINTS else "",
        _options(words, question, name),
        _MOST.get(name, 20),
    )


def _options(words: Texts, question: Mapping[str, Any], name: str) -> Sequence[tuple[str, str]]:
    labels, question_type = _labels(question), str(question.get("type"))
    numbers = questions.SMILEYS[::-1] if question.get("type") == "smileys" else (5, 3, 4, 6, 7, 8, 9, 10)
    options: Mapping[str, Sequence[tuple[str, str]]] = {
        "scale_min": [("1", "1"), ("0", "0")],
        "scale_max": [(str(one), str(one)) for one in numbers],
        "style": [(key, words(text)) for key, text in STYLES.get(question_type, {}).items()],
        "other": [("", words("none of them")), *labels],
        "exclusive": labels,
        "contact_fields": [(key, words(CONTACTS[key])) for key in FIELDS.get(question_type, ((), ()))[0]],
        "file_types": [(key, words(KINDS_OF_FILES[key])) for key in FILE_TYPES],
        "files_max": [(str(one), str(one)) for one in range(1, FILES_MAX + 1)],
        "bytes_max": _sizes(words, question.get("bytes_max")),
    }
    return options.get(name, ())


def _sizes(words: Texts, chosen: object) -> list[tuple[str, str]]:
    """Whole megabytes, and the size that was set by the API."""
    sizes = sorted({one * _MEGABYTE for one in _SIZES} | ({chosen} if isinstance(chosen, int) else set()))
    return [(str(one), written_size(one, words)) for one in sizes]


def _labels(question: Mapping[str, Any]) -> list[tuple[str, str]]:
    choices: Any = question.get("choices") or ()
    return [(str(one.get("value")), str(one.get("label") or "")) for one in choices if isinstance(one, dict)]


def _shown(words: Texts, name: str, value: str | list[str]) -> str:
    if isinstance(value, list):
        return ", ".join(words({**CONTACTS, **KINDS_OF_FILES}.get(one, one)) for one in value) or NOTHING
    if _KINDS.get(name) == "check":
        return words("yes") if value else words("no")
    return value or NOTHING
