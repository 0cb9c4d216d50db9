"""Tables of items: headers in other words, rows that are broken, pieces that make up the whole."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from afterword import errors
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.reading import structs
from afterword.core.wire import imports, tables
from afterword.core.wire.imports import Cut, Repair, Seen
from afterword.core.wire.tables import Fault
from tests.sizes import size

FIELDS = ("responder_channel_identifier", "locale", "send_time", "external_reference")
HEADER = "responder_channel_identifier,locale,external_reference"


def cut(text: str, *, separator: str = ",", mapping: dict[str, str] | None = None, strict: bool = False) -> Cut:
    found = imports.cut(text, fields=FIELDS, separator=separator, mapping=mapping or {})
    imports.check(found, declared=GLOBAL, strict=strict)
    return found


def rows(found: Cut) -> list[Any]:
    """All rows, each with its number."""
    every: list[Any] = []
    for piece in found.pieces:
        held = imports.read_piece(piece.content).rows
        assert len(every) + 1 == piece.first_row
        every += held
    assert found.rows_total == len(every)
    return every


def wrong(text: str, **options: Any) -> list[tuple[str, str]]:
    with pytest.raises(errors.Invalid) as caught:
        cut(text, **options)
    return [
        (error.pointer if error.pointer is not None else error.parameter or "", error.code)
        for error in caught.value.errors
    ]


def advice(text: str, **options: Any) -> str:
    with pytest.raises(errors.Invalid) as caught:
        cut(text, **options)
    return " ".join(error.message for error in caught.value.errors)


class TestDecode:
    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
    def test_utf_16(self, encoding: str) -> None:
        with pytest.raises(errors.Malformed, match=r"UTF-16.*CSV UTF-8") as caught:
            tables.decode(HEADER.encode(encoding))
        assert "malformed_encoding" == caught.value.code

    def test_latin_1(self) -> None:
        with pytest.raises(errors.Malformed, match=r"line 3 .*Latin-1.*CSV UTF-8"):
            tables.decode(f"{HEADER}\na@b.example,,\nJosé,,\n".encode("latin-1"))

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
    def test_utf_8(self, encoding: str) -> None:
        assert f"{HEADER}\nλ" == tables.decode(f"{HEADER}\nλ".encode(encoding))


class TestHeader:
    @pytest.mark.parametrize(
        ("text", "options", "expected"),
        [
            ("", {}, [("", "too_few")]),
            ("\n\n", {}, [("", "too_few")]),
            (HEADER, {}, [("", "too_few")]),
            (f"{HEADER}\n\n,,\n", {}, [("", "too_few")]),
            ("locale\nel", {}, [("/responder_channel_identifier", "required")]),
            (f"{HEADER},E-mail\n", {}, [("/E-mail", "unknown_column")]),
            (f"{HEADER},a/b\n", {}, [("/a~1b", "unknown_column")]),
            (f"{HEADER},locale\n", {}, [("/locale", "exclusive")]),
            (f"{HEADER},Sprache\n", {"mapping": {"Sprache": "locale"}}, [("/Sprache", "exclusive")]),
            (f"{HEADER},Sprache\n", {"mapping": {"Sprache": "language"}}, [("map[Sprache]", "unknown_column")]),
            (f"{HEADER}\n", {"mapping": {"Sprache": "locale"}}, [("map[Sprache]", "unknown_column")]),
            (f"{HEADER},,x\n", {"mapping": {"x": ""}}, [("/", "required")]),
            (f"{HEADER},{','.join(f'x{n}' for n in range(9))}\n", {},
             [*((f"/x{n}", "unknown_column") for n in range(imports.UNKNOWN_SHOWN_MAX)), ("", "unknown_column")]),
            (f"{HEADER},x\n", {"mapping": {"*": "locale"}}, [("map[*]", "unknown_column"), ("/x", "unknown_column")]),
            ("E-mail,x\n", {"mapping": {"*": ""}}, [("/responder_channel_identifier", "required")]),
            (f"{HEADER},metadata.questionnaire.\n", {}, [("/metadata.questionnaire.", "invalid_format")]),
            (f"{HEADER},metadata.responder.age\na,,,", {"strict": True},
             [("/metadata.responder.age", "unknown_metadata")]),
            (f'"{HEADER}\na', {}, [("", "invalid_format")]),
            (",".join(["responder_channel_identifier", *(f"metadata.responder.n{n}" for n in range(201))]), {},
             [("/metadata/responder", "too_many")]),
        ],
    )  # fmt: skip
    def test_refused(self, text: str, options: dict[str, Any], expected: list[tuple[str, str]]) -> None:
        assert expected == wrong(text, **options)

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("E-mail", "responder_channel_identifier"),
            ("responder channel identifer", "responder_channel_identifier"),
            ("Language", "locale"),
            ("Send-Time", "send_time"),
            ("Order ID", "external_reference"),
            ("transaction id", "metadata.questionnaire.transaction_id"),
            ("Store", "metadata.questionnaire.store_id"),
            ("Tel", "responder_channel_identifier"),
        ],
    )
    def test_suggests(self, name: str, meant: str) -> None:
        assert f"did you mean {meant}?" in advice(f"{name},b\n")

    @pytest.mark.parametrize("name", ["Schuhgröße", "id", "Id", "tem"])
    def test_suggests_nothing_far_off(self, name: str) -> None:
        told = advice(f"{name},responder_channel_identifier\n")
        assert "metadata.questionnaire.NAME" in told
        assert name not in told.split()
        assert "did you mean" not in told

    def test_suggests_first_of_many(self) -> None:
        told = wrong(",".join([*(f"Lineitem {n}" for n in range(70)), "E-mail"]) + "\n")
        assert (imports.UNKNOWN_SHOWN_MAX + 2, ("/E-mail", "unknown_column")) == (len(told), told[0])

    def test_a_column_of_dates_may_be_the_time_to_send(self) -> None:
        lines = [",".join([*(f"Lineitem {n}" for n in range(9)), "Invite on"]), "," * 9 + "5/12/2026", "," * 9]
        assert "Map it to send_time if messages leave at these, or to nothing (map[NAME]=)" in advice("\n".join(lines))

    def test_another_separator(self) -> None:
        assert "another separator" in advice("responder_channel_identifier;locale\na@b.example;el\n")

    def test_mapped(self) -> None:
        text = "Notes, E-mail ,Name\nx,a@b.example,Ann\n"
        mapping = {"E-mail": imports.ADDRESS, "Notes": "", "Name": "metadata.responder.first_name"}
        found = cut(text, mapping=mapping)
        assert ([imports.ADDRESS, "metadata.responder.first_name"], [2, 3]) == (found.columns, found.places)
        assert [["a@b.example", "Ann"]] == rows(found)

    def test_all_others_left_out(self) -> None:
        text = ",E-mail,Total,locale,metadata.responder.age\n0,a@b.example,7,el,40\n"
        found = cut(text, mapping={"E-mail": imports.ADDRESS, "*": ""})
        assert [["a@b.example", "el", "40"]] == rows(found)


class TestRows:
    def test_as_they_are(self) -> None:
        text = f'{HEADER}\r\na@b.example,"el",\r\n\r\n , ,\n"c@d.example","a ""b""\nc, d",7\rlast,x,y'
        expected = [["a@b.example", "el", ""], ["c@d.example", 'a "b"\nc, d', "7"], ["last", "x", "y"]]
        assert expected == rows(cut(text))

    def test_apostrophes_of_spreadsheets(self) -> None:
        assert [["+306900000001", "", "0001043"], ["d'arc", "'", ""]] == rows(
            cut(f"{HEADER}\n'+306900000001,,'0001043\nd'arc,',\n")
        )

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("a@b.example,el", "invalid_format"),
            ("a@b.example,el,1,2", "invalid_format"),
            ('"a@b.example"x,el,1', "invalid_format"),
            ("a@b.example,el,\x00", "invalid_format"),
            (f"a@b.example,{'é' * 33_000},1", "too_long"),
            ('a@b.example,"' + "x\n" * 40_000 + '",1', "too_long"),
            (f"a@b.example,{'x' * 10_000_000},1", "too_long"),  # more than the library takes
            (f'a@b.example,"{"x" * 200_000}",1', "too_long"),
        ],
    )
    def test_broken(self, line: str, code: str) -> None:
        """A broken row is told in its place, and its neighbours are as good as before."""
        good = "c@d.example,el,7"
        found = rows(cut(f"{HEADER}\n{good}\n{line}\n{good}\n"))
        assert [good.split(",")] * 2 == [found[0], found[2]]
        assert isinstance(found[1], Fault)
        assert code == found[1].code

    def test_more_cells_without_anything_in_them(self) -> None:
        assert [["a@b.example", "el", "1"]] == rows(cut(f"{HEADER},,\na@b.example,el,1,,,\n"))

    @pytest.mark.parametrize(
        ("rest", "until"),
        [
            ("x\n" * 10, "never closed"), ("x" * 200_000, "not closed within 65,536 bytes"),
            ("x\n" * 200_000, "not closed within 65,536 bytes"),
        ],
    )  # fmt: skip
    def test_a_quotation_mark_without_end(self, rest: str, until: str) -> None:
        """The rest cannot be split into rows, so the whole file is refused."""
        text = f'{HEADER}\na@b.example,el,1\nb@b.example,"el,2\n{rest}'
        assert f"opened in row 2 and {until}" in advice(text)

    def test_a_header_that_cannot_be_read(self) -> None:
        assert "header cannot be read. A row may have 65,536 bytes." in advice(
            ",".join(f"c{n}" for n in range(100_000))
        )

    def test_too_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(imports, "ROWS_MAX", 3)
        assert 3 == len(rows(cut(f"{HEADER}\n" + "a,,\n" * 3)))
        with pytest.raises(errors.TooLarge):
            cut(f"{HEADER}\n" + "a,,\n" * 4)

    def test_pieces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(imports, "PIECE_ROWS", 3)
        monkeypatch.setattr(imports, "PIECE_CHARACTERS", 100)
        lines = [f"a{n},,{'x' * (99 if n == 4 else 1)}" for n in range(10)]
        found = cut("\n".join([HEADER, *lines]))
        assert [1, 4, 6, 9] == [piece.first_row for piece in found.pieces]
        assert [line.split(",") for line in lines] == rows(found)

    def test_repeated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(imports, "PIECE_ROWS", 2)
        found = cut(f"{HEADER}\na,,1\nb,,\nc,, 1 \nd,,\ne,,2\n")
        assert [[], ["1"], []] == [imports.read_piece(piece.content).repeated for piece in found.pieces]

    @pytest.mark.parametrize(
        ("lines", "joined"),
        [
            (["a@b.example,,1", "a@b.example,,1", "c@d.example,,2", "a@b.example,,1"], [1, 3]),
            (["a@b.example,,1", ",,1", "c@d.example,,1"], [1]),  # another person's row is none of this order
            (["a@b.example,,", "a@b.example,,", "c@d.example,,", "a@b.example,,"], [1]),
            (["a@b.example,,1", "a@b.example,,2", "a@b.example,,"], [2]),
            (['a@b.example,,"4,90E+12"', 'c@d.example,,"4,90E+12"'], []),
        ],
    )
    def test_joined(self, lines: list[str], joined: list[int]) -> None:
        """Rows of one order, by the reference, or without one by the address before them."""
        options: dict[str, Any] = {"fields": FIELDS, "separator": ",", "mapping": {}}
        text = "\n".join([HEADER, *lines])
        [piece] = imports.cut(text, **options, joins=True).pieces
        assert joined == imports.read_piece(piece.content).joined
        [piece] = imports.cut(text, **options).pieces
        assert [] == imports.read_piece(piece.content).joined


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)


class TestRoundTrip:
    @settings(max_examples=size(50, 1_000), deadline=None)
    @given(
        st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=12), st.sampled_from(tables.SEPARATORS)
    )
    def test_what_was_written_is_read(self, table: list[list[str]], separator: str) -> None:
        """Whatever a writer of CSV may write comes out cell by cell."""
        table = [["a", *line] for line in table]
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["responder_channel_identifier", "locale", "send_time", "metadata.responder.x"])
        writer.writerows(table)
        expected = [[structs.unmarked(cell) for cell in line] for line in table]
        assert expected == rows(cut(file.getvalue(), separator=separator))


class TestDocument:
    def test_spoiled_cells(self) -> None:
        columns = ["responder_channel_identifier", "locale", "external_reference", "metadata.responder.note"]
        found = imports.faults_of(columns, ["4,9E+12", "GR", "4.90E+12", "5E12"])
        assert ["/responder_channel_identifier", "/locale", "/external_reference"] == [each.pointer for each in found]
        assert [] == imports.faults_of(columns, ["a@b.example", "el", "17", "about 4,9E+12"])

    def test_of_a_row(self) -> None:
        columns = [*FIELDS, "metadata.questionnaire.order/total", "metadata.responder.first_name"]
        cells = [" a@b.example ", " ", "2027-01-01 10:00", "", " 12.5", ""]
        expected = {
            "responder_channel_identifier": "a@b.example",
            "send_time": "2027-01-01 10:00",
            "metadata": {"questionnaire": {"order/total": " 12.5"}},
        }
        assert expected == imports.document_of(columns, cells)
        pointers = [imports.pointer_of(column) for column in columns]
        assert ("/responder_channel_identifier", "/metadata/questionnaire/order~1total") == (pointers[0], pointers[4])


@pytest.mark.parametrize(
    ("kind", "values", "seen", "expected"),
    [
        ("date", "31/12/2026 1/2/26 2026-12-31 x", (2, 1, 0), "day"),
        ("date", "12/31/2026 1/2/26", (2, 0, 1), "month"),
        ("date", "31/12/2026 12/31/2026", (2, 1, 1), None),
        ("date", "1/2/2026 5-5-2026 13.13.2026 1.2-2026", (2, 0, 0), None),
        ("number", "3,50 12 1.234", (2, 1, 0), "comma"),
        ("number", "3.5 1,234,567 1,234", (3, 2, 0), "point"),
        ("number", "1.234,5 1,234.5 1,2,3", (2, 1, 1), None),
        ("number", "12 -7 x", (0, 0, 0), ""),
    ],
)
def test_seen(kind: imports.Written, values: str, seen: tuple[int, int, int], expected: str | None) -> None:
    text = "Name;Value\n" + "".join(f"x;{value}\n" for value in values.split()) + 'short\n"x"y;1\n'
    found = imports.look(text, ";", {"Value": kind, "gone": kind}).get("Value", Seen(kind))
    total, *proved = seen
    assert total == found.total
    assert sorted(proved) == sorted((found.only_first, found.only_second))
    assert expected == found.format


@pytest.mark.parametrize(
    ("written", "cell", "expected"),
    [
        ("day", " 3.4.26 ", "2026-04-03"),
        ("day", "31/12/2026 9:05", "2026-12-31 09:05"),
        ("day", "31/12/2026, 19:05:07", "2026-12-31 19:05:07"),
        ("month", "3/4/2026", "2026-03-04"),
        ("month", "31/12/2026", "2026-31-12"),
        ("month", "2026-12-31", "2026-12-31"),
        ("comma", "-1.234.567,50", "-1234567.50"),
        ("comma", "1 234,5", "1234.5"),
        ("comma", "1.234", "1234"),
        ("comma", "3.5", "3.5?"),
        ("point", "1,234.50", "1234.50"),
        ("point", "3,5", "3,5?"),
        ("point", "many", "many"),
    ],
)
def test_read(written: str, cell: str, expected: str) -> None:
    """A text that the format excludes becomes no date and no number, so that the row is refused and not guessed."""
    assert expected == imports.readers({"Value": written})["Value"](cell)


TEXT = 'Phone,Note\n2101234567,1\nx,"a\nb"\n\n"1"x,2\n 2101234567 ,3\n+44 20 7946 0958,4\n12\n'


@pytest.mark.parametrize(
    ("repair", "expected", "count"),
    [
        (Repair(country="GR"), ["+302101234567", "x", "+302101234567", "+44 20 7946 0958"], 2),
        (Repair(every="y"), ["y", "y", "y", "y"], 4),
        (Repair({"x": "y", "2101234567": "z"}, country="GR"), ["z", "y", "z", "+44 20 7946 0958"], 3),
        (Repair({"a": "b"}, country="DE"), ["+492101234567", "x", "+492101234567", "+44 20 7946 0958"], 2),
        (Repair({"other": "y"}), ["2101234567", "x", " 2101234567 ", "+44 20 7946 0958"], 0),
    ],
)
def test_repaired(repair: Repair, expected: list[str], count: int) -> None:
    """The broken row and the short one are the same ones as before: nothing makes them whole."""
    text, found = imports.repaired_alike(TEXT, ",", column="Phone", numbers={1, 2, 3, 4, 5}, repair=repair)
    _, records = tables.read(text, ",")
    rows = [record.cells for record in records]
    whole = [cells for cells in rows if not isinstance(cells, tables.Fault)]
    assert count == found
    assert isinstance(rows[2], tables.Fault)
    assert len(rows) - 1 == len(whole)
    assert [*expected, "12"] == [cells[0] for cells in whole]
    assert [["1"], ["a\nb"], ["3"], ["4"], []] == [cells[1:] for cells in whole]


@pytest.mark.parametrize(
    ("value", "limit", "expected"),
    [
        ("2101234567", 9, [1, 4]),
        ("2101234567", 1, [1]),
        ("a\nb", 9, [2]),
        ("x", 9, [2]),  # not the broken row
        ("123", 9, []),
        ("12", 9, [6]),
    ],
)
def test_rows_with(value: str, limit: int, expected: list[int]) -> None:
    assert expected == imports.rows_with(TEXT, ",", value, limit=limit)


def test_other_rows_stay() -> None:
    text, count = imports.repaired_alike(TEXT, ",", column="Phone", numbers={2}, repair=Repair(every="y"))
    assert 1 == count
    assert 'Phone,Note\n2101234567,1\ny,"a\nb"\n"1"x,2\n 2101234567 ,3\n+44 20 7946 0958,4\n12\n' == text


def test_wrong_values() -> None:
    found = imports.wrong_values(TEXT, ",", column="Phone", numbers={1, 2, 3, 4})
    assert {"2101234567": 2, "x": 1} == dict(found)


def test_too_long() -> None:
    """A row that is kept only in part is not written back as if it were whole."""
    text = f'Phone,Note\n1,"{"é" * tables.RECORD_BYTES_MAX}"\n2,3\n'
    with pytest.raises(errors.Invalid) as caught:
        imports.repaired_alike(text, ",", column="Phone", numbers={2}, repair=Repair(every="4"))
    assert "Row 1 is too long" in caught.value.errors[0].message
