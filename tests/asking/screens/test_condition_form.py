"""A mark tells that somebody else changed a condition."""

from afterword.asking.screens.question_form import mark_of


def test_mark_of() -> None:
    condition = {"subject": "question:a", "operator": "equal", "value": 1}
    assert ("", 16) == (mark_of(None), len(mark_of(condition)))
    assert mark_of(condition) == mark_of(dict(reversed(condition.items())))
    assert mark_of(condition) != mark_of({**condition, "value": 2})
