"""Exports as data frames: Parquet (by polars) and SPSS (by pyreadstat). Imported only where these extras are installed.

Rows wait in temporary files, as Arrow has them. A value that its column's type has no room for stands as text in a
column behind the others.
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Final

import polars as pl

from afterword.core.questionnaires.question_types import YES_NO
from afterword.core.wire.exports import Cell, Column, ExportTable, Kind, Response, cut, distinct, typed
from afterword.listening.exports.writers import TooManyRows, Writer, chunks_of

SAV_FRAME_BYTES_MAX: Final = 512 << 20  # its library takes the whole table at once
SAV_BYTES_MAX: Final = 4 << 30  # each text takes the space of the longest one
SAV_TEXT_BYTES_MAX: Final = 32_000  # of 32,767: R (haven 2.5) loses the last byte of some beyond 32,508
SAV_NAME_BYTES_MAX: Final = 56  # of 64, with room for a prefix and a number
SAV_LABEL_BYTES_MAX: Final = 255
SAV_VALUE_LABEL_BYTES_MAX: Final = 120
NUMBER_BYTES: Final = 8
TOO_MANY: Final = "These responses are too many for an SPSS file, or their texts too long: choose fewer, or export CSV."
_RESERVED: Final = frozenset({"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"})
_TYPES: Final[Mapping[Kind, tuple[Any, Sequence[type]]]] = {
    "text": (pl.String, [str]), "integer": (pl.Int64, [int]), "number": (pl.Float64, [int, float]),
    "boolean": (pl.Boolean, [bool]), "date": (pl.Date, [date]), "time": (pl.Time, [time]),
    "date_time": (pl.Datetime("us"), [datetime]), "moment": (pl.Datetime("us"), [datetime]),
}  # fmt: skip
WriteFile = Callable[[pl.LazyFrame, Mapping[str, Column], Path], None]


class Frames(Writer):
    """Gathers the rows for `write_file`, which is given the columns by their names in the frame."""

    is_resumable = False

    def __init__(self, table: ExportTable, write_file: WriteFile, *, bytes_max: int | None = None) -> None:
        self._table, self._write_file, self._bytes_max = table, write_file, bytes_max
        self._columns = {str(index): column for index, column in enumerate(table.columns)}
        self._folder = tempfile.TemporaryDirectory(prefix="afterword-export-")
        self._paths: list[Path] = []
        self._bytes = 0

    def begin(self) -> bytes:
        return self.write([])  # a file without responses has its columns too

    def write(self, responses: Sequence[Response]) -> bytes:
        rows = [self._table.cells(response) for response in responses]
        path = Path(self._folder.name, f"{len(self._paths)}.arrow")
        series: list[pl.Series] = []
        for index, column in enumerate(self._table.columns):
            series += self._series(str(index), column, [row[index] for row in rows])
        pl.DataFrame(series).write_ipc(path)
        self._paths.append(path)
        self._bytes += path.stat().st_size
        if self._bytes_max is not None and self._bytes > self._bytes_max:
            raise TooManyRows(TOO_MANY)
        return b""

    def end(self) -> Iterator[bytes]:
        path = Path(self._folder.name, "export")
        headers = distinct((column.header for column in self._columns.values()), "{} ({})")
        rows = pl.concat([pl.scan_ipc(one) for one in self._paths], how="diagonal")
        named = rows.select(pl.col(*self._columns)).rename(dict(zip(self._columns, headers, strict=True)))
        self._write_file(named, dict(zip(headers, self._columns.values(), strict=True)), path)
        yield from chunks_of(path)

    def close(self) -> None:
        self._folder.cleanup()

    def _series(self, name: str, column: Column, cells: Sequence[Cell]) -> Iterator[pl.Series]:
        type_, fitting = _TYPES[column.kind]
        values: list[Any] = [value if type(value := typed(column.kind, cell)) in fitting else None for cell in cells]
        yield pl.Series(name, values, type_)
        pairs = zip(cells, values, strict=True)
        rest = [None if cell is None or value is not None else str(cell) for cell, value in pairs]
        if any(rest):
            header = f"{column.header}_text" if self._table.is_stable else f"{column.header} [text]"
            beside = Column(header, name=f"{column.name or column.header}_text")
            self._columns.setdefault(f"{name} text", beside)
            yield pl.Series(f"{name} text", rest, pl.String)


def write_parquet(rows: pl.LazyFrame, columns: Mapping[str, Column], path: Path) -> None:
    """Written in a stream; moments in UTC."""
    moments = [name for name, column in columns.items() if column.kind == "moment"]
    rows.with_columns(pl.col(moments).dt.replace_time_zone("UTC")).sink_parquet(path)


def write_sav(rows: pl.LazyFrame, columns: Mapping[str, Column], path: Path) -> None:
    """Numbers with the labels of choices. Raises TooManyRows."""
    import pyreadstat  # noqa: PLC0415  an extra of its own

    frame = rows.collect()
    widths: list[Any] = [each.str.len_bytes().max() if each.dtype == pl.String else NUMBER_BYTES for each in frame]
    if frame.height * sum(width or 0 for width in widths) > SAV_BYTES_MAX:
        raise TooManyRows(TOO_MANY)
    found = [
        (column, series)
        for (name, column), width in zip(columns.items(), widths, strict=True)
        for series in (_parts(frame[name]) if (width or 0) > SAV_TEXT_BYTES_MAX else [frame[name]])
    ]
    names = variable_names([column for column, _ in found])
    headers = distinct((series.name for _, series in found), "{} ({})")
    labels: dict[str, dict[int | float, str]] = {}
    formats: dict[str, str] = {}
    for name, (column, _) in zip(names, found, strict=True):
        of_values = YES_NO if column.kind == "boolean" else column.labels
        labels[name] = {value: _short(label, SAV_VALUE_LABEL_BYTES_MAX) for value, label in of_values.items()}
        if column.kind in {"integer", "boolean"}:
            formats[name] = "F8.0"
    series = [series.alias(name) for name, (_, series) in zip(names, found, strict=True)]
    pyreadstat.write_sav(
        pl.DataFrame(series).cast({pl.Boolean: pl.Int8}),
        path,
        column_labels=[_short(header, SAV_LABEL_BYTES_MAX) for header in headers],
        variable_value_labels={name: of_values for name, of_values in labels.items() if of_values},
        variable_format=formats,
        row_compress=True,
    )


def variable_names(columns: Sequence[Column]) -> list[str]:
    """Names as SPSS takes them: a letter first, no blanks, at most 64 bytes, no word of its language, none twice."""
    names: list[str] = []
    for column in columns:
        text = cut(re.sub(r"\W+", "_", column.name or column.header), "utf-8", SAV_NAME_BYTES_MAX)[0].strip("_")
        names.append(text if text[:1].isalpha() and text.upper() not in _RESERVED else f"v_{text}".rstrip("_"))
    return distinct(names, "{}_{}")


def _parts(texts: pl.Series) -> list[pl.Series]:
    """Columns as wide as a variable can be, with the texts one behind the other."""
    parts = [cut(text or "", "utf-8", SAV_TEXT_BYTES_MAX) for text in texts]
    places = range(max(map(len, parts)))
    return [pl.Series(texts.name, [part[place] if place < len(part) else None for part in parts]) for place in places]


def _short(text: str, bytes_max: int) -> str:
    first, *more = cut(text, "utf-8", bytes_max)
    return cut(text, "utf-8", bytes_max - len("…".encode()))[0] + "…" if more else first
