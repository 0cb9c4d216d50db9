"""Headers that strangers send: cookies, and entity tags in time that grows with their length alone."""

import time

import pytest
from starlette.requests import Request

from afterword.kit.web import headers
from afterword.kit.web.headers import COOKIES_BYTES_MAX

LENGTH = 16_384
SECONDS_MAX = 0.5  # a machine under load included; the square of the length took four seconds


@pytest.mark.parametrize("run", [" ", '"', "*", "W/", "\t", ",", '" ', "* "])
def test_long_entity_tags_are_read_in_linear_time(run: str) -> None:
    text = "a" + run * (LENGTH // len(run)) + "a"
    started = time.process_time()
    assert not headers.matches(text, '"kept"')
    assert SECONDS_MAX > time.process_time() - started


@pytest.mark.parametrize(
    ("text", "matching"),
    [
        ("", set()),
        ("a", set()),
        ('"a"', {'"a"'}),
        (' W/"a" , "b"\t', {'"a"', '"b"'}),
        (' W/"a" ,*', {'"a"', '"b"', "*"}),
        ('"a" "b"', {'"b"'}),
    ],
)
def test_entity_tags(text: str, matching: set[str]) -> None:
    assert matching == {etag for etag in ('"a"', '"b"', "*") if headers.matches(text, etag)}


FILL = "x=" + "1" * (COOKIES_BYTES_MAX - 20)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, ""),
        ("", ""),
        ("own", ""),
        ("other=1", ""),
        ("not-own=1; own", ""),
        ("own=1", "1"),
        (" other=2;own = 1 ;own=3", "1"),  # the first is that of the longest path (RFC 6265, 5.4)
        ('own="1"', '"1"'),
        ("own=1=2==", "1=2=="),
        (f"{FILL};own=1", "1"),
        (f"{FILL}; own={'2' * 14}", ""),
        (f"{FILL}; own=1; own={'2' * 14}", "1"),
        (f"{FILL}{FILL}; own=1", ""),
        (f"own=1; {FILL}{FILL}", "1"),
    ],
)
def test_read(header: str | None, expected: str) -> None:
    assert expected == headers.read(request_of(header), "own")


def request_of(header: str | None) -> Request:
    headers = [] if header is None else [(b"cookie", header.encode("latin-1"))]
    return Request({"type": "http", "headers": headers})
