"""Exports: columns made from the questions of all versions, and the cells of one response.

A response is one row. Codes are the answers' values, labels what people read. Where a cell holds several texts, one
that has the separator stands in quotes. CSV gets an apostrophe wherever a spreadsheet, with whichever separator, would
read a formula (`guarded`); in XLSX such text is a plain string.
"""

import base64
import binascii
import re
import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from operator import attrgetter, methodcaller
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from afterword.core.answers import values as answer_values
from afterword.core.answers.files import names_of
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import YES_NO, Question
from afterword.core.questionnaires.questions import localized, translated
from afterword.core.reading.documents import plain

Format = Literal["csv", "xlsx", "jsonl", "sav", "parquet"]
Values = Literal["labels", "codes", "both"]
Cell = str | int | float | bool | None
Kind = Literal["text", "integer", "number", "boolean", "date", "time", "date_time", "moment"]  # moment: with its offset
KINDS: Final[Mapping[str, Kind]] = {  # by the kind that conditions compare an answer with; others are texts
    "integer": "integer", "number": "number", "boolean": "boolean", "date": "date", "time": "time",
    "date_time": "date_time",
}  # fmt: skip
SPLIT: Final[Collection[Format]] = {"sav", "parquet"}  # a column for each choice of a multiple choice or a ranking
LOCAL: Final[Collection[Format]] = {"xlsx", "sav"}  # their times have no offset
CELL_BYTES_MAX: Final = 2 * 32_767  # of a spreadsheet, in UTF-16
XLSX_ROWS_MAX: Final = 1_048_575  # below the header
XLSX_COLUMNS_MAX: Final = 16_384
DOUBLE_DIGITS_MAX: Final = 15  # of a number that every program reads as it was written
NAME_CHARACTERS_MAX: Final = 40  # of a question without a key
LABELS_KEPT_MAX: Final = 10_000
OVERLAP: Final = timedelta(seconds=60)  # longer than any transaction that may still commit an earlier time

FIXED: Final = (
    "instance_id", "version_id", "responder_id", "locale", "finalized", "created_time", "sent_time", "delivered_time",
    "viewed_time", "submitted_time", "completed_time",
)  # fmt: skip
ITEM: Final = ("external_reference", "recipient")
SEEN: Final = ("questionnaire_id", "questionnaire", "channel_id", "score", "score_max", "band")  # in a list
_MOMENT: Final[Kind] = "moment"
_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(FIXED[5:], _MOMENT),
    "finalized": "boolean", "channel_id": "integer", "score": "number", "score_max": "number",
}  # fmt: skip
LOCAL_CHARACTERS: Final = len("2026-11-21T10:00:00")  # a time without its offset
DAY_CHARACTERS: Final = len("2026-11-21")
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


class Column(msgspec.Struct, frozen=True):
    """`name`: of a variable, where a program takes short names; `labels`: of numbers that stand for choices.

    `subject`: the id of the question, `questionnaire_metadata:{name}` or `responder_metadata:{name}`, else the member.
    `title`: what people read, where the header is a name.
    """

    header: str
    kind: Kind = "text"
    name: str = ""
    labels: Mapping[int, str] = msgspec.field(default_factory=dict[int, str])
    subject: str = ""
    title: str = ""


class Part(msgspec.Struct, frozen=True):
    """Columns side by side, and their cells of a response, as many."""

    columns: Sequence[Column]
    cells: Callable[[Response], Sequence[Cell]]


class ExportTable(msgspec.Struct, frozen=True, dict=True):
    """The columns of one export. `definitions`: of all versions, the newest first; their questions are joined by id.

    Declared metadata names have columns of their own; one column has the others as JSON. `is_of_list`: of responses
    of several questionnaires, whose names `prefixes` has by question where there is more than one. `is_split`: each
    choice of a multiple choice has a column of 0 and 1, each of a ranking one with its rank. `is_stable`: headers and
    types stay over all versions. A question has the name that it had first, in the order in which they came.
    """

    definitions: Sequence[Definition]
    locale: str
    values: Values = "both"
    questionnaire_names: Mapping[str, metadata.Type] = msgspec.field(default_factory=dict[str, metadata.Type])
    responder_names: Mapping[str, metadata.Type] = msgspec.field(default_factory=dict[str, metadata.Type])
    has_questionnaire_metadata: bool = True
    has_responder_metadata: bool = True
    has_item: bool = False
    is_of_list: bool = False
    is_split: bool = False
    is_stable: bool = False
    prefixes: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

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
        for question in (one for definition in self.definitions for one in definition.questions() if one.is_answered):
            shown, newer = localized(question, self.locale), found.get(question.question_id)
            found[question.question_id] = shown if newer is None else _joined(newer, shown)
        return [found[one] for one in self._first_names if one in found] if self.is_stable else list(found.values())

    @cached_property
    def _first_names(self) -> Mapping[str, str]:
        """The key of each question in the first version that had it, else words of its title, by its id."""
        names: dict[str, str] = {}
        for question in (one for definition in reversed(self.definitions) for one in definition.questions()):
            title = (question.display_name or question.plain_title).casefold()
            words = re.sub(r"\W+", "_", title)[:NAME_CHARACTERS_MAX].strip("_")
            names.setdefault(question.question_id, question.key or words or f"q_{question.question_id}")
        return names

    @cached_property
    def parts(self) -> list[Part]:
        made = [Part([*map(_member, FIXED)], attrgetter("fixed"))]
        if self.is_of_list:
            made.append(
                Part([*map(_member, (*SEEN, "tags"))], lambda response: [*response.seen, ";".join(response.tags)])
            )
        if names := self.item:
            made.append(Part([*map(_member, names)], lambda response: response.item[: len(names)]))
        taken: set[str] = set()
        for question in self.questions:
            name = question.display_name or question.plain_title
            if question.question_id in self.prefixes:
                name = f"{self.prefixes[question.question_id]}: {name}"
            is_first = name.casefold() not in taken
            taken.add(name.casefold())
            made.append(
                self._of_question(question, name if is_first or not question.key else f"{name} [{question.key}]")
            )
        if self.has_questionnaire_metadata:
            types = self._types(self.questionnaire_names)
            made.append(_of_metadata("questionnaire", types, attrgetter("questionnaire_metadata")))
        if self.has_responder_metadata:
            made.append(_of_metadata("responder", self._types(self.responder_names), attrgetter("responder_metadata")))
        return made

    @cached_property
    def columns(self) -> list[Column]:
        """All columns; no two headers are equal, whatever their case."""
        found = [column for part in self.parts for column in part.columns]
        names = [column.name or column.header if self.is_stable else column.header for column in found]
        headers = distinct(names, "{}_{}" if self.is_stable else "{} ({})")
        pairs = zip(found, headers, strict=True)
        return [replace(one, header=header, title=one.header if self.is_stable else "") for one, header in pairs]

    @property
    def headers(self) -> list[str]:
        return [column.header for column in self.columns]

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
        given: dict[str, Any] = {}
        if self.has_questionnaire_metadata:
            given["questionnaire"] = _typed(response.questionnaire_metadata, self.questionnaire_names)
        if self.has_responder_metadata:
            given["responder"] = _typed(response.responder_metadata, self.responder_names)
        return {**document, "metadata": given} if given else document

    def _answer(self, question: Question, given: Sequence[Any]) -> dict[str, Any]:
        value, other_text = given
        answer: dict[str, Any] = {"type": question.type, "title": question.plain_title}
        labels = _labels(question, value) if question.is_several else []
        label = ", ".join(labels) or answer_values.label(question, value, self.locale)
        if self.values != "labels" or label is None:
            answer["value"] = value
        if self.values != "codes" and label is not None:
            answer["label"] = label
            if labels:
                answer["labels"] = labels
        if other_text is not None:
            answer["other_text"] = other_text
        return answer

    def _types(self, names: Mapping[str, metadata.Type]) -> Mapping[str, metadata.Type]:
        """A name may be declared anew with another type, so that a stable column of metadata is text."""
        return dict.fromkeys(names, "text") if self.is_stable else names

    def _short(self, question: Question, name: str) -> str:
        return self._first_names[question.question_id] if self.is_stable else question.key or name

    def _of_question(self, question: Question, name: str) -> Part:
        made = list(self._columns_of(question, name))
        if has_other := any(choice.other for choice in question.choices):
            made.append((Column(f"{name} [other]", name=f"{self._short(question, name)}_other"), _code))
        columns, of_value = [column for column, _ in made], [cell for _, cell in made][: len(made) - has_other]
        question_id = question.question_id
        nothing: Sequence[Cell] = [None] * len(columns)

        def cells(response: Response) -> Sequence[Cell]:
            given = response.answers.get(question_id)
            if given is None:
                return nothing
            value, other_text = given
            found = [cell(value) for cell in of_value]
            return [*found, other_text] if has_other else found

        return Part([replace(column, subject=question_id) for column in columns], cells)

    def _columns_of(self, question: Question, name: str) -> Iterator[tuple[Column, Callable[[Any], Cell]]]:
        """The columns of the value, each with its cell of a value."""
        short, labels = self._short(question, name), {choice.value: choice.label for choice in question.choices}
        if self.is_split and question.is_several:
            is_ranked = bool(question.ranks)
            for value, label in labels.items():
                yield (
                    Column(f"{name}: {label}", "integer", f"{short}_{value}", {} if is_ranked else YES_NO),
                    _place_of(value, is_ranked=is_ranked),
                )
            return
        for member, header, is_labelled in _members(question, name):
            subject = f"{question.question_id}:{member}" if member else question.question_id
            kind = KINDS.get(question.kinds[subject], "text")
            row = question.row(member) if member else None
            code = f"{short}_{(row and row.key) or member}" if member else short
            if is_labelled and self.values != "codes":
                yield Column(header, name=f"{code}_label" if self.is_stable else code), _label_of(question, member)
            if not is_labelled or self.values != "labels":
                both = is_labelled and self.values == "both" and not self.is_stable
                column = Column(
                    f"{header} [code]" if both else header,
                    kind,
                    f"{code}_code" if both else code,
                    labels if kind == "integer" else {},
                )
                yield column, _code if member is None else methodcaller("get", member)


def cursor_of(started: datetime) -> str:
    """The cursor of the next export, for changes since this one; changes around its start come twice."""
    microseconds = (started - OVERLAP - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(struct.pack(">Q", microseconds)).decode().rstrip("=")


def read_cursor(text: str) -> datetime:
    """The time of a cursor; raises ValueError when it is no cursor."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if _CURSOR.match(text) else b""
        (microseconds,) = struct.unpack(">Q", raw)
        return _EPOCH + timedelta(microseconds=microseconds)
    except (binascii.Error, OverflowError, struct.error):
        raise ValueError("This is no cursor of an export.") from None


def distinct(texts: Iterable[str], form: str) -> list[str]:
    """The texts, with a number where one repeats an earlier one but for its case: `form` of text and number."""
    found: list[str] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for text in texts:
        made = text
        while made.casefold() in taken:
            counts[text] = counts.get(text, 1) + 1
            made = form.format(text, counts[text])
        taken.add(made.casefold())
        found.append(made)
    return found


def cut(text: str, encoding: str, bytes_max: int) -> list[str]:
    """The text in parts of at most so many bytes in an encoding; one part at least."""
    if 4 * len(text) <= bytes_max:
        return [text]
    data = text.encode(encoding)
    parts: list[str] = []
    while len(data) > bytes_max:
        parts.append(data[:bytes_max].decode(encoding, "ignore"))
        data = data[len(parts[-1].encode(encoding)) :]
    return [*parts, data.decode(encoding)]


def typed(kind: Kind, cell: Cell) -> Cell | date | time:
    """The cell as its kind has it, a moment as the local time; unchanged where it does not fit."""
    if not isinstance(cell, str) or kind == "text" or kind == "integer":  # noqa: PLR1714  narrows the type
        return cell
    if kind == "date" or kind == "number" or kind == "boolean":  # noqa: PLR1714
        value = metadata.typed(kind, cell)
        if isinstance(value, Decimal) and len(value.as_tuple().digits) <= DOUBLE_DIGITS_MAX:
            return plain(float(value))
        is_lost = value is None or isinstance(value, Decimal) or (kind == "date" and cell[DAY_CHARACTERS:])
        return cell if is_lost else value
    try:
        return time.fromisoformat(cell) if kind == "time" else datetime.fromisoformat(cell[:LOCAL_CHARACTERS])
    except ValueError:
        return cell


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
    row_ids = {row.row_id for row in newer.rows}
    others = {choice.value for choice in older.choices if choice.other}
    choices = [replace(choice, other=choice.other or choice.value in others) for choice in newer.choices]
    return replace(
        newer,
        choices=(*choices, *newer.naming(older).removed_choices),
        rows=(*newer.rows, *(row for row in older.rows if row.row_id not in row_ids)),
        contact_fields=tuple(dict.fromkeys((*newer.contact_fields, *older.contact_fields))),
    )


def _member(name: str) -> Column:
    return Column(name, _KINDS.get(name, "text"), subject=name)


def _members(question: Question, name: str) -> list[tuple[str | None, str, bool]]:
    """The columns of a question as member of the value (None: the whole), header, whether there are labels."""
    if question.rows:
        return [(row.row_id, f"{name}: {row.label}", True) for row in question.rows]
    if question.contact_fields:
        return [(each, f"{name}: {each}", False) for each in question.contact_fields]
    return [(None, name, bool(question.choices))]


def _code(value: Any) -> Cell:
    if not isinstance(value, list):
        return value
    return _in_cell(names_of(value) if value and isinstance(value[0], dict) else map(str, value), ";")


def _place_of(choice: int, *, is_ranked: bool) -> Callable[[Any], Cell]:
    """1 where it was chosen, or its rank; 0 where it was not, but nothing for one without a rank."""
    if is_ranked:
        return lambda value: value.index(choice) + 1 if choice in value else None
    return lambda value: int(choice in value)


def _in_cell(texts: Iterable[str], separator: str) -> str:
    """The texts in one cell, as a CSV line with blanks behind the separators has them."""
    mark = separator.strip()
    return separator.join(
        '"' + text.replace('"', '""') + '"' if mark in text or text.startswith('"') else text for text in texts
    )


def _labels(question: Question, value: Sequence[int]) -> list[str]:
    return [choice.label for choice in map(question.choice, value) if choice is not None]


def _label_of(question: Question, member: str | None) -> Callable[[Any], Cell]:
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
            several = isinstance(chosen, list)
            known[key] = _in_cell(_labels(question, chosen), ", ") if several else question.label_of(chosen)
        return known[key]

    return cell


def _of_metadata(kind: str, names: Mapping[str, metadata.Type], of: Callable[[Response], Mapping[str, str]]) -> Part:
    def cells(response: Response) -> Sequence[Cell]:
        given = of(response)
        others = None
        if not given.keys() <= names.keys():
            others = _json({name: value for name, value in given.items() if name not in names}).decode()
        return [*map(given.get, names), others]

    subject = f"{kind}_metadata"
    columns = [
        Column(f"{kind}.{name}", type_, f"{kind}_{name}", subject=f"{subject}:{name}") for name, type_ in names.items()
    ]
    undeclared = Column(f"{kind} metadata, undeclared", name=f"{subject}_undeclared", subject=f"{subject}:")
    return Part([*columns, undeclared], cells)


def _typed(given: Mapping[str, str], types: Mapping[str, metadata.Type]) -> dict[str, Any]:
    """Numbers and booleans of a map as JSON has them; dates stay texts."""
    return {
        name: typed(kind, text) if (kind := types.get(name)) in {"number", "boolean"} else text
        for name, text in given.items()
    }


_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def codebook(table: ExportTable, *, questionnaire_id: str, name: str) -> bytes:
    """The code book as JSON: each column, with the texts of questions and choices in all languages.

    It is equal for equal columns and texts, so that it tells whether files have to be written anew.
    """
    # By question and locale, the newest first.
    asked: defaultdict[str, defaultdict[str, list[Question]]] = defaultdict(lambda: defaultdict(list))
    for definition in table.definitions:
        for question in definition.questions():
            for locale in definition.locales:
                asked[question.question_id][locale].append(translated(question, locale))
    columns = [_described(column, asked.get(column.subject, {}), is_split=table.is_split) for column in table.columns]
    document = {"questionnaire_id": questionnaire_id, "questionnaire": name, "columns": columns}
    return msgspec.json.format(_encode(document), indent=1)


def _described(column: Column, asked: Mapping[str, list[Question]], *, is_split: bool) -> dict[str, Any]:
    document: dict[str, Any] = {"column": column.header, "title": column.title or column.header, "type": column.kind}
    if not asked:
        return document
    labels: dict[int, dict[str, str]] = {}
    for locale, versions in asked.items():
        for choice in (choice for question in versions for choice in question.choices):
            labels.setdefault(choice.value, {}).setdefault(locale, choice.label)
    newest = next(iter(asked.values()))[0]
    document |= {
        "question_id": newest.question_id,
        "question_type": newest.type,
        "question": {locale: versions[0].plain_title for locale, versions in asked.items()},
    }
    if is_split and newest.is_several and column.kind == "integer":  # one of the choices: 1 where it was chosen
        value = int(column.name.rpartition("_")[2])
        return {**document, "choice": {"value": value, "label": labels[value]}}
    return {**document, "choices": [{"value": value, "label": labels[value]} for value in sorted(labels)]}
