"""Each type of question of LimeSurvey, in both forms of its files."""

from typing import Any

import pytest

from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.wire.response_columns import Columns, Table
from tests.core.foreign.forms import Taken
from tests.core.foreign.lss import Q, survey
from tests.core.foreign.qsf import asked
from tests.core.foreign.test_limesurvey import ABC, YES_NO, line_of, read

CASES: list[tuple[Q, list[dict[str, Any]], str]] = [
    (Q("q", "S"), [{"type": "text", "multiline": False}], "taken"),
    (Q("q", "S", attributes={"numbers_only": "1"}), [{"type": "number", "decimals": 6}], "taken"),
    (Q("q", "T", attributes={"maximum_chars": "80"}), [{"type": "text", "length_max": 80}], "taken"),
    (Q("q", "U"), [{"type": "text", "length_max": 5000, "multiline": True}], "taken"),
    (Q("q", "N", attributes={"min_num_value_n": "1", "max_num_value_n": "5.5"}),
        [{"type": "number", "number_min": 1, "number_max": 5.5}], "taken"),
    (Q("q", "N", attributes={"slider_layout": "1", "slider_max": "10"}),
        [{"type": "number", "style": "slider", "number_min": 0, "number_max": 10}], "taken"),
    (Q("q", "Y"), [{"type": "yes_no"}], "taken"),
    (Q("q", "5"), [{"type": "rating", "scale_min": 1, "scale_max": 5}], "taken"),
    (Q("q", "G"), [{"type": "single_choice", "choices": [{"value": 1, "code": "F", "label": "Female"},
        {"value": 2, "code": "M", "label": "Male"}]}], "taken"),
    (Q("q", "L", answers=ABC), [{"type": "single_choice"}], "taken"),
    (Q("q", "!", answers=ABC), [{"type": "single_choice", "style": "dropdown"}], "taken"),
    (Q("q", "O", answers=ABC), [{"type": "single_choice"}, {"type": "text", "key": "q_comment"}], "changed"),
    (Q("q", "L", answers={"A": "Only"}), [{"type": "consent", "title": "Only"}], "changed"),
    (Q("q", "L"), [{"type": "statement"}], "left_out"),
    (Q("q", "M", rows=ABC, attributes={"exclude_all_others": "A3", "max_answers": "2"}),
        [{"type": "multiple_choice", "choices_max": 2}], "taken"),
    (Q("q", "M", rows={"A1": "I agree"}), [{"type": "consent", "title": "I agree", "description": "Text"}], "changed"),
    (Q("q", "P", rows={"A1": "Bread", "A2": "Cake"}), [{"type": "multiple_choice"},
        {"type": "text", "show_if": {"subject": "question:q", "operator": "contains", "value": 1}},
        {"type": "text", "show_if": {"subject": "question:q", "operator": "contains", "value": 2}}], "changed"),
    (Q("q", "R", answers=ABC, attributes={"max_answers": "2"}), [{"type": "ranking", "rank_max": 2}], "taken"),
    (Q("q", "D", attributes={"date_min": "2020-01-01"}), [{"type": "date", "date_min": "2020-01-01"}], "taken"),
    (Q("q", "D", attributes={"date_format": "dd-mm-yyyy HH:MM"}), [{"type": "date_time"}], "taken"),
    (Q("q", "D", attributes={"date_format": "HH:MM"}), [{"type": "time"}], "taken"),
    (Q("q", "D", attributes={"date_format": "yyyy"}), [{"type": "date"}], "changed"),
    (Q("q", "|", attributes={"allowed_filetypes": "png, pdf", "max_filesize": "100"}),
        [{"type": "file", "file_types": ["picture", "pdf"], "bytes_max": 102_400}], "taken"),
    (Q("q", "|", attributes={"allowed_filetypes": "zip"}), [{"type": "file"}], "changed"),
    (Q("q", "X"), [{"type": "statement"}], "taken"),
    (Q("q", "I"), [], "changed"),
    (Q("q", "*", text="{a+b}"), [], "left_out"),
    (Q("q", "?"), [{"type": "statement"}], "left_out"),
    (Q("q", "K", rows=ABC), [{"type": "number", "key": "q_a1", "title": "Text \N{EN DASH} Bread"}, {"type": "number"},
        {"type": "number"}], "changed"),
    (Q("q", "Q", rows={"A1": "Name", "A2": "Town"}), [{"type": "text"}, {"type": "text"}], "changed"),
    (Q("q", "F", rows=ABC, answers={"1": "No", "2": "Yes"}), [{"type": "matrix",
        "choices": [{"value": 1, "label": "No"}, {"value": 2, "label": "Yes"}]}], "taken"),
    (Q("q", "A", rows=ABC), [{"type": "matrix"}], "taken"),
    (Q("q", "B", rows=ABC), [{"type": "matrix"}], "taken"),
    (Q("q", "C", rows=ABC), [{"type": "matrix"}], "taken"),
    (Q("q", "E", rows=ABC), [{"type": "matrix"}], "taken"),
    (Q("q", "H", rows=ABC, answers=YES_NO), [{"type": "matrix"}], "changed"),
    (Q("q", "F", rows=ABC, answers={"1": "Yes"}), [{"type": "multiple_choice"}], "changed"),
    (Q("q", "F", rows={"r1": "R", "r2": "S"}, answers={str(n): f"Answer {n}" for n in range(1, 13)}),
        [{"type": "single_choice"}, {"type": "single_choice"}], "changed"),
    (Q("q", "F", rows={f"r{n}": f"R{n}" for n in range(31)}, answers=YES_NO),
        [{"type": "matrix"}, {"type": "matrix"}], "changed"),
    (Q("q", "1", rows=ABC, answers=YES_NO, more_answers={"1": "Low", "2": "High"}),
        [{"type": "matrix", "key": "q_1"}, {"type": "matrix", "key": "q_2"}], "changed"),
    (Q("q", ";", rows={"r1": "R", "r2": "S"}, more_rows={"c1": "C"}),
        [{"type": "text", "title": "Text \N{EN DASH} R, C"}, {"type": "text"}], "changed"),
    (Q("q", ":", rows={"r1": "R"}, more_rows={"c1": "C", "c2": "D"}),
        [{"type": "matrix", "title": "Text \N{EN DASH} C"}, {"type": "matrix"}], "changed"),
    (Q("q", ":", rows={"r1": "R", "r2": "S"}, more_rows={"c1": "C", "c2": "D"},
        attributes={"multiflexible_checkbox": "1"}), [{"type": "multiple_choice"}] * 2, "changed"),
    (Q("q", ":", rows={"r1": "R"}, more_rows={"c1": "C", "c2": "D"}, attributes={"input_boxes": "1",
        "multiflexible_max": "99"}), [{"type": "number", "number_max": 99}, {"type": "number"}], "changed"),
    (Q("q", ":", rows={f"r{n}": "R" for n in range(15)}, more_rows={f"c{n}": "C" for n in range(14)},
        attributes={"multiflexible_max": "99"}), [{"type": "text", "multiline": True}], "changed"),
]  # fmt: skip


@pytest.mark.parametrize("is_old", [True, False], ids=["2.x", "7"])
@pytest.mark.parametrize(
    ("question", "expected", "outcome"), CASES, ids=[f"{n}{one[0].type}" for n, one in enumerate(CASES)]
)
def test_type(question: Q, expected: list[dict[str, Any]], outcome: str, *, is_old: bool) -> None:
    made = read([question, Q("last", "S")], is_old=is_old)
    found = asked(made)[:-1]
    assert expected == [
        {name: value for name, value in one.items() if name in wanted}
        for one, wanted in zip(found, expected, strict=True)
    ]
    assert outcome == line_of(made, "q").outcome


@pytest.mark.parametrize("count", [500, 501, 1_088])  # universities of one country
def test_more_answers_than_a_list_has(count: int) -> None:
    made = read([Q("a", "!", answers={f"A{n}": f"No {n}" for n in range(1, count + 1)}), Q("b", "S")])
    first, second = asked(made)
    line = line_of(made, "a")
    assert (500, "No 500", "text") == (len(first["choices"]), first["choices"][-1]["label"], second["type"])
    assert (count == 500, "first 500 entries" in str(line.sentences)) == (line.whole, count > 500)


ROWS = {"SQ001": "Speed", "SQ002": "Care"}
COLUMNS_OF_GRIDS = {"SQ001": "Shop", "SQ002": "Courier"}


@pytest.mark.parametrize(
    ("question", "column", "meaning"),
    [
        (Q("grid", ":", rows=ROWS, more_rows=COLUMNS_OF_GRIDS), "grid[SQ002_SQ001]", "answer.grid_of_sq001.row.sq002"),
        (Q("grid", ":", rows=ROWS, more_rows=COLUMNS_OF_GRIDS), "grid[SQ001_SQ002]", "answer.grid_of_sq002.row.sq001"),
        (Q("grid", ";", rows=ROWS, more_rows=COLUMNS_OF_GRIDS), "grid[SQ002_SQ001]", "answer.grid_sq002_sq001"),
        (Q("grid", "F", rows=ROWS, answers=ABC), "grid[SQ002]", "answer.grid.row.sq002"),
        (Q("grid", "F", rows={"1": "Speed", "12": "Care"}, answers=ABC), "grid[12]", "answer.grid.row.r_12"),
        (Q("many", "M", rows=ROWS), "many[SQ002]", "answer.many.choice.2"),
        (Q("many", "P", rows=ROWS), "many[SQ002comment]", "answer.many_sq002_comment"),
        (Q("texts", "Q", rows=ROWS), "texts[SQ001]", "answer.texts_sq001"),
        (Q("list", "O", answers=ABC), "list[comment]", "answer.list_comment"),
        (Q("list", "L", answers=ABC, other="Y"), "list[other]", "answer.list.other"),
        (Q("order", "R", answers=ABC), "order[2]", "answer.order.place.2"),
    ],
)
def test_columns_of_past_answers_are_known(question: Q, column: str, meaning: str) -> None:
    known = Columns(Taken(survey([question])).definition, GLOBAL)
    assert {column: meaning} == known.guess(Table([column], [["x"]]))
