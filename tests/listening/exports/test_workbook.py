"""The spreadsheet: what a person sees first in it, and what stands on its other sheets."""

import io
import zipfile
from datetime import date, datetime, time
from typing import Any

import openpyxl
import pytest

from afterword.core.answers.values import Given
from afterword.core.questionnaires.metadata import MetadataDefinition
from afterword.kit import db
from afterword.kit.texts import texts
from afterword.listening.exports import workbook
from afterword.listening.exports.workbook import Xlsx
from afterword.listening.exports.writers import TooManyRows
from tests.listening.exports import files
from tests.listening.exports.conftest import COMMENT, CSAT, Shop
from tests.listening.exports.files import LONG, bytes_of, table_of

NAMES = {
    "questionnaire_metadata:sum": MetadataDefinition("sum", "questionnaire", "Total", "number"),
    "questionnaire_metadata:store": MetadataDefinition("store", "questionnaire", "Branch"),
    "questionnaire_metadata:paid": MetadataDefinition("paid", "questionnaire", "Paid", "boolean"),
    "questionnaire_metadata:ordered": MetadataDefinition("ordered", "questionnaire", "", "date"),
}


def opened(content: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content))


def made(language: str = "en", **options: Any) -> Any:
    table, responses = table_of(**options)
    return opened(bytes_of(Xlsx(table, words=texts("console", language), names=NAMES), responses))


def hidden_of(sheet: Any) -> set[str]:
    """The headings of hidden columns; the file joins equal ones that stand side by side."""
    ranges = [range(one.min, one.max + 1) for one in sheet.column_dimensions.values() if one.hidden]
    return {cell.value for cell in sheet[1] if any(cell.column in one for one in ranges)}


def rows(sheet: Any) -> list[dict[str, Any]]:
    heads, *found = sheet.iter_rows(values_only=True)
    return [dict(zip(heads, row, strict=True)) for row in found]


async def of_shop(shop: Shop, **request: Any) -> Any:
    export = await shop.ask(format="xlsx", **request)
    await shop.write()
    return opened((await shop.get(f"/q/export/{export['export_id']}/file")).content)


class TestReader:
    """The first sheet is for people."""

    async def test_date_person_branch_score_comment_first(self, shop: Shop) -> None:
        given = {"questionnaire": {"store_id": "Patras"}, "responder": {"first_name": "Ann", "last_name": "Day"}}
        await shop.respond({CSAT: Given(5), COMMENT: Given("Quick")}, metadata=given)
        sheet = (await of_shop(shop)).worksheets[0]
        shown = [cell for cell in sheet[1] if cell.value not in hidden_of(sheet)]
        assert ["Date of the answer", "First name", "Last name", "Store", "Satisfaction with the delivery"] == [
            cell.value for cell in shown[:5]
        ]
        assert ["Ann", "Day", "Patras", 5, "Quick"] == [sheet.cell(2, cell.column).value for cell in shown[1:6]]

    async def test_times_are_local_dates(self, shop: Shop, pool: db.Pool) -> None:
        instance_id = await shop.respond({CSAT: Given(5)})
        async with db.transaction(pool) as database:
            await database.execute(
                "update questionnaire_instance set submitted_time = '2026-10-25 10:00:30+00' where instance_id = $1",
                instance_id,
            )
        cell = (await of_shop(shop)).worksheets[0]["A2"]
        assert (datetime.fromisoformat("2026-10-25T12:00:30"), "yyyy-mm-dd hh:mm") == (cell.value, cell.number_format)

    def test_looks(self) -> None:
        sheet = made().worksheets[0]
        assert ("A2", f"A1:{sheet.cell(4, sheet.max_column).coordinate}") == (sheet.freeze_panes, sheet.auto_filter.ref)
        assert all(cell.font.bold and cell.alignment.wrap_text for cell in sheet[1])
        widths = {cell.value: sheet.column_dimensions[cell.column_letter].width for cell in sheet[1]}
        assert 12 <= widths["Recommend?"] <= 13
        assert 52 <= widths["Why?"] + widths["why? [with]"] <= 80
        assert 18 <= widths["When?"] <= 19
        assert 20 <= widths["Date of the answer"] <= 21

    def test_own_names_stand_before_the_answers(self) -> None:
        heads = [cell.value for cell in made().worksheets[0][1]]
        assert ["Date of the answer", "Branch", "Total", "Recommend?", "Why?", "why? [with]"] == [
            one
            for one in heads
            if one in {"Date of the answer", "Total", "Branch", "Recommend?", "Why?", "why? [with]"}
        ]
        assert heads.index("why? [with]") < heads.index("What?")

    def test_types(self) -> None:
        first, second, _ = rows(made().worksheets[0])
        expected = {
            "Which day?": datetime.fromisoformat("2026-10-25"), "At what time?": time(9, 30), "How many nights?": 2.5,
            "When?": datetime.fromisoformat("2026-10-25T09:30"), "Found everything?": True, "Recommend?": 9,
            "Total": 1041.5, "Paid": True, "ordered": datetime.fromisoformat("2026-10-24"),
            "Branch": "007",
        }  # fmt: skip
        assert expected == {name: first[name] for name in expected}
        assert ("12345678901234567", "perhaps", "2026-10-24T10:00:00Z") == tuple(
            second[name] for name in ("Total", "Paid", "ordered")
        )

    def test_a_day_before_spreadsheets_stays_text(self) -> None:
        table, responses = table_of()
        old = [type(one)(one.fixed, one.answers, {"ordered": "1899-12-31"}) for one in responses]
        found = opened(bytes_of(Xlsx(table, words=texts("console", "en"), names=NAMES), old))
        assert "1899-12-31" == rows(found.worksheets[0])[0]["ordered"]
        assert date(1899, 12, 31).year < workbook.YEAR_MIN

    def test_no_formula(self) -> None:
        """A text that begins like a formula stays a text, in headings too."""
        names = {"questionnaire_metadata:store": MetadataDefinition("store", "questionnaire", "=1+1")}
        table, responses = table_of()
        given = [type(one)(one.fixed, one.answers, {"store": "=cmd|'/c calc'!A0"}) for one in responses]
        found = opened(bytes_of(Xlsx(table, words=texts("console", "en"), names=names), given))
        cells = [cell for sheet in found.worksheets for row in sheet.iter_rows() for cell in row]
        assert {"=1+1", "=cmd|'/c calc'!A0"} <= {cell.value for cell in cells}
        content = bytes_of(Xlsx(table, words=texts("console", "en"), names=names), given)
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            assert not [name for name in parts.namelist() if b"<f>" in parts.read(name)]

    def test_empty_columns_are_hidden_but_questions(self) -> None:
        sheet = made().worksheets[0]
        hidden = hidden_of(sheet)
        assert {"Date sent", "Date opened"} <= hidden
        assert not {"Recommend?", "What? [other]", "Total"} & hidden

    def test_nothing(self) -> None:
        table, _ = table_of()
        sheet = opened(bytes_of(Xlsx(table, words=texts("console", "en"), names=NAMES), [])).worksheets[0]
        assert (1, set()) == (sheet.max_row, hidden_of(sheet))


class TestLanguages:
    def test_headings_and_sheets(self) -> None:
        book = made("el")
        assert ["Απαντήσεις", "ID και άλλα δεδομένα", "Μεγάλα κείμενα"] == book.sheetnames
        assert "Ημερομηνία απάντησης" == book.worksheets[0]["A1"].value
        assert "Branch" in [cell.value for cell in book.worksheets[0][1]]

    def test_from_right_to_left(self) -> None:
        assert [True, None] == [made(one).worksheets[0].sheet_view.rightToLeft for one in ("ar", "en")]

    async def test_of_the_export(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(5)})
        assert "Ημερομηνία απάντησης" == (await of_shop(shop, locale="el")).worksheets[0]["A1"].value


class TestSecondSheet:
    async def test_ids_in_the_same_order(self, shop: Shop) -> None:
        for score in (1, 2, 3):
            await shop.respond({CSAT: Given(score)}, metadata={"questionnaire": {"colour": f"={score}"}})
        first, second = (await of_shop(shop)).worksheets
        read, keys = rows(first), rows(second)
        assert [one["Response ID"] for one in read] == [one["Response ID"] for one in keys]
        assert ['{"colour":"=3"}', '{"colour":"=2"}', '{"colour":"=1"}'] == [one["Undeclared data"] for one in keys]
        assert [3, 2, 1] == [one["Satisfaction with the delivery"] for one in read]
        assert {"Version ID", "Person ID", "Date created"} <= keys[0].keys()
        assert not {"Version ID", "Person ID", "Undeclared data"} & read[0].keys()
        assert ("A2", "A1:") == (second.freeze_panes, second.auto_filter.ref[:3])


class TestSeveralQuestionnaires:
    """A list: the score of each response, and the first of its texts."""

    def test_score_and_comment(self) -> None:
        table, responses = table_of(is_of_list=True, prefixes={})
        question = next(one for one in table.questions if one.plain_title == "Why?")
        table, _ = table_of(is_of_list=True, prefixes={one.question_id: "Visit" for one in table.questions})
        seen = ["Q", "Visit", None, 9, 10, "promoter"]
        given = [type(one)(one.fixed, {question.question_id: ["Quick", None]}, seen=seen) for one in responses]
        found = opened(bytes_of(Xlsx(table, words=texts("console", "en"), names=NAMES), given))
        [row, *_] = rows(found.worksheets[0])
        heads = [head for head, value in row.items() if value is not None]
        assert ["Questionnaire", "Score", "Highest score", "Group", "Comment", "Visit: Why?"] == heads[:6]
        assert ["Visit", 9, 10, "Promoters", "Quick", "Quick"] == [row[head] for head in heads[:6]]
        assert ("Link", "Q") == (row["Channel"], rows(found.worksheets[1])[0]["Questionnaire ID"])

    def test_one_questionnaire_has_its_question(self) -> None:
        table, responses = table_of(is_of_list=True)
        given = [type(one)(one.fixed, one.answers, seen=["Q", "Visit", 1, 9, 10, "promoter"]) for one in responses]
        found = opened(bytes_of(Xlsx(table, words=texts("console", "en"), names=NAMES), given))
        heads = [cell.value for cell in found.worksheets[0][1]]
        assert "Promoters" == rows(found.worksheets[0])[0]["Group"]
        assert heads.index("Recommend?") + 1 == heads.index("Group")
        assert not {"Score", "Questionnaire"} & {*heads}
        assert {"Score", "Questionnaire"} <= {cell.value for cell in found.worksheets[1][1]}

    def test_satisfied_people_are_no_promoters(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The names of NPS are of its answers alone."""
        csat = [{**one, "type": "csat"} if one["type"] == "nps" else one for one in files.QUESTIONS]
        monkeypatch.setattr(files, "QUESTIONS", csat)
        table, responses = table_of(is_of_list=True)
        given = [type(one)(one.fixed, {}, seen=["Q", "Visit", 1, 4, 5, "promoter"]) for one in responses]
        found = opened(bytes_of(Xlsx(table, words=texts("console", "en"), names=NAMES), given))
        assert "happy" == rows(found.worksheets[0])[0]["Group"]


class TestNothingIsLost:
    def test_long_texts(self) -> None:
        """A cell holds 32,767 units of UTF-16; the rest stands on a sheet of its own, and the cell says so."""
        book = made()
        cell: str = rows(book.worksheets[0])[0]["why? [with]"]
        rest = rows(book["Long texts"])
        begin, mark, _ = cell.partition(" […: Long texts]")
        assert (LONG, True) == (begin + "".join(row["Text"] for row in rest), bool(mark))
        assert {("instance_id!", "why? [with]")} == {(row["Response ID"], row["Column"]) for row in rest}
        assert [2] == [row["Part"] for row in rest]
        assert all(len(text.encode("utf-16-le")) <= 2 * 32_767 for text in (cell, *(row["Text"] for row in rest)))

    @pytest.mark.parametrize(("name", "most", "sentence"), [("COLUMNS", 15, "15 columns"), ("ROWS", 2, "2 responses")])
    def test_too_many(self, monkeypatch: pytest.MonkeyPatch, name: str, most: int, sentence: str) -> None:
        monkeypatch.setattr(workbook, f"XLSX_{name}_MAX", most)
        with pytest.raises(TooManyRows, match=sentence):
            made()
