"""Lists as people have them: how a file is read, what its columns are, and its faulty rows out and in again."""

import pytest

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
