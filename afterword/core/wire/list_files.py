"""Lists as people have them: encoding, separator and header guessed, faulty rows given back. No I/O.

Each guess can be corrected. What is read then is the same as of a file that `imports` reads.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from afterword import errors
from afterword.core.wire import imports, written
from afterword.core.wire.imports import ADDRESS, SEPARATORS, UTF8, UTF16_MARKS, Fault, Record
from afterword.core.wire.written import WORDS, plain
from afterword.errors import Sentence

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
_TOTALS: Final = frozenset(map(plain, WORDS["values"]["totals"].split()))
_KANA: Final = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+\.\w+|'?\+?[\d\s()/.-]{7,20}")


@dataclass(frozen=True, slots=True)
class Reading:
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
    text = imports.decode(content, encoding)
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
    """As a first line `sep=;` says, else the one that makes most rows equally wide."""
    line = _SEPARATOR_LINE.match(text)
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
    text = imports.decode(content, reading.encoding)
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
    header = _written([_distinct(named)], reading)
    return "\n" * (rows.line_num - 1) + header + _without_last(text[start:], reading.rows_below)


def sample_of(text: str, separator: str) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the first rows. Raises Invalid for a header that cannot be read or is too wide."""
    names, records = imports.read(text, separator, rows_max=SAMPLE_ROWS_SEEN)
    if len(names) > imports.COLUMNS_MAX:
        raise errors.Invalid.at("", "too_many", Sentence("A file has at most {n} columns.", n=imports.COLUMNS_MAX))
    rows: list[list[str]] = []
    for record in records:
        if not isinstance(record.cells, Fault):
            rows.append([*record.cells, *[""] * len(names)][: len(names)])
        if len(rows) == SAMPLE_ROWS:
            break
    return names, rows


def foreign_words(text: str) -> list[str]:
    """Some words with letters beyond English ones: they show whether the encoding is right."""
    words = (word for word in _WORD.findall(text[:GUESS_CHARACTERS]) if not word.isascii())
    return [*dict.fromkeys(words)][:FOREIGN_WORDS_MAX]


def faulty(text: str, reading: Reading, problems: Mapping[int, str]) -> str:
    """A CSV of the rows with these numbers, from 1, each with its problem behind it."""
    names, records = imports.read(text, reading.separator)
    rows = [[*names, PROBLEM]]
    for number, record in enumerate(records, start=1):
        if number in problems:
            rows.append([*_cells_of(record, names, reading.separator), problems[number]])
    return _written(rows, reading)


def repaired(text: str, reading: Reading, *, corrected: str, separator: str, numbers: Collection[int]) -> str:
    """The file with these rows taken out, and the corrected ones at its end. Raises Invalid.

    The corrected rows name their columns as the file does, in any order.
    """
    names, records = imports.read(text, reading.separator)
    new_names, new = imports.read(corrected, separator)
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
    return _written([names, *kept, *added], reading)


# Below: how, in the order of their use ------------------------------------------------------------------------


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


def _distinct(names: Sequence[str]) -> list[str]:
    """A name for each column: the number of one without, and a number behind one that an earlier column has."""
    found: list[str] = []
    for place, name in enumerate(names, start=1):
        whole, number = name or f"Column {place}", 1
        while (one := whole if number == 1 else f"{whole} ({number})") in found:
            number += 1
        found.append(one)
    return found


def _encoding_of(content: bytes) -> str:
    if content.startswith(UTF16_MARKS) or imports.is_utf16(content):
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


def _written(rows: Sequence[Sequence[str]], reading: Reading) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=reading.separator, lineterminator="\n").writerows(rows)
    return text.getvalue()
