"""Lists as people have them: encoding, separator, header and columns guessed, faulty rows given back. No I/O.

Each guess can be corrected. What is read then is the same as of a file that `imports` reads.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword import errors
from afterword.core.questionnaires.metadata import Declared
from afterword.core.wire import imports, list_formats
from afterword.core.wire.imports import ADDRESS, REFERENCE, SEND_TIME, SEPARATORS, UTF8, UTF16_MARKS, Fault, Record
from afterword.errors import Sentence

OTHER_FORMATS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF-")  # beginnings of workbooks and PDFs
ENCODINGS: Final = (
    UTF8, "utf-16", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255",
    "windows-1256",
)  # fmt: skip
PROBLEM: Final = "problem"  # the column of faulty rows that are given back
SAMPLE_ROWS: Final = 5
SAMPLE_ROWS_SEEN: Final = 1_000  # blank ones too
GUESS_CHARACTERS: Final = 20_000
GUESS_ROWS: Final = 20
GUESS_BYTES: Final = 100_000

_FOREIGN_WORD: Final = re.compile(rb"[\xb8-\xff]{3,}")  # no Latin word has three letters with marks in a row
_HIGH: Final = re.compile(rb"[\x80-\xff]")
_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+\.\w+|\+?[\d\s()/.-]{7,20}")


@dataclass(frozen=True, slots=True)
class Reading:
    """The way in which a file is read. `has_header` False: its columns are named by their number."""

    encoding: str
    separator: str
    has_header: bool


def guess(content: bytes) -> Reading:
    """Raises Malformed for other kinds of files, and where no known encoding fits."""
    if content.startswith(OTHER_FORMATS):
        message = (
            "This is not a CSV file. Open it in your spreadsheet program, save it as “CSV UTF-8”, and send that file."
        )
        raise errors.Malformed(message, "malformed_encoding")
    encoding = _encoding_of(content)
    text = imports.decode(content, encoding)[:GUESS_CHARACTERS]
    separator = max(SEPARATORS, key=lambda each: _fit(text, each))
    rows = _some(text, separator)
    has_header = bool(rows) and not any(_ADDRESS.fullmatch(cell.strip()) for cell in rows[0])
    return Reading(encoding, separator, has_header)


def text_of(content: bytes, reading: Reading) -> str:
    """The text of a file, with a header in any case. Raises Malformed."""
    text = imports.decode(content, reading.encoding)
    if reading.has_header:
        return text
    rows = _some(text[:GUESS_CHARACTERS], reading.separator)
    return _written([[f"Column {number}" for number in range(1, len(rows[0]) + 1)] if rows else []], reading) + text


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


def columns_of(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    fields: Sequence[str],
    declared: Declared,
    remembered: Mapping[str, str],
    now: datetime,
) -> dict[str, str]:
    """The meaning of each column, empty for those that are left out: as remembered, by name and values, by values.

    A name that says whom to write to counts against its values where no other column has addresses. Values of
    yesterday are no times to send, although the last list had times in this column.
    """
    found: dict[str, str] = {}
    named: list[str] = []
    cells = {name: [text for row in rows if (text := row[place].strip())] for place, name in enumerate(names)}
    for name in names:
        meaning = remembered[name] if name in remembered else imports.meaning_of(name, fields, declared) or ""
        if meaning == ADDRESS:
            named.append(name)
        is_chosen = name in remembered and meaning != SEND_TIME
        is_misread = not is_chosen and not _fits_values(meaning, cells[name], now)
        found[name] = "" if name == PROBLEM or is_misread or meaning in found.values() else meaning
    if ADDRESS not in found.values():
        shaped = [name for name in names if not found[name] and cells[name] and all(map(_is_address, cells[name]))]
        found |= dict.fromkeys((shaped or named)[:1], ADDRESS)
    return found


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
    return _ADDRESS.fullmatch(text) is not None and not list_formats.is_date(text)


def _fits_values(meaning: str, cells: Sequence[str], now: datetime) -> bool:
    """Whether these values can have the meaning that the name of their column has."""
    if not cells:
        return True
    if meaning == ADDRESS:
        return any(map(_is_address, cells))
    if meaning == REFERENCE:
        return not all(map(list_formats.is_date, cells))
    if meaning == SEND_TIME:
        return any(list_formats.is_time_ahead(cell, now=now) for cell in cells)
    return True


def _encoding_of(content: bytes) -> str:
    if content.startswith(UTF16_MARKS):
        return "utf-16"
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    else:
        return UTF8
    head = content[:GUESS_BYTES]
    in_words = sum(len(word) for word in _FOREIGN_WORD.findall(head))
    if in_words * 2 < len(_HIGH.findall(head)):
        return "windows-1252"
    return next((each for each in ("windows-1253", "windows-1251") if _fits(content, each)), "windows-1252")


def _fits(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _fit(text: str, separator: str) -> tuple[int, int]:
    """The number of the first rows that are as wide as most, if that is more than one cell, and the width."""
    widths = Counter(len(row) for row in _some(text, separator))
    width, count = max(widths.items(), key=lambda pair: (pair[0] > 1, pair[1]), default=(0, 0))
    return (count, width) if width > 1 else (0, 0)


def _some(text: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
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
