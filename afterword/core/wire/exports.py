"""Exports: columns made from the questions of all versions, and the cells of one response.

A response is one row. Codes are the answers' values, labels what people read. CSV gets an apostrophe wherever a
spreadsheet, with whichever separator, would read a formula (`guarded`); in XLSX such text is a plain string.
"""

import base64
import binascii
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, Literal

import msgspec

from afterword.core.answers import values as answer_values
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.questions import localized

Format = Literal["csv", "xlsx", "jsonl"]
Values = Literal["labels", "codes", "both"]
Cell = str | int | float | bool | None
CELL_CHARACTERS_MAX: Final = 32_767  # of a spreadsheet
XLSX_ROWS_MAX: Final = 1_048_575  # below the header
LABELS_KEPT_MAX: Final = 10_000
OVERLAP: Final = timedelta(seconds=60)  # longer than any transaction that may still commit an earlier time

FIXED: Final = (
    "instance_id", "version_id", "responder_id", "locale", "finalized", "created_time", "sent_time", "delivered_time",
    "viewed_time", "submitted_time", "completed_time",
)  # fmt: skip
ITEM: Final = ("external_reference", "recipient")
SEEN: Final = ("questionnaire_id", "questionnaire", "channel_id", "score", "score_max", "band")  # in a list
TIMES: Final = tuple(name for name in FIXED if name.endswith("_time"))
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR: Final = re.compile(r"[A-Za-z0-9_-]{11}\Z")
_FORMULA: Final = frozenset("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
SUSPECT: Final = _FORMULA | {"'", " "}  # what a text begins with that is to be looked at
# Possessive, and never without a match: a run of separators is read once.
_AFTER_SEPARATOR: Final = re.compile(r"[;|\t\r\n][\s\";|]*+([=+\-@\0\uff1d\uff0b\uff0d\uff20'])?")
_json = msgspec.json.Encoder(order="deterministic").encode


class Response(msgspec.Struct, frozen=True):
    """One row: the fixed members as texts, the answers as question_id -> [value, other text], both metadata maps.

    A struct, as exports make thousands of them at once.
    """

    fixed: Sequence[Cell]
    answers: Mapping[str, Sequence[Any]]
    questionnaire_metadata: Mapping[str, str] = {}
    responder_metadata: Mapping[str, str] = {}
    item: Sequence[Cell] = (None, None)  # of ITEM
    seen: Sequence[Cell] = ()  # of SEEN, in exports of a list
    tags: Sequence[str] = ()

    @property
    def instance_id(self) -> str:
        return str(self.fixed[0])


@dataclass(frozen=True, slots=True)
class Part:
    """Columns side by side: their headers, and their cells of a response, as many."""

    headers: Sequence[str]
    cells: Callable[[Response], Sequence[Cell]]
    has_days: bool = False  # texts such as 2026-11-21


@dataclass(frozen=True)
class ExportTable:
    """The columns of one export. `definitions`: of all versions, the newest first; their questions are joined by id.

    Declared metadata names have columns of their own; one column has the others as JSON. `is_of_list`: of responses
    of several questionnaires, whose names `prefixes` has by question where there is more than one.
    """

    definitions: Sequence[Definition]
    locale: str
    values: Values = "both"
    questionnaire_names: Sequence[str] = ()
    responder_names: Sequence[str] = ()
    has_questionnaire_metadata: bool = True
    has_responder_metadata: bool = True
    has_item: bool = False
    is_of_list: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def item(self) -> Sequence[str]:
        """The members of ITEM that it has."""
        return ITEM if self.has_item else ITEM[:1] if self.is_of_list else ()

    @cached_property
    def questions(self) -> list[Question]:
        """Every question that was ever asked, as the newest version with it has it, in the newest order.

        Its own choices, rows and fields come first, then those that only older versions had.
        """
        found: dict[str, Question] = {}
        for definition in self.definitions:
            for question in definition.questions():
                if question.is_answered:
                    shown = localized(question, self.locale)
                    newer = found.get(question.question_id)
                    found[question.question_id] = shown if newer is None else _joined(newer, shown)
        return list(found.values())

    @cached_property
    def parts(self) -> list[Part]:
        made = [Part(FIXED, attrgetter("fixed"))]
        if self.is_of_list:
            made.append(Part((*SEEN, "tags"), lambda response: [*response.seen, ";".join(response.tags)]))
        if names := self.item:
            made.append(Part(names, lambda response: response.item[: len(names)]))
        made += [self._of_question(question) for question in self.questions]
        if self.has_questionnaire_metadata:
            made.append(_of_metadata("questionnaire", self.questionnaire_names, attrgetter("questionnaire_metadata")))
        if self.has_responder_metadata:
            made.append(_of_metadata("responder", self.responder_names, attrgetter("responder_metadata")))
        return made

    @property
    def headers(self) -> list[str]:
        return [header for part in self.parts for header in part.headers]

    def cells(self, response: Response) -> list[Cell]:
        row: list[Cell] = []
        for part in self.parts:
            row += part.cells(response)
        return row

    def document(self, response: Response) -> dict[str, Any]:
        """The response as an object: the members of the row, answers by question id, metadata as maps."""
        answers = {
            question.question_id: self._answer(question, given)
            for question in self.questions
            if (given := response.answers.get(question.question_id)) is not None
        }
        document: dict[str, Any] = dict(zip(FIXED, response.fixed, strict=True))
        if self.is_of_list:
            document |= {**dict(zip(SEEN, response.seen, strict=True)), "tags": response.tags}
        document |= dict(zip(self.item, response.item, strict=False))
        document["answers"] = answers
        metadata: dict[str, Any] = {}
        if self.has_questionnaire_metadata:
            metadata["questionnaire"] = response.questionnaire_metadata
        if self.has_responder_metadata:
            metadata["responder"] = response.responder_metadata
        return {**document, "metadata": metadata} if metadata else document

    def _answer(self, question: Question, given: Sequence[Any]) -> dict[str, Any]:
        value, other_text = given
        answer: dict[str, Any] = {"type": question.type, "title": question.plain_title}
        label = answer_values.label(question, value, self.locale)
        if self.values != "labels" or label is None:
            answer["value"] = value
        if self.values != "codes" and label is not None:
            answer["label"] = label
        if other_text is not None:
            answer["other_text"] = other_text
        return answer

    def _of_question(self, question: Question) -> Part:
        name, question_id = question.display_name or question.plain_title, question.question_id
        name = f"{self.prefixes[question_id]}: {name}" if question_id in self.prefixes else name
        headers: list[str] = []
        of_value: list[Callable[[Any], Cell]] = []
        for member, header, is_labelled in _members(question, name):
            if is_labelled and self.values != "codes":
                headers.append(header)
                of_value.append(_label_of(question, member, self.locale))
            if not is_labelled or self.values != "labels":
                headers.append(f"{header} [code]" if is_labelled and self.values == "both" else header)
                of_value.append(_code if member is None else _code_of(member))
        has_other = any(choice.other for choice in question.choices)
        headers += [f"{name} [other]"] * has_other
        nothing: Sequence[Cell] = [None] * len(headers)

        def cells(response: Response) -> Sequence[Cell]:
            given = response.answers.get(question_id)
            if given is None:
                return nothing
            value, other_text = given
            found = [cell(value) for cell in of_value]
            return [*found, other_text] if has_other else found

        return Part(headers, cells, has_days=question.shape == "date")


def cursor_of(started: datetime) -> str:
    """The cursor of the next export, for changes since this one; changes around its start come twice."""
    microseconds = (started - OVERLAP - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(struct.pack(">Q", microseconds)).decode().rstrip("=")


def read_cursor(text: str) -> datetime:
    """The time of a cursor; raises ValueError for what is none."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if _CURSOR.match(text) else b""
        (microseconds,) = struct.unpack(">Q", raw)
        return _EPOCH + timedelta(microseconds=microseconds)
    except (binascii.Error, OverflowError, struct.error):
        raise ValueError("This is no cursor of an export.") from None


def progress(*, started: datetime, oldest: datetime | None, reached: datetime) -> int:
    """The progress of a scan from `started` back to `oldest`, in percent; 100 is for the whole file."""
    if oldest is None or oldest >= started:
        return 0
    return min(99, max(0, int(100 * ((started - reached) / (started - oldest)))))


def guarded(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet could read a formula, or eat an apostrophe of ours.

    That is at its beginning, and after a separator with nothing but blanks, quotes and separators between.
    """
    safe = _AFTER_SEPARATOR.sub(_with_apostrophe, text)
    if text[:1] in _FORMULA or text[:1] == "'" or (text[:1] == " " and text.lstrip()[:1] in _FORMULA):
        return f"'{safe}"
    return safe


def has_formula_behind_separator(text: str) -> bool:
    """Whether a spreadsheet that cuts these cells or lines at another separator could read a formula."""
    return any(match[1] for match in _AFTER_SEPARATOR.finditer(text))


def _with_apostrophe(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else f"{match[0][:-1]}'{match[1]}"


def _joined(newer: Question, older: Question) -> Question:
    values, row_ids = {choice.value for choice in newer.choices}, {row.row_id for row in newer.rows}
    others = {choice.value for choice in older.choices if choice.other}
    return replace(
        newer,
        choices=(
            *(replace(choice, other=choice.other or choice.value in others) for choice in newer.choices),
            *(choice for choice in older.choices if choice.value not in values),
        ),
        rows=(*newer.rows, *(row for row in older.rows if row.row_id not in row_ids)),
        contact_fields=tuple(dict.fromkeys((*newer.contact_fields, *older.contact_fields))),
    )


def _members(question: Question, name: str) -> list[tuple[str | None, str, bool]]:
    """The columns of a question as member of the value (None: the whole), header, whether there are labels."""
    if question.shape == "matrix":
        return [(row.row_id, f"{name}: {row.label}", True) for row in question.rows]
    if question.shape == "contact":
        return [(each, f"{name}: {each}", False) for each in question.contact_fields]
    return [(None, name, question.shape in {"choice", "choices", "ranking"})]


def _code(value: Any) -> Cell:
    if not isinstance(value, list):
        return value
    return ";".join(one["name"] if isinstance(one, dict) else str(one) for one in value)  # a file by its name


def _code_of(member: str) -> Callable[[Any], Cell]:
    return lambda value: value.get(member)


def _label_of(question: Question, member: str | None, locale: str) -> Callable[[Any], Cell]:
    """The label of a value, made once for equal values."""
    known: dict[str, str | None] = {}

    def cell(value: Any) -> Cell:
        chosen = value if member is None else value.get(member)
        if chosen is None:
            return None
        key = str(chosen)
        if key not in known:
            if len(known) >= LABELS_KEPT_MAX:
                known.clear()
            known[key] = answer_values.label(question, chosen, locale)
        return known[key]

    return cell


def _of_metadata(kind: str, names: Sequence[str], of: Callable[[Response], Mapping[str, str]]) -> Part:
    declared = frozenset(names)

    def cells(response: Response) -> Sequence[Cell]:
        given = of(response)
        others = None
        if not given.keys() <= declared:
            others = _json({name: value for name, value in given.items() if name not in declared}).decode()
        return [*map(given.get, names), others]

    return Part([*(f"{kind}.{name}" for name in names), f"{kind} metadata, undeclared"], cells)
