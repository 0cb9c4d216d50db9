"""Reading by paths: wrong shapes and their places first, then numbers, times, phones and languages of others."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from afterword.core.sources import paths
from afterword.core.sources.parts import Happening
from afterword.errors import Invalid

DOCUMENT = {
    "a": {
        "b": [{"c": "one", "n": "1.50"}, {"c": "two", "n": 2}],
        "empty": {},
        "blank": "  ",
        "null": None,
        "false": False,
        "true": True,
    },
    "big": 10**400,
    "php": [],
    "x/y~z": {"ok": "slash"},
}


def document(given: Any = DOCUMENT, **headers: str) -> paths.Document:
    return paths.document_of(headers, json.dumps(given).encode())


def error(given: Any, read: str, path: str) -> tuple[str | None, str]:
    found = document(given)
    getattr(found, read)(path)
    with pytest.raises(Invalid) as caught:
        found.findings.check()
    return caught.value.errors[0].pointer, caught.value.errors[0].code


class TestWrong:
    @pytest.mark.parametrize(
        ("read", "path", "pointer", "code"),
        [
            ("text", "a", "/a", "wrong_type"),
            ("text", "a.b", "/a/b", "wrong_type"),
            ("text", "a.b[0].c.d", "/a/b/0/c", "wrong_type"),
            ("text", "a[0]", "/a", "wrong_type"),
            ("text", "x/y~z", "/x~1y~0z", "wrong_type"),
            ("text", "a.true", "/a/true", "wrong_type"),
            ("number", "a.true", "/a/true", "wrong_type"),
            ("number", "a.b[].c", "/a/b/0/c", "wrong_type"),
            ("number", "big", "/big", "wrong_type"),
            ("value", "big", "/big", "wrong_type"),
            ("time", "a.b[0].c", "/a/b/0/c", "invalid_date_time"),
            ("time", "a.b", "/a/b", "invalid_date_time"),
        ],
    )
    def test_places(self, read: str, path: str, pointer: str, code: str) -> None:
        assert (pointer, code) == error(DOCUMENT, read, path)

    @pytest.mark.parametrize(
        "path", ["a.nope", "a.null", "a.false", "a.blank", "a.b[7].c", "php.x", "a.empty.x.y", "nope | a.nope"]
    )
    def test_required(self, path: str) -> None:
        with pytest.raises(Invalid, match="Nothing stands at") as caught:
            document().text(path, is_required=True)
        assert path.partition("|")[0].strip() in str(caught.value)

    def test_required_header(self) -> None:
        with pytest.raises(Invalid) as caught:
            document().text("header:X-Topic", is_required=True)
        assert "X-Topic" == caught.value.errors[0].header

    def test_bodies(self) -> None:
        for body in (b"", b"3", b'"x"', b"[" * 100_000, b"\xff", b'{"a": Infinity}'):
            with pytest.raises(Invalid):
                paths.document_of({}, body)


class TestText:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("a.b[0].c", "one"),
            ("a.b[1].n", "2"),
            ("a.b[].c", "one, two"),
            ("a.nope | a.blank | a.b[1].c", "two"),
            ("x/y~z.ok", "slash"),
            ("header:x-topic", "orders/paid"),
            ("header: X-Topic | a.b[0].c", "orders/paid"),
            ("a.null", ""),
            ("a.false", ""),
            ("", ""),
        ],
    )
    def test_ok(self, path: str, expected: str) -> None:
        found = document(**{"x-topic": "orders/paid"})
        assert expected == found.text(path)
        assert [] == found.findings.errors

    def test_one_line(self) -> None:
        assert "a b  c" == document({"x": " a\nb\r\0c\u2028 "}).text("x")

    def test_long(self) -> None:
        assert "é" * 500 == document({"x": "é" * 900}).text("x")

    def test_many(self) -> None:
        assert 1_000 == document({"x": [{"n": 1}] * 1_500}).number("x[].n")

    @pytest.mark.parametrize(("number", "expected"), [(12, "12"), (12.0, "12"), (1.5, "1.5"), (2**70, str(2**70))])
    def test_numbers(self, number: float, expected: str) -> None:
        assert expected == document({"x": number}).text("x")


@pytest.mark.parametrize(
    ("given", "expected"),
    [("21.50", 21.5), ("1,041.00", 1041), (7, 7), (-2.5, -2.5), ("0", 0), (" 3 ", 3), ([0.1, "0.2"], 0.3)],
)
def test_number(given: Any, expected: float) -> None:
    assert expected == document({"x": given if isinstance(given, list) else [given]}).number("x[]")


def test_no_number() -> None:
    found = document()
    assert found.number("a.false") is None
    assert [] == found.findings.errors


@pytest.mark.parametrize(
    ("given", "expected"), [(True, True), (False, False), (3, 3), (2.50, 2.5), ("3", "3"), (None, None), ("", None)]
)
def test_value(given: Any, expected: Any) -> None:
    assert expected == document({"x": given}).value("x")


@pytest.mark.parametrize(
    "given",
    [
        "2026-11-29T12:00:00Z", "2026-11-29T14:00:00+02:00", "2026-11-29 12:00:00", "2026-11-29T12:00Z",
        "2026-11-29T12:00:00.000000+00:00", 1795953600, "1795953600", 1795953600000, "1795953600000",
    ],
)  # fmt: skip
def test_time(given: Any) -> None:
    assert datetime(2026, 11, 29, 12, tzinfo=UTC) == document({"x": given}).time("x")


@pytest.mark.parametrize("given", ["0000-00-00 00:00:00", None, "", " ", False])
def test_no_time(given: Any) -> None:
    found = document({"x": given})
    assert found.time("x") is None
    assert [] == found.findings.errors


@pytest.mark.parametrize("given", ["9999-12-31T23:59:59-14:00", 1e300, -1e300, "soon", "2026-13-01", True, {}])
def test_impossible_time(given: Any) -> None:
    assert ("/x", "invalid_date_time") == error({"x": given}, "time", "x")


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("690 123 4567", "GR", "+306901234567"),
        ("0151 23456789", "DE", "+4915123456789"),
        ("(415) 555-0100", "us", "+14155550100"),
        ("+44 1632 960001", "", "+441632960001"),
        ("690 123 4567", "", "690 123 4567"),
        ("call me", "GR", "call me"),
        ("", "GR", ""),
    ],
)
def test_phone(text: str, country: str, expected: str) -> None:
    assert expected == paths.phone_of(text, country)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("el_GR", "el-gr"), ("en-GB", "en-gb"), ("auto", ""), ("", ""), ("Greek!", ""), ("x" * 90, "")],
)
def test_locale(text: str, expected: str) -> None:
    assert expected == paths.locale_of(text)


def happening(given: Any, chosen: paths.Paths) -> Happening:
    return document(given).happening(chosen, event_id="1", what="other", name="x")


@pytest.mark.parametrize(
    ("name", "expected"), [("Ann Mary Lee", ("Ann", "Mary Lee")), ("Ann", ("Ann", "")), ("a" * 150, ("a" * 100, ""))]
)
def test_whole_name(name: str, expected: tuple[str, str]) -> None:
    found = happening({"n": name}, paths.Paths(whole_name="n"))
    assert expected == (found.first_name, found.last_name)


def test_values_that_are_none() -> None:
    chosen = paths.Paths(texts={"a": "a", "b": "b"}, numbers={"c": "c", "d": "d"})
    assert {"a": "x", "c": 0} == happening({"a": "x", "b": "", "c": "0.00"}, chosen).values


def test_all_faults_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        happening({"a": {}, "t": "soon"}, paths.Paths(email="a", time="t"))
    assert ["/t", "/a"] == [each.pointer for each in caught.value.errors]
