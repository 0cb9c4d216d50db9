"""XLSX workbooks as CSV, each cell with its whole value. No I/O; for a thread.

All that the library would unpack or copy is counted before it reads.
"""

import csv
import io
import re
import zipfile
import zlib
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Final, NoReturn

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

_VISIBLE: Final = python_calamine.SheetVisibleEnum.Visible
_SHEETS: Final = "xl/worksheets/"
_PLACE: Final = re.compile(rb"""\sr\s*=\s*["']([A-Za-z]*)(\d*)""")
_VALUE: Final = re.compile(rb"<(?:[\w.-]+:)?v(?:\s[^>]*)?>([^<]*)")
_END_OF_TEXT: Final = re.compile(rb"</(?:[\w.-]+:)?si\s*>")


def csv_of(content: bytes) -> bytes:
    """The one sheet that has cells, in UTF-8. Raises Malformed, TooLarge."""
    try:
        workbook = python_calamine.load_workbook(io.BytesIO(_bounded(content)))
        shown = [each.name for each in workbook.sheets_metadata if each.visible == _VISIBLE]
        found = [(name, rows) for name in shown if (rows := workbook.get_sheet_by_name(name).to_python())]
    except (python_calamine.CalamineError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError):
        _refuse("This workbook cannot be read. Save its list as “CSV UTF-8”, and send that file.")
    if not found:
        _refuse("This workbook has no rows.")
    if len(found) > 1:
        names = "”, “".join(name for name, _ in found)
        _refuse(Sentence("This workbook has several sheets: “{names}”. Save the one with the list alone.", names=names))
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([_text(cell) for cell in row] for row in found[0][1])
    return text.getvalue().encode()


def _bounded(content: bytes) -> bytes:
    """The workbook without compression and pictures. Raises TooLarge, Malformed for what is no such workbook."""
    whole = io.BytesIO()
    left = UNPACKED_BYTES_MAX
    parts: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(whole, "w") as target:
        wanted = [each for each in source.infolist() if each.filename.endswith((".xml", ".rels"))]
        if len(wanted) > PARTS_MAX or "xl/workbook.xml" not in source.namelist():
            raise zipfile.BadZipFile
        for each in wanted:
            if each.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} or each.flag_bits & 1:
                raise zipfile.BadZipFile
            with source.open(each) as opened:
                part = opened.read(left + 1)
            left -= len(part)
            if left < 0:
                raise errors.TooLarge("This workbook is too large. Send its list as CSV.")
            if each.filename.startswith(_SHEETS) or each.filename.endswith("sharedStrings.xml"):
                parts[each.filename] = part
            target.writestr(each.filename, part)
    texts = next((part for name, part in parts.items() if name.endswith("sharedStrings.xml")), b"")
    sizes = [len(each) for each in _END_OF_TEXT.split(texts)]
    for name, part in parts.items():
        if name.startswith(_SHEETS):
            _check_sheet(part, sizes)
    return whole.getvalue()


def _check_sheet(part: bytes, sizes: list[int]) -> None:
    # Without comments and marked sections, nothing of a cell hides from these patterns.
    if b"<!" in part or b"\x00" in part:
        raise zipfile.BadZipFile
    places = _PLACE.findall(part)
    row = max((int(digits[:8]) for digits in {digits for _, digits in places} if digits), default=0)
    column = max((_number_of(letters[:4]) for letters in {letters for letters, _ in places}), default=0)
    values = _VALUE.findall(part)
    if any(b"&#" in value for value in values):
        raise zipfile.BadZipFile
    digits_max = len(str(UNPACKED_BYTES_MAX))
    numbers = [int(value) for value in values if len(value) < digits_max and value.isdigit()]
    characters = sum(sizes[number] for number in numbers if number < len(sizes))
    if row > ROWS_MAX + 1 or column > COLUMNS_MAX:
        text = "A list may have {rows} rows and {columns} columns; send it in parts."
        raise errors.TooLarge(Sentence(text, rows=ROWS_MAX, columns=COLUMNS_MAX))
    if max(row * column, len(places)) > CELLS_MAX or characters > TEXT_BYTES_MAX:
        raise errors.TooLarge("This workbook is too large. Send its list as CSV.")


def _number_of(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _text(cell: float | str | bool | date | time | timedelta) -> str:  # noqa: FBT001
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        if abs(cell) >= EXACT_MAX:
            return f"{cell:.9E}"
        return str(int(cell)) if cell == int(cell) else f"{Decimal(repr(cell)):f}"
    if isinstance(cell, datetime):
        day = cell.replace(microsecond=0)
        return day.date().isoformat() if day.time() == time() else day.isoformat(sep=" ")
    return str(cell)


def _refuse(message: str) -> NoReturn:
    raise errors.Malformed(message, "malformed_encoding")
