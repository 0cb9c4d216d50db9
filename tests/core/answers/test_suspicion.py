"""Signs of a machine or of haste: the pace of answers, and one answer in all rows."""

from typing import Any

import pytest
from msgspec.structs import replace

from afterword.core.answers import suspicion
from afterword.core.answers.suspicion import TOKEN_CHARACTERS, draws_of, is_token, number_of, token_of
from afterword.core.answers.values import Given
from afterword.core.questionnaires.question_types import Row
from tests.core.answers.questions import CHOICES, pages_of, question

ROWS = tuple(Row(f"r{number}", f"Row {number}") for number in range(1, 6))
FORM = pages_of(
    [
        question("nps", "NPS", title="How likely are you to recommend our shop?"),  # 8 words: 2 s, and a tap
        question("text", "TEXT", title="Why do you think so?", length_max=500),
        question("matrix", "GRID", choices=CHOICES[:3], rows=ROWS),
    ]
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
    assert not suspicion.is_too_fast(pages_of([asked]), {"STORE": Given(7)}, seconds=4)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1, 1, 1, 1], True), ([2, 2, 2, 2, 2], True), ([1, 1, 1], False), ([1, 1, 1, 2], False), ([], False)],
)
def test_straight(values: list[int], *, expected: bool) -> None:
    rows = {row.row_id: value for row, value in zip(ROWS, values, strict=False)}
    assert expected is suspicion.is_straight(FORM, {"GRID": Given(rows), "NPS": Given(9)})


SECRET = b"s" * 32


def test_a_token_is_for_one_purpose_and_subject() -> None:
    token = token_of(SECRET, "answer", "I1")

    assert TOKEN_CHARACTERS == len(token)
    assert token == token_of(SECRET, "answer", "I1")
    assert is_token(token, secret=SECRET, purpose="answer", subject="I1")
    assert not is_token(token, secret=SECRET, purpose="start", subject="I1")
    assert not is_token(token, secret=SECRET, purpose="answer", subject="I2")
    assert not is_token(token, secret=b"t" * 32, purpose="answer", subject="I1")


@pytest.mark.parametrize("token", ["", "0" * TOKEN_CHARACTERS, "\u0663", "\ud800", "x" * 10_000])
def test_other_texts_are_refused(token: str) -> None:
    assert not is_token(token, secret=SECRET, purpose="answer", subject="I1")


def test_numbers_and_draws_repeat() -> None:
    draws, again, others = (draws_of(SECRET, "draw", subject) for subject in ("I1", "I1", "I2"))
    drawn = [draws() for _ in range(100)]

    assert number_of(SECRET, "draw", "I1") == number_of(SECRET, "draw", "I1") < 1 << 128
    assert drawn == [again() for _ in range(100)]
    assert drawn != [others() for _ in range(100)]
    assert 100 == len(set(drawn))
    assert all(0 <= one < 1 for one in drawn)
