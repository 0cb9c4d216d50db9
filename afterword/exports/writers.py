"""The formats of an export's file: rows in, bytes out, never the whole file in memory."""

import codecs
import csv
import io
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
import xlsxwriter

from afterword import errors
from afterword.core.wire.exports import (
    CELL_CHARACTERS_MAX,
    FIXED,
    SUSPECT,
    TIMES,
    XLSX_ROWS_MAX,
    Cell,
    ExportTable,
    Format,
    Part,
    Response,
    guarded,
    has_formula_behind_separator,
)

CHUNK_BYTES: Final = 1 << 20
MEDIA_TYPES: Final[dict[Format, str]] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/x-ndjson",
}
_XLSX_OPTIONS: Final = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "in_memory": False,
}
_TIME_FORMAT: Final = "yyyy-mm-dd hh:mm:ss"
_DAY_FORMAT: Final = "yyyy-mm-dd"
_LOCAL_CHARACTERS: Final = len("2026-11-21T10:00:00")  # a time without its offset: cells have no zone
YEAR_MIN: Final = 1900  # of a spreadsheet's dates
WIDTH_MIN: Final = 10  # characters
WIDTH_MAX: Final = 40


class TooManyRows(errors.Conflict):
    """The format has no room for so many rows."""


class Writer(ABC):
    """Writes one file. A resumable one may be a new one for every piece, as long as only the first begins the file."""

    is_resumable = True

    def begin(self) -> bytes:
        """The first bytes of the file."""
        return b""

    @abstractmethod
    def write(self, responses: Sequence[Response]) -> bytes:
        """The bytes of these rows; empty for formats that are written as a whole at the end."""

    def end(self) -> Iterator[bytes]:
        """The rest of the file, in chunks."""
        return iter(())

    def close(self) -> None:  # noqa: B027  most hold nothing
        """Release temporary files; may be called at any time, and again."""


class Csv(Writer):
    """RFC 4180 in UTF-8: a comma, CRLF, quotes where needed; booleans as `true` and `false`, nothing for null."""

    def __init__(self, table: ExportTable, *, byte_order_mark: bool = False) -> None:
        self._table = table
        self._mark = codecs.BOM_UTF8 if byte_order_mark else b""

    def begin(self) -> bytes:
        return self._mark + self._lines([[guarded(header) for header in self._table.headers]]).encode()

    def write(self, responses: Sequence[Response]) -> bytes:
        rows = [self._table.cells(response) for response in responses]
        lines = self._lines([_safe(cells) for cells in rows])
        if has_formula_behind_separator(lines):  # rare, so all lines are searched at once
            lines = self._lines([[_written(cell) for cell in cells] for cells in rows])
        return lines.encode()

    @staticmethod
    def _lines(rows: Sequence[Sequence[Cell]]) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\r\n").writerows(rows)
        return text.getvalue()


class JsonLines(Writer):
    """One JSON object a line."""

    def __init__(self, table: ExportTable) -> None:
        self._table = table
        self._encode = msgspec.json.Encoder().encode_lines

    def write(self, responses: Sequence[Response]) -> bytes:
        document = self._table.document
        return self._encode([document(response) for response in responses])


class Xlsx(Writer):
    """One worksheet with a frozen header. Rows go to a temporary file; the workbook is there when all are written."""

    is_resumable = False

    def __init__(self, table: ExportTable) -> None:
        self._table = table
        self._folder = tempfile.TemporaryDirectory(prefix="afterword-export-")
        self._path = f"{self._folder.name}/export.xlsx"
        self._book: Any = xlsxwriter.Workbook(self._path, {**_XLSX_OPTIONS, "tmpdir": self._folder.name})
        self._page: Any = self._book.add_worksheet()
        self._page.freeze_panes(1, 0)
        self._row = 0
        self._is_whole = False
        styles: Any = {name: self._book.add_format({"num_format": name}) for name in (_TIME_FORMAT, _DAY_FORMAT)}
        formats = [_format_of(part, header) for part in table.parts for header in part.headers]
        self._dates = {column: styles[name] for column, name in enumerate(formats) if name is not None}
        for column, header in enumerate(table.headers):
            least = len(_TIME_FORMAT) if column in self._dates else WIDTH_MIN
            self._page.set_column(column, column, min(max(least, len(header)), WIDTH_MAX) + 1)

    def begin(self) -> bytes:
        self._append(self._table.headers)
        return b""

    def write(self, responses: Sequence[Response]) -> bytes:
        if self._row + len(responses) > XLSX_ROWS_MAX + 1:
            raise TooManyRows(f"A worksheet has room for {XLSX_ROWS_MAX:,} responses; export CSV or JSON Lines.")
        for response in responses:
            self._append(self._table.cells(response))
        return b""

    def end(self) -> Iterator[bytes]:
        self._book.close()
        self._is_whole = True
        with open(self._path, "rb") as file:  # noqa: PTH123  read in chunks
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def close(self) -> None:
        if not self._is_whole:  # the library would write the whole workbook first
            self._page.row_data_fh.close()
        self._folder.cleanup()

    def _append(self, cells: Sequence[Cell]) -> None:
        page, row = self._page, self._row
        for column, cell in enumerate(cells):
            match cell:
                case None | "":
                    pass
                case str() if column in self._dates and row and (time := _date_of(cell)):
                    page.write_datetime(row, column, time, self._dates[column])
                case bool():
                    page.write_boolean(row, column, cell)
                case int() | float():
                    page.write_number(row, column, cell)
                case _:
                    page.write_string(row, column, cell[:CELL_CHARACTERS_MAX])
        self._row += 1


def writer_of(name: Format, table: ExportTable, *, byte_order_mark: bool) -> Writer:
    """The writer of a format; only CSV has a byte-order mark."""
    if name == "csv":
        return Csv(table, byte_order_mark=byte_order_mark)
    return Xlsx(table) if name == "xlsx" else JsonLines(table)


def _format_of(part: Part, header: str) -> str | None:
    if part.headers is FIXED and header in TIMES:
        return _TIME_FORMAT
    return _DAY_FORMAT if part.has_days else None


def _date_of(text: str) -> datetime | None:
    """The local time or day of a cell, where a spreadsheet can hold it as a number."""
    time = datetime.fromisoformat(text[:_LOCAL_CHARACTERS])
    return time if time.year >= YEAR_MIN else None


def _safe(cells: Sequence[Cell]) -> list[Cell]:
    """The cells as CSV has them. Most are empty, or begin with a harmless character."""
    return [
        cell if cell is None or (isinstance(cell, str) and cell[:1] not in SUSPECT) else _written(cell)
        for cell in cells
    ]


def _written(cell: Cell) -> Cell:
    """One cell as CSV has it; numbers stay as they are."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return guarded(cell) if isinstance(cell, str) else cell
