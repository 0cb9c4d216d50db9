"""Tables of items as CSV: the header and what its columns mean, rows cut into pieces, a row as a request. No I/O.

A file is read once, when it arrives: the pieces keep the cells of the columns that count, so that each can be worked
off alone, in any process, at any time.
"""

import csv
import dataclasses
import difflib
import io
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from afterword import errors
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import GLOBAL, Declared
from afterword.core.reading import spellings
from afterword.core.reading.findings import escape
from afterword.core.wire import written
from afterword.core.wire.written import plain
from afterword.errors import FieldError, Sentence

ROWS_MAX: Final = 200_000
RECORD_BYTES_MAX: Final = 65_536
COLUMNS_MAX: Final = 500
PIECE_ROWS: Final = 1_000
PIECE_CHARACTERS: Final = 1_000_000  # beyond, a piece is closed early: rows may be long
SEPARATORS: Final = (",", ";", "\t", "|")
UTF8: Final = "utf-8"
UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
COMPRESSION: Final = 1
HEAD_BYTES: Final = 100

ADDRESS: Final = "responder_channel_identifier"
REFERENCE: Final = "external_reference"
SEND_TIME: Final = "send_time"
GROUPS: Final = {"metadata.questionnaire.": "questionnaire", "metadata.responder.": "responder"}
NO_ADDRESS: Final = "No column says who is written to."
REST: Final = "*"  # of a mapping: all columns that have no other meaning
UNKNOWN_SHOWN_MAX: Final = 5
DATED_ROWS: Final = 200  # that are looked at
UNKNOWN: Final = "{n} other columns are not known either. Map those that count; map[*]= leaves out all others."
DID_YOU_MEAN: Final = "did you mean"
DATES: Final = (
    "There is no column of this name, and it has dates. Map it to send_time if messages leave at these, "
    "or to nothing (map[NAME]=) to leave it out."
)
NAMELESS: Final = "A column between others has no name; map[*]= leaves out all columns that have no meaning."
NO_ADDRESS_OTHER_SEPARATOR: Final = "No column says who is written to. Its columns seem to have another separator."
NO_TIME: Final = "This row has no time to send. Leave the column out to send at once."
LINES_ABOVE: Final = (
    "Lines stand above the header, such as a title. Remove them: the first line has to name the columns."
)
BROKEN: Final = "The quotation marks of this row are broken: one within a quoted cell must be doubled."
NOT_UTF8: Final = (
    "The file is not UTF-8: line {line} has other bytes, as Latin-1 and Windows-1252 write them. "
    "Save it as “CSV UTF-8” and send it again."
)
NOT_DECODED: Final = (
    "The file is not {encoding}: line {line} has other bytes. Save it as “CSV UTF-8” and send it again."
)

_PREFIX: Final = re.compile(r"\A(?:metadata\.)?(?:questionnaire\.)?(?:responder\.)?")
_TABLE: Final = {"reference": REFERENCE, "locale": "locale", "send_time": SEND_TIME, "email": ADDRESS, "phone": ADDRESS}
_NAMES: Final = {
    plain(word): meaning
    for table, meaning in _TABLE.items()
    for words in written.WORDS["columns"][table].values()
    for word in words.split()
}
_MEANING_CUTOFF: Final = 0.75
_SHORT: Final = 3  # letters of a name that is like many others
_encode = msgspec.json.Encoder().encode


class Piece(NamedTuple):
    """Some rows of a file, compressed; `first_row` counts from 1, after the header."""

    first_row: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """A whole file: its header, how many rows it has, and they in pieces; none of a header that is wrong.

    `columns` are the meanings of the columns that count, and `places` where in the file these are, from 1. `dated`
    are the names of columns of dates, where the header is wrong.
    """

    fields: Sequence[str]
    names: Sequence[str]
    separator: str
    mapping: Mapping[str, str]
    columns: Sequence[str] = ()
    places: Sequence[int] = ()
    rows_total: int = 0
    rows_repeated: int = 0  # whose address an earlier row has
    pieces: Sequence[Piece] = ()
    dated: Collection[str] = ()
    has_lines_above: bool = False


class Fault(msgspec.Struct, frozen=True):
    """The `message` without its blanks is for workers of an earlier release: pieces may be worked off by them."""

    code: str
    message: str
    text: str = ""
    values: dict[str, int] = {}

    @classmethod
    def of(cls, code: str, text: str, **values: int) -> "Fault":
        return cls(code, str(Sentence(text, **values)), text, values)

    @property
    def sentence(self) -> Sentence:
        return Sentence(self.text or self.message, **self.values)


class Rows(msgspec.Struct, frozen=True):
    """The rows of a piece: cells in column order, references that occur earlier in the file, and the header's texts.

    `lines`: the lines of the file on which the rows begin; `known`: places of rows whose address an earlier row of the
    file has; `joined`: places of rows that belong to the message of an earlier row.
    """

    rows: list[list[str] | Fault]
    repeated: list[str]
    names: list[str] = []
    lines: list[int] = []
    known: list[int] = []
    joined: list[int] = []


class Record(NamedTuple):
    """A row as it stands in the file: the line on which it begins, its cells or what is wrong with it, its text."""

    line: int
    cells: list[str] | Fault
    text: str = ""  # of one whose cells cannot be told apart


def decode(content: bytes, encoding: str = UTF8) -> str:
    """The text of a file. Raises Malformed, which says what to do, for what is not in this encoding."""
    if encoding == UTF8 and (content.startswith(UTF16_MARKS) or is_utf16(content)):
        message = "The file is UTF-16. Save it as “CSV UTF-8” and send it again."
        raise errors.Malformed(message, "malformed_encoding")
    try:
        return content.decode("utf-8-sig" if encoding == UTF8 else encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        is_utf8 = encoding == UTF8
        message = (
            Sentence(NOT_UTF8, line=line) if is_utf8 else Sentence(NOT_DECODED, encoding=encoding.upper(), line=line)
        )
        raise errors.Malformed(message, "malformed_encoding") from None


def is_utf16(content: bytes) -> bool:
    """Whether a quarter of the first bytes, or more, is NUL."""
    head = content[:HEAD_BYTES]
    return head.count(b"\x00") * 4 >= max(len(head), 4)


def cut(
    text: str,
    *,
    fields: Sequence[str],
    separator: str,
    mapping: Mapping[str, str],
    readers: Mapping[str, Callable[[str], str]] = MappingProxyType({}),
    joins: bool = False,
) -> Cut:
    """Read the file. `fields` are the members of an item besides metadata.

    `mapping` gives the meanings of columns with other names; an empty text leaves one out. `readers`
    write the cells of columns as we read them. `joins`: rows with the reference of an earlier one, and without a
    reference those with the address of the row before, make one message. Raises Invalid (a quotation mark without end,
    no header, no rows) and TooLarge. A row that is wrong in itself is kept as a Fault, and `check`
    refuses a wrong header.
    """
    names, records = read(text, separator)
    found = Cut(fields, names, separator, mapping)
    columns, places, wrong = _header(found, declared=GLOBAL, strict=False)
    if wrong:
        return dataclasses.replace(found, dated=_dated(names, records))
    pieces, rows_total, rows_repeated = _pieces(records, names, columns, places, readers, joins=joins)
    if not rows_total:
        _refuse("too_few", "The file has a header and no rows.", "")
    return dataclasses.replace(
        found, columns=columns, places=places, rows_total=rows_total, rows_repeated=rows_repeated, pieces=pieces
    )


def read(text: str, separator: str, *, rows_max: int | None = None) -> tuple[list[str], Iterator[Record]]:
    """The names of the header, and the rows behind it. Raises Invalid for a header that cannot be read.

    `rows_max`: so many rows are looked at, blank ones too.
    """
    records = _records(text, separator, rows_max)
    header = next(records, None)
    if header is None:
        _refuse("too_few", "The file has no header.", "")
    if isinstance(header.cells, Fault):
        _refuse(
            header.cells.code,
            Sentence("The file's header cannot be read. {problem}", problem=header.cells.sentence),
            "",
        )
    names = [name.strip() for name in header.cells]
    while names and not names[-1]:
        names.pop()
    return names, records


def check(found: Cut, *, declared: Declared, strict: bool = False) -> None:
    """Raise Invalid for what is wrong with a file's header, by the names that are declared."""
    columns, _, wrong = _header(found, declared=declared, strict=strict)
    if wrong and found.has_lines_above and ADDRESS not in columns:
        _refuse("invalid_format", LINES_ABOVE, "")
    if wrong:
        raise errors.Invalid.of(*wrong)


def read_piece(content: bytes) -> Rows:
    return msgspec.json.decode(zlib.decompress(content), type=Rows)


def document_of(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """A row as the request that it means; an empty cell is as if absent."""
    found: dict[str, Any] = {}
    groups: dict[str, dict[str, str]] = {}
    for column, cell in zip(columns, cells, strict=True):
        group = group_of(column)
        if group is None:
            if text := spellings.cleaned(cell) if column == ADDRESS else spellings.trimmed(cell):
                found[column] = text
        elif cell:
            kind, name = group
            groups.setdefault(kind, {})[name] = cell
    return {**found, "metadata": groups} if groups else found


def faults_of(columns: Sequence[str], cells: Sequence[str]) -> list[FieldError]:
    """The cells that a spreadsheet has spoiled, that mean something else than their column, or lack a time to send."""
    found: list[FieldError] = []
    for column, cell in zip(columns, cells, strict=True):
        if "E+" in cell and written.is_rounded(cell):
            found.append(FieldError("invalid_format", written.ROUNDED, pointer=pointer_of(column)))
        elif column == "locale" and cell and written.is_country(cell):
            found.append(FieldError("invalid_format", written.COUNTRY, pointer="/locale"))
        elif column == SEND_TIME and not spellings.trimmed(cell):
            found.append(FieldError("required", NO_TIME, pointer=f"/{SEND_TIME}"))
    return found


def pointer_of(column: str) -> str:
    """The JSON Pointer of the member of a row's request that this column gives."""
    return f"/metadata/{'/'.join(map(escape, group))}" if (group := group_of(column)) else f"/{column}"


def group_of(column: str) -> tuple[str, str] | None:
    prefix = next((prefix for prefix in GROUPS if column.startswith(prefix)), None)
    return (GROUPS[prefix], column.removeprefix(prefix)) if prefix else None


# The header ----------------------------------------------------------------------------------------------------------


def _header(found: Cut, *, declared: Declared, strict: bool) -> tuple[list[str], list[int], list[FieldError]]:
    names, mapping = found.names, found.mapping
    if len(names) > COLUMNS_MAX:
        _refuse("too_many", Sentence("A file has at most {n} columns.", n=COLUMNS_MAX), "")
    wrong = [
        FieldError("unknown_column", "The file's header has no such column.", parameter=f"map[{name}]")
        for name, column in mapping.items()
        if name not in names and (name, column) != (REST, "")
    ]
    unknown: list[FieldError] = []
    columns: list[str] = []
    places: list[int] = []
    for place, name in enumerate(names, start=1):
        column = mapping.get(name, name)
        is_left = mapping.get(REST) == "" and name not in mapping and name not in found.fields and not group_of(name)
        if is_left or (not column and name):
            continue
        error = _column_error(found, name, column, declared=declared, strict=strict)
        if error is not None and error.code == "unknown_column" and name not in mapping:
            unknown.append(error)
            continue
        if error is None and column in columns:
            error = FieldError(
                "exclusive", _twice(names, places[columns.index(column)], place), pointer=f"/{escape(name)}"
            )
        if error is not None:
            wrong.append(error)
        columns.append(column)
        places.append(place)
    if len(unknown) > UNKNOWN_SHOWN_MAX:  # first those that may be one of ours
        unknown.sort(key=lambda error: DID_YOU_MEAN not in error.message and error.message != DATES)
        rest = Sentence(UNKNOWN, n=len(unknown) - UNKNOWN_SHOWN_MAX)
        unknown = [*unknown[:UNKNOWN_SHOWN_MAX], FieldError("unknown_column", rest, pointer="")]
    wrong += unknown
    wrong += _missing(columns, separator=found.separator, names=names) + _too_many(columns)
    return columns, places, wrong


def _dated(names: Sequence[str], records: Iterator[Record]) -> set[str]:
    """The names of the columns most of whose cells are dates, in the first rows."""
    rows = [record.cells for record in islice(records, DATED_ROWS) if not isinstance(record.cells, Fault)]
    columns = {name: [row[place] for row in rows if row[place : place + 1] > [""]] for place, name in enumerate(names)}
    return {name for name, cells in columns.items() if sum(map(written.is_date, cells)) * 2 > len(cells)}


def _twice(names: Sequence[str], first: int, second: int) -> Sentence:
    if names[first - 1] == names[second - 1]:
        text = "The columns {first} and {second} have the same name. Rename one of them in the file, or remove it."
    else:
        text = "The columns {first} and {second} have the same meaning. Only one of them can have it."
    return Sentence(text, first=first, second=second)


def _column_error(found: Cut, name: str, column: str, *, declared: Declared, strict: bool) -> FieldError | None:
    is_mapped = name in found.mapping
    place: dict[str, Any] = {"parameter": f"map[{name}]"} if is_mapped else {"pointer": f"/{escape(name)}"}
    if not name:
        return FieldError("required", NAMELESS, **place)
    if column in found.fields:
        return None
    group = group_of(column)
    if group is None:
        message = _advice(column, found.fields, declared, is_mapped=is_mapped, is_dated=name in found.dated)
        return FieldError("unknown_column", message, **place)
    kind, known = group
    if fault := metadata.fault_of(known):
        return FieldError(*fault, **place)
    if strict and declared.get("questionnaire" if kind == "questionnaire" else "responder", known) is None:
        return FieldError("unknown_metadata", "This name is not declared.", **place)
    return None


def _advice(name: str, fields: Sequence[str], declared: Declared, *, is_mapped: bool, is_dated: bool) -> str:
    """The likely meaning of an unknown column, in words that repeat nothing of the file."""
    close = meaning_of(name, fields, declared)
    if is_dated and not is_mapped and not close:
        return DATES
    meant = f"{DID_YOU_MEAN} {close}?" if close else f"it can be {next(iter(GROUPS))}NAME, for example."
    if is_mapped:
        return f"There is no such column to map to; {meant}"
    return f"There is no column of this name; {meant} Map it to that, or to nothing to leave it out."


def meaning_of(name: str, fields: Sequence[str], declared: Declared) -> str | None:
    """The column that a name of a header most likely means."""
    members = [*declared.responder.values(), *declared.questionnaire.values()]
    if name in {f"metadata.{one.kind}.{one.name}" for one in members}:
        return name
    known = {
        **{plain(one.name): f"metadata.{one.kind}.{one.name}" for one in members},
        **_NAMES,
        **{plain(one): one for one in fields},
    }
    word = plain(_PREFIX.sub("", name))
    if len(word) <= _SHORT:
        return known.get(word)
    close = difflib.get_close_matches(word, known, n=1, cutoff=_MEANING_CUTOFF)
    return known[close[0]] if close else None


def _missing(columns: Sequence[str], *, separator: str, names: Sequence[str]) -> list[FieldError]:
    if ADDRESS in columns:
        return []
    other = [one for one in SEPARATORS if one != separator and len(names) == 1 and one in names[0]]
    message = NO_ADDRESS_OTHER_SEPARATOR if other else NO_ADDRESS
    return [FieldError("required", message, pointer=f"/{ADDRESS}")]


def _too_many(columns: Sequence[str]) -> list[FieldError]:
    return [
        FieldError(
            "too_many",
            Sentence("A metadata map has at most {n} names.", n=metadata.NAMES_MAX),
            pointer=f"/metadata/{kind}",
        )
        for prefix, kind in GROUPS.items()
        if sum(column.startswith(prefix) for column in columns) > metadata.NAMES_MAX
    ]


# Rows ----------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Lines:
    """The lines of a text for the reader of records; `taken` are those of the record that it is reading."""

    lines: Iterator[str]
    taken: list[str] = field(default_factory=list[str])
    characters: int = 0
    number: int = 0
    has_ended: bool = False

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        try:
            line = next(self.lines)
        except StopIteration:
            self.has_ended = True
            raise
        self.taken.append(line)
        self.characters += len(line)
        self.number += 1
        return line

    @property
    def is_open(self) -> bool:
        """Whether the record, which the reader gave up, goes on behind these lines, or would at the end of the file."""
        is_given_up = self.characters > csv.field_size_limit()
        return self.has_ended or (is_given_up and sum(line.count('"') for line in self.taken) % 2 == 1)

    @property
    def is_too_long(self) -> bool:
        if self.characters <= RECORD_BYTES_MAX // 4:
            return False
        return sum(len(line.encode()) for line in self.taken) > RECORD_BYTES_MAX


def _records(text: str, separator: str, rows_max: int | None) -> Iterator[Record]:
    """The records of a text, without those that are blank. Raises Invalid where a quotation mark has no end."""
    lines = _Lines(iter(io.StringIO(text, newline="")))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    number = 0
    for _ in repeat(None) if rows_max is None else repeat(None, rows_max):
        lines.taken.clear()
        lines.characters = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            # At the end of the file, or so far on that no row is meant: what follows the mark cannot be told apart.
            if lines.is_open:
                _refuse("invalid_format", _open_mark(number, has_ended=lines.has_ended), "")
            cells = None
        if cells is not None and not any(map(str.strip, cells)):
            continue
        number += 1
        line = lines.number - len(lines.taken) + 1
        if (fault := _fault_of(cells, lines)) is not None:
            yield Record(line, fault, "".join(lines.taken)[:RECORD_BYTES_MAX])
        else:
            yield Record(line, cells or [])


def _open_mark(number: int, *, has_ended: bool) -> Sentence:
    if has_ended and number:
        return Sentence("A quotation mark is opened in row {row} and never closed.", row=number)
    if has_ended:
        return Sentence("A quotation mark is opened in the header and never closed.")
    n = RECORD_BYTES_MAX
    if number:
        return Sentence("A quotation mark is opened in row {row} and not closed within {n} bytes.", row=number, n=n)
    return Sentence("A quotation mark is opened in the header and not closed within {n} bytes.", n=n)


def _fault_of(cells: list[str] | None, lines: _Lines) -> Fault | None:
    if lines.is_too_long:
        return Fault.of("too_long", "A row may have {n} bytes.", n=RECORD_BYTES_MAX)
    if cells is None:
        return Fault.of("invalid_format", BROKEN)
    if any("\x00" in line for line in lines.taken):
        return Fault.of("invalid_format", "The character NUL is not allowed.")
    return None


def _pieces(
    records: Iterator[Record],
    names: Sequence[str],
    columns: Sequence[str],
    places: Sequence[int],
    readers: Mapping[str, Callable[[str], str]],
    *,
    joins: bool,
) -> tuple[list[Piece], int, int]:
    """The pieces, the number of all rows, and of those whose address an earlier one has."""
    shown = [names[place - 1] for place in places]
    reference = columns.index(REFERENCE) if REFERENCE in columns else None
    address = columns.index(ADDRESS) if ADDRESS in columns else None
    changed = [(place, readers[name]) for place, name in enumerate(shown) if name in readers]
    pieces: list[Piece] = []
    piece = Rows([], [], shown)
    seen: set[str] = set()
    met: set[str] = set()
    size = total = rows_repeated = 0
    orders: dict[str, str] = {}
    before: list[str] = []
    for total, record in enumerate(records, start=1):
        if total > ROWS_MAX:
            raise errors.TooLarge(Sentence("A file may have {n} rows; send it in parts.", n=ROWS_MAX))
        row = row_of(record, places, width=len(names))
        if not isinstance(row, Fault):
            for place, reader in changed:
                row[place] = reader(row[place])
            size += sum(map(len, row))
            if joins and _belongs(row, reference, address, orders, before):
                piece.joined.append(len(piece.rows))
            elif _is_repeated(row, reference, seen):
                piece.repeated.append(row[reference or 0].strip())
            before = row
            if len(piece.rows) not in piece.joined[-1:] and _is_repeated(row, address, met):
                piece.known.append(len(piece.rows))
                rows_repeated += 1
        piece.rows.append(row)
        piece.lines.append(record.line)
        if len(piece.rows) == PIECE_ROWS or size > PIECE_CHARACTERS:
            pieces.append(_piece(total, piece))
            piece, size = Rows([], [], shown), 0
    if piece.rows:
        pieces.append(_piece(total, piece))
    return pieces, total, rows_repeated


def _belongs(
    row: Sequence[str], reference: int | None, address: int | None, orders: dict[str, str], before: Sequence[str]
) -> bool:
    """Whether the row is of the order of an earlier one: by its reference, or without one by the address before it.

    Another person's row never is. `orders` notes the address of each reference.
    """
    person = row[address].strip() if address is not None else ""
    own = row[reference].strip() if reference is not None else ""
    if own:
        is_known = own in orders
        return person in {orders.setdefault(own, person), ""} and is_known
    return bool(person) and bool(before) and person == before[address or 0].strip()


def _is_repeated(row: Sequence[str], place: int | None, seen: set[str]) -> bool:
    """Whether an earlier row has the same in this cell, which `seen` notes."""
    key = row[place].strip() if place is not None else ""
    if not key:
        return False
    if key in seen:
        return True
    seen.add(key)
    return False


def row_of(record: Record, places: Sequence[int], *, width: int) -> list[str] | Fault:
    """The cells at these places of a header of this width, from 1, or what is wrong with the row."""
    cells = record.cells
    if isinstance(cells, Fault):
        return cells
    if len(cells) < width or any(map(str.strip, cells[width:])):
        text = "This row has {cells} cells, and the header {columns}."
        return Fault.of("invalid_format", text, cells=len(cells), columns=width)
    # Spreadsheets, and our own CSV, put an apostrophe before a text that looks like a number or a formula.
    return [spellings.unmarked(cell) if (cell := cells[place - 1])[:1] == "'" else cell for place in places]


def _piece(last_row: int, rows: Rows) -> Piece:
    return Piece(last_row - len(rows.rows) + 1, zlib.compress(_encode(rows), COMPRESSION))


def _refuse(code: str, message: str, pointer: str) -> NoReturn:
    raise errors.Invalid.of(FieldError(code, message, pointer=pointer))
