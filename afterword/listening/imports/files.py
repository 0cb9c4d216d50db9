"""Files of responses as other systems write them, read as tables: each form is one entry of FORMATS.

CSV and SPSS are read as they go; workbooks and JSON have bounds. For a thread of its own.
"""

import csv
import io
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from afterword import errors
from afterword.core.wire import tables
from afterword.core.wire.imports import WIDE
from afterword.core.wire.response_columns import Table, headed
from afterword.errors import Sentence

HEAD_BYTES: Final = 1_048_576  # by which the encoding and the separator are known
JSON_BYTES_MAX: Final = 134_217_728
WORKBOOK_BYTES_MAX: Final = 67_108_864
COLUMNS_MAX: Final = 2_000
CELL_CHARACTERS_MAX: Final = 131_072  # as the module csv has it, for all that a process reads
SAMPLE_ROWS: Final = 200
LEVELS_MAX: Final = 3  # of objects within objects that have columns of their own
FIRST_ROW: Final = 2  # behind the header
STEM_MAX: Final = 80  # characters of the file's name, in the ids of rows that have none
SPSS_ROWS: Final = 5_000  # that are in memory at once
LISTS: Final = ("items", "data", "responses", "results")  # of JSON documents, where the rows are
SPSS: Final = b"$FL2"
COMMAS: Final = tables.Reading(tables.UTF8, ",", has_header=True)
OPEN: Final = "A quotation mark is opened in row {row} and never closed."
Rows = Iterator[Sequence[str]]


class Format(msgspec.Struct, frozen=True):
    """A form of files. `is_of`: whether a file is of it that begins so.

    `read`: the table of the first rows, and all rows, of the open file at the path; None where each line is a request
    as the API takes it. It raises Invalid, Malformed, TooLarge.
    """

    name: str
    is_of: Callable[[bytes], bool]
    read: Callable[[Path, BinaryIO], tuple[Table, Rows]] | None = None


def head_of(source: BinaryIO) -> bytes:
    head = source.read(HEAD_BYTES)
    source.seek(0)
    return head


def format_of(head: bytes) -> Format:
    """The first that a file is of which begins so."""
    return next(one for one in FORMATS if one.is_of(head))


def requests_of(
    stem: str,
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    document: Callable[[Sequence[str], Sequence[str]], dict[str, Any]],
    *,
    first: int = FIRST_ROW,
) -> Iterator[tuple[int, bytes | errors.Invalid]]:
    """Each row as a line of JSON, with its number; without an id of its own it is known by file and number."""
    for number, row in enumerate(rows, start=first):
        if any(map(str.strip, row[len(names) :])):
            yield number, errors.Invalid.at("", "invalid_format", Sentence(WIDE, cells=len(row), columns=len(names)))
        else:
            yield number, msgspec.json.encode({"external_id": f"{stem[:STEM_MAX]} {number}", **document(names, row)})


def _bounded(source: BinaryIO, bytes_max: int) -> bytes:
    content = source.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise errors.TooLarge(Sentence("A file of this kind has at most {n} bytes. Send it as CSV.", n=bytes_max))
    return content


def _workbook(path: Path, source: BinaryIO) -> tuple[Table, Rows]:
    return _csv(path, io.BytesIO(tables.csv_of(_bounded(source, WORKBOOK_BYTES_MAX))), COMMAS)


def _csv(_: Path, source: BinaryIO, reading: tables.Reading | None = None) -> tuple[Table, Rows]:
    """`reading`: its encoding and separator, which its beginning tells where they are not known."""
    head = head_of(source)
    whole = head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    reading = reading or (tables.guess(whole) if whole else COMMAS)
    encoding = "utf-8-sig" if reading.encoding == tables.UTF8 else reading.encoding
    records = _records(io.TextIOWrapper(source, encoding, newline=""), reading.separator)
    header = next(records, None)
    if header is None:
        raise errors.Invalid.at("", "required", "The file has no rows.")
    return _headed([name.strip() for name in header], records)


def _records(text: io.TextIOWrapper, separator: str) -> Rows:
    """The rows that are not blank, without a first line `sep=;`. Raises Invalid with the row that cannot be read."""
    number, ended = 0, list[bool]()
    try:
        for number, row in enumerate(csv.reader(_until(text, ended), delimiter=separator), start=1):
            if ended:  # within a row
                raise errors.Invalid.at("", "invalid_format", Sentence(OPEN, row=number))
            if any(cell.strip() for cell in row) and not (number == 1 and row[0].casefold().startswith("sep=")):
                yield row
    except (csv.Error, UnicodeDecodeError) as error:
        raise errors.Invalid.at("", "invalid_format", Sentence("Row {n} cannot be read.", n=number + 1)) from error
    finally:
        if not text.closed:
            text.detach()  # its owner closes the file


def _until(text: Iterable[str], ended: list[bool]) -> Iterator[str]:
    yield from text
    ended.append(True)


def _headed(names: Sequence[str], rows: Rows) -> tuple[Table, Rows]:
    """Raises Invalid for too many columns."""
    if len(names) > COLUMNS_MAX:
        raise errors.Invalid.at("", "too_many", Sentence("A file has at most {n} columns.", n=COLUMNS_MAX))
    return headed(tables.distinct(names), rows, SAMPLE_ROWS)


def _is_lines(head: bytes) -> bool:
    text = head.removeprefix(BOM_UTF8).lstrip()
    try:
        found = msgspec.json.decode(text.split(b"\n", 1)[0])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return text[:1] == b"{" and b"\n" not in head and len(head) == HEAD_BYTES
    return isinstance(found, dict) and "answers" in found and not isinstance(found.get("items"), list)


def _json(_: Path, source: BinaryIO) -> tuple[Table, Rows]:
    """Objects in a list, alone or as a member; of Typeform the answers of each by the names of their questions."""
    try:
        document = msgspec.json.decode(_bounded(source, JSON_BYTES_MAX))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise errors.Invalid.at("", "invalid_format", "This is not valid JSON.") from error
    listed = document if isinstance(document, list) else None
    if isinstance(document, dict):
        listed = next((document[name] for name in LISTS if isinstance(document.get(name), list)), None)
    if listed is None or not all(isinstance(one, dict) for one in listed):
        message = "The JSON is a list of objects, or has one as one of these members: {names}."
        raise errors.Invalid.at("", "wrong_type", Sentence(message, names=", ".join(LISTS)))
    flat = [dict(_flat(one)) for one in listed]
    names = [*dict.fromkeys(name for one in flat for name in one)]
    return _headed(names, ([one.get(name, "") for name in names] for one in flat))


def _flat(row: Mapping[str, Any], prefix: str = "", depth: int = 1) -> Iterator[tuple[str, str]]:
    """The members with their names; those of `data`, `hidden` and `answers` under their own, to the third level."""
    for name, value in (pair for pair in row.items() if pair[0] != "ttc"):  # the seconds of Formbricks
        if name == "answers" and isinstance(value, list):
            yield from (pair for one in value if isinstance(one, dict) for pair in _answer(one))
        elif isinstance(value, dict) and not prefix and depth < LEVELS_MAX:
            bare = name in {"data", "hidden", "answers", "variables"}
            yield from _flat(value, prefix="" if bare else f"{name}.", depth=depth + 1)
        else:
            yield f"{prefix}{name}", _text(value)


def _answer(one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """An answer of Typeform, or as our API shows it: the name of its question, and its value; the text beside it."""
    question = one.get("field")
    name = question.get("ref") or question.get("id") if isinstance(question, dict) else one.get("question_id")
    value = one.get(str(one.get("type", "value")))
    if isinstance(value, dict) and question:
        free = [value["other"]] if value.get("other") else []
        value = [*value["labels"], *free] if "labels" in value else value.get("label", free[0] if free else value)
    if name:
        yield str(name), _text(value)
    if name and one.get("other_text"):
        yield f"{name}_other", _text(one["other_text"])


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value in (None, [], {}) else msgspec.json.encode(value).decode()


def _spss(path: Path, _: BinaryIO) -> tuple[Table, Rows]:
    """Labels of values in the place of their numbers, and the labels of variables beside their names."""
    try:
        import pyreadstat  # noqa: PLC0415  an extra of its own
    except ImportError as error:
        message = "SPSS files need the extra: pip install 'afterword[spss]'."
        raise errors.Invalid.at("", "unknown_value", message) from error
    try:
        pieces = pyreadstat.read_file_in_chunks(pyreadstat.read_sav, path, chunksize=SPSS_ROWS, output_format="dict")
        first, about = next(pieces)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, StopIteration) as error:
        raise errors.Invalid.at("", "invalid_format", "This SPSS file cannot be read.") from error
    names = [*first]
    whole = chain([first], (piece for piece, _ in pieces))
    rows = chain.from_iterable(_columns(piece, about.variable_value_labels) for piece in whole)
    sample = list(islice(rows, SAMPLE_ROWS))
    labels = {name: label for name, label in zip(about.column_names, about.column_labels, strict=True) if label}
    return Table(names, sample, labels), chain(sample, rows)


def _columns(columns: Mapping[str, Sequence[Any]], labels: Mapping[str, Mapping[Any, str]]) -> Iterator[list[str]]:
    named = [labels.get(name, {}) for name in columns]
    for row in zip(*columns.values(), strict=True):
        yield [_cell(cell, texts) for cell, texts in zip(row, named, strict=True)]


def _cell(value: Any, texts: Mapping[Any, str]) -> str:
    if value is None or value != value:  # noqa: PLR0124  not a number
        return ""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return texts.get(value) or str(whole)


LINES: Final = Format("json_lines", _is_lines)
FORMATS: Final[tuple[Format, ...]] = (
    Format("sav", lambda head: head.startswith(SPSS), _spss),
    Format("xlsx", lambda head: head.startswith(tables.BEGINNING), _workbook),
    LINES,
    Format("json", lambda head: head.removeprefix(BOM_UTF8).lstrip()[:1] in {b"{", b"["}, _json),
    Format("csv", lambda _: True, _csv),  # whatever is none of the others
)
