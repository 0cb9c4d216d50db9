"""The formats of an export's file: rows in, bytes out, never the whole file in memory."""

import codecs
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from afterword import errors
from afterword.core.wire import tables
from afterword.core.wire.exports import SUSPECT, Cell, ExportTable, Response, guarded, has_formula_behind_separator

CHUNK_BYTES: Final = 1 << 20
_JSON_LINE_ENDS: Final = {one.encode(): f"\\u{ord(one):04x}".encode() for one in "\u0085\u2028\u2029"}


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
        return self._mark + tables.csv_text([[guarded(header) for header in self._table.headers]]).encode()

    def write(self, responses: Sequence[Response]) -> bytes:
        rows = [self._table.cells(response) for response in responses]
        lines = tables.csv_text([_safe(cells) for cells in rows])
        if has_formula_behind_separator(lines):  # rare, so all lines are searched at once
            lines = tables.csv_text([[_written(cell) for cell in cells] for cells in rows])
        return lines.encode()


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
