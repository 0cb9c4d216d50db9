"""The points of answers and their sum, which conditions of later questions read."""

from typing import Any

import pytest

from afterword.core.answers.progress import SCORE_FACT, PageSequence, points, score
from afterword.core.answers.values import Given
from afterword.core.questionnaires.conditions import Leaf
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.question_types import Choice, Question
from tests.core.answers.questions import question

SCORED = (Choice(1, "Much", points=10), Choice(2, "Little", points=-3), Choice(3, "None"))


@pytest.mark.parametrize(
    ("type_name", "fields", "value", "expected"),
    [
        ("single_choice", {"choices": SCORED}, 1, 10),
        ("single_choice", {"choices": SCORED}, 3, 0),
        ("multiple_choice", {"choices": SCORED}, [1, 2], 7),
        ("matrix", {"choices": SCORED}, {"r1": 1, "r2": 1}, 20),
        ("nps", {"scored": True}, 9, 9),
        ("nps", {}, 9, 0),
        ("yes_no", {"scored": True}, True, 1),
        ("yes_no", {"scored": True}, False, 0),
        ("text", {}, "9", 0),
        ("contact", {}, {"name": "1"}, 0),
    ],
)
def test_points(type_name: str, fields: dict[str, Any], value: object, expected: int) -> None:
    assert expected == points(question(type_name, **fields), value)


def whole(*questions: Question) -> Definition:
    groups = tuple(Group(group_id=one.question_id, questions=(one,)) for one in questions)
    return Definition(default_locale="en", locales=("en",), groups=groups)


def test_score() -> None:
    """Hidden questions give nothing; a condition reads the points so far, whatever metadata said."""
    low = Leaf(SCORE_FACT, "less", 5)
    asked = whole(
        question("nps", "a", scored=True),
        question("nps", "b", scored=True, show_if=low),
        question("text", "c", show_if=Leaf(SCORE_FACT, "greater_equal", 5)),
    )
    for first, shown, total in ((1, "ab", 4), (2, "abc", 5), (7, "ac", 7)):
        answers = {"a": Given(first), "b": Given(3)}
        sequence = PageSequence(asked, ["a", "b", "c"], answers, {SCORE_FACT: 1_000})
        assert [*shown] == [one.question_id for one in sequence.path]
        assert total == score(asked, answers, sequence.hidden)
    assert (0, None) == (score(asked, {}), score(whole(question("nps", "a")), {"a": Given(9)}))
