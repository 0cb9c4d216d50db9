"""Single changes of a definition's document, as an editor makes them; it may be wrong elsewhere and stays so there.

A place is named by the id that stands before it: of a question, or of a group for its first place.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from afterword.core.questionnaires.question_types import TYPES
from afterword.core.reading.documents import is_array, is_object

Document = dict[str, Any]
NewId = Callable[[], str]
UP: Final = "up"
DOWN: Final = "down"
_ANSWER: Final = re.compile(r"\{\{\s*answer\.([A-Za-z0-9_]+)")
_NOT_COPIED: Final = ("jumps", "show_if", "key")


def groups_of(document: Mapping[str, Any]) -> list[Document]:
    return _objects(document.get("groups"))


def questions_of(group: Mapping[str, Any]) -> list[Document]:
    return _objects(group.get("questions"))


def question_of(document: Mapping[str, Any], question_id: str) -> Document | None:
    found = (one for group in groups_of(document) for one in questions_of(group))
    return next((one for one in found if one.get("question_id") == question_id), None)


def blank(question_type: str, question_id: str) -> Document:
    return {
        "question_id": question_id,
        "type": question_type if question_type in TYPES else "text",
        "title": "",
        **({"choices": []} if "choices" in TYPES.get(question_type, TYPES["text"]).fields else {}),
        **({"rows": []} if question_type == "matrix" else {}),
    }


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
    known |= {one.get("question_id") for group in groups for one in questions_of(group)}
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
    """The question with this jump at the place `number` (behind the last one: added), or without it (None)."""
    jumps = jumps_of(question)
    jumps[number : number + 1] = [] if jump is None else [jump]
    return {**question, "jumps": jumps}


def endings_asking(document: Mapping[str, Any], question_id: str) -> list[Document]:
    return [one for one in endings_of(document) if names(one.get("conditions"), question_id)]


def endings_of(document: Mapping[str, Any]) -> list[Document]:
    return _objects(document.get("endings"))


def ending_of(document: Mapping[str, Any], ending_id: str) -> Document | None:
    return next((one for one in endings_of(document) if one.get("ending_id") == ending_id), None)


def with_ending(document: Mapping[str, Any], ending_id: str, ending: Document | None) -> Document:
    """The document with this ending in the place of the one with its id (none: added), or without it (None)."""
    found = endings_of(document)
    at = next((number for number, one in enumerate(found) if one.get("ending_id") == ending_id), len(found))
    found[at : at + 1] = [] if ending is None else [ending]
    return {**document, "endings": found}


def moved_ending(document: Mapping[str, Any], ending_id: str, *, to: str) -> Document:
    found = sorted(endings_of(document), key=is_quota)  # which have no order, and stand behind
    return {**document, "endings": _moved_one(found, "ending_id", ending_id, to)}


def is_quota(ending: Document) -> bool:
    return ending.get("responses_max") is not None


def uses_of(document: Mapping[str, Any], question_id: str) -> tuple[list[Document], list[Document]]:
    """The other questions whose jumps lead to it, and those whose jumps or own conditions ask for its answer."""
    leading: list[Document] = []
    asking: list[Document] = []
    for group in groups_of(document):
        for one in questions_of(group):
            if one.get("question_id") == question_id:
                continue
            jumps = jumps_of(one)
            if any(jump.get("target_question_id") == question_id for jump in jumps):
                leading.append(one)
            if any(
                names(asked, question_id) for asked in [one.get("show_if"), *(jump.get("conditions") for jump in jumps)]
            ):
                asking.append(one)
    return leading, asking


@dataclass(frozen=True, slots=True)
class Piping:
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
        questions=[
            one for each in groups for one in questions_of(each) if one.get("question_id") != question_id and asks(one)
        ],
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
    """Whether any text of a document has this id."""
    if isinstance(value, str):
        return identity in value
    if is_object(value):
        return any(names(key, identity) or names(each, identity) for key, each in value.items())
    return is_array(value) and any(names(each, identity) for each in value)


def _moved_one(entries: list[Document], id_name: str, identity: str, to: str) -> list[Document]:
    """The list with one entry a place up or down."""
    at = next((number for number, one in enumerate(entries) if one.get(id_name) == identity), None)
    other = None if at is None else at + (1 if to == DOWN else -1)
    if at is not None and other is not None and 0 <= other < len(entries):
        entries[at], entries[other] = entries[other], entries[at]
    return entries


def _mapped(document: Mapping[str, Any], change: Callable[[Document], Document | None]) -> Document:
    """The document with each question changed; None takes it out."""
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
