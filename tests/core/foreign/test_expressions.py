"""Conditions as texts."""

import pytest

from afterword.core.foreign.expressions import LIMESURVEY, SURVEYJS, XLSFORM, Tree, Unreadable, read

A, B = ("name", "a"), ("name", "b")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{a} =",
        "({a} = 1",
        "{a} = 1)",
        "{a} = 1 2",
        "= 1",
        "{a} ; {b}",
        "'open",
        "[1, 2",
        "f(1",
        "x" * 5_000,
        "(" * 40 + "{a}" + ")" * 40,
        "!" * 500 + "{a}",
    ],
)
def test_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text, SURVEYJS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a} = 'x'", ("is", "equal", [A, ("value", "x")])),
        ('{a} <> "it\\"s"', ("is", "not_equal", [A, ("value", 'it"s')])),
        ("{a} >= -2.5", ("is", "greater_equal", [A, ("value", -2.5)])),
        ("{a} NOTEMPTY", ("is", "is_not_empty", [A])),
        ("{a} anyof [1, 'x']", ("is", "in", [A, ("list", [("value", 1), ("value", "x")])])),
        ("!{a} empty", ("not", ("is", "is_empty", [A]))),
        ("{a} or {b} and true", ("or", [A, ("and", [B, ("value", True)])])),
        ("({a} || {b}) && !({a})", ("and", [("or", [A, B]), ("not", A)])),
        ("age({a}, 3) < 4", ("is", "less", [("call", "age", [A, ("value", 3)]), ("value", 4)])),
        ("{a} = word", ("is", "equal", [A, ("value", "word")])),
    ],
)
def test_surveyjs(text: str, expected: Tree) -> None:
    assert expected == read(text, SURVEYJS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${a} != ''", ("is", "not_equal", [A, ("value", "")])),
        ("not(selected(${a}, 'x'))", ("not", ("call", "selected", [A, ("value", "x")]))),
        (". <= 9", ("is", "less_equal", [("name", "."), ("value", 9)])),
        ("count-selected(${a}) > 1", ("is", "greater", [("call", "count-selected", [A]), ("value", 1)])),
        ("true()", ("value", True)),
    ],
)
def test_xlsform(text: str, expected: Tree) -> None:
    assert expected == read(text, XLSFORM)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a.NAOK == "Y"', ("is", "equal", [("name", "a.NAOK"), ("value", "Y")])),
        ("7X1X11r#0 ge 2", ("is", "greater_equal", [("name", "7X1X11r#0"), ("value", 2)])),
        ("!is_empty(a) OR TRUE", ("or", [("not", ("call", "is_empty", [A])), ("value", True)])),
    ],
)
def test_limesurvey(text: str, expected: Tree) -> None:
    assert expected == read(text, LIMESURVEY)
