"""Objects of any form in JSON, and buttons of endings."""

import pytest

from afterword.core.foreign.objects import at, button, compared, few, mapping, number_of, objects
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


def test_compared() -> None:
    with pytest.raises(ValueError, match="many"):
        compared("many", "number")
    assert (5, 0.5, "5") == (compared("5", "nps"), compared(0.5, "number"), compared(5, "text"))


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
