"""Tables of items: the meanings of their columns, how cells are written, rows cut into pieces and as requests. No I/O.

A file is read once, when it arrives: the pieces keep the cells of the columns that count, so that each can be worked
off alone, in any process, at any time. A format is the kind of a column's values, perhaps with `day` or `month` (which
of them comes first), `comma` or `point` (the decimal sign), or an hour (of dates without a time): `time day 10:00`. An
earlier release wrote it without the kind.
"""

import csv
import difflib
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice, takewhile
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.core.messaging.addresses import CHANNEL_SMS, normal_or_none
from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import COLUMN, Node, Scope, leaves_of, matches
from afterword.core.questionnaires.metadata import GLOBAL, Declared
from afterword.core.reading import structs
from afterword.core.reading.findings import Findings, escape
from afterword.core.wire import times, written
from afterword.core.wire.tables import (
    ADDRESS,
    COLUMNS_MAX,
    RECORD_BYTES_MAX,
    ROWS_MAX,
    SEPARATORS,
    Fault,
    Record,
    read,
    read_whole,
)
from afterword.core.wire.written import plain
from afterword.errors import FieldError, Sentence

PIECE_ROWS: Final = 1_000
PIECE_CHARACTERS: Final = 1_000_000  # beyond, a piece is closed early: rows may be long
COMPRESSION: Final = 1
REFERENCE: Final = "external_reference"
SEND_TIME: Final = "send_time"
GROUPS: Final = {f"metadata.{kind}.": kind for kind in metadata.KINDS}
WIDE: Final = "Cells in this row: {cells}, in the header: {columns}."
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
NO_ROWS: Final = "The file has a header and no rows."
NONE_MEETS: Final = "No row of the file meets the condition."
LINES_ABOVE: Final = (
    "Lines stand above the header, such as a title. Remove them: the first line has to name the columns."
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
Written = Literal["date", "time", "number", "boolean", "language"]
FORMATS: Final[Mapping[Written, tuple[str, str]]] = {
    "date": ("day", "month"), "time": ("day", "month"), "number": ("comma", "point"),
}  # fmt: skip
MONTHS: Final = 12
SIGNS: Final = {"comma": ",", "point": "."}
HOUR: Final = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
VALUE_CHARACTERS_MAX: Final = 200


class Piece(NamedTuple):
    """Some rows of a file, compressed; `first_row` counts from 1, after the header."""

    first_row: int
    content: bytes


class Cut(msgspec.Struct, frozen=True):
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
    rows_left_out: int = 0  # which do not meet the condition; they count in no other number
    pieces: Sequence[Piece] = ()
    dated: Collection[str] = ()
    has_lines_above: bool = False


class Rows(msgspec.Struct, frozen=True):
    """The rows of a piece: cells in column order, references that occur earlier in the file, and the header's texts.

    `lines`: the lines of the file on which the rows begin; `numbers`: of the rows, from 1 after the header; `known`:
    places of rows whose address an earlier row of the file has; `joined`: places of rows that belong to the message of
    an earlier row.
    """

    rows: list[list[str] | Fault]
    repeated: list[str]
    names: list[str] = []
    lines: list[int] = []
    numbers: list[int] = []
    known: list[int] = []
    joined: list[int] = []


def cut(
    text: str,
    *,
    fields: Sequence[str],
    separator: str,
    mapping: Mapping[str, str],
    readers: Mapping[str, Callable[[str], str]] = MappingProxyType({}),
    joins: bool = False,
    only: Node | None = None,
) -> Cut:
    """Read the file. `fields` are the members of an item besides metadata.

    `mapping` gives the meanings of columns with other names; an empty text leaves one out. `readers`
    write the cells of columns as we read them. `joins`: rows with the reference of an earlier one, and without a
    reference those with the address of the row before, make one message. `only`: the condition of the rows that count;
    one that is wrong in itself always does. Raises Invalid (a quotation mark without end, no header, no rows) and
    TooLarge. A row that is wrong in itself is kept as a Fault, and `check` refuses a wrong header.
    """
    names, records = read(text, separator)
    found = Cut(fields, names, separator, mapping)
    columns, places, wrong = _header(found, declared=GLOBAL, strict=False)
    if wrong:
        return replace(found, dated=_dated(names, records))
    return _pieces(replace(found, columns=columns, places=places), records, readers, joins=joins, only=only)


def condition_on(text: str, separator: str, document: object, path: str, findings: Findings) -> Node | None:
    """The condition over the columns of this file; `path`: its place. Raises Invalid, for an unknown column too."""
    names, _ = read(text, separator)
    node = conditions.read(document, path, findings, Scope(columns=names))
    findings.check()
    return node


def check(found: Cut, *, declared: Declared, strict: bool = False) -> None:
    """Raise Invalid for what is wrong with a file's header, by the names that are declared."""
    columns, _, wrong = _header(found, declared=declared, strict=strict)
    if wrong and found.has_lines_above and ADDRESS not in columns:
        raise errors.Invalid.at("", "invalid_format", LINES_ABOVE)
    errors.check(wrong)


def read_piece(content: bytes) -> Rows:
    return msgspec.json.decode(zlib.decompress(content), type=Rows)


def document_of(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """A row as the request that it means; an empty cell is as if absent."""
    found: dict[str, Any] = {}
    groups: dict[str, dict[str, str]] = {}
    for column, cell in zip(columns, cells, strict=True):
        group = group_of(column)
        if group is None:
            if text := structs.cleaned(cell) if column == ADDRESS else structs.trimmed(cell):
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
        elif column == SEND_TIME and not structs.trimmed(cell):
            found.append(FieldError("required", NO_TIME, pointer=f"/{SEND_TIME}"))
    return found


def pointer_of(column: str) -> str:
    """The JSON Pointer of the member of a row's request that this column gives."""
    return f"/metadata/{'/'.join(map(escape, group))}" if (group := group_of(column)) else f"/{column}"


def group_of(column: str) -> tuple[metadata.Kind, str] | None:
    prefix = next((prefix for prefix in GROUPS if column.startswith(prefix)), None)
    return (GROUPS[prefix], column.removeprefix(prefix)) if prefix else None


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


def row_of(record: Record, places: Sequence[int], *, width: int) -> list[str] | Fault:
    """The cells at these places of a header of this width, from 1, or what is wrong with the row."""
    cells = record.cells
    if isinstance(cells, Fault):
        return cells
    if len(cells) < width or any(map(str.strip, cells[width:])):
        return Fault.of("invalid_format", WIDE, cells=len(cells), columns=width)
    # Spreadsheets, and our own CSV, put an apostrophe before a text that looks like a number or a formula.
    return [structs.unmarked(cell) if (cell := cells[place - 1])[:1] == "'" else cell for place in places]


class Seen(msgspec.Struct):
    """Values of a column: how many leave a choice between its two formats or take it, and fit only one of them.

    `without_time`: dates alone, in a column of times.
    """

    kind: Written
    total: int = 0
    only_first: int = 0
    only_second: int = 0
    without_time: int = 0

    @property
    def format(self) -> str | None:
        """The one that fits, empty where none is needed; None where none or both are proved."""
        if not self.total:
            return ""
        if bool(self.only_first) == bool(self.only_second):
            return None
        return FORMATS[self.kind][0 if self.only_first else 1]


def kinds_of(mapping: Mapping[str, str], declared: Declared) -> dict[str, Written]:
    """The columns whose values are written in several ways, by their meaning."""
    found: dict[str, Written] = {}
    for name, meaning in mapping.items():
        if meaning in {SEND_TIME, "locale"}:
            found[name] = "time" if meaning == SEND_TIME else "language"
        elif (kind := type_of(meaning, declared)) and kind != "text":
            found[name] = kind
    return found


def type_of(meaning: str, declared: Declared) -> metadata.Type | None:
    """The declared type of a column of metadata."""
    group = group_of(meaning)
    known = declared.get(*group) if group else None
    return known.type if known else None


def look(text: str, separator: str, kinds: Mapping[str, Written]) -> dict[str, Seen]:
    """The evidence for the formats of these columns. Reads all rows."""
    names, rows = read_whole(text, separator)
    columns = [(names.index(name), Seen(kind), name) for name, kind in kinds.items() if name in names]
    for _, cells in rows if any(seen.kind in FORMATS for _, seen, _ in columns) else ():
        for place, seen, _ in columns:
            if place < len(cells):
                _note(seen, cells[place].strip())
    return {name: seen for _, seen, name in columns}


def readers(formats: Mapping[str, str]) -> dict[str, Callable[[str], str]]:
    """For each column the function that writes a cell as we read it; it leaves what it does not know."""
    return {name: _reader(frozenset(one.split())) for name, one in formats.items()}


def seen_of(cells: Iterable[str]) -> Seen:
    """The evidence for the order of day and month in these dates."""
    seen = Seen("date")
    for cell in cells:
        _note(seen, cell)
    return seen


def count_ahead(cells: Sequence[str], *, now: datetime) -> tuple[int, int]:
    """The numbers of dates whose day is not over, by the order of day and month that favours them, and is over."""
    seen = seen_of(cells)
    orders = [seen.format] if seen.format else FORMATS["date"]
    counts = [Counter(_is_ahead(written.iso(cell, order, "23:59"), now) for cell in cells) for order in orders]
    return max(count[True] for count in counts), min(count[False] for count in counts)


class Repair(msgspec.Struct, frozen=True):
    """`values`: the right ones by the wrong ones. `every`: for all others; `country`: for phone numbers without one."""

    values: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    every: str = ""
    country: str = ""

    def of(self, cell: str) -> str:
        """The cell as it becomes; as it was where no part of the repair fits."""
        if right := self.values.get(cell.strip()) or self.every:
            return right
        if self.country and not cell.strip().startswith("+"):
            return normal_or_none(CHANNEL_SMS, cell, locale=f"und-{self.country}") or cell
        return cell


def wrong_values(text: str, separator: str, *, column: str, numbers: Collection[int]) -> Counter[str]:
    """The values of the column in the rows with these numbers, from 1, each with the number of its rows."""
    names, rows = read_whole(text, separator)
    place = names.index(column)
    return Counter(cells[place].strip() for number, cells in rows if number in numbers and place < len(cells))


def repaired_alike(
    text: str, separator: str, *, column: str, numbers: Collection[int], repair: Repair
) -> tuple[str, int]:
    """The file with the column repaired in the rows with these numbers, and in how many. Raises Invalid.

    All other rows stay as they are and where they are.
    """
    place = read(text, separator)[0].index(column)

    def alike(number: int, cells: list[str]) -> list[str]:
        if number not in numbers or place >= len(cells):
            return cells
        return [*cells[:place], repair.of(cells[place]), *cells[place + 1 :]]

    return repaired(text, separator, alike)


def cells_of(text: str, separator: str, numbers: Collection[int]) -> dict[int, dict[str, str]]:
    """The cells by column of the rows with these numbers, from 1; a broken row has none."""
    names, rows = read_whole(text, separator)
    last = max(numbers, default=0)
    first = takewhile(lambda numbered: numbered[0] <= last, rows)
    return {number: dict(zip(names, cells, strict=False)) for number, cells in first if number in numbers}


def rows_with(text: str, separator: str, value: str, *, limit: int) -> list[int]:
    """The numbers, from 1, of the first rows with a cell of this value, which is casefolded; a broken row has none."""
    _, rows = read_whole(text, separator)
    found = (number for number, cells in rows if any(cell.strip().casefold() == value for cell in cells))
    return [*islice(found, limit)]


def repaired_cells(text: str, separator: str, right: Mapping[int, Mapping[str, str]]) -> tuple[str, int]:
    """The file with these cells, by number of row and column, and how many rows changed. Raises Invalid."""
    names = read(text, separator)[0]

    def each(number: int, cells: list[str]) -> list[str]:
        own = right.get(number, {})
        return [*(own.get(name, cell) for name, cell in zip(names, cells, strict=False)), *cells[len(names) :]]

    return repaired(text, separator, each)


def repaired(text: str, separator: str, mend: Callable[[int, list[str]], list[str]]) -> tuple[str, int]:
    """The file with each row as `mend` gives it back, and how many changed. Raises Invalid.

    Broken rows stay as they are and where they are.
    """
    names, records = read(text, separator)
    whole = io.StringIO(newline="")
    writer = csv.writer(whole, delimiter=separator, lineterminator="\n")
    writer.writerow(names)
    count = 0
    for number, record in enumerate(records, start=1):
        cells = record.cells
        if isinstance(cells, Fault):
            if len(record.text) == RECORD_BYTES_MAX or cells.code == "too_long":
                text = "Row {row} is too long to be kept. Correct it alone first, by the download."
                raise errors.Invalid.at("", "too_long", Sentence(text, row=number))
            whole.write(record.text if record.text.endswith("\n") else f"{record.text}\n")
            continue
        mended = mend(number, cells)
        count += mended != cells
        writer.writerow(mended)
    return whole.getvalue(), count


# Below: how, in the order of their use ------------------------------------------------------------------------


def _header(found: Cut, *, declared: Declared, strict: bool) -> tuple[list[str], list[int], list[FieldError]]:
    names, mapping = found.names, found.mapping
    if len(names) > COLUMNS_MAX:
        raise errors.Invalid.at("", "too_many", Sentence("A file has at most {n} columns.", n=COLUMNS_MAX))
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
    if strict and declared.get(kind, known) is None:
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


def _missing(columns: Sequence[str], *, separator: str, names: Sequence[str]) -> list[FieldError]:
    if ADDRESS in columns:
        return []
    other = [one for one in SEPARATORS if one != separator and len(names) == 1 and one in names[0]]
    message = NO_ADDRESS_OTHER_SEPARATOR if other else NO_ADDRESS
    return [FieldError("required", message, pointer=f"/{ADDRESS}")]


def _too_many(columns: Sequence[str]) -> list[FieldError]:
    counts = Counter(group[0] for column in columns if (group := group_of(column)))
    full = [kind for kind, count in counts.items() if count > metadata.NAMES_MAX]
    message = Sentence("A metadata map has at most {n} names.", n=metadata.NAMES_MAX)
    return [FieldError("too_many", message, pointer=f"/metadata/{kind}") for kind in full]


def _pieces(
    found: Cut,
    records: Iterator[Record],
    readers: Mapping[str, Callable[[str], str]],
    *,
    joins: bool,
    only: Node | None,
) -> Cut:
    """The file with its pieces and numbers of rows. Raises Invalid where there is no row."""
    columns, places, left_out = found.columns, found.places, list[int]()
    shown = [found.names[place - 1] for place in places]
    reference = columns.index(REFERENCE) if REFERENCE in columns else None
    address = columns.index(ADDRESS) if ADDRESS in columns else None
    changed = [(place, readers[name]) for place, name in enumerate(shown) if name in readers]
    pieces: list[Piece] = []
    piece = Rows([], [], shown)
    seen: set[str] = set()
    met: set[str] = set()
    size = rows_total = rows_repeated = 0
    orders: dict[str, str] = {}
    before: list[str] = []
    for number, record in _met(records, found.names, only, left_out):
        rows_total += 1
        row = row_of(record, places, width=len(found.names))
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
        piece.numbers.append(number)
        if len(piece.rows) == PIECE_ROWS or size > PIECE_CHARACTERS:
            pieces.append(_piece(piece))
            piece, size = Rows([], [], shown), 0
    if piece.rows:
        pieces.append(_piece(piece))
    if not pieces:
        raise errors.Invalid.at("", "too_few", NONE_MEETS if left_out else NO_ROWS)
    counts = {"rows_total": rows_total, "rows_repeated": rows_repeated, "rows_left_out": len(left_out)}
    return replace(found, pieces=pieces, **counts)


def _met(
    records: Iterator[Record], names: Sequence[str], only: Node | None, left_out: list[int]
) -> Iterator[tuple[int, Record]]:
    """The rows that meet the condition, with their numbers; those of the others go to `left_out`."""
    subjects = [leaf.subject for leaf in leaves_of(only)]
    places = [names.index(subject.removeprefix(COLUMN)) + 1 for subject in subjects]
    for number, record in enumerate(records, start=1):
        if number > ROWS_MAX:
            raise errors.TooLarge(Sentence("A file may have {n} rows; send it in parts.", n=ROWS_MAX))
        cells = row_of(record, places, width=len(names)) if only else []
        if isinstance(cells, Fault) or matches(only, dict(zip(subjects, cells, strict=True))):
            yield number, record
        else:
            left_out.append(number)


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


def _piece(rows: Rows) -> Piece:
    return Piece(rows.numbers[0], zlib.compress(_encode(rows), COMPRESSION))


def _is_ahead(text: str, now: datetime) -> bool | None:
    try:
        return times.parse_date_time(text, zone=UTC, now=now).instant.date() >= now.date()
    except times.InvalidDateTime:
        return None


def _note(seen: Seen, value: str) -> None:
    if seen.kind in {"date", "time"}:
        found = written.date(value)
        if found is None:
            return
        seen.without_time += seen.kind == "time" and not found.time
        can_first, can_second = found.second <= MONTHS, found.first <= MONTHS
        if not found.is_open:
            return
    elif seen.kind == "number":
        first, second = written.number(value, ","), written.number(value, ".")
        can_first, can_second = first is not None, second is not None
        if first == second:
            return
    else:
        return
    if can_first or can_second:
        seen.total += 1
        seen.only_first += not can_second
        seen.only_second += not can_first


def _reader(tokens: frozenset[str]) -> Callable[[str], str]:
    if "boolean" in tokens:
        return lambda cell: written.boolean(cell) or cell
    if "language" in tokens:
        return lambda cell: written.language(cell) or cell
    if tokens & {"number", *SIGNS}:
        signs = [sign for name, sign in SIGNS.items() if name in tokens] or [*SIGNS.values()]
        return partial(_number, signs=signs)
    order = next((one for one in FORMATS["date"] if one in tokens), "")
    hour = next(filter(HOUR.fullmatch, tokens), "")
    return lambda cell: written.iso(cell, order, hour)


def _number(cell: str, *, signs: Collection[str]) -> str:
    """A number of the other format is none: “3.5” among commas is not read as it stands."""
    found = {written.number(cell, sign) for sign in signs} - {None}
    if len(found) == 1:
        return found.pop() or ""
    return f"{cell.strip()}?" if any(written.number(cell, sign) for sign in SIGNS.values()) else cell
