"""The formats of exports: their media types, the extras that they need, their writers."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from afterword import errors
from afterword.core.questionnaires.metadata import MetadataDefinition
from afterword.core.wire.exports import ExportTable, Format
from afterword.kit.texts import texts
from afterword.listening.exports.workbook import Xlsx
from afterword.listening.exports.writers import Csv, JsonLines, Writer

MEDIA_TYPES: Final[dict[Format, str]] = {
    "csv": "text/csv; charset=utf-8", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/x-ndjson", "sav": "application/x-spss-sav", "parquet": "application/vnd.apache.parquet",
}  # fmt: skip
EXTRAS: Final = {"sav": ("spss", "pyreadstat"), "parquet": ("parquet", "polars")}  # each with a package of it


def missing_extra(name: Format) -> str | None:
    """A sentence with the extra that a format needs; None where it is installed."""
    extra, package = EXTRAS.get(name, ("", ""))
    if not extra or find_spec(package):
        return None
    return f"The format {name} needs the extra “{extra}”: pip install 'afterword[{extra}]'."


def writer_of(
    name: Format, table: ExportTable, *, byte_order_mark: bool = False, names: Mapping[str, MetadataDefinition] = {}
) -> Writer:
    """The writer of a format; only CSV has a byte-order mark, and only XLSX the titles of `names`, by subject.

    Raises Conflict where it is not installed.
    """
    if sentence := missing_extra(name):
        raise errors.Conflict(sentence)
    if name == "csv":
        return Csv(table, byte_order_mark=byte_order_mark)
    if name in {"xlsx", "jsonl"}:
        words = texts("console", table.locale)
        return Xlsx(table, words=words, names=names) if name == "xlsx" else JsonLines(table)
    from afterword.listening.exports import frames  # noqa: PLC0415  its packages are extras

    if name == "parquet":
        return frames.Frames(table, frames.write_parquet)
    return frames.Frames(table, frames.write_sav, bytes_max=frames.SAV_FRAME_BYTES_MAX)
