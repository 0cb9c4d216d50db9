"""Parts of the readers of Formbricks, SurveyJS and XLSForm, each by itself."""

import json
from collections.abc import Iterator

import pytest

from afterword import errors
from afterword.core.foreign.drafting import Draft, Subject, Unreadable, condition_of, names_of
from afterword.core.foreign.expressions import SURVEYJS, read
from afterword.core.foreign.parts import Condition
from tests.core.foreign.forms import SAMPLES, Taken, leaf

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
    for path in _paths(json.loads(SAMPLES[name])):
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
