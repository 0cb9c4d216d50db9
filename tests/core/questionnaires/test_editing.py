"""Changes of a document: what moves, what is copied, where a question is used; what is wrong elsewhere stays."""

import difflib
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given, strategies as st

from afterword import ids
from afterword.asking.questionnaires import files
from afterword.core.questionnaires import definition, drafts, editing, questions as core_questions
from afterword.core.questionnaires.definition import parse
from afterword.core.questionnaires.question_types import TYPES
from afterword.core.reading.findings import Findings
from tests.browser.conftest import EVERY_TYPE

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


def question_of(
    before: dict[str, Any], known: dict[str, Any] | None = None, **typed: str | list[str]
) -> dict[str, Any]:
    given = {name: value if isinstance(value, list) else [value] for name, value in typed.items()}
    return editing.question_from(before, given, known=known, new_id=numbered())


def choices(*pairs: tuple[int, str]) -> dict[str, Any]:
    entries = [{"value": value, "label": label} for value, label in pairs]
    return {"question_id": "q", "type": "single_choice", "choices": entries}


BEFORE = choices((1, "Speed"), (2, "Price"), (3, "People"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Price\nSpeed\nPeople", [2, 1, 3]),
        ("Speed\nPrices\nPeople", [1, 2, 3]),
        ("Speed\nColour\nPeople", [1, 4, 3]),
        ("speed \n\nSpeed", [1, 4]),
        ("Other", [1]),
        ("Colour\nOther\nPeople of all ages\nMore", [1, 2, 3, 4]),  # a list of one's own over another one
    ],
)
def test_values_of_lines(lines: str, expected: list[int]) -> None:
    assert expected == [one["value"] for one in question_of(BEFORE, choices=lines)["choices"]]


def test_long_lists_are_compared_in_near_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """All with all would take seconds for some hundred new lines."""
    compared: list[int] = []

    def get_close_matches(word: str, possibilities: list[str], n: int, cutoff: float) -> list[str]:
        compared.append(len(possibilities))
        return difflib.get_close_matches(word, possibilities, n, cutoff)

    monkeypatch.setattr(editing, "get_close_matches", get_close_matches)
    before = choices(*((n, f"{n:04}" * 3) for n in range(60)))
    lines = [f"{n:04}" * 3 + ("!" if n == 50 else "") if n >= 40 else f"new {'xyz'[n % 3] * n}" for n in range(60)]
    found = [one["value"] for one in question_of(before, choices="\n".join(lines))["choices"]]
    assert list(range(40, 60)) == found[40:]
    assert (41, editing.NEAR_MAX) == (len(compared), max(compared))


def test_values_that_were_published() -> None:
    known = choices((1, "Speed"), (7, "Colour"))
    assert [8] == [one["value"] for one in question_of(BEFORE, known, choices="Other")["choices"]]
    assert [1, 7, 8] == [one["value"] for one in question_of(BEFORE, known, choices="Speed\ncolour\nNew")["choices"]]


def test_rows_and_their_translations() -> None:
    before = {
        "question_id": "q",
        "type": "matrix",
        "rows": [{"row_id": "r1", "label": "Speed"}, {"row_id": "r2", "label": "Price"}],
        "choices": [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}],
        "translations": {"el": {"rows": {"r1": "Ταχύτητα", "r2": "Τιμή"}, "choices": {"1": "Κακό", "2": "Καλό"}}},
    }
    after = question_of(before, rows="Price\nPeople", choices="Good\nBest", title="x")
    assert ["r2", "n1"] == [one["row_id"] for one in after["rows"]]
    assert {"el": {"rows": {"r2": "Τιμή"}, "choices": {"2": "Καλό"}}} == after["translations"]


@pytest.mark.parametrize("question_type", TYPES)
def test_a_new_question_is_right_or_lacks_its_text_alone(question_type: str) -> None:
    question = editing.standard(question_type, "q" * 22, say=str, new_id=numbered())
    groups = [{"group_id": "g" * 22, "questions": [question]}]
    findings = Findings()
    definition.read({"default_locale": "en", "locales": ["en"], "groups": groups}, findings)
    wrong = [one.path.rpartition("/")[2] for one in findings.found if "row_id" not in one.path]
    assert ([] if question["title"] else ["title"]) == wrong


def test_wrong_values_stay() -> None:
    after = question_of({"question_id": "q", "type": "number"}, number_min="1,5", number_max="many", decimals="2.5")
    assert (1.5, "many", "2.5", "") == tuple(after[one] for one in ("number_min", "number_max", "decimals", "title"))
    assert {"number_min": "1.5", "number_max": "many"}.items() <= editing.values_of(after).items()


def test_another_type() -> None:
    after = question_of({**BEFORE, "title": "x", "jumps": [{}]}, type="text", title="y", length_max="20")
    assert ("text", "y", 20, [{}]) == tuple(after[one] for one in ("type", "title", "length_max", "jumps"))
    assert "choices" not in after


def test_every_type_comes_back() -> None:
    definition = files.read(EVERY_TYPE, give_id=lambda *names: ids.derived(":".join(names))).definition
    for question in definition.questions():
        document = core_questions.document_of(question)
        values = editing.values_of(document)
        typed = {name: value if isinstance(value, list) else [value] for name, value in values.items()}
        again = editing.question_from(document, typed, known=None, new_id=str)
        group = {"group_id": "g" * 22, "questions": [{**again, "jumps": []}]}
        [back] = parse({"default_locale": "en", "locales": list(definition.locales), "groups": [group]}).questions()
        plain = {"groups": [{"questions": [{**document, "jumps": []}]}]}
        after = {"groups": [{"questions": [core_questions.document_of(back)]}]}
        assert drafts.shown(plain) == drafts.shown(after), question.type


def test_codes_of_another_system() -> None:
    """They stay with the lines that they were, also with those of a published version; a list all anew has none."""
    coded = [{**one, "code": f"c{one['value']}"} for one in BEFORE["choices"]]
    rows = [{"row_id": "r1", "key": "speed", "code": "SQ1", "label": "Speed"}, {"row_id": "r2", "label": "Price"}]
    before = {**BEFORE, "code": "Q7", "choices": coded, "rows": rows, "type": "matrix"}
    typed = {"type": ["matrix"], "title": ["Why?"], "choices": ["Price\nSpeed\nTaste"], "rows": ["Speed!\nTaste"]}
    after = editing.question_from(before, typed, known=None, new_id=numbered())
    assert ("Q7", [{**rows[0], "label": "Speed!"}]) == (after["code"], after["rows"][:1])
    assert [(2, "c2"), (1, "c1"), (4, None)] == [(one["value"], one.get("code")) for one in after["choices"]]
    known = {**before, "choices": coded[:2]}
    back = editing.choices_of({"choices": ["Price"]}, {**before, "choices": []}, known)
    assert [(2, "c2")] == [(one["value"], one["code"]) for one in back]
    anew = editing.choices_of({"choices": ["Bread\nMilk"]}, before, {})
    assert [(1, None), (2, None)] == [(one["value"], one.get("code")) for one in anew]
    assert "code" not in editing.copied(before, new_id=numbered())


def test_pictures() -> None:
    """A choice keeps its picture unless its field says another one, or none."""
    pictured = {**BEFORE, "choices": [{**one, "picture": f"p{one['value']}"} for one in BEFORE["choices"]]}
    shown = editing.values_of(pictured)
    assert ["p1", "p2", "p3"] == [shown[f"picture-{value}"] for value in (1, 2, 3)]
    typed = question_of(
        pictured, choices="Price\nSpeed\nTaste", **{"picture-2": "new", "picture-3": "", "picture-4": "t"}
    )
    found = [(one["value"], one.get("picture")) for one in typed["choices"]]
    assert [(2, "new"), (1, "p1"), (4, "t")] == found
