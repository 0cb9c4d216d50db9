"""Pages: escaped, with the headers that keep foreign content out, and nothing that a template does not know."""

from typing import Any

import minijinja
import pytest
from starlette.requests import Request

from afterword.kit.web import html


def frame(title: str) -> dict[str, Any]:
    return {"title": title, "lang": "en", "direction": "ltr", "style_url": "/s.css", "reference_style_url": "/r.css"}


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(minijinja.TemplateError):
        html.page("public/index.html")


def test_values_are_escaped() -> None:
    found = html.page("public/index.html", **frame("<script>"), show_outbox=False)
    assert b"<script" not in found.body
    assert b"&lt;script&gt;" in found.body


def test_headers() -> None:
    for found in (html.page("public/index.html", **frame("x"), show_outbox=False), html.redirect("/a")):
        assert html.PAGE_HEADERS == {name: found.headers[name] for name in html.PAGE_HEADERS}


def test_a_redirect_is_read_with_get() -> None:
    found = html.redirect("/a/b")
    assert (303, "/a/b") == (found.status_code, found.headers["location"])


@pytest.mark.parametrize(("sent", "status", "body"), [(None, 200, b"x"), ('"other"', 200, b"x"), ("", 304, b"")])
def test_unchanged(sent: str | None, status: int, body: bytes) -> None:
    def ask(*headers: tuple[bytes, bytes]) -> Request:
        return Request({"type": "http", "headers": list(headers)})

    etag = html.unchanged_or(b"x", ask(), media_type="text/plain", headers={}).headers["etag"]
    request = ask() if sent is None else ask((b"if-none-match", (sent or etag).encode()))
    found = html.unchanged_or(b"x", request, media_type="text/plain", headers={"Cache-Control": "public"})
    assert (status, body, etag) == (found.status_code, found.body, found.headers["etag"])
    assert "public" == found.headers["cache-control"]
