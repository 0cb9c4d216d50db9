"""Tables as people have them, CSV and XLSX: encoding, separator and header guessed, rows read and written. No I/O.

Each guess can be corrected. Functions that read a whole file are for a thread of their own.
"""

import csv
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice, repeat
from typing import Final, NamedTuple

import msgspec

from afterword import errors
from afterword.core.wire import written
from afterword.core.wire.written import WORDS, plain
from afterword.errors import Sentence

ROWS_MAX: Final = 200_000
RECORD_BYTES_MAX: Final = 65_536
COLUMNS_MAX: Final = 500
SEPARATORS: Final = (",", ";", "\t", "|")
UTF8: Final = "utf-8"
ASCII: Final = bytes(range(128))
UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
HEAD_BYTES: Final = 100
ADDRESS: Final = "responder_channel_identifier"
BROKEN: Final = "The quotation marks of this row are broken: one within a quoted cell must be doubled."
NOT_UTF8: Final = (
    "The file is not UTF-8: line {line} has other bytes, as Latin-1 and Windows-1252 write them. "
    "Save it as “CSV UTF-8” and send it again."
)
NOT_DECODED: Final = (
    "The file is not {encoding}: line {line} has other bytes. Save it as “CSV UTF-8” and send it again."
)
OTHER_FORMATS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF-")  # beginnings of workbooks and PDFs
ENCODINGS: Final[Mapping[str, str]] = {
    UTF8: "UTF-8", "utf-16": "UTF-16", **{name: one["title"] for name, one in sorted(WORDS["encodings"].items())}
}  # fmt: skip
PROBLEM: Final = "problem"  # the column of faulty rows that are given back
SAMPLE_ROWS: Final = 200
SAMPLE_ROWS_SEEN: Final = 1_000  # blank ones too
GUESS_CHARACTERS: Final = 100_000
GUESS_ROWS: Final = 20
TITLES_MAX: Final = 10  # rows above the header, and behind the last row
TAIL_CHARACTERS: Final = 8_000
FOREIGN_WORDS_MAX: Final = 5
_SEPARATOR_LINE: Final = re.compile(r'\s*"?sep=(.)"?[;,\t|]*(?:\r\n|\r|\n)', re.IGNORECASE)
_QUOTED_CELL: Final = re.compile(r'"(?:[^"]|"")*"([;,\t|])')
_TOTALS: Final = frozenset(map(plain, WORDS["values"]["totals"].split()))
_KANA: Final = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+\.\w+|'?\+?[\d\s()/.-]{7,20}")
BEGINNING: Final = b"PK\x03\x04"
UNPACKED_BYTES_MAX: Final = 134_217_728
PARTS_MAX: Final = 1_000
CELLS_MAX: Final = 4_000_000  # of a sheet, the empty ones between others too
TEXT_BYTES_MAX: Final = 134_217_728  # of all cells, as shared texts are copied into each
EXACT_MAX: Final = 10**15  # beyond, a spreadsheet has rounded a number
TOO_LARGE: Final = "This workbook is too large. Send its list as CSV."
UNREADABLE: Final = "This workbook cannot be read. Save its list as “CSV UTF-8”, and send that file."
_PLACE: Final = re.compile(rb"""\sr\s*=\s*["']([A-Za-z]*)(\d*)""")
_VALUE: Final = re.compile(rb"<(?:[\w.-]+:)?v(?:\s[^<>]*)?>([^<]*)")
_OPENED: Final = re.compile(rb"<(?:[\w.-]+:)?v[\s>]")
_EMPTY: Final = re.compile(
    rb"""<((?:[\w.-]+:)?)(?:c|row)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(?:/>|>\s*</\1(?:c|row)\s*>)"""
)
"""Cells and rows that have a format alone, as programs write them for a whole column."""
_END_OF_TEXT: Final = re.compile(rb"</(?:[\w.-]+:)?si\s*>")


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


class Record(NamedTuple):
    """A row as it stands in the file: the line on which it begins, its cells or what is wrong with it, its text."""

    line: int
    cells: list[str] | Fault
    text: str = ""  # of one whose cells cannot be told apart


def decode(content: bytes, encoding: str | None = UTF8) -> str:
    """The text of a file; None: in the encoding that two of its letters tell. Raises Malformed: what to do."""
    encoding = encoding or (_encoding_of(content) if len(content.translate(None, ASCII)) > 1 else UTF8)
    if encoding == UTF8 and (content.startswith(UTF16_MARKS) or is_utf16(content)):
        message = "The file is UTF-16. Save it as “CSV UTF-8” and send it again."
        raise errors.Malformed(message, "malformed_encoding")
    try:
        return content.decode("utf-8-sig" if encoding == UTF8 else encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        said = NOT_UTF8 if encoding == UTF8 else NOT_DECODED
        message = Sentence(said, encoding=encoding.upper(), line=line)
        raise errors.Malformed(message, "malformed_encoding") from None


def is_utf16(content: bytes) -> bool:
    """Whether a quarter of the first bytes, or more, is NUL."""
    head = content[:HEAD_BYTES]
    return head.count(b"\x00") * 4 >= max(len(head), 4)


def read(text: str, separator: str, *, rows_max: int | None = None) -> tuple[list[str], Iterator[Record]]:
    """The names of the header, and the rows behind it. Raises Invalid for a header that cannot be read.

    `rows_max`: so many rows are looked at, blank ones too.
    """
    records = _records(text, separator, rows_max)
    header = next(records, None)
    if header is None:
        raise errors.Invalid.at("", "too_few", "The file has no header.")
    if isinstance(header.cells, Fault):
        text = "The file's header cannot be read. {problem}"
        raise errors.Invalid.at("", header.cells.code, Sentence(text, problem=header.cells.sentence))
    names = [name.strip() for name in header.cells]
    while names and not names[-1]:
        names.pop()
    return names, records


def read_whole(
    text: str, separator: str, *, rows_max: int | None = None
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """As `read`, without the broken rows: each other row with its number, from 1."""
    names, records = read(text, separator, rows_max=rows_max)
    numbered = enumerate(records, start=1)
    return names, ((number, each.cells) for number, each in numbered if not isinstance(each.cells, Fault))


class Reading(msgspec.Struct, frozen=True):
    """The way in which a file is read. `has_header` False: its columns are named by their number.

    `rows_above` and `rows_below` are titles above the header and sums or notes behind the last row.
    """

    encoding: str
    separator: str
    has_header: bool
    rows_above: int = 0
    rows_below: int = 0


def guess(content: bytes) -> Reading:
    """Raises Malformed for other kinds of files, and where no known encoding fits."""
    if content.startswith(OTHER_FORMATS):
        message = (
            "This is neither a CSV file nor an XLSX workbook. Open it in your spreadsheet program, save it as one of "
            "these, and send that file."
        )
        raise errors.Malformed(message, "malformed_encoding")
    encoding = _encoding_of(content)
    text = decode(content, encoding)
    separator = separator_of(text)
    rows = _some(text, separator)
    above = _titles(rows)
    has_header = bool(rows) and _is_header(rows[above])
    below = _notes(text, separator, rows[above:]) if has_header else 0
    return Reading(encoding, separator, has_header, above, below)


def has_lines_above(text: str, separator: str) -> bool:
    """Whether titles stand above the header."""
    rows = _some(text, separator)
    above = _titles(rows)
    return above > 0 and _is_header(rows[above])


def separator_of(text: str) -> str:
    """As a first line `sep=;` says or what is behind a quoted first cell, else the one that makes rows equally wide."""
    line = _SEPARATOR_LINE.match(text) or _QUOTED_CELL.match(text)
    return line[1] if line and line[1] in SEPARATORS else max(SEPARATORS, key=lambda each: _fit(text, each))


def opened(text: str, separator: str | None, mapping: Mapping[str, str]) -> tuple[str, str]:
    """The text without a first line `sep=;`, and its separator: the given one, or a comma where it finds an address."""
    line = _SEPARATOR_LINE.match(text)
    rest = f"\n{text[line.end() :]}" if line else text
    head = _some(rest, ",")
    is_comma = bool(head) and any(mapping.get(name.strip(), name.strip()) == ADDRESS for name in head[0])
    return rest, separator or ("," if is_comma else separator_of(text))


def text_of(content: bytes, reading: Reading) -> str:
    """The text of a file, with a header in any case, whose names differ. Raises Malformed.

    Titles above the header become blank lines, so that lines keep their numbers.
    """
    text = decode(content, reading.encoding)
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=reading.separator)
    names: list[str] = []
    start, above = 0, reading.rows_above
    try:
        for row in rows:
            if any(map(str.strip, row)):
                names, above = row, above - 1
                if above < 0:
                    break
            start = lines.tell()
    except csv.Error:
        return text  # its reader says why
    if reading.has_header:
        start = lines.tell()
        named = [" ".join(name.split()) for name in names]
        while named and not named[-1]:
            named.pop()
    else:
        named = [""] * len(names)
    header = csv_text([distinct(named, "Column {n}")], reading.separator, end="\n")
    return "\n" * (rows.line_num - 1) + header + _without_last(text[start:], reading.rows_below)


def distinct(names: Sequence[str], nameless: str = "") -> list[str]:
    """No two alike: the second "Why?" is "Why? (2)". `nameless`: of a column without a name, {n} is its number."""
    found: dict[str, int] = {}  # by name, how often it stood there
    chosen: list[str] = []
    for place, given in enumerate(names, start=1):
        name = shown = given or nameless.format(n=place)
        while name and shown in found:
            found[name] += 1
            shown = f"{name} ({found[name]})"
        found[shown] = 1
        chosen.append(shown)
    return chosen


def sample_of(text: str, separator: str) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the first rows. Raises Invalid for a header that cannot be read or is too wide."""
    names, rows = read_whole(text, separator, rows_max=SAMPLE_ROWS_SEEN)
    if len(names) > COLUMNS_MAX:
        raise errors.Invalid.at("", "too_many", Sentence("A file has at most {n} columns.", n=COLUMNS_MAX))
    return names, [[*cells, *[""] * len(names)][: len(names)] for _, cells in islice(rows, SAMPLE_ROWS)]


def foreign_words(text: str) -> list[str]:
    """Some words with letters beyond English ones: they show whether the encoding is right."""
    words = (word for word in _WORD.findall(text[:GUESS_CHARACTERS]) if not word.isascii())
    return [*dict.fromkeys(words)][:FOREIGN_WORDS_MAX]


def faulty(text: str, reading: Reading, problems: Mapping[int, str]) -> str:
    """A CSV of the rows with these numbers, from 1, each with its problem behind it."""
    names, records = read(text, reading.separator)
    rows = [[*names, PROBLEM]]
    for number, record in enumerate(records, start=1):
        if number in problems:
            rows.append([*_cells_of(record, names, reading.separator), problems[number]])
    return csv_text(rows, reading.separator, end="\n")


def repaired(text: str, reading: Reading, *, corrected: str, separator: str, numbers: Collection[int]) -> str:
    """The file with these rows taken out, and the corrected ones at its end. Raises Invalid.

    The corrected rows name their columns as the file does, in any order.
    """
    names, records = read(text, reading.separator)
    new_names, new = read(corrected, separator)
    missing = [name for name in names if name not in new_names]
    if missing:
        text = "The corrected rows lack the column “{column}”. Keep the header of the file that you downloaded."
        raise errors.Invalid.at("/file", "required", Sentence(text, column=missing[0]))
    kept = [
        _cells_of(record, names, reading.separator)
        for number, record in enumerate(records, start=1)
        if number not in numbers
    ]
    order = [new_names.index(name) for name in names]
    added: list[list[str]] = []
    for record in new:
        cells = _cells_of(record, new_names, separator)
        added.append([cells[place] if place < len(cells) else "" for place in order])
    return csv_text([names, *kept, *added], reading.separator, end="\n")


def csv_of(content: bytes) -> bytes:
    """The one sheet that has cells, in UTF-8. Raises Malformed, TooLarge."""
    found = {name: rows for name, rows in sheets_of(content).items() if rows}
    if not found:
        raise errors.Malformed("This workbook has no rows.", "malformed_encoding")
    if len(found) > 1:
        text = "This workbook has several sheets: “{names}”. Save the one with the list alone."
        raise errors.Malformed(Sentence(text, names="”, “".join(found)), "malformed_encoding")
    return csv_text(found.popitem()[1], end="\n").encode()


def sheets_of(content: bytes) -> dict[str, list[list[str]]]:
    """The rows of all visible sheets of a workbook, as texts. Raises Malformed, TooLarge."""
    import python_calamine  # noqa: PLC0415  1 MB, for workbooks alone

    visible = python_calamine.SheetVisibleEnum.Visible
    try:
        workbook = python_calamine.load_workbook(io.BytesIO(_bounded(content)))
        names = [one.name for one in workbook.sheets_metadata if one.visible == visible]
        sheets = {name: workbook.get_sheet_by_name(name).to_python() for name in names}
    except (python_calamine.CalamineError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError):
        raise errors.Malformed(UNREADABLE, "malformed_encoding") from None
    return {name: [[_text(cell) for cell in row] for row in rows] for name, rows in sheets.items()}


# Below: how, in the order of their use ------------------------------------------------------------------------


class _Lines(msgspec.Struct):
    """The lines of a text for the reader of records; `taken` are those of the record that it is reading."""

    lines: Iterator[str]
    taken: list[str] = msgspec.field(default_factory=list[str])
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
                raise errors.Invalid.at("", "invalid_format", _open_mark(number, lines)) from None
            cells = None
        if cells is not None and not any(map(str.strip, cells)):
            continue
        number += 1
        line = lines.number - len(lines.taken) + 1
        if (fault := _fault_of(cells, lines)) is not None:
            yield Record(line, fault, "".join(lines.taken)[:RECORD_BYTES_MAX])
        else:
            yield Record(line, cells or [])


def _open_mark(number: int, lines: _Lines) -> Sentence:
    if lines.has_ended and number:
        return Sentence("A quotation mark is opened in row {row} and never closed.", row=number)
    if lines.has_ended:
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


def _is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None and not written.is_date(text)


def _is_header(row: Sequence[str]) -> bool:
    return not any(_is_address(cell.strip()) for cell in row)


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """The rows above the header: those before the first one that is as wide as most, if they are half as wide."""
    widths = [max(place * bool(cell.strip()) for place, cell in enumerate(row, start=1)) for row in rows]
    usual = max(Counter(widths).items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))[0]
    above = next((place for place, width in enumerate(widths) if width >= usual), 0)
    is_separator = bool(rows) and rows[0][0].strip().lower().startswith("sep=")
    if usual < 2 or above > TITLES_MAX or any(width > usual // 2 for width in widths[:above]):  # noqa: PLR2004
        return int(is_separator)
    has_address = any(_is_address(cell.strip()) for row in rows[:above] for cell in row)
    return int(is_separator) if has_address else max(above, int(is_separator))


def _notes(text: str, separator: str, rows: Sequence[Sequence[str]]) -> int:
    """The last rows that lack an address, where others have it, and most cells too: sums, and notes of a report."""
    if len(rows) < 2:  # noqa: PLR2004  a header and a row
        return 0
    shaped = [(place, "@" in cell) for row in rows[1:] for place, cell in enumerate(row) if _is_address(cell.strip())]
    has_mail = any(is_mail for _, is_mail in shaped)
    places = Counter(place for place, is_mail in shaped if is_mail or not has_mail)
    if not places:
        return 0
    address, width = places.most_common(1)[0][0], len(rows[0])
    count = 0
    for line in reversed(text[-TAIL_CHARACTERS:].splitlines()[1:]):
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
        filled = sum(map(bool, cells))
        if not filled:
            continue
        is_total = plain(cells[0]) in _TOTALS
        if line.count('"') % 2 or filled * 2 > width + 1 or (cells[address : address + 1] > [""] and not is_total):
            break
        count += 1
    return count if count <= TITLES_MAX else 0


def _without_last(text: str, rows: int) -> str:
    """Without the last lines that have anything in them."""
    for _ in range(rows):
        text = text.rstrip("\r\n ;,|\t")
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def _encoding_of(content: bytes) -> str:
    if content.startswith(UTF16_MARKS) or is_utf16(content):
        return "utf-16"
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    else:
        return UTF8
    # The first of equals: Western letters alone are read as Windows-1252.
    return max(WORDS["encodings"], key=lambda name: _likeness(content, name, WORDS["encodings"][name]["letters"]))


def _likeness(content: bytes, encoding: str, alphabets: Sequence[str]) -> float:
    """The share of letters beyond English ones that one language of the encoding has."""
    try:
        text = content.decode(encoding)[:GUESS_CHARACTERS]
    except UnicodeDecodeError:
        return -1
    count = len(_NOT_ASCII.findall(text)) or 1
    if encoding == "shift-jis":
        return len(_KANA.findall(text)) / count
    is_latin = encoding in {"windows-1250", "windows-1252", "windows-1254", "mac-roman"}
    words = [word for word in _WORD.findall(text) if (not word.isascii() if is_latin else _NOT_ASCII.match(word))]
    words = [word for word in words if word.isupper() or word[1:] == word[1:].lower()]  # as people write great letters
    letters = Counter("".join(words).lower())
    known = max(sum(letters[letter] for letter in alphabet) for alphabet in alphabets)
    return (known + (0 if is_latin else sum(letters[letter] for letter in alphabets[0][:10]) / 100)) / count


def _fit(text: str, separator: str) -> tuple[int, int]:
    """The number of the first rows that are as wide as most, if that is more than one cell, and the width."""
    widths = Counter(len(row) for row in _some(text, separator))
    width, count = max(widths.items(), key=lambda pair: (pair[0] > 1, pair[1]), default=(0, 0))
    return (count, width) if width > 1 else (0, 0)


def _some(text: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text[:GUESS_CHARACTERS], newline=""), delimiter=separator):
            if any(map(str.strip, row)):
                rows.append(row)
            if len(rows) == GUESS_ROWS:
                break
    except csv.Error:
        pass
    return rows


def _cells_of(record: Record, names: Sequence[str], separator: str) -> list[str]:
    """The cells, as many as the header has or more; those of a broken row as well as they can be told apart."""
    cells = record.cells
    if isinstance(cells, Fault):
        try:
            cells = next(csv.reader([record.text.replace("\x00", "")], delimiter=separator), [])
        except csv.Error:
            cells = [record.text[:100]]
    return [*cells, *[""] * (len(names) - len(cells))]


def csv_text(
    rows: Iterable[Sequence[object]], separator: str = ",", *, end: str = "\r\n", is_quoted: bool = False
) -> str:
    """Rows as CSV, in lines that end with `end`. `is_quoted`: each value stands in quotes, needed or not."""
    quoting = csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


def _bounded(content: bytes) -> bytes:
    """The workbook without compression and pictures. Raises TooLarge, BadZipFile."""
    whole, left, parts = io.BytesIO(), UNPACKED_BYTES_MAX, dict[str, bytes]()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(whole, "w") as target:
        wanted = [one for one in source.infolist() if one.filename.endswith((".xml", ".rels"))]
        is_plain = all(one.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for one in wanted)
        if len(wanted) > PARTS_MAX or not is_plain or any(one.flag_bits & 1 for one in wanted):
            raise zipfile.BadZipFile
        for one in wanted:
            with source.open(one) as opened:
                part = parts[one.filename] = opened.read(left + 1)
            left -= len(part)
            if left < 0:
                raise errors.TooLarge(TOO_LARGE)
            target.writestr(one.filename, part)
    texts = b"".join(part for name, part in parts.items() if name.lower().endswith("sharedstrings.xml"))
    sizes = [len(one) for one in _END_OF_TEXT.split(texts)]
    for part in parts.values():
        if b"sheetData" in part:
            _check_sheet(part, sizes)
    return whole.getvalue()


def _check_sheet(part: bytes, sizes: list[int]) -> None:
    values = _VALUE.findall(part)
    # Without comments, marked sections and references to characters, no cell hides from these patterns.
    is_odd = b"<!" in part or b"\x00" in part or any(b"&#" in value for value in values)
    if is_odd or len(_OPENED.findall(part)) != len(values):
        raise zipfile.BadZipFile
    row, column = _extent(part)
    if row > ROWS_MAX + 1 or column > COLUMNS_MAX or row * column > CELLS_MAX:
        row, column = _extent(_EMPTY.sub(b"", _EMPTY.sub(b"", part)))  # without cells, then rows, that hold nothing
    numbers = (int(value) for value in values if len(value) < len(str(UNPACKED_BYTES_MAX)) and value.isdigit())
    characters = sum(sizes[number] for number in numbers if number < len(sizes))
    if row > ROWS_MAX + 1 or column > COLUMNS_MAX:
        text = "A list may have {rows} rows and {columns} columns; send it in parts."
        raise errors.TooLarge(Sentence(text, rows=ROWS_MAX, columns=COLUMNS_MAX))
    if max(row * column, len(values)) > CELLS_MAX or characters > TEXT_BYTES_MAX:
        raise errors.TooLarge(TOO_LARGE)


def _extent(part: bytes) -> tuple[int, int]:
    """The number of its last row and column."""
    places = _PLACE.findall(part)
    row = max((int(digits[:8] or 0) for digits in {digits for _, digits in places}), default=0)
    return row, max((_number_of(letters[:4]) for letters in {letters for letters, _ in places}), default=0)


def _number_of(letters: bytes) -> int:
    return sum((letter - 64) * 26**place for place, letter in enumerate(reversed(letters.upper())))


def _text(cell: float | str | bool | date | time | timedelta) -> str:  # noqa: FBT001
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int | float):
        if abs(cell) >= EXACT_MAX:
            return f"{cell:.9E}"
        return str(int(cell)) if cell == int(cell) else f"{Decimal(repr(cell)):f}"
    if isinstance(cell, datetime):
        day = cell.replace(microsecond=0)
        return day.date().isoformat() if day.time() == time() else day.isoformat(sep=" ")
    return str(cell)
