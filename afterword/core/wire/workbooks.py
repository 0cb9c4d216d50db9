"""XLSX workbooks as CSV, each cell with its whole value; for a thread. No I/O.

All that the library would unpack or copy is counted before it reads.
"""

import csv
import io
import re
import zipfile
import zlib
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Final

import python_calamine

from afterword import errors
from afterword.core.wire.imports import COLUMNS_MAX, ROWS_MAX
from afterword.errors import Sentence

BEGINNING: Final = b"PK\x03\x04"
UNPACKED_BYTES_MAX: Final = 134_217_728
PARTS_MAX: Final = 1_000
CELLS_MAX: Final = 4_000_000  # of a sheet, the empty ones between others too
TEXT_BYTES_MAX: Final = 134_217_728  # of all cells, as shared texts are copied into each
EXACT_MAX: Final = 10**15  # beyond, a spreadsheet has rounded a number
TOO_LARGE: Final = "This workbook is too large. Send its list as CSV."
UNREADABLE: Final = "This workbook cannot be read. Save its list as “CSV UTF-8”, and send that file."

_VISIBLE: Final = python_calamine.SheetVisibleEnum.Visible
_PLACE: Final = re.compile(rb"""\sr\s*=\s*["']([A-Za-z]*)(\d*)""")
_VALUE: Final = re.compile(rb"<(?:[\w.-]+:)?v(?:\s[^<>]*)?>([^<]*)")
_OPENED: Final = re.compile(rb"<(?:[\w.-]+:)?v[\s>]")
_END_OF_TEXT: Final = re.compile(rb"</(?:[\w.-]+:)?si\s*>")


def csv_of(content: bytes) -> bytes:
    """The one sheet that has cells, in UTF-8. Raises Malformed, TooLarge."""
    try:
        workbook = python_calamine.load_workbook(io.BytesIO(_bounded(content)))
        names = [one.name for one in workbook.sheets_metadata if one.visible == _VISIBLE]
        found = {name: rows for name in names if (rows := workbook.get_sheet_by_name(name).to_python())}
    except (python_calamine.CalamineError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError):
        raise errors.Malformed(UNREADABLE, "malformed_encoding") from None
    if not found:
        raise errors.Malformed("This workbook has no rows.", "malformed_encoding")
    if len(found) > 1:
        text = "This workbook has several sheets: “{names}”. Save the one with the list alone."
        raise errors.Malformed(Sentence(text, names="”, “".join(found)), "malformed_encoding")
    table = io.StringIO(newline="")
    csv.writer(table, lineterminator="\n").writerows([_text(cell) for cell in row] for row in found.popitem()[1])
    return table.getvalue().encode()


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
    places = _PLACE.findall(part)
    row = max((int(digits[:8] or 0) for digits in {digits for _, digits in places}), default=0)
    column = max((_number_of(letters[:4]) for letters in {letters for letters, _ in places}), default=0)
    numbers = (int(value) for value in values if len(value) < len(str(UNPACKED_BYTES_MAX)) and value.isdigit())
    characters = sum(sizes[number] for number in numbers if number < len(sizes))
    if row > ROWS_MAX + 1 or column > COLUMNS_MAX:
        text = "A list may have {rows} rows and {columns} columns; send it in parts."
        raise errors.TooLarge(Sentence(text, rows=ROWS_MAX, columns=COLUMNS_MAX))
    if max(row * column, len(values)) > CELLS_MAX or characters > TEXT_BYTES_MAX:
        raise errors.TooLarge(TOO_LARGE)


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
