"""From a questionnaire of another system and the file of its responses, with its codes, to answers of ours."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from afterword.core.answers.imported import AnswerSheet, NamedAnswer
from afterword.core.foreign import limesurvey_written, surveyjs_written
from afterword.core.foreign.exports import Source
from afterword.core.questionnaires.definition import Definition, Texts
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.wire.response_columns import ASK, Columns
from afterword.listening.imports import files
from tests.core.foreign import lss, qsf
from tests.core.foreign.forms import Taken, element, formbricks, surveyjs, taken, xlsform
from tests.core.foreign.lss import Q
from tests.core.foreign.test_typeform import field, form
from tests.listening.imports.test_files import read

ANSWERS = {"A1": "Good", "A2": "Bad", "A10": "Never"}
YES_NO_CODES = {"0": "No", "1": "Yes", "99999": "None"}
CASED = {"a": "Small", "A": "Large", "B": "a"}
PARTS = {"SQ001": "Delivery", "1": "Parcel", "a_b": "Price"}
Rows = Sequence[Mapping[str, str]]


def table(rows: Rows) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def imported(definition: Definition, content: bytes, tmp_path: Path) -> list[dict[str, Any]]:
    """The answers of each row, as labels of choices and rows; nothing is asked about and nothing refused."""
    path = tmp_path / "answers"
    path.write_bytes(content)
    columns, sheet = Columns(definition, GLOBAL), AnswerSheet(definition)
    with path.open("rb") as source:
        columns_of_file, rows = read(path, source)
        assert ASK not in columns.guess(columns_of_file).values()
        meanings = columns.chosen(columns_of_file, {})
        lines = [line for _, line in files.requests_of("answers", columns_of_file.names, rows,
            lambda names, cells: columns.document(names, cells, meanings, {}))]  # fmt: skip
    found: list[dict[str, Any]] = []
    for line in lines:
        assert isinstance(line, bytes)
        answers, wrong = sheet.read([NamedAnswer(one["question_id"], one["value"], one.get("other_text"))
            for one in json.loads(line)["answers"]])  # fmt: skip
        assert [] == wrong
        found.append({})
        for question_id, given in answers.items():
            question = definition.question(question_id)
            assert question is not None
            rows_of = {row.row_id: row.label for row in question.rows}

            def said(value: Any, known: Mapping[str, str] = rows_of, asked: Any = question) -> Any:
                if isinstance(value, dict):
                    return {known[name]: said(one) for name, one in value.items()}
                if isinstance(value, list | tuple):
                    return [said(one) for one in value]
                return asked.label_of(value) if asked.choices else value

            found[-1][question.key or ""] = said(given.value)
            if given.other_text:
                found[-1][f"{question.key} text"] = given.other_text
    return found


LIMESURVEY = lss.survey([
    Q("Why", "L", answers=ANSWERS, other="Y"), Q("again", "!", answers=YES_NO_CODES), Q("Size", "L", answers=CASED),
    Q("Liked", "M", rows={"SQ001": "Taste", "SQ007": "Price"}, other="Y"), Q("Parts", "F", rows=PARTS, answers=ANSWERS),
    Q("Order", "R", answers=ANSWERS), Q("Sex", "G"), Q("Terms", "M", rows={"SQ003": "I agree"}),
    Q("Same", "C", rows={"x": "Tea"}), Q("sure", "Y"),
])  # fmt: skip
OF_LIMESURVEY = {
    "Why": "A10", "Why[other]": "", "again": "0", "Size": "A", "Liked[SQ001]": "", "Liked[SQ007]": "Y",
    "Liked[other]": "Colour", "Parts[SQ001]": "A1", "Parts[1]": "A10", "Parts[a_b]": "A2", "Order[1]": "A10",
    "Order[2]": "A1", "Order[3]": "A2", "Sex": "F", "Terms[SQ003]": "Y", "Same[x]": "U", "sure": "N",
}  # fmt: skip
EXPECTED = {
    "why": "Never", "again": "No", "size": "Large", "liked": ["Price", "Other"], "liked text": "Colour",
    "parts": {"Delivery": "Good", "Parcel": "Never", "Price": "Bad"}, "order": ["Never", "Good", "Bad"],
    "sex": "Female", "terms": True, "same": {"Tea": "Uncertain"}, "sure": False,
}  # fmt: skip


OF_QUALTRICS = qsf.survey(
    qsf.q("QID1", "MC", "SAVR", choices=qsf.ABC, RecodeValues={"1": "-1", "2": "2000", "3": "x"}),
    qsf.q("QID2", "MC", "MAVR", RecodeValues={"1": "2001", "2": "0", "4": "7"},
        choices={"1": "Taste", "2": "Price", "4": {"Display": "Other", "TextEntry": "true"}}),
    qsf.q("QID3", "Matrix", "Likert", "SingleAnswer", choices={"1": "Tea", "2": "Milk"},
        answers={"1": "Bad", "2": "Good"},
        RecodeValues={"1": "-5", "2": "0"}, ChoiceDataExportTags={"1": "QID3_tea", "2": "milk"}),
    qsf.q("QID4", "Matrix", "Likert", "MultipleAnswer", choices={"1": "Tea", "2": "Milk"},
        answers={"1": "Hot", "2": "Cold"}, RecodeValues={"1": "0", "2": "100"},
        ChoiceDataExportTags={"1": "tea", "2": "milk"}),
    qsf.q("QID5", "MC", "MAVR", choices={"1": "I agree"}),
)  # fmt: skip
QUALTRICS_ROW = {
    "qid1": "2000", "qid2_2001": "2001", "qid2_0": "", "qid2_7": "1", "qid2_7_TEXT": "Colour", "qid3_QID3_tea": "-5",
    "qid3_milk": "0", "qid4_tea_0": "1", "qid4_tea_100": "", "qid4_milk_0": "0", "qid4_milk_100": "100",
    "qid5_1": "1",
}  # fmt: skip
QUALTRICS_ANSWERS = {
    "qid1": "Cake", "qid2": ["Taste", "Other"], "qid2 text": "Colour", "qid3": {"Tea": "Bad", "Milk": "Good"},
    "qid4_tea": ["Hot"], "qid4_milk": ["Cold"], "qid5": True,
}  # fmt: skip
XLSFORM = xlsform(
    [{"type": "select_one why", "name": "Grund_ä", "label": "Why?"},
     {"type": "select_multiple why", "name": "liked", "label": "Liked?"},
     {"type": "acknowledge", "name": "terms", "label": "I agree"}],
    [{"list_name": "why", "name": name, "label": label} for name, label in
     {"price": "Low price", "0": "None", "ok-1": "Fine"}.items()],
)  # fmt: skip
WORDS = [{"value": "item1", "text": "item2"}, {"value": "item2", "text": "item1"}, {"value": 0, "text": "None"}]
OF_SURVEYJS = surveyjs(
    {"type": "radiogroup", "name": "Αιτία", "title": "Why?", "choices": WORDS, "showOtherItem": True},
    {"type": "checkbox", "name": "liked", "choices": ["Taste it", "Price"], "showNoneItem": True},
    {"type": "matrix", "name": "parts", "rows": [{"value": "r 1", "text": "Tea"}, "Milk"],
     "columns": ["Bad", {"value": "ok", "text": "Good"}]},
    {"type": "ranking", "name": "order", "choices": WORDS},
    {"type": "comment", "name": "why", "visibleIf": "{Αιτία} anyof ['item2', 'other']"},
    {"type": "checkbox", "name": "terms", "choices": [{"value": "yes!", "text": "I agree"}]},
)  # fmt: skip
SURVEYJS_ROW = {
    "Αιτία": "item1", "liked": ["Taste it", "Price"], "parts": {"r 1": "ok", "Milk": "Bad"},
    "order": [0, "item2", "item1"], "terms": ["yes!"],
}  # fmt: skip
SURVEYJS_ANSWERS = {
    "q": "item2", "liked": ["Taste it", "Price"], "parts": {"Tea": "Good", "Milk": "Bad"},
    "order": ["None", "item1", "item2"], "terms": True,
}  # fmt: skip


def without(name: str, members: Mapping[str, Any]) -> dict[str, Any]:
    return {each: one for each, one in members.items() if not each.lower().startswith(name)}


class TestLimeSurvey:
    def test_structure(self, tmp_path: Path) -> None:
        rows = [OF_LIMESURVEY, {**OF_LIMESURVEY, "Why": "-oth-", "Why[other]": "Music", "Size": "a", "again": "99999"}]
        first, second = imported(Taken(LIMESURVEY).definition, table(rows), tmp_path)
        assert EXPECTED == first
        names = ("why", "why text", "size", "again")
        assert ("Other", "Music", "Small", "None") == tuple(second[name] for name in names)

    def test_two_scales(self, tmp_path: Path) -> None:
        """Each became a matrix of its own."""
        scales = {"answers": ANSWERS, "more_answers": {"B1": "Cheap", "B2": "Dear"}}
        form = Taken(lss.survey([Q("Dual", "1", rows=PARTS, **scales)])).definition
        row = {"Dual[SQ001][1]": "A2", "Dual[SQ001][2]": "B2", "Dual[1][2]": "B1"}
        expected = {"dual_1": {"Delivery": "Bad"}, "dual_2": {"Delivery": "Dear", "Parcel": "Cheap"}}
        assert [expected] == imported(form, table([row]), tmp_path)

    def test_table(self, tmp_path: Path) -> None:
        of_answers = {"class": "A", "type/scale": "0", "language": "en"}
        content = lss.table(
            {"class": "S", "name": "language", "text": "en"},
            {"class": "SL", "name": "surveyls_title", "text": "x", "language": "en"},
            {"id": "1", "class": "G", "name": "Page", "language": "en", "type/scale": "0"},
            {"id": "2", "class": "Q", "type/scale": "L", "name": "Why", "text": "Why?", "language": "en"},
            {**of_answers, "name": "no", "text": "Never"},
            {**of_answers, "name": "so", "text": "Often"},
        )
        assert [{"why": "Often"}] == imported(Taken(content).definition, table([{"Why": "so"}]), tmp_path)

    def test_written_again(self, tmp_path: Path) -> None:
        """A survey that was brought leaves with its codes, so that its answers there stay what they are."""
        before = Taken(LIMESURVEY).definition
        after = Taken(limesurvey_written.written(Source(before, Texts("x", None), "x")).content).definition
        first, second = (
            [[(one.key, choice.code or choice.value) for choice in one.choices] for one in each.questions()]
            for each in (before, after)
        )
        assert first == second
        [found] = imported(after, table([without("terms", OF_LIMESURVEY)]), tmp_path)
        assert without("terms", EXPECTED) == found


class TestQualtrics:
    def test_values(self, tmp_path: Path) -> None:
        labels = dict.fromkeys(QUALTRICS_ROW, "Which?")
        for sign in "\"'":
            ids = {name: f"{{{sign}ImportId{sign}:{sign}{name}{sign}}}" for name in QUALTRICS_ROW}
            content = table([labels, ids, QUALTRICS_ROW])
            assert [QUALTRICS_ANSWERS] == imported(Taken(OF_QUALTRICS).definition, content, tmp_path)

    def test_before_2017(self, tmp_path: Path) -> None:
        """Its own columns are called V1 and so on, with their names in the row below."""
        row = {"V1": "R_1", "V8": "2016-05-01 10:00:00", **QUALTRICS_ROW}
        labels = {"V1": "ResponseID", "V8": "StartDate", **dict.fromkeys(QUALTRICS_ROW, "Which?")}
        assert [QUALTRICS_ANSWERS] == imported(Taken(OF_QUALTRICS).definition, table([labels, row]), tmp_path)


@pytest.mark.parametrize(
    "more", [{"liked": "price ok-1"}, {"liked": "price ok-1", "liked/price": "1", "liked/0": "0", "liked/ok-1": "1"}]
)
def test_xlsform(tmp_path: Path, more: dict[str, str]) -> None:
    """Several choices in one cell, or a column for each beside it, as KoboToolbox writes them."""
    row = {"Grund_ä": "0", **more, "terms": "OK"}
    expected = {"grund": "None", "liked": ["Low price", "Fine"], "terms": True}
    for groups in ("", "page/", "page/inner/"):
        content = table([{f"{groups}{name}": cell for name, cell in row.items()}])
        assert [expected] == imported(Taken(XLSFORM).definition, content, tmp_path)


class TestSurveyJS:
    def test_values(self, tmp_path: Path) -> None:
        rows = [SURVEYJS_ROW, {**SURVEYJS_ROW, "Αιτία": "other", "Αιτία-Comment": "Music", "liked": ["none"]}]
        first, second = imported(taken(OF_SURVEYJS).definition, json.dumps(rows).encode(), tmp_path)
        assert SURVEYJS_ANSWERS == first
        assert ("Other (describe)", "Music", ["None"]) == (second["q"], second["q text"], second["liked"])

    def test_written_again(self, tmp_path: Path) -> None:
        before = taken(OF_SURVEYJS).definition
        made = json.loads(surveyjs_written.written(Source(before, Texts("x", None), "x")).content)
        elements = {one["name"]: one for one in made["pages"][0]["elements"]}
        assert ["item1", "item2", "0", "other"] == [one["value"] for one in elements["Αιτία"]["choices"]]
        assert ["r 1", "Milk"] == [one["value"] for one in elements["parts"]["rows"]]
        assert "['item2', 'other']" in elements["why"]["visibleIf"]
        [found] = imported(taken(made).definition, json.dumps([without("terms", SURVEYJS_ROW)]).encode(), tmp_path)
        assert without("terms", SURVEYJS_ANSWERS) == found


def test_formbricks(tmp_path: Path) -> None:
    """Words in its answers, ids of pictures."""
    choices = [{"id": f"c{n}", "label": {"default": label}} for n, label in enumerate(["Price", "Speed"])]
    pictures = [{"id": name, "imageUrl": "https://example.com/x.png"} for name in ("zq1", "zq2")]
    columns = [{"id": label, "label": {"default": label}} for label in ("Good", "Bad")]
    survey = formbricks([
        element("multipleChoiceSingle", "7abc", choices=choices),
        element("pictureSelection", "look", allowMulti=True, choices=pictures),
        element("matrix", "grid", rows=[{"id": "a", "label": {"default": "Tea"}}], columns=columns),
    ])  # fmt: skip
    row = {"id": "r1", "data": {"7abc": "Speed", "look": ["zq2"], "grid": {"Tea": "Bad"}}}
    expected = {"q_7abc": "Speed", "look": ["2"], "grid": {"Tea": "Bad"}}
    assert [expected] == imported(taken(survey).definition, json.dumps({"data": [row]}).encode(), tmp_path)


def test_typeform(tmp_path: Path) -> None:
    """Answers have labels; a field is known by its ref, which is a UUID."""
    name = "0b1a2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
    content = form(
        field("multiple_choice", name, choices=[{"id": "i1", "label": "Red"}, {"id": "i2", "label": "Blue"}])
    )
    answer = {"field": {"id": "f", "ref": name}, "type": "choice", "choice": {"id": "i2", "label": "Blue"}}
    rows = {"items": [{"response_id": "t1", "answers": [answer]}]}
    [found] = imported(Taken(content).definition, json.dumps(rows).encode(), tmp_path)
    assert ["Blue"] == list(found.values())
