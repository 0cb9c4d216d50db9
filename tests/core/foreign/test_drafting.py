"""Parts of the readers of other systems' files, each by itself."""

import json
from collections.abc import Iterator

import pytest

from afterword import errors
from afterword.core.foreign.drafting import (
    FEW,
    Draft,
    Subject,
    Unreadable,
    at,
    condition_of,
    figure,
    joined,
    mapping,
    names_of,
)
from afterword.core.foreign.expressions import SURVEYJS, read
from afterword.core.foreign.parts import Condition
from tests.core.foreign.forms import SAMPLES, Taken, leaf
from tests.sizes import share_of

ONE = Subject("one", "single_choice", {"a": 1, "b": 2})
MANY = Subject("many", "multiple_choice", {"a": 1, "b": 2})
WORDS, NUMBER, YES, DAY = (Subject(kind, kind) for kind in ("text", "number", "yes_no", "date"))
GRID = Subject("grid", "matrix", {"bad": 1}, {"first": "r"})


class TestCompared:
    @pytest.mark.parametrize(
        ("asked", "operator", "value"),
        [
            (ONE, "equal", "c"),
            (ONE, "less", ("a", "b")),
            (NUMBER, "equal", "x"),
            (YES, "equal", "perhaps"),
            (DAY, "greater", "soon"),
            (GRID, "equal", "bad"),
            (ONE, "in", ()),
        ],
    )
    def test_refused(self, asked: Subject, operator: str, value: object) -> None:
        with pytest.raises(Unreadable):
            asked.compared(operator, value)

    def test_no_such_part(self) -> None:
        with pytest.raises(Unreadable):
            GRID.compared("equal", "bad", "second")

    @pytest.mark.parametrize(
        ("asked", "operator", "value", "expected"),
        [
            (ONE, "equal", "b", leaf("one", "equal", 2)),
            (ONE, "contains", "b", leaf("one", "equal", 2)),
            (ONE, "none_of", ("a", "b"), {"all": [leaf("one", "not_equal", 1), leaf("one", "not_equal", 2)]}),
            (ONE, "equal", "", leaf("one", "is_empty")),
            (ONE, "is_true", None, leaf("one", "is_not_empty")),
            (MANY, "equal", "a", leaf("many", "equal", [1])),
            (MANY, "not_contains", ("a", "b"), {"all": [leaf("many", "not_contains", n) for n in (1, 2)]}),
            (WORDS, "in", ("x", "y"), leaf("text", "in", ["x", "y"])),
            (NUMBER, "greater", "3.5", leaf("number", "greater", 3.5)),
            (NUMBER, "equal", 4.0, leaf("number", "equal", 4)),
            (YES, "equal", "true", leaf("yes_no", "equal", value=True)),
            (DAY, "less", "2026-01-31", leaf("date", "less", "2026-01-31")),
        ],
    )
    def test_each(self, asked: Subject, operator: str, value: object, expected: Condition) -> None:
        assert expected == asked.compared(operator, value)

    @pytest.mark.parametrize("value", ["", None])
    def test_metadata(self, value: object) -> None:
        order = Subject("questionnaire_metadata:order", "text")
        subject = "questionnaire_metadata:order"
        assert {"subject": subject, "operator": "is_empty"} == order.compared("equal", value)
        assert {"subject": subject, "operator": "equal", "value": "7"} == order.compared("equal", "7")

    def test_of_one_part(self) -> None:
        row = Subject("grid", "matrix", {"bad": 1}, {"first": "r"}, "first")
        assert leaf("grid:r", "equal", 1) == row.compared("equal", "bad")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Subject("q", "statement"), None),
        (GRID, None),
        (WORDS, "answer.text"),
        (Subject("q", "contact", parts={"email": "email"}, part="email"), "answer.q.email"),
    ],
)
def test_variable(asked: Subject, expected: str | None) -> None:
    assert expected == asked.variable


def unreadable() -> Condition:
    raise Unreadable


class TestJoined:
    @pytest.mark.parametrize("kind", ["and", "or"])
    def test_refused(self, kind: str) -> None:
        for conditions in ([], [unreadable], [unreadable, lambda: leaf("a", "equal", 1)]):
            with pytest.raises(Unreadable):
                joined(kind, conditions)

    def test_what_is_known_decides(self) -> None:
        one = leaf("a", "equal", 1)
        assert joined("or", [unreadable, lambda: True])
        assert not joined("and", [unreadable, lambda: False])
        assert one == joined("and", [lambda: True, lambda: one]) == joined("or", [lambda: False, lambda: one])
        assert joined("and", [lambda: True])


@pytest.mark.parametrize(
    ("value", "expected"),
    [("", None), ("x", None), (None, None), ("inf", None), (10**15, None), ("1", 1), (2.5, 2.5), ("-3.0", -3)],
)
def test_figure(value: object, expected: float | None) -> None:
    assert expected == figure(value)


@pytest.mark.parametrize("value", [None, 5, "x", True, [], {}])
def test_nothing_at_a_path(value: object) -> None:
    assert ({}, None) == (mapping(value), at(value, "a", 0))


def test_lists_and_maps_alike() -> None:
    assert 1 == at([{"a": 1}], 0, "a") == at({"0": {"a": 1}}, 0, "a")


class TestMaking:
    @pytest.mark.parametrize("url", ["http://a.example", "", "javascript:x"])
    def test_no_button_for_an_unsafe_address(self, url: str) -> None:
        one = Draft({"": "en"}).begin("ending", "e", "")
        one.put_button(url, "Shop")
        assert ({}, False) == (one.end(), one.entry.line.whole)

    def test_button(self) -> None:
        one = Draft({"": "en"}).begin("ending", "e", "")
        one.put_button("https://shop.example/x")
        assert {"button_url": "https://shop.example/x", "button_label": "shop.example"} == one.end()

    def test_too_many_choices(self) -> None:
        one = Draft({"": "en"}).begin("question", "q", "Which?")
        one.put_choices("ranking", [(str(number), "") for number in range(1, 23)])
        assert (20, FEW) == (len(one.item["choices"]), one.entry.line.sentences[0].text)

    def test_one_choice_is_what_people_agree_to(self) -> None:
        one = Draft({"en": "en", "el": "el"}).begin("question", "q", "")
        one.put_title({"en": "May we?", "el": "Ποιο;"}, {"en": "x" * 1999})
        assert {"1": True} == one.put_choices("single_choice", [("1", {"en": "Yes", "el": "Ψωμί"})])
        assert ("consent", "Yes") == (one.item["type"], one.item["title"])
        assert one.item["description"].startswith("May we?")
        assert {"title": "Ψωμί", "description": "Ποιο;"} == one.item["translations"]["el"]
        assert not one.entry.line.whole


def test_two_answers_are_not_compared() -> None:
    with pytest.raises(Unreadable):
        condition_of(read("{a} = {b}", SURVEYJS), lambda *_: {}, lambda *_: {})


def test_texts() -> None:
    draft = Draft({"default": "el", "en": "en"})
    assert {"el": "Ω", "en": "A"} == draft.texts({"en": "A", "default": "Ω", "fr": "Ä", "x": 1})
    assert {"el": "only"} == draft.texts("only")
    assert {} == draft.texts("<br>")
    assert "A" == draft.text({"en": "<b>A</b>"})
    assert "a, d" == names_of({"a": 1, "b": "", "c": None, "d": [0]}, "abcd")


@pytest.mark.parametrize("name", list(SAMPLES))
def test_each_format(name: str) -> None:
    """One condition, two languages and the codes of choices are whole in the file of each format."""
    made = Taken(SAMPLES[name])
    first, second = made.definition.questions()
    assert [("question", True), ("question", True), ("condition", True)] == [
        (line.kind, line.whole)
        for line in sorted(made.lines, key=lambda one: one.kind, reverse=True)
        if line.kind != "text"
    ]
    assert ("Which?", "Ποιο;", "single_choice") == (first.title, first.translations["el"].title, first.type)
    assert {1: "Ψωμί", 2: "Κέικ"} == first.translations["el"].choices
    assert "answer.a" in second.title
    assert second.show_if is not None or first.jumps


@pytest.mark.parametrize("value", [None, 0, 1e300, True, "x", [], {}, [[1]], {"default": {}}, "é" * 600])
@pytest.mark.parametrize("name", ["formbricks", "surveyjs"])
def test_a_value_of_another_type_anywhere(name: str, value: object) -> None:
    """A member that is not what it should be is refused or told, wherever it stands."""
    for path in share_of([*_paths(json.loads(SAMPLES[name]))], 0.3):
        document = json.loads(SAMPLES[name])
        inside = document
        for step in path[:-1]:
            inside = inside[step]
        inside[path[-1]] = value
        try:
            Taken(json.dumps(document).encode())
        except errors.Invalid as refused:
            assert refused.detail  # noqa: PT017


def _paths(document: object, *above: int | str) -> Iterator[tuple[int | str, ...]]:
    pairs = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for step, inside in pairs:
        yield (*above, step)
        yield from _paths(inside, *above, step)
