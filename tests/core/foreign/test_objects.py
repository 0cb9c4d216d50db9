"""Objects of any form in JSON, and buttons of endings."""

import pytest

from afterword.core.foreign.objects import Subject, at, button, comparison, few, mapping, number_of, objects
from afterword.core.foreign.parts import Entry


class TestObjects:
    @pytest.mark.parametrize("value", [None, 5, "x", True, [], {}])
    def test_nothing(self, value: object) -> None:
        assert ({}, [], None) == (mapping(value), objects(value), at(value, "a", 0))

    def test_lists_and_maps_alike(self) -> None:
        assert [{"a": 1}] == objects([5, {"a": 1}]) == objects({"x": {"a": 1}, "y": None})
        assert 1 == at([{"a": 1}], 0, "a") == at({"0": {"a": 1}}, 0, "a")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", None),
        ("x", None),
        (None, None),
        ("inf", None),
        ("nan", None),
        (10**15, None),
        ("1", 1),
        (2.5, 2.5),
        ("-3.0", -3),
    ],
)
def test_number_of(value: object, expected: float | None) -> None:
    assert expected == number_of(value)


class TestSubject:
    @pytest.mark.parametrize(("name", "kind"), [("q", "statement"), ("q:row", "single_choice")])
    def test_without_a_variable(self, name: str, kind: str) -> None:
        assert Subject(name, kind).variable is None

    def test_variable(self) -> None:
        assert ("answer.q", "answer.q.email") == (Subject("q", "nps").variable, Subject("q:email", "contact").variable)

    def test_of_the_wrong_kind(self) -> None:
        assert Subject("q", "nps").compared("equal", "many") is None
        assert Subject("q", "single_choice", values={"a": 1}).chosen("b", "equal") is None

    @pytest.mark.parametrize(
        ("kind", "value", "expected"),
        [("nps", "5", 5), ("number", 0.5, 0.5), ("text", "5", "5"), ("yes_no", True, True)],
    )
    def test_compared(self, kind: str, value: object, expected: object) -> None:
        found = Subject("q", kind).compared("equal", value)
        assert {"subject": "question:q", "operator": "equal", "value": expected} == found


@pytest.mark.parametrize("value", ["", None, "null"])
def test_comparison_with_nothing(value: object) -> None:
    assert {"subject": "x", "operator": "is_empty"} == comparison("x", "equal", value)
    assert {"subject": "x", "operator": "is_not_empty"} == comparison("x", "not_equal", value)
    assert {"subject": "x", "operator": "is_empty"} == comparison("x", "is_empty", 5)


def test_few() -> None:
    entry = Entry("question", "q")
    assert [1, 2] == few([1, 2], 2, entry)
    assert entry.line.whole
    assert [1] == few([1, 2], 1, entry)
    assert not entry.line.whole


@pytest.mark.parametrize("url", ["http://a.example", "", "javascript:x"])
def test_no_button_for_an_unsafe_address(url: str) -> None:
    entry = Entry("ending", "e")
    assert {} == button(url, "Shop", entry, at_once=False)
    assert not entry.line.whole
