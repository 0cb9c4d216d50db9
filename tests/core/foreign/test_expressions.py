"""Conditions as texts."""

import pytest

from afterword.core.foreign.expressions import LIMESURVEY, SURVEYJS, XLSFORM, Grammar, Tree, Unreadable, read

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
    ("grammar", "text", "expected"),
    [
        (SURVEYJS, "{a} = 'x'", ("is", "equal", [A, ("value", "x")])),
        (SURVEYJS, '{a} <> "it\\"s"', ("is", "not_equal", [A, ("value", 'it"s')])),
        (SURVEYJS, "{a} >= -2.5", ("is", "greater_equal", [A, ("value", -2.5)])),
        (SURVEYJS, "{a} NOTEMPTY", ("is", "is_not_empty", [A])),
        (SURVEYJS, "{a} anyof [1, 'x']", ("is", "in", [A, ("list", [("value", 1), ("value", "x")])])),
        (SURVEYJS, "!{a} empty", ("not", ("is", "is_empty", [A]))),
        (SURVEYJS, "{a} or {b} and true", ("or", [A, ("and", [B, ("value", True)])])),
        (SURVEYJS, "({a} || {b}) && !({a})", ("and", [("or", [A, B]), ("not", A)])),
        (SURVEYJS, "age({a}, 3) < 4", ("is", "less", [("call", "age", [A, ("value", 3)]), ("value", 4)])),
        (SURVEYJS, "{a} = word", ("is", "equal", [A, ("value", "word")])),
        (XLSFORM, "${a} != ''", ("is", "not_equal", [A, ("value", "")])),
        (XLSFORM, "not(selected(${a}, 'x'))", ("not", ("call", "selected", [A, ("value", "x")]))),
        (XLSFORM, ". <= 9", ("is", "less_equal", [("name", "."), ("value", 9)])),
        (XLSFORM, "count-selected(${a}) > 1", ("is", "greater", [("call", "count-selected", [A]), ("value", 1)])),
        (XLSFORM, "true()", ("value", True)),
        (LIMESURVEY, 'a.NAOK == "Y"', ("is", "equal", [("name", "a.NAOK"), ("value", "Y")])),
        (LIMESURVEY, "7X1X11r#0 ge 2", ("is", "greater_equal", [("name", "7X1X11r#0"), ("value", 2)])),
        (LIMESURVEY, "!is_empty(a) OR TRUE", ("or", [("not", ("call", "is_empty", [A])), ("value", True)])),
    ],
)
def test_read(grammar: Grammar, text: str, expected: Tree) -> None:
    assert expected == read(text, grammar)
