"""Members read one by one: each with its bounds, a wrong one reported at its pointer and read as its default."""

from collections.abc import Callable, Mapping

import pytest

from afterword.core.reading.documents import Members, digits_of, is_date, is_number, is_printable, plain, read_by_locale
from afterword.core.reading.findings import Findings

Read = Callable[[Members], object]


def read(document: object, reading: Read, *, strict: bool = False) -> tuple[object, list[tuple[str, str]]]:
    findings = Findings(strict=strict)
    value = reading(Members(document, "/a", findings))
    return value, [(finding.path, finding.code) for finding in findings.found]


READINGS: Mapping[str, Read] = {
    "text": lambda members: members.text("x", 1, 3),
    "required text": lambda members: members.required_text("x", 1, 3),
    "integer": lambda members: members.integer("x", 1, 9, 5),
    "required integer": lambda members: members.required_integer("x", 1, 9),
    "number": lambda members: members.number("x", 3),
    "date": lambda members: members.date("x"),
    "boolean": lambda members: members.boolean("x", default=True),
    "one of": lambda members: members.one_of("x", ("a", "b"), "b"),
    "locale": lambda members: members.locale("x"),
    "items": lambda members: members.items("x", 1, 2),
    "entries": lambda members: members.entries("x", 1),
}


@pytest.mark.parametrize(
    ("reading", "given", "value"),
    [
        ("text", "abc", "abc"),
        ("text", None, None),
        ("integer", 9, 9),
        ("integer", None, 5),
        ("number", 1.50, 1.5),
        ("number", 2.0, 2),
        ("date", "2028-02-29", "2028-02-29"),
        ("boolean", False, False),
        ("boolean", None, True),
        ("one of", "a", "a"),
        ("one of", None, "b"),
        ("locale", "EN_us", "en-us"),
        ("items", [7, 8], [("/a/x/0", 7), ("/a/x/1", 8)]),
        ("entries", {"b/c": 7}, [("/a/x/b~1c", "b/c", 7)]),
        ("entries", None, []),
    ],
)
def test_ok(reading: str, given: object, value: object) -> None:
    assert (value, []) == read({"x": given}, READINGS[reading])


@pytest.mark.parametrize(
    ("reading", "given", "code", "value"),
    [
        ("text", 7, "wrong_type", None),
        ("text", "  ", "too_short", None),
        ("text", "abcd", "too_long", None),
        ("text", "a\x00", "invalid_format", None),
        ("required text", None, "required", ""),
        ("integer", True, "wrong_type", 5),
        ("integer", 10, "out_of_range", 5),
        ("required integer", None, "required", 1),
        ("number", float("inf"), "wrong_type", None),
        ("number", 0.0001, "out_of_range", None),
        ("date", "2027-02-29", "invalid_format", None),
        ("boolean", 1, "wrong_type", True),
        ("one of", "c", "unknown_value", "b"),
        ("locale", "no language", "invalid_locale", None),
        ("items", None, "required", []),
        ("items", [], "too_few", []),
        ("items", [1, 2, 3], "too_many", [("/a/x/0", 1), ("/a/x/1", 2)]),
        ("items", "ab", "wrong_type", []),
        ("entries", [], "wrong_type", []),
        ("entries", {"b": 1, "c": 2}, "too_many", [("/a/x/b", "b", 1)]),
    ],
)
def test_reported_and_read_as_the_default(reading: str, given: object, code: str, value: object) -> None:
    assert (value, [("/a/x", code)]) == read({"x": given}, READINGS[reading])


def test_what_is_no_object_has_no_members() -> None:
    assert (None, [("/a", "wrong_type")]) == read([], READINGS["text"])


@pytest.mark.parametrize(("strict", "problems"), [(True, [("/a/y", "unknown_member")]), (False, [])])
def test_a_misspelt_member_is_reported_where_reading_is_strict(
    *, strict: bool, problems: list[tuple[str, str]]
) -> None:
    def reading(members: Members) -> None:
        members.text("x", 1, 3)
        members.finish()

    assert (None, problems) == read({"x": None, "y": 7}, reading, strict=strict)


def test_texts_by_locale() -> None:
    document = {"x": {"EL": {"y": "Ω"}, "el": {"y": "Π"}, "fr": {"y": "c"}, "??": {}}}
    found, problems = read(
        document, lambda members: read_by_locale(members, "x", ["en", "el"], lambda each: each.text("y", 1, 9))
    )
    assert {"el": "Ω"} == found
    assert [("/a/x/el", "unknown_value"), ("/a/x/fr", "unknown_value"), ("/a/x/??", "invalid_locale")] == problems


@pytest.mark.parametrize(("value", "digits"), [(0, 1), (-12, 2), (1.5, 2), (0.001, 3), (1e20, 21), (1e-7, 7)])
def test_digits(value: float, digits: int) -> None:
    assert digits == digits_of(value)


def test_values() -> None:
    assert [True, False, False] == [is_number(one) for one in (1.5, True, float("nan"))]
    assert ["1", "0", "1.5"] == [str(plain(one)) for one in (1.0, -0.0, 1.5)]
    assert [True, False, False] == [is_date(one) for one in ("2028-02-29", "2028-2-29", 20280229)]
    assert [True, True, False, False] == [is_printable(one) for one in ("Ω", "a\n\tb", "\x1b", "\ud800")]
