"""Lists as people have them: how a file is read, what its columns are, and its faulty rows out and in again."""

import pytest

from afterword import errors
from afterword.core.wire import imports, list_files
from afterword.core.wire.imports import COLUMNS_MAX
from afterword.core.wire.list_files import SAMPLE_ROWS_SEEN, Reading

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
        ],
    )
    def test_reading(self, text: str, written: str, expected: tuple[str, str, bool]) -> None:
        content = text.encode(written)
        found = list_files.guess(content)
        assert expected == (found.encoding, found.separator, found.has_header)
        assert list_files.text_of(content, found).endswith(text)

    @pytest.mark.parametrize(("blank", "count"), [(SAMPLE_ROWS_SEEN - 2, 1), (SAMPLE_ROWS_SEEN - 1, 0)])
    def test_blank_rows_are_looked_at_too(self, blank: int, count: int) -> None:
        text = "Mail;Name\n" + ";\n" * blank + "a@b.example\n"
        assert (["Mail", "Name"], count * [["a@b.example", ""]]) == list_files.sample_of(text, ";")
        assert 1 == len(list(imports.read(text, ";")[1]))  # an import reads on

    def test_too_many_columns(self) -> None:
        with pytest.raises(errors.Invalid, match="at most 500 columns"):
            list_files.sample_of(",".join(f"c{n}" for n in range(COLUMNS_MAX + 1)), ",")

    @pytest.mark.parametrize("content", [b"\xd0\xcf\x11\xe0\xa1\xb1", b"%PDF-1.7\n%\xe2"])
    def test_other_formats(self, content: bytes) -> None:
        with pytest.raises(errors.Malformed, match="neither a CSV file"):
            list_files.guess(content)


class TestFaulty:
    TEXT = 'Mail,Note\na@b.example,1\nnobody,"x\ny"\nc@d.example\n"e@f.example"x,2\ng@h.example,3\n'

    def test_out_and_in(self) -> None:
        faulty = list_files.faulty(self.TEXT, COMMAS, {2: "No address.", 3: "Too short.", 4: "Broken."})
        assert 'Mail,Note,problem\nnobody,"x\ny",No address.\nc@d.example,,Too short.\n' == faulty[: faulty.index("e@")]
        corrected = "Note;Mail\n9;n@b.example\n"
        whole = list_files.repaired(self.TEXT, COMMAS, corrected=corrected, separator=";", numbers={2, 3, 4})
        assert "Mail,Note\na@b.example,1\ng@h.example,3\nn@b.example,9\n" == whole

    def test_other_columns(self) -> None:
        with pytest.raises(errors.Invalid) as caught:
            list_files.repaired(self.TEXT, COMMAS, corrected="Mail\na@b.example\n", separator=",", numbers={2})
        assert "lack the column “Note”" in caught.value.errors[0].message
