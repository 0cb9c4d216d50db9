"""Signs of a machine or of haste: the pace of answers, and one answer in all rows."""

from dataclasses import replace
from typing import Any

import pytest

from afterword.core.answers import suspicion
from afterword.core.answers.values import Given
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.question_types import Row
from tests.core.answers.questions import CHOICES, question

ROWS = tuple(Row(f"r{number}", f"Row {number}") for number in range(1, 6))
FORM = Definition(
    default_locale="en",
    locales=("en",),
    groups=(
        Group(
            group_id="G",
            questions=(
                question("nps", "NPS", title="How likely are you to recommend our shop?"),  # 8 words: 2 s, and a tap
                question("text", "TEXT", title="Why do you think so?", length_max=500),
                question("matrix", "GRID", choices=CHOICES[:3], rows=ROWS),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    ("answers", "seconds", "signs"),
    [
        ({"NPS": 9}, 0.3, {"too_fast", "speeding"}),
        ({"NPS": 9}, 0.5, {"speeding"}),  # of 4 seconds
        ({"NPS": 9}, 1.4, set()),
        ({"NPS": 9, "TEXT": "word " * 40}, 1.0, {"too_fast", "speeding"}),  # typed, pasted, filled in: at least read
        ({"NPS": 9, "TEXT": "ok"}, 1.0, {"speeding"}),
        ({"NPS": None}, 0.0, set()),  # an answer that was taken back
        ({}, 0.0, set()),
        ({"GRID": {row.row_id: 1 for row in ROWS}}, 1.0, {"too_fast", "speeding"}),
        ({"GRID": {"r1": 1}}, 1.0, {"speeding"}),
    ],
)
def test_pace(answers: dict[str, Any], seconds: float, signs: set[str]) -> None:
    given = {name: None if value is None else Given(value) for name, value in answers.items()}
    kept = {name: one for name, one in given.items() if one is not None}
    found = {
        "too_fast": suspicion.is_too_fast(FORM, given, seconds=seconds),
        "speeding": suspicion.is_speeding(FORM, kept, seconds=seconds),
    }
    assert signs == {name for name, is_there in found.items() if is_there}


def test_pace_of_a_long_list() -> None:
    stores = tuple(replace(CHOICES[0], value=number, label="A store") for number in range(1, 501))
    asked = question("single_choice", "STORE", title="Which one?", style="dropdown", choices=stores)
    form = replace(FORM, groups=(Group(group_id="G", questions=(asked,)),))
    assert not suspicion.is_too_fast(form, {"STORE": Given(7)}, seconds=4)


@pytest.mark.parametrize("values", [[1, 1, 1, 1], [2, 2, 2, 2, 2]])
def test_straight(values: list[int]) -> None:
    assert suspicion.is_straight(FORM, _rows(values))


@pytest.mark.parametrize("values", [[1, 1, 1], [1, 1, 1, 2], []])
def test_not_straight(values: list[int]) -> None:
    assert not suspicion.is_straight(FORM, _rows(values))


def _rows(values: list[int]) -> dict[str, Given]:
    return {"GRID": Given({row.row_id: value for row, value in zip(ROWS, values, strict=False)}), "NPS": Given(9)}
