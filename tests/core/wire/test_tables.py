"""Lists as people have them: how a file is read, what its columns are, and its faulty rows out and in again."""

import io
import zipfile
from datetime import date, datetime
from typing import Any

import pytest
import xlsxwriter

from afterword import errors
from afterword.core.wire import tables
from afterword.core.wire.tables import COLUMNS_MAX, SAMPLE_ROWS_SEEN, Reading

COMMAS = Reading("utf-8", ",", has_header=True)


class TestGuess:
    @pytest.mark.parametrize(
        ("text", "written", "expected"),
        [
            ("E-mail,Name\na@b.example,Ann\n", "utf-8", ("utf-8", ",", True)),
            ("E-mail;Name\na@b.example;Ann, Bo\n", "utf-8-sig", ("utf-8", ";", True)),
            ("E-mail\tName\na@b.example\tAnn\n", "utf-16", ("utf-16", "\t", True)),
            ("E-mail;Όνομα\na@b.example;Άννα Παπαδοπούλου\n", "windows-1253", ("windows-1253", ";", True)),
            ("E-mail;Straße\na@b.example;Müller & Söhne\n", "windows-1252", ("windows-1252", ";", True)),
            ("a@b.example\nc@d.example\n", "utf-8", ("utf-8", ",", False)),
            ("+30 210 1234567|Ann\n+30 210 7654321|Bo\n", "utf-8", ("utf-8", "|", False)),
            ('Name,Note\n"a\nb","c;d;e;f"\n"g","h;i;j;k"\n', "utf-8", ("utf-8", ",", True)),
            ("E-mail;Город\na@b.example;Киев\n", "windows-1251", ("windows-1251", ";", True)),
            ("E-mail;Imię\na@b.example;Małgorzata Śliwińska\n", "windows-1250", ("windows-1250", ";", True)),
            ("E-mail;Jméno\na@b.example;Jiří Dvořák, Plzeň\n", "windows-1250", ("windows-1250", ";", True)),
            ("E-mail;Şehir\na@b.example;Ayşe Doğan, Niğde\n", "windows-1254", ("windows-1254", ";", True)),
            ("E-mail;שם\na@b.example;שרה לוי, תל אביב, ירושלים\n", "windows-1255", ("windows-1255", ";", True)),
            ("E-mail;الاسم\na@b.example;ليلى حسن، القاهرة، محمد علي\n", "windows-1256", ("windows-1256", ";", True)),
            ("E-mail;Όνομα\na@b.example;Άννα Άλκη\n", "iso-8859-7", ("iso-8859-7", ";", True)),
            ("E-mail;Straße\na@b.example;Jörg Müller, Köln\n", "mac-roman", ("mac-roman", ";", True)),
            ("E-mail;名前\na@b.example;やまだ花子\n", "shift-jis", ("shift-jis", ";", True)),
            ("E-mail;Name\na@b.example;José Müller, Peña\n", "windows-1252", ("windows-1252", ";", True)),
            ("E-mail;Name\na@b.example;Ann\n", "utf-16-le", ("utf-16", ";", True)),
        ],
    )
    def test_reading(self, text: str, written: str, expected: tuple[str, str, bool]) -> None:
        content = text.encode(written)
        found = tables.guess(content)
        assert expected == (found.encoding, found.separator, found.has_header)
        assert tables.text_of(content, found).endswith(text)

    @pytest.mark.parametrize(
        ("text", "expected", "names", "mails"),
        [
            ("sep=;\nE-mail;Name\na@b.example;Ann\n", (1, 0), "E-mail Name", [3]),
            ('\ufeff"sep=;"\r\nE-mail;Name\r\na@b.example;"Ann, Bo"\r\n', (1, 0), "E-mail Name", [3]),
            ("Old Mill;;\n;;\nPrinted 28.11.2026;;\nE-mail;Name;Sum\na@b.example;Ann;1\nSumme;;1\n", (2, 1),
             "E-mail Name Sum", [5]),
            ("Id;E-mail;City;Sum\n1;a@b.example;Athens;2\n2;nobody;Athens;3\n;;;5\n\nOld Mill\n", (0, 2),
             "Id E-mail City Sum", [2, 3]),
            ("E-mail;Name;City\na@b.example;Ann;Athens\nnobody;;\n", (0, 0), "E-mail Name City", [2, 3]),
            ("a@b.example\nc@d.example\tAnn\ne@f.example\tBo\n", (0, 0), "Column_1", [2, 3, 4]),
            (",E-mail,Name\n0,a@b.example,Ann\n", (0, 0), "Column_1 E-mail Name", [2]),
            ("E-mail,Note,Note,,\na@b.example,x,y,,\n", (0, 0), "E-mail Note Note_(2)", [2]),
        ],
    )  # fmt: skip
    def test_around_the_table(self, text: str, expected: tuple[int, int], names: str, mails: list[int]) -> None:
        """Rows that are no rows are left out, names differ, and lines keep their numbers."""
        found = tables.guess(text.encode())
        assert expected == (found.rows_above, found.rows_below)
        read, records = tables.read(tables.text_of(text.encode(), found), found.separator)
        assert names.replace("_", " ").split() == " ".join(read).split()
        assert mails == [record.line for record in records]

    @pytest.mark.parametrize("text", ['"Note"\n"' + "x|\n" * 9 + '"\n', '"' + "a\tb" * 20_000 + '"\n"x"\n'])
    def test_what_is_behind_a_quoted_cell(self, text: str) -> None:
        """Lines within cells, and a header that is longer than what is looked at, tell nothing."""
        assert ";" == tables.separator_of(text.replace('"', '"E-mail";"', 1))

    def test_a_nul_is_no_utf_16(self) -> None:
        found = tables.guess(b"email,name\nann\x00a@example.com,Ann\nmax@example.com,M\x00ax\n")
        assert ("utf-8", ",") == (found.encoding, found.separator)

    def test_foreign_words(self) -> None:
        assert ["Müller", "Öz"] == tables.foreign_words("Name\nAnn Müller\nÖz\nMüller")

    @pytest.mark.parametrize(("blank", "count"), [(SAMPLE_ROWS_SEEN - 2, 1), (SAMPLE_ROWS_SEEN - 1, 0)])
    def test_blank_rows_are_looked_at_too(self, blank: int, count: int) -> None:
        text = "Mail;Name\n" + ";\n" * blank + "a@b.example\n"
        assert (["Mail", "Name"], count * [["a@b.example", ""]]) == tables.sample_of(text, ";")
        assert 1 == len(list(tables.read(text, ";")[1]))  # an import reads on

    def test_too_many_columns(self) -> None:
        with pytest.raises(errors.Invalid, match="at most 500 columns"):
            tables.sample_of(",".join(f"c{n}" for n in range(COLUMNS_MAX + 1)), ",")

    @pytest.mark.parametrize("content", [b"\xd0\xcf\x11\xe0\xa1\xb1", b"%PDF-1.7\n%\xe2"])
    def test_other_formats(self, content: bytes) -> None:
        with pytest.raises(errors.Malformed, match="neither a CSV file"):
            tables.guess(content)


class TestFaulty:
    TEXT = 'Mail,Note\na@b.example,1\nnobody,"x\ny"\nc@d.example\n"e@f.example"x,2\ng@h.example,3\n'

    def test_out_and_in(self) -> None:
        faulty = tables.faulty(self.TEXT, COMMAS, {2: "No address.", 3: "Too short.", 4: "Broken."})
        assert 'Mail,Note,problem\nnobody,"x\ny",No address.\nc@d.example,,Too short.\n' == faulty[: faulty.index("e@")]
        corrected = "Note;Mail\n9;n@b.example\n"
        whole = tables.repaired(self.TEXT, COMMAS, corrected=corrected, separator=";", numbers={2, 3, 4})
        assert "Mail,Note\na@b.example,1\ng@h.example,3\nn@b.example,9\n" == whole

    def test_other_columns(self) -> None:
        with pytest.raises(errors.Invalid) as caught:
            tables.repaired(self.TEXT, COMMAS, corrected="Mail\na@b.example\n", separator=",", numbers={2})
        assert "lack the column “Note”" in caught.value.errors[0].message


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

    @pytest.mark.parametrize("old", [b'<c r="B1" ', b"<c q='/>' r=\"SF99999\" "])
    def test_a_cell_far_away(self, old: bytes) -> None:
        """Two cells are read as a table of all that lies between them."""
        far = changed(workbook([["a", "b"]]), "sheet1.xml", b'<c r="B1" ', old.replace(b"B1", b"SF99999"))
        with pytest.raises(errors.TooLarge):
            tables.csv_of(far)

    def test_cells_far_away_that_hold_nothing(self) -> None:
        """Programs write the format of a whole column, down to the last row that there could be."""
        cells = b'<c r="XFD1048576" s="1"/><c r="A9" t="n"></c>'
        empty = b'<row r="1048576" spans="1:2">%b</row><row r="1048577" ht="15" />' % cells
        sheet = changed(workbook([["a", "b"]]), "sheet1.xml", b"</sheetData>", empty + b"</sheetData>")
        assert b"a,b\n" == tables.csv_of(sheet)
        assert {"S0": [["a", "b"]]} == tables.sheets_of(sheet)


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
