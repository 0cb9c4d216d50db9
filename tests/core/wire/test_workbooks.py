"""Workbooks as CSV: whole values, and the limits that hold before a library reads."""

import io
import zipfile
from datetime import date, datetime
from typing import Any

import pytest
import xlsxwriter

from afterword import errors
from afterword.core.wire import tables


def workbook(*sheets: list[list[Any]], hidden: int | None = None) -> bytes:
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        day, moment = (book.add_format({"num_format": form}) for form in ("dd/mm/yyyy", "dd/mm/yyyy hh:mm"))
        for place, rows in enumerate(sheets):
            sheet = book.add_worksheet(f"S{place}")
            if place == hidden:
                sheet.hide()
            for number, row in enumerate(rows):
                for column, cell in enumerate(row):
                    form = moment if isinstance(cell, datetime) else day if isinstance(cell, date) else None
                    sheet.write(number, column, cell, form)
    return content.getvalue()


def changed(content: bytes, name: str, old: bytes, new: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The workbook with something else in one of its parts."""
    whole = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(whole, "w", compression) as target:
        for each in source.namelist():
            part = source.read(each)
            target.writestr(each, part.replace(old, new) if each.endswith(name) else part)
    return whole.getvalue()


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"PK\x03\x04 and nothing behind it", "cannot be read"),
            (workbook([["a"]])[:-40], "cannot be read"),
            (workbook([]), "no rows"),
            (workbook([["a"]], [["b"]]), "several sheets: “S0”, “S1”"),
            (changed(workbook([["a"]]), "sheet1.xml", b"<v>", b"<!-- --><v>"), "cannot be read"),
            (changed(workbook([["a"]]), "sheet1.xml", b"<v>0<", b"<v>&#48;<"), "cannot be read"),
            (changed(workbook([["a"]]), "sheet1.xml", b"<v>", b'<v a="<">'), "cannot be read"),
            (changed(workbook([["a"]]), "x", b"", b"", zipfile.ZIP_BZIP2), "cannot be read"),
        ],
    )
    def test_malformed(self, content: bytes, told: str) -> None:
        with pytest.raises(errors.Malformed, match=told):
            tables.csv_of(content)

    @pytest.mark.parametrize(
        ("limit", "value"),
        [("UNPACKED_BYTES_MAX", 9_000), ("ROWS_MAX", 1), ("COLUMNS_MAX", 2), ("CELLS_MAX", 8), ("TEXT_BYTES_MAX", 900)],
    )
    def test_too_large(self, monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
        """A text of 100 letters in ten cells is stored once and counts ten times."""
        content = workbook([["x" * 100] * 3] * 3 + [["x" * 100]])
        assert 10 * 100 < len(tables.csv_of(content))
        monkeypatch.setattr(tables, limit, value)
        with pytest.raises(errors.TooLarge):
            tables.csv_of(content)

    def test_a_cell_far_away(self) -> None:
        """Two cells are read as a table of all that lies between them."""
        far = changed(workbook([["a", "b"]]), "sheet1.xml", b'r="B1"', b'r="SF99999"')
        with pytest.raises(errors.TooLarge):
            tables.csv_of(far)


def test_values() -> None:
    rows = [
        ["Email", "Order", "When", "Day", "Paid", "Sum", "Long", "Words"],
        ["a@b.example", 4901234567890, datetime(2026, 12, 5, 15, 4), date(2026, 12, 5), True, 1041.5, 1e16, "x\ny, z"],  # noqa: DTZ001
        ["c@d.example", "0001042", None, None, False, 0.1, None, ""],
    ]
    expected = (
        "Email,Order,When,Day,Paid,Sum,Long,Words\n"
        'a@b.example,4901234567890,2026-12-05 15:04:00,2026-12-05,true,1041.5,1.000000000E+16,"x\ny, z"\n'
        "c@d.example,0001042,,,false,0.1,,\n"
    )
    assert expected == tables.csv_of(workbook(rows)).decode()
    assert expected == tables.csv_of(workbook(rows, [["notes"]], hidden=1)).decode()
