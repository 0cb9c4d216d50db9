"""Changes of a document: what moves, what is copied, where a question is used; what is wrong elsewhere stays."""

from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from afterword.core.questionnaires import editing

PAGES = {
    "groups": [
        {"group_id": "g1", "questions": [{"question_id": "a"}, {"question_id": "b"}, 7]},
        None,
        {"group_id": "g2", "questions": [{"question_id": "c"}]},
        {"group_id": "g3"},
    ]
}


def numbered() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"n{next(numbers)}"


def order(document: dict[str, Any]) -> str:
    """The ids of all pages and questions in a row."""
    parts = [
        f"{group['group_id']}:" + "".join(one["question_id"] for one in editing.questions_of(group))
        for group in editing.groups_of(document)
    ]
    return " ".join(parts)


def test_moved() -> None:
    for question_id, to, expected in (
        ("c", "up", "g1:abc g2: g3:"),
        ("c", "down", "g1:ab g2: g3:c"),
        ("a", "up", "g1:ab g2:c g3:"),
        ("b", "down", "g1:a g2:bc g3:"),
        ("a", "c", "g1:b g2:ca g3:"),
        ("c", "g1", "g1:cab g2: g3:"),
        ("a", "a", "g1:ab g2:c g3:"),
        ("a", "nowhere", "g1:ab g2:c g3:"),
        ("x", "up", "g1:ab g2:c g3:"),
    ):
        assert expected == order(editing.moved(PAGES, question_id, to=to)), (question_id, to)
    assert "g2:c g1:ab g3:" == order(editing.moved_group(PAGES, "g2", to="up"))
    assert "g1:ab g2:c g3:" == order(editing.moved_group(PAGES, "g3", to="down"))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["up", "down", "a", "b", "c", "g1", "g3"]))))
def test_nothing_is_lost(moves: list[tuple[str, str]]) -> None:
    document: dict[str, Any] = PAGES
    for question_id, to in moves:
        document = editing.moved(document, question_id, to=to)
    assert list("abc") == sorted(one for one in order(document) if one in "abc")


def test_copied() -> None:
    question = {
        "question_id": "m",
        "key": "parts",
        "rows": [{"row_id": "r", "key": "speed", "label": "Speed"}],
        "translations": {"el": {"title": "Γιατί;", "rows": {"r": "Ταχύτητα", "gone": "x"}}},
        "jumps": [{"target_question_id": None}],
    }
    assert {
        "question_id": "n2",
        "rows": [{"row_id": "n1", "label": "Speed"}],
        "translations": {"el": {"title": "Γιατί;", "rows": {"n1": "Ταχύτητα"}}},
    } == editing.copied(question, new_id=numbered())


def test_uses() -> None:
    condition = {"all": [{"subject": "question:FIRST", "operator": "is_empty"}]}
    jump = {"target_question_id": "THIRD", "conditions": condition}
    middle = editing.with_jump({"question_id": "SECOND"}, 0, jump)
    others = [{"question_id": "FIRST"}, middle, {"question_id": "THIRD"}]
    document = {"groups": [{"group_id": "GROUP", "questions": others}]}
    assert ([middle], []) == editing.uses_of(document, "THIRD")
    assert ([], [middle]) == editing.uses_of(document, "FIRST")
    assert {"question_id": "SECOND", "jumps": []} == editing.with_jump(middle, 0, None)


def test_piping() -> None:
    asking = "{{answer.k}} and {{ answer.a | it }}"
    document = {
        "pages": {"en": {"welcome": "{{ answer.ab }}"}, "el": {"thank_you": asking}, "de": 7},
        "groups": [
            {"group_id": "g1", "questions": [{"question_id": "a", "key": "k", "title": asking}]},
            {"group_id": "g2", "title": "{{ answer.b }}", "questions": [{"question_id": "b", "jumps": ["answer.a"]}]},
            {
                "group_id": "g3",
                "translations": {"el": {"title": asking}},
                "questions": [{"question_id": "c", "translations": {"el": {"title": asking}}}],
            },
        ],
        "endings": [{"ending_id": "e", "button_url": "https://x.example/{{ answer.k.name }}"}, {"ending_id": "f"}],
    }
    found = editing.piping_of(document, "a")
    assert (["c"], [3], ["e"], True) == (
        [one["question_id"] for one in found.questions],
        found.groups,
        [one["ending_id"] for one in found.endings],
        found.is_around,
    )
    assert editing.Piping([], [], [], is_around=False) == editing.piping_of(document, "c")
