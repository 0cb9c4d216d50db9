"""Pages for responders: a refusal as a page in the reader's language, uploaded pictures, posted forms."""

from typing import Any

import pytest
from starlette.requests import Request

from afterword import errors
from afterword.kit.web import public
from afterword.kit.web.problems import InternalError


def ask(language: str = "en", receive: Any = None, method: str = "POST") -> Request:
    headers = [(b"accept-language", language.encode()), (b"content-length", b"9")]
    read = {name.decode(): value.decode() for name, value in headers}
    return Request({"type": "http", "method": method, "headers": headers, "afterword.headers": read}, receive)


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (errors.NotFound("secret"), "This page is not here"),
        (errors.TooMany("secret", headers={"Retry-After": "7"}), "What you entered has not been saved yet"),
        (errors.Unavailable("secret"), "The service is busy."),
        (InternalError(), "Something went wrong on our side."),
        (errors.Malformed("secret"), "Please send it again."),
    ],
)
def test_a_refusal_is_a_page(refusal: errors.Refusal, words: str) -> None:
    found = public.refusal_page(ask(), refusal)
    text = bytes(found.body).decode()
    assert refusal.status == found.status_code
    assert words in text
    assert "secret" not in text
    assert refusal.headers.get("Retry-After") == found.headers.get("retry-after")


def test_too_many_of_what_nobody_entered() -> None:
    found = public.refusal_page(ask(method="GET"), errors.TooMany("secret"))
    assert (
        "Too many addresses were tried from here. Wait a minute, then open the link again."
        in bytes(found.body).decode()
    )


def test_a_refusal_speaks_the_readers_language() -> None:
    assert 'lang="el"' in bytes(public.refusal_page(ask("el"), errors.NotFound("x")).body).decode()


@pytest.mark.parametrize(("is_named", "lasting"), [(True, "immutable"), (False, "max-age=300")])
def test_a_picture_runs_nothing(*, is_named: bool, lasting: str) -> None:
    found = public.picture(b"<svg/>", "image/svg+xml", is_named=is_named)
    assert "default-src 'none'; sandbox" == found.headers["content-security-policy"]
    assert lasting in found.headers["cache-control"]


async def test_a_form_that_breaks_off() -> None:
    async def leave() -> Any:
        return {"type": "http.disconnect"}

    with pytest.raises(errors.Malformed) as caught:
        await public.read_body(ask(receive=leave))
    assert "malformed_form" == caught.value.code
