"""Single changes of a definition's document, as an editor makes them; it may be wrong elsewhere and stays so there.

A place is named by the id that stands before it: of a question, or of a group for its first place. A form may be wrong
too: its values stay as they were typed.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from afterword.core.questionnaires.question_types import FOLDED, MEMBERS, TYPES
from afterword.core.reading.documents import Members, is_array, is_object
from afterword.core.reading.findings import Findings

Document = dict[str, Any]
NewId = Callable[[], str]
UP: Final = "up"
DOWN: Final = "down"
_ANSWER: Final = re.compile(r"\{\{\s*answer\.([A-Za-z0-9_]+)")
_NOT_COPIED: Final = ("jumps", "show_if", "key", "code")


def groups_of(document: Mapping[str, Any]) -> list[Document]:
    return _objects(document.get("groups"))


def questions_of(group: Mapping[str, Any]) -> list[Document]:
    return _objects(group.get("questions"))


def all_questions(document: Mapping[str, Any]) -> list[Document]:
    return [one for group in groups_of(document) for one in questions_of(group)]


def question_of(document: Mapping[str, Any], question_id: str) -> Document | None:
    return next((one for one in all_questions(document) if one.get("question_id") == question_id), None)


def blank(question_type: str, question_id: str) -> Document:
    known = TYPES.get(question_type, TYPES["text"])
    lists = {name: list[object]() for name in known.fields if name in {"choices", "rows"}}
    return {"question_id": question_id, "type": known.name, "title": "", **lists}


def standard(question_type: str, question_id: str, *, say: Callable[[str], str], new_id: NewId) -> Document:
    """A new question with the usual texts of its type, as `say` puts them into the language of the questionnaire."""
    question = blank(question_type, question_id)
    texts = TYPES[question["type"]].standard
    lists = {
        "choices": [{"value": value, "label": say(one)} for value, one in enumerate(texts.choices, 1)],
        "rows": [{"row_id": new_id(), "label": say(one)} for one in texts.rows],
    }
    own = {name: entries for name, entries in lists.items() if name in question}
    return {**question, **own, "title": say(texts.title), "required": texts.required}


def with_question(document: Mapping[str, Any], question: Document) -> Document:
    return _mapped(document, lambda one: question if one.get("question_id") == question["question_id"] else one)


def with_group(document: Mapping[str, Any], group_id: str, texts: Mapping[str, Any]) -> Document:
    return _regrouped(
        document, [{**one, **texts} if one.get("group_id") == group_id else one for one in groups_of(document)]
    )


def with_new_group(document: Mapping[str, Any], group_id: str) -> Document:
    return _regrouped(document, [*groups_of(document), {"group_id": group_id, "questions": []}])


def placed(document: Mapping[str, Any], questions: Sequence[Document], *, after: str) -> Document:
    """The document with these questions behind `after`, or at the end where there is no such place."""
    groups = groups_of(document)
    known = {one.get("group_id") for one in groups}
    known |= {one.get("question_id") for one in all_questions(document)}
    found: list[Document] = []
    for number, group in enumerate(groups):
        kept: list[Document] = [*questions] if group.get("group_id") == after else []
        for one in questions_of(group):
            kept += [one, *questions] if one.get("question_id") == after else [one]
        is_end = number == len(groups) - 1 and after not in known
        found.append({**group, "questions": [*kept, *(questions if is_end else [])]})
    return _regrouped(document, found)


def places_of(document: Mapping[str, Any], question_id: str) -> list[str]:
    """All places of a question in order: each is the id before it."""
    found: list[str] = []
    for group in groups_of(document):
        ids = [str(one.get("question_id")) for one in questions_of(group)]
        found += [str(group.get("group_id")), *(one for one in ids if one != question_id)]
    return found


def place_of(document: Mapping[str, Any], question_id: str) -> str:
    """The id before the question; empty where it is not there."""
    for group in groups_of(document):
        before = str(group.get("group_id"))
        for one in questions_of(group):
            if one.get("question_id") == question_id:
                return before
            before = str(one.get("question_id"))
    return ""


def moved(document: Mapping[str, Any], question_id: str, *, to: str) -> Document:
    """The document with the question behind the id `to`, or one place `up` or `down`; else as it is."""
    question, places = question_of(document, question_id), places_of(document, question_id)
    if question is None:
        return dict(document)
    if to in {UP, DOWN}:
        at = places.index(place_of(document, question_id)) + (1 if to == DOWN else -1)
        to = places[at] if 0 <= at < len(places) else ""
    if to not in places:
        return dict(document)
    return placed(without_question(document, question_id), [question], after=to)


def moved_group(document: Mapping[str, Any], group_id: str, *, to: str) -> Document:
    return _regrouped(document, _moved_one(groups_of(document), "group_id", group_id, to))


def without_question(document: Mapping[str, Any], question_id: str) -> Document:
    return _mapped(document, lambda one: None if one.get("question_id") == question_id else one)


def without_group(document: Mapping[str, Any], group_id: str) -> Document:
    return _regrouped(document, [one for one in groups_of(document) if one.get("group_id") != group_id])


def copied(question: Mapping[str, Any], *, new_id: NewId) -> Document:
    """The question with ids of its own, without jumps and conditions: the questions that they name may not be there."""
    rows = {str(row.get("row_id")): new_id() for row in _objects(question.get("rows"))}
    copy = {name: value for name, value in question.items() if name not in _NOT_COPIED}
    copy["question_id"] = new_id()
    if rows:
        copy["rows"] = [
            {"row_id": rows[str(row.get("row_id"))], "label": row.get("label")} for row in _objects(question["rows"])
        ]
        copy["translations"] = {
            locale: {
                **texts,
                "rows": {rows[name]: text for name, text in _object(texts.get("rows")).items() if name in rows},
            }
            for locale, texts in _object(question.get("translations")).items()
            if is_object(texts)
        }
    return copy


def jumps_of(question: Mapping[str, Any]) -> list[Document]:
    return _objects(question.get("jumps"))


def with_jump(question: Mapping[str, Any], number: int, jump: Document | None) -> Document:
    jumps = jumps_of(question)
    jumps[number : number + 1] = [] if jump is None else [jump]
    return {**question, "jumps": jumps}


def endings_of(document: Mapping[str, Any]) -> list[Document]:
    return _objects(document.get("endings"))


def ending_of(document: Mapping[str, Any], ending_id: str) -> Document | None:
    return next((one for one in endings_of(document) if one.get("ending_id") == ending_id), None)


def with_ending(document: Mapping[str, Any], ending_id: str, ending: Document) -> Document:
    """The document with this ending in the place of the one with its id; without one it is added."""
    found = endings_of(document)
    at = next((number for number, one in enumerate(found) if one.get("ending_id") == ending_id), len(found))
    found[at : at + 1] = [ending]
    return {**document, "endings": found}


def without_ending(document: Mapping[str, Any], ending_id: str) -> Document:
    found = endings_of(document)
    others = [one for one in found if one.get("ending_id") != ending_id]
    return dict(document) if others == found else {**document, "endings": others}


def moved_ending(document: Mapping[str, Any], ending_id: str, *, to: str) -> Document:
    found = sorted(endings_of(document), key=is_quota)  # which have no order, and stand behind
    return {**document, "endings": _moved_one(found, "ending_id", ending_id, to)}


def is_quota(ending: Document) -> bool:
    return ending.get("responses_max") is not None


def uses_of(document: Mapping[str, Any], question_id: str) -> tuple[list[Document], list[Document]]:
    """The other questions whose jumps lead to it, and those whose jumps or own conditions ask for its answer."""
    leading: list[Document] = []
    asking: list[Document] = []
    for one in all_questions(document):
        if one.get("question_id") == question_id:
            continue
        jumps = jumps_of(one)
        if any(jump.get("target_question_id") == question_id for jump in jumps):
            leading.append(one)
        asked = [one.get("show_if"), *(jump.get("conditions") for jump in jumps)]
        if any(names(each, question_id) for each in asked):
            asking.append(one)
    return leading, asking


class Piping(msgspec.Struct, frozen=True):
    """The places whose texts, labels or addresses show the answer of a question. `groups`: numbers from 1."""

    questions: list[Document]
    groups: list[int]
    endings: list[Document]
    is_around: bool


def piping_of(document: Mapping[str, Any], question_id: str) -> Piping:
    question = question_of(document, question_id) or {}
    known = {question_id, str(question.get("key") or question_id)}
    groups = groups_of(document)

    def asks(value: object) -> bool:
        return any(name in known for text in _texts_in(value) for name in _ANSWER.findall(text))

    return Piping(
        questions=[one for one in all_questions(document) if one.get("question_id") != question_id and asks(one)],
        groups=[number for number, one in enumerate(groups, 1) if asks({**one, "questions": None})],
        endings=[one for one in endings_of(document) if asks(one)],
        is_around=asks(document.get("pages")),
    )


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value) or is_array(value):
        for each in value.values() if is_object(value) else value:
            yield from _texts_in(each)


def names(value: object, identity: str) -> bool:
    return any(identity in text for text in _texts_in(value))


def _moved_one(entries: list[Document], id_name: str, identity: str, to: str) -> list[Document]:
    at = next((number for number, one in enumerate(entries) if one.get(id_name) == identity), None)
    other = None if at is None else at + (1 if to == DOWN else -1)
    if at is not None and other is not None and 0 <= other < len(entries):
        entries[at], entries[other] = entries[other], entries[at]
    return entries


def _mapped(document: Mapping[str, Any], change: Callable[[Document], Document | None]) -> Document:
    return _regrouped(
        document,
        [
            {**group, "questions": [new for one in questions_of(group) if (new := change(one)) is not None]}
            for group in groups_of(document)
        ],
    )


def _regrouped(document: Mapping[str, Any], groups: Sequence[Document]) -> Document:
    return {**document, "groups": list(groups)}


def _objects(value: object) -> list[Document]:
    return [dict(one) for one in value if is_object(one)] if is_array(value) else []


def _object(value: object) -> Document:
    return dict(value) if is_object(value) else {}


Typed = Mapping[str, Sequence[str]]
Values = dict[str, str | list[str]]
NEAR_MAX: Final = 10  # entries in the places around a changed line that it is compared with
SIMILAR_MIN: Final = 0.75  # of a changed line, which keeps its value; a new meaning gets a new one
_OF_CHOICES: Final = ("points", "other", "exclusive")  # fields of the form for all choices together
_KEPT: Final = ("question_id", "key", "code", "show_if", "jumps", "translations")
_WHOLE: Final = re.compile(r"[+-]?\d{1,15}\Z", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?\d{1,15}[.,]\d{1,6}\Z", re.ASCII)


def fields_of(question_type: str) -> tuple[str, ...]:
    """The members that the form of a type has, besides `type`, in its order."""
    known = TYPES.get(question_type, TYPES["statement"])
    own = {"title", "description", *FOLDED, *known.form, *known.fields, *(["required"] if known.is_answered else [])}
    return tuple(name for name in MEMBERS if name in own)


def values_of(question: Mapping[str, Any]) -> Values:
    """The values that the form shows: texts, "1" for ticks, lines for choices and rows."""
    values: Values = {}
    choices = _objects(question.get("choices"))
    for name in fields_of(str(question.get("type"))):
        member, value = MEMBERS[name], question.get(name)
        if name == "other":
            values[name] = next((str(one.get("value")) for one in choices if one.get("other") is True), "")
        elif name == "points":
            points = [_text(one.get("points")) for one in choices]
            values[name] = ", ".join(points) if any(points) else ""
        elif name == "exclusive":
            values[name] = [str(one.get("value")) for one in choices if one.get("exclusive") is True]
        elif member.kind == "check":
            values[name] = "1" if (member.default if value is None else value) is True else ""
        elif member.kind == "lines":
            values[name] = "\n".join(_label(one) for one in _objects(value))
        elif member.kind == "checks":
            values[name] = [str(one) for one in (value if is_array(value) else _default(question, name))]
        else:
            values[name] = _text(member.default if value is None else value)
    return values | {picture_name(one): _text(one.get("picture")) for one in choices if one.get("picture")}


def _default(question: Mapping[str, Any], name: str) -> Sequence[object]:
    read = TYPES[str(question["type"])].members[name](Members({}, "", Findings()), name, 0)
    return read if is_array(read) else ()


def picture_name(choice: Mapping[str, Any]) -> str:
    return f"picture-{choice.get('value')}"


def question_from(
    before: Mapping[str, Any], typed: Typed, *, known: Mapping[str, Any] | None, new_id: NewId
) -> Document:
    """The question with the values of a form, of the form's type.

    Lines of choices and rows keep the value or id of the line that they were, in `before` or in the published
    question `known`, whose values no new choice gets.
    """
    question_type = _first(typed, "type") or str(before.get("type"))
    question: Document = {name: before[name] for name in _KEPT if name in before} | {"type": question_type}
    for name in fields_of(question_type):
        kind, text = MEMBERS[name].kind, _first(typed, name)
        if name == "choices":
            question[name] = choices_of(typed, before, known or {})
        elif name == "rows":
            question[name] = _rows_of(text, [before, known or {}], new_id)
        elif name in _OF_CHOICES:
            continue
        elif kind == "check":
            question[name] = bool(text)
        elif kind == "checks":
            question[name] = list(typed.get(name, ()))
        elif kind in {"text", "area", "date"} or name == "style":
            question[name] = text or (None if name != "title" else "")
        elif text:
            question[name] = _number(text, is_whole=kind != "decimal")
    return {**question, "translations": _translations(question)}


def choices_of(typed: Typed, before: Mapping[str, Any], known: Mapping[str, Any]) -> list[Document]:
    """The choices of the lines; a new one gets a value above all that were used, in a list that is not all new."""
    lines = lines_of(_first(typed, "choices"))
    earlier, published = _objects(before.get("choices")), _objects(known.get("choices"))
    values: list[object] = [*_kept(lines, earlier, "value")]
    if not published and not any(values):  # somebody wrote a list of their own over the standard one
        values = [one.get("value") for one in earlier[: len(lines)]] + [None] * (len(lines) - len(earlier))
        earlier = [{**one, "code": None} for one in earlier]
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
    codes = {one.get("value"): one["code"] for one in (*published, *earlier) if one.get("code")}
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
                **({"code": codes[own]} if own in codes else {}),
                **({"points": _number(points[number], is_whole=True)} if any(points[number : number + 1]) else {}),
            }
        )
    return found


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _rows_of(text: str, earlier: Sequence[Mapping[str, Any]], new_id: NewId) -> list[Document]:
    lines = lines_of(text)
    ids: list[object] = [None] * len(lines)
    for question in earlier:
        more = _kept(lines, _objects(question.get("rows")), "row_id")
        ids = [one if one is not None or other in ids else other for one, other in zip(ids, more, strict=True)]
    kept = {row.get("row_id"): row for question in reversed(earlier) for row in _objects(question.get("rows"))}
    return [
        {**kept.get(one, {}), "row_id": one or new_id(), "label": line} for one, line in zip(ids, lines, strict=True)
    ]


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
