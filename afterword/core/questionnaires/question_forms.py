"""A question as the texts of a form, and the form as a question: nothing is refused, wrong values stay as typed."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from afterword.core.questionnaires.editing import Document, NewId
from afterword.core.questionnaires.question_types import FIELDS, FILE_BYTES_DEFAULT, FILE_TYPES_DEFAULT, TYPES
from afterword.core.questionnaires.questions import SCORED, TEXT_CHARACTERS_DEFAULT
from afterword.core.reading.documents import is_array, is_object

Typed = Mapping[str, Sequence[str]]
Values = dict[str, str | list[str]]
SCALE_LABELS: Final = ("low_label", "high_label")
RANDOMIZED: Final = frozenset({"choice", "choices", "ranking", "matrix"})  # shapes
NEAR_MAX: Final = 10  # entries in the places around a changed line that it is compared with
SIMILAR_MIN: Final = 0.75  # of a changed line, which keeps its value; a new meaning gets a new one
_TEXTS: Final = ("title", "description", "display_name", *SCALE_LABELS, "style", "date_min", "date_max")
_WHOLE_NUMBERS: Final = (
    "display_probability", "scale_min", "scale_max", "choices_min", "choices_max", "rank_max", "length_max", "decimals",
    "files_max", "bytes_max",
)  # fmt: skip
_TICKS: Final[Mapping[str, bool]] = {
    "required": False, "enabled": True, "randomize": False, "scored": False, "multiline": True,
}  # fmt: skip
_DEFAULTS: Final[Mapping[str, object]] = {
    "display_probability": 100, "length_max": TEXT_CHARACTERS_DEFAULT, "files_max": 1, "bytes_max": FILE_BYTES_DEFAULT,
}  # fmt: skip
_KEPT: Final = ("question_id", "key", "show_if", "jumps", "translations")
_WHOLE: Final = re.compile(r"[+-]?\d{1,15}\Z", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?\d{1,15}[.,]\d{1,6}\Z", re.ASCII)


def fields_of(question_type: str) -> tuple[str, ...]:
    """The members that the form of a type has, besides `type`."""
    known = TYPES.get(question_type, TYPES["statement"])
    common = ["title", "description", "display_name", "enabled", "display_probability"]
    if known.shape != "none":
        common.append("required")
    if known.shape in {"scale", "number"}:  # of a number the ends of its slider
        common += SCALE_LABELS
    if known.shape in RANDOMIZED:
        common.append("randomize")
    if known.shape in SCORED:
        common.append("scored")
    return (*common, *known.fields)


def values_of(question: Mapping[str, Any]) -> Values:
    """The values that the form shows: texts, "1" for ticks, lines for choices and rows."""
    values: Values = {}
    for name in fields_of(str(question.get("type"))):
        value = question.get(name)
        if name in _TICKS:
            values[name] = "1" if (_TICKS[name] if value is None else value) is True else ""
        elif name in {"choices", "rows"}:
            values[name] = "\n".join(_label(one) for one in _objects(value))
        elif name in {"contact_fields", "file_types"}:
            default = FILE_TYPES_DEFAULT if name == "file_types" else FIELDS[str(question["type"])][1]
            values[name] = [str(one) for one in (value if is_array(value) else default)]
        else:
            values[name] = _text(_DEFAULTS.get(name) if value is None else value)
    choices = _objects(question.get("choices"))
    if "choices" in values:
        values["other"] = next((str(one.get("value")) for one in choices if one.get("other") is True), "")
        points = [_text(one.get("points")) for one in choices]
        values["points"] = ", ".join(points) if any(points) else ""
        values["exclusive"] = [str(one.get("value")) for one in choices if one.get("exclusive") is True]
        values |= {picture_name(one): _text(one.get("picture")) for one in choices if one.get("picture")}
    return values


def picture_name(choice: Mapping[str, Any]) -> str:
    return f"picture-{choice.get('value')}"


def question_of(before: Mapping[str, Any], typed: Typed, *, known: Mapping[str, Any] | None, new_id: NewId) -> Document:
    """The question with the values of a form, of the form's type.

    Lines of choices and rows keep the value or id of the line that they were, in `before` or in the published
    question `known`, whose values no new choice gets.
    """
    question_type = _first(typed, "type") or str(before.get("type"))
    question: Document = {name: before[name] for name in _KEPT if name in before} | {"type": question_type}
    for name in fields_of(question_type):
        if name in _TICKS:
            question[name] = bool(_first(typed, name))
        elif name == "choices":
            question[name] = choices_of(typed, before, known or {})
        elif name == "rows":
            question[name] = _rows_of(_first(typed, name), [before, known or {}], new_id)
        elif name in {"contact_fields", "file_types"}:
            question[name] = list(typed.get(name, ()))
        elif name in _TEXTS:
            question[name] = _first(typed, name) or (None if name != "title" else "")
        elif text := _first(typed, name):
            question[name] = _number(text, is_whole=name in _WHOLE_NUMBERS)
    return {**question, "translations": _translations(question)}


def choices_of(typed: Typed, before: Mapping[str, Any], known: Mapping[str, Any]) -> list[Document]:
    """The choices of the lines; a new one gets a value above all that were used."""
    lines = lines_of(_first(typed, "choices"))
    earlier, published = _objects(before.get("choices")), _objects(known.get("choices"))
    values: list[object] = [*_kept(lines, earlier, "value")]
    by_label = {_folded(_label(one)): one.get("value") for one in published}
    taken = {one for one in values if one is not None}
    for number, line in enumerate(lines):
        if values[number] is None and (value := by_label.get(_folded(line))) is not None and value not in taken:
            values[number] = value
            taken.add(value)
    used = [one.get("value") for one in (*earlier, *published)]
    highest = max((one for one in used if isinstance(one, int)), default=0)
    found: list[Document] = []
    points = [one.strip() for one in _first(typed, "points").split(",")]
    shown = {one.get("value"): one.get("picture") for one in earlier}
    for number, (line, value) in enumerate(zip(lines, values, strict=True)):
        if value is None:
            highest += 1
        own = highest if value is None else value
        name = picture_name({"value": own})
        picture = _first(typed, name) if name in typed else shown.get(own)
        found.append(
            {
                "value": own,
                "label": line,
                "other": _first(typed, "other") == str(own),
                "exclusive": str(own) in typed.get("exclusive", ()),
                **({"picture": picture} if picture else {}),
                **({"points": _number(points[number], is_whole=True)} if any(points[number : number + 1]) else {}),
            }
        )
    return found


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def mark_of(values: Values) -> str:
    """A short digest of what a form shows, by which a change of somebody else is noticed."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def _rows_of(text: str, earlier: Sequence[Mapping[str, Any]], new_id: NewId) -> list[Document]:
    lines = lines_of(text)
    ids: list[object] = [None] * len(lines)
    for question in earlier:
        more = _kept(lines, _objects(question.get("rows")), "row_id")
        ids = [one if one is not None or other in ids else other for one, other in zip(ids, more, strict=True)]
    return [{"row_id": one or new_id(), "label": line} for one, line in zip(ids, lines, strict=True)]


def _kept(lines: Sequence[str], earlier: Sequence[Document], name: str) -> list[object]:
    """For each line the value of the entry that it was: with the same label, or with a similar one in its place."""
    labels = [_folded(_label(one)) for one in earlier]
    new = [_folded(line) for line in lines]
    found: list[object] = [None] * len(lines)
    free = dict(enumerate(earlier))
    for number, line in enumerate(new):
        at = next((index for index in free if labels[index] == line), None)
        if at is not None:
            found[number] = free.pop(at).get(name)
    for number, line in enumerate(new):
        if found[number] is None:
            near = sorted(free, key=lambda index, place=number: abs(index - place))[:NEAR_MAX]
            close = get_close_matches(line, [labels[index] for index in near], n=1, cutoff=SIMILAR_MIN)
            if (at := next((index for index in near if labels[index] in close), None)) is not None:
                found[number] = free.pop(at).get(name)
    return found


def _translations(question: Document) -> Document:
    """The translations without labels of choices and rows that are gone, which would be errors."""
    names = {
        "choices": {str(one.get("value")) for one in _objects(question.get("choices"))},
        "rows": {str(one.get(name)) for one in _objects(question.get("rows")) for name in ("row_id", "key")},
    }
    found: Document = {}
    for locale, texts in _object(question.get("translations")).items():
        kept = {name: value for name, value in _object(texts).items() if name not in names}
        for name, known in names.items():
            labels = {each: text for each, text in _object(_object(texts).get(name)).items() if each in known}
            if labels:
                kept[name] = labels
        found[locale] = kept
    return found


def _number(text: str, *, is_whole: bool) -> object:
    if _WHOLE.match(text):
        return int(text)
    return text if is_whole or not _DECIMAL.match(text) else float(text.replace(",", "."))


def _first(typed: Typed, name: str) -> str:
    return next(iter(typed.get(name, ())), "").strip()


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _label(entry: Mapping[str, Any]) -> str:
    return _text(entry.get("label"))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _objects(value: object) -> list[Document]:
    return [dict(one) for one in value if is_object(one)] if is_array(value) else []


def _object(value: object) -> Document:
    return dict(value) if is_object(value) else {}
