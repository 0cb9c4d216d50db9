"""Answers that other systems name: by id or key, choices by value or label; what does not fit says its question."""

from datetime import UTC, datetime
from typing import Any

import pytest

from afterword.core.answers.imported import ANSWERS_MAX, AnswerSheet, NamedAnswer, read_answers
from afterword.core.questionnaires.question_types import Choice, Row, Translation
from afterword.core.reading.structs import Context
from tests.core.answers.questions import CHOICES, pages_of, question

ENGLISH_AND_GREEK = {"el": Translation(choices={1: "Ένα", 2: "Two"})}
SHEET = AnswerSheet(
    pages_of(
        [
            question("nps", "Q1", key="score", required=True),
            question("single_choice", "Q2", key="which", translations=ENGLISH_AND_GREEK),
            question("multiple_choice", "Q3", key="many", choices=(*CHOICES, Choice(10, "one "))),
            question("matrix", "Q4", key="each", required=True, rows=(Row("r1", "Speed", "fast"), Row("r2", "Price"))),
            question("ranking", "Q5"),
            question("text", "Q6"),
            question("consent", "Q7", required=True),
            question("file", "Q8"),
            question("statement", "Q9"),
            question("contact", "Q10", required=True),
        ]
    )
)


def read(document: object) -> tuple[list[NamedAnswer], list[tuple[str | None, str]]]:
    context = Context(now=datetime(2026, 11, 1, tzinfo=UTC), zone=UTC)
    found = read_answers(document, "/answers", context)
    return found, [(one.pointer, one.code) for one in context.errors]


class TestReading:
    @pytest.mark.parametrize(
        ("document", "pointer", "code"),
        [
            (None, "/answers", "wrong_type"),
            ("9", "/answers", "wrong_type"),
            ([{"value": 9}], "/answers/0", "wrong_type"),
            ([{"question_id": "Q1", "value": 9}, 9], "/answers/1", "wrong_type"),
            ([{"question_id": 1, "value": 9}], "/answers/0", "wrong_type"),
            ([{"key": "score", "value": 9, "other_text": 1}], "/answers/0", "wrong_type"),
            ([{"key": "score"}] * (ANSWERS_MAX + 1), "/answers", "too_many"),
        ],
    )
    def test_wrong(self, document: object, pointer: str, code: str) -> None:
        assert [(pointer, code)] == read(document)[1]

    @pytest.mark.parametrize(
        "document",
        [
            {"Q1": 9, "which": None},
            [{"question_id": "Q1", "value": 9, "label": None, "other_text": None}, {"key": "which", "value": None}],
        ],
    )
    def test_ok(self, document: object) -> None:
        assert ([NamedAnswer("Q1", 9)], []) == read(document)


class TestSheet:
    @pytest.mark.parametrize(
        ("name", "value", "code"),
        [
            ("Q0", 9, "unknown_id"),
            ("a/b", 9, "unknown_id"),
            ("Q1", 11, "out_of_range"),
            ("Q1", "9", "wrong_type"),
            ("Q2", 7, "unknown_value"),
            ("Q2", "Four", "unknown_value"),
            ("Q2", "1", "unknown_value"),
            ("many", ["One"], "unknown_value"),  # two choices are called so
            ("many", [1, 1], "duplicate"),
            ("many", [1, 9], "exclusive"),
            ("each", {"Taste": 1}, "unknown_value"),
            ("each", {"r1": "Four"}, "unknown_value"),
            ("Q6", " ", "too_short"),
            ("Q6", "x" * 11, "too_long"),
            ("Q8", [{"file_id": "F"}], "unknown_value"),
            ("Q9", 1, "unknown_value"),
        ],
    )
    def test_wrong(self, name: str, value: object, code: str) -> None:
        found, wrong = SHEET.read([NamedAnswer(name, value), NamedAnswer("Q7", value=False)])
        assert ["Q7"] == list(found)
        assert [(f"/answers/{name.replace('/', '~1')}", code)] == [(one.pointer, one.code) for one in wrong]

    def test_twice(self) -> None:
        found, wrong = SHEET.read([NamedAnswer("Q1", 9), NamedAnswer("score", 8)])
        assert ({"Q1": 9}, ["duplicate"]) == ({name: one.value for name, one in found.items()}, [o.code for o in wrong])

    @pytest.mark.parametrize(
        ("name", "value", "stored"),
        [
            ("score", 9, 9),
            ("which", 3, 3),
            ("which", "  tHree", 3),
            ("which", "Ένα", 1),
            ("which", "two", 2),  # the label of both languages
            ("many", ["Three", 2], [2, 3]),
            ("each", {"Speed": "One", "r2": 3}, {"r1": 1, "r2": 3}),
            ("each", {"FAST": 2, "price": None}, {"r1": 2}),  # though all rows are required here
            ("Q5", ["Two", "One"], [2, 1]),
            ("Q7", False, False),
            ("Q10", {"email": "ann@example.com"}, {"email": "ann@example.com"}),
        ],
    )
    def test_ok(self, name: str, value: Any, stored: object) -> None:
        found, wrong = SHEET.read([NamedAnswer(name, value)])
        assert ([stored], []) == ([one.value for one in found.values()], wrong)

    def test_other(self) -> None:
        found, wrong = SHEET.read([NamedAnswer("which", "Other", "Four")])
        assert ([(8, "Four")], []) == ([(one.value, one.other_text) for one in found.values()], wrong)
        assert ["exclusive"] == [one.code for one in SHEET.read([NamedAnswer("which", 1, "Four")])[1]]
