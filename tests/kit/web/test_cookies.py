"""Cookies are read without the framework, and no more of them than a browser of ours sends."""

import pytest
from starlette.requests import Request

from afterword.kit.web import headers as cookies
from afterword.kit.web.headers import COOKIES_BYTES_MAX

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
    assert expected == cookies.read(request_of(header), "own")


def request_of(header: str | None) -> Request:
    headers = [] if header is None else [(b"cookie", header.encode("latin-1"))]
    return Request({"type": "http", "headers": headers})
