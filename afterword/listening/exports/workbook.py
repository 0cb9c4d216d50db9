"""XLSX for readers: a sheet to read, one with ids in the same order, and one for texts that no cell has room for."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword.core.questionnaires.metadata import MetadataDefinition
from afterword.core.text.locales import Marked
from afterword.core.wire.exports import (
    CELL_BYTES_MAX,
    XLSX_COLUMNS_MAX,
    XLSX_ROWS_MAX,
    Cell,
    Column,
    ExportTable,
    Kind,
    Response,
    cut,
    distinct,
    typed,
)
from afterword.kit.texts import Texts
from afterword.kit.ui.charts import BANDS, PARTS
from afterword.listening.exports.writers import TooManyRows, Writer, chunks_of
from afterword.listening.responses.rows import SCALES
from afterword.listening.responses.service import CHANNELS

HEADINGS: Final[Mapping[str, Marked]] = {
    "submitted_time": "Date of the answer", "questionnaire": "Questionnaire", "recipient": "Recipient",
    "external_reference": "Order", "score": "Score", "score_max": "Highest score", "band": "Group",
    "comment": "Comment", "tags": "Tags", "channel_id": "Channel", "locale": "Language", "finalized": "Completed?",
    "sent_time": "Date sent", "delivered_time": "Date delivered", "viewed_time": "Date opened",
    "completed_time": "Date completed", "created_time": "Date created", "instance_id": "Response ID",
    "version_id": "Version ID", "responder_id": "Person ID",
    "questionnaire_id": "Questionnaire ID", "questionnaire_metadata:": "Undeclared data",
    "responder_metadata:": "Undeclared data of the person",
}  # fmt: skip
# The order of the first sheet. A column without a place stands on the sheet of ids.
(_WHEN, _WHICH, _PERSON, _ORDER, _BRANCH, _SCORE, _COMMENT, _ANSWER, _LABEL, _METADATA, _COURSE, _KEY) = range(12)
_PLACES: Final = {
    "submitted_time": _WHEN, "recipient": _PERSON, "external_reference": _ORDER, "comment": _COMMENT, "tags": _LABEL,
    "channel_id": _LABEL, "completed_time": _COURSE, "sent_time": _COURSE, "delivered_time": _COURSE,
    "viewed_time": _COURSE, "locale": _COURSE, "finalized": _COURSE, "instance_id": _KEY, "band": _SCORE,
    "responder_metadata:first_name": _PERSON, "responder_metadata:last_name": _PERSON,
    "questionnaire_metadata:store_id": _BRANCH,
}  # fmt: skip
_OF_SEVERAL: Final = {"questionnaire": _WHICH, "score": _SCORE, "score_max": _SCORE}
_OPTIONS: Final = {
    "constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False,
    "in_memory": False,
}  # fmt: skip
_FORMATS: Final[dict[Kind, str]] = {
    "moment": "yyyy-mm-dd hh:mm", "date_time": "yyyy-mm-dd hh:mm", "date": "yyyy-mm-dd", "time": "hh:mm",
}  # fmt: skip
_HEAD: Final = {"bold": True, "text_wrap": True, "valign": "top", "bottom": 1, "bg_color": "#F0EDE6"}
SURE_CHARACTERS: Final = CELL_BYTES_MAX // 4  # a text of so many fits into a cell
YEAR_MIN: Final = 1900  # of a spreadsheet's dates
WIDTH_MIN: Final = 10  # characters
WIDTH_MAX: Final = 50
HEAD_WIDTH_MAX: Final = 24  # a longer heading wraps
MEASURED_ROWS: Final = 200  # whose texts the widths go by


class _Sheet(msgspec.Struct):
    """A worksheet: the kinds of its cells with their places among those of the table, and their longest texts."""

    page: Any
    headers: Sequence[str]
    cells: Sequence[tuple[Kind, int]]
    widths: list[int]


class Xlsx(Writer):
    """Rows go to temporary files; the workbook is there when all are written.

    Headings are in the language of `words`; `names` has the declared metadata by subject. What no cell has room for
    goes on in a last sheet.
    """

    is_resumable = False

    def __init__(self, table: ExportTable, *, words: Texts, names: Mapping[str, MetadataDefinition]) -> None:
        self._table, self._words, self._names = table, words, names
        self._folder = tempfile.TemporaryDirectory(prefix="afterword-export-")
        self._path = f"{self._folder.name}/export.xlsx"
        import xlsxwriter  # noqa: PLC0415  2 MB, which web processes never need

        self._book: Any = xlsxwriter.Workbook(self._path, {**_OPTIONS, "tmpdir": self._folder.name})
        self._styles: Any = {kind: self._book.add_format({"num_format": name}) for kind, name in _FORMATS.items()}
        self._head: Any = self._book.add_format(_HEAD)
        self._rest: Any = None
        self._row = self._rest_row = 0
        self._is_whole = False
        self._questions = {question.question_id: question for question in table.questions}
        columns = [replace(column, header=self._heading(column)) for column in table.columns]
        self._answers = {place for place, column in enumerate(columns) if column.subject in self._questions}
        self._texts = [place for place, column in enumerate(columns) if self._is_text(column)]
        if table.prefixes:  # of several questionnaires: each has a column of its own for its comments
            columns.append(Column(words(HEADINGS["comment"]), subject="comment"))
        ranks = {place: rank for place, column in enumerate(columns) if (rank := self._rank(column)) is not None}
        keys = [place for place, column in enumerate(columns) if place not in ranks or ranks[place][0] == _KEY]
        self._long_texts = words("Long texts")
        self._sheets = [
            self._sheet(words("Responses"), columns, sorted(ranks, key=lambda place: ranks[place])),
            self._sheet(words("IDs and other data"), columns, keys),
        ]
        bands = PARTS if {one.type for one in table.questions if one.type in SCALES} == {"nps"} else BANDS
        said = {**_SAID, "band": lambda words, cell: words(bands[cell]) if isinstance(cell, str) else None}
        self._said = [(place, said[one.subject]) for place, one in enumerate(columns) if one.subject in said]

    def begin(self) -> bytes:
        for sheet in self._sheets:
            if len(sheet.headers) > XLSX_COLUMNS_MAX:
                raise TooManyRows(f"A worksheet has room for {XLSX_COLUMNS_MAX:,} columns; export CSV or JSON Lines.")
            sheet.page.write_row(0, 0, sheet.headers, self._head)
        return b""

    def write(self, responses: Sequence[Response]) -> bytes:
        if self._row + len(responses) > XLSX_ROWS_MAX:
            raise TooManyRows(f"A worksheet has room for {XLSX_ROWS_MAX:,} responses; export CSV or JSON Lines.")
        for response in responses:
            self._row += 1
            cells = self._table.cells(response)
            if self._table.prefixes:
                cells.append(next((cells[place] for place in self._texts if cells[place] is not None), None))
            for place, said in self._said:
                cells[place] = said(self._words, cells[place])
            for sheet in self._sheets:
                self._append(sheet, cells)
        return b""

    def end(self) -> Iterator[bytes]:
        for sheet in self._sheets:
            sheet.page.autofilter(0, 0, self._row, len(sheet.headers) - 1)
            for index, (header, (kind, place), width) in enumerate(
                zip(sheet.headers, sheet.cells, sheet.widths, strict=True)
            ):
                # Nobody misses a time or a name that no response has; an unanswered question is a finding.
                is_hidden = bool(self._row and not width and place not in self._answers)
                widest = max(width, WIDTH_MIN, len(_FORMATS.get(kind, "")), min(len(header), HEAD_WIDTH_MAX))
                sheet.page.set_column(index, index, min(widest, WIDTH_MAX) + 2, None, {"hidden": is_hidden})
        self._book.close()
        self._is_whole = True
        yield from chunks_of(Path(self._path))

    def close(self) -> None:
        if not self._is_whole:  # the library would write the whole workbook first
            for page in self._book.worksheets():
                page.row_data_fh.close()
        self._folder.cleanup()

    def _sheet(self, title: str, columns: Sequence[Column], places: Sequence[int]) -> _Sheet:
        page = self._book.add_worksheet(title)
        page.freeze_panes(1, 0)
        if self._words.direction == "rtl":
            page.right_to_left()
        headers = distinct([columns[place].header for place in places], "{} ({})")
        return _Sheet(page, headers, [(columns[place].kind, place) for place in places], [0] * len(places))

    def _heading(self, column: Column) -> str:
        if name := self._names.get(column.subject):
            return name.title_in(self._words)
        heading = HEADINGS.get(column.subject)
        return self._words(heading) if heading else column.header

    def _is_text(self, column: Column) -> bool:
        question = self._questions.get(column.subject)
        return question is not None and question.shape == "text"

    def _rank(self, column: Column) -> tuple[int, int] | None:
        """The place on the first sheet; None for none. Of a scale its order among those that a score is taken from."""
        subject, is_single = column.subject, not self._table.prefixes
        if question := self._questions.get(subject):
            if is_single and question.type in SCALES:
                return _SCORE, SCALES.index(question.type)
            return (_COMMENT if is_single and self._is_text(column) else _ANSWER), 0
        name = self._names.get(subject)
        place = _PLACES.get(subject, _METADATA if name else None)
        if not is_single:
            place = _OF_SEVERAL.get(subject, place)
        if name and not name.is_of_product:
            place = _PERSON if name.kind == "responder" else _BRANCH
        return None if place is None else (place, len(SCALES))

    def _append(self, sheet: _Sheet, cells: Sequence[Cell]) -> None:
        page, row, widths, is_measured = sheet.page, self._row, sheet.widths, self._row <= MEASURED_ROWS
        for index, (kind, place) in enumerate(sheet.cells):
            cell = cells[place]
            if cell is None or cell == "":
                continue
            if is_measured or not widths[index]:
                widths[index] = max(widths[index], 1 if kind in _FORMATS else len(str(cell)))
            value = cell if kind == "text" else typed(kind, cell)
            if isinstance(value, str):
                if len(value) > SURE_CHARACTERS:
                    value = self._fitting(value, sheet.headers[index], str(cells[0]))
                page.write_string(row, index, value)
            elif isinstance(value, bool):
                page.write_boolean(row, index, value)
            elif isinstance(value, int | float):
                page.write_number(row, index, value)
            elif isinstance(value, date) and value.year < YEAR_MIN:
                page.write_string(row, index, str(cell))
            else:
                page.write_datetime(row, index, value, self._styles[kind])

    def _fitting(self, text: str, header: str, instance_id: str) -> str:
        """The text of a cell; of a longer one the beginning, with the rest on the sheet of long texts."""
        first, *more = cut(text, "utf-16-le", CELL_BYTES_MAX)
        if not more:
            return text
        words, goes_on = self._words, f" […: {self._long_texts}]"
        if self._rest is None:
            self._rest = self._book.add_worksheet(self._long_texts)
            self._rest.freeze_panes(1, 0)
            heads = (words(HEADINGS["instance_id"]), words("Column"), words("Part"), words("Text"))
            self._rest.write_row(0, 0, heads, self._head)
            self._rest.set_column(0, 1, HEAD_WIDTH_MAX)
        first = first[: -len(goes_on)]
        for part, piece in enumerate(cut(text[len(first) :], "utf-16-le", CELL_BYTES_MAX), 2):
            self._rest_row += 1
            self._rest.write_string(self._rest_row, 0, instance_id)
            self._rest.write_string(self._rest_row, 1, header)
            self._rest.write_number(self._rest_row, 2, part)
            self._rest.write_string(self._rest_row, 3, piece)
        return first + goes_on


_SAID: Final[Mapping[str, Callable[[Texts, Cell], Cell]]] = {
    "channel_id": lambda words, cell: words(CHANNELS.get(cell if isinstance(cell, int) else None, "Link")),
    "locale": lambda words, cell: words.language_name(cell) if isinstance(cell, str) else None,
}
