"""The formats of an export's file: rows in, bytes out, never the whole file in memory."""

import codecs
import csv
import io
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.core.wire.exports import (
    CELL_BYTES_MAX,
    SUSPECT,
    XLSX_COLUMNS_MAX,
    XLSX_ROWS_MAX,
    Cell,
    ExportTable,
    Kind,
    Response,
    cut,
    guarded,
    has_formula_behind_separator,
    typed,
)

CHUNK_BYTES: Final = 1 << 20
_XLSX_OPTIONS: Final = {
    "constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False,
    "in_memory": False,
}  # fmt: skip
_FORMATS: Final[dict[Kind, str]] = {
    "moment": "yyyy-mm-dd hh:mm:ss", "date_time": "yyyy-mm-dd hh:mm", "date": "yyyy-mm-dd", "time": "hh:mm",
}  # fmt: skip
_JSON_LINE_ENDS: Final = {one.encode(): f"\\u{ord(one):04x}".encode() for one in "\u0085\u2028\u2029"}
LONG_TEXTS: Final = "Long texts"
_LONG_TEXTS_HEAD: Final = ("instance_id", "column", "part", "text")
_PART: Final = _LONG_TEXTS_HEAD.index("part")
_GOES_ON: Final = f" […: {LONG_TEXTS}]"
YEAR_MIN: Final = 1900  # of a spreadsheet's dates
WIDTH_MIN: Final = 10  # characters
WIDTH_MAX: Final = 40


class TooManyRows(errors.Conflict):
    """The format has no room for so many rows or columns."""


class Writer(ABC):
    """Writes one file. A resumable one may be a new one for every piece, as long as only the first begins the file."""

    is_resumable = True

    def begin(self) -> bytes:
        return b""

    @abstractmethod
    def write(self, responses: Sequence[Response]) -> bytes:
        """The bytes of these rows; empty for formats that are written as a whole at the end."""

    def end(self) -> Iterator[bytes]:
        """The rest of the file, in chunks."""
        return iter(())

    def close(self) -> None:  # noqa: B027  most hold nothing
        """Release temporary files; may be called at any time, and again."""


def chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


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
    """One JSON object a line; characters that some readers take for the end of a line are escaped."""

    def __init__(self, table: ExportTable) -> None:
        self._table = table
        self._encode = msgspec.json.Encoder().encode_lines

    def write(self, responses: Sequence[Response]) -> bytes:
        document = self._table.document
        lines = self._encode([document(response) for response in responses])
        for raw, escaped in _JSON_LINE_ENDS.items():
            lines = lines.replace(raw, escaped)
        return lines


class Xlsx(Writer):
    """One worksheet with a frozen header. Rows go to a temporary file; the workbook is there when all are written.

    What no cell has room for goes on in a second worksheet.
    """

    is_resumable = False

    def __init__(self, table: ExportTable) -> None:
        self._table = table
        self._folder = tempfile.TemporaryDirectory(prefix="afterword-export-")
        self._path = f"{self._folder.name}/export.xlsx"
        import xlsxwriter  # noqa: PLC0415  2 MB, which web processes never need

        self._book: Any = xlsxwriter.Workbook(self._path, {**_XLSX_OPTIONS, "tmpdir": self._folder.name})
        self._page: Any = self._book.add_worksheet()
        self._page.freeze_panes(1, 0)
        self._rest: Any = None
        self._row = self._rest_row = 0
        self._is_whole = False
        self._styles: Any = {kind: self._book.add_format({"num_format": name}) for kind, name in _FORMATS.items()}
        for index, column in enumerate(table.columns):
            least = len(_FORMATS.get(column.kind, "")) or WIDTH_MIN
            self._page.set_column(index, index, min(max(least, len(column.header)), WIDTH_MAX) + 1)

    def begin(self) -> bytes:
        if len(self._table.columns) > XLSX_COLUMNS_MAX:
            raise TooManyRows(f"A worksheet has room for {XLSX_COLUMNS_MAX:,} columns; export CSV or JSON Lines.")
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
        yield from chunks_of(Path(self._path))

    def close(self) -> None:
        if not self._is_whole:  # the library would write the whole workbook first
            for page in self._book.worksheets():
                page.row_data_fh.close()
        self._folder.cleanup()

    def _append(self, cells: Sequence[Cell]) -> None:
        page, row = self._page, self._row
        for index, (column, cell) in enumerate(zip(self._table.columns, cells, strict=True)):
            match typed(column.kind, cell) if row else cell:
                case None | "":
                    pass
                case bool() as value:
                    page.write_boolean(row, index, value)
                case int() | float() as value:
                    page.write_number(row, index, value)
                case time() as value:
                    page.write_datetime(row, index, value, self._styles[column.kind])
                case date() as value if value.year >= YEAR_MIN:
                    page.write_datetime(row, index, value, self._styles[column.kind])
                case _:
                    page.write_string(row, index, self._fitting(str(cell), column.header, str(cells[0])))
        self._row += 1

    def _fitting(self, text: str, header: str, instance_id: str) -> str:
        """The text of a cell; of a longer one the beginning, with the rest on the sheet of long texts."""
        first, *more = cut(text, "utf-16-le", CELL_BYTES_MAX)
        if not more:
            return text
        if self._rest is None:
            self._rest = self._book.add_worksheet(LONG_TEXTS)
            self._rest.write_row(0, 0, _LONG_TEXTS_HEAD)
        first = first[: -len(_GOES_ON)]
        for part, piece in enumerate(cut(text[len(first) :], "utf-16-le", CELL_BYTES_MAX), 2):
            self._rest_row += 1
            for index, cell in enumerate((instance_id, header, part, piece)):
                (self._rest.write_number if index == _PART else self._rest.write_string)(self._rest_row, index, cell)
        return first + _GOES_ON


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
