"""The frame of the pages that responders see, and the plain one among them: a heading, a few sentences, one button."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, Protocol

from litestar import Response

from afterword import errors
from afterword.web import html

STATIC: Final = Path(__file__).parent.parent / "static"
FINGERPRINT_CHARACTERS: Final = 10
SERVER_ERROR: Final = 500


class Words(Protocol):
    """The interface's texts in one language, as `afterword.texts` gives them."""

    @property
    def language(self) -> str:
        """The language that the texts are in."""
        ...

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        """Which way its script runs."""
        ...

    def __call__(self, message: str, **values: object) -> str:
        """A text in it."""
        ...


@dataclass(frozen=True, slots=True)
class Link:
    """A way on that changes nothing."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class Button:
    """A form of one button; `token` shows that the form was read before it is sent."""

    action: str
    token: str
    label: str


def page(
    template: str,
    /,
    *,
    words: Words,
    language: str | None = None,
    direction: Literal["ltr", "rtl"] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: object,
) -> Response[str]:
    """A template of `public/` in its frame. `language` and `direction`: the content's, where it is not the texts'."""
    return html.page(
        f"public/{template}",
        status=status,
        headers=headers,
        t=words,
        lang=language or words.language,
        direction=direction or words.direction,
        style_url=asset_url("public/afterword.css"),
        script_url=asset_url("public/answer.js"),
        **values,
    )


def message_page(
    *,
    words: Words,
    title: str,
    paragraphs: Sequence[str] = (),
    facts: Sequence[str] = (),
    link: Link | None = None,
    button: Button | None = None,
    brand: str = "",
    language: str | None = None,
    direction: Literal["ltr", "rtl"] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response[str]:
    """A heading and a few sentences; `brand` is who asks."""
    return page(
        "message.html",
        words=words,
        language=language,
        direction=direction,
        status=status,
        headers=headers,
        title=title,
        paragraphs=paragraphs,
        facts=facts,
        link=link,
        button=button,
        brand=brand,
    )


def refusal_page(refusal: errors.Refusal, *, words: Words) -> Response[str]:
    """A refusal in words for people who followed a link: nothing here, too many, busy."""
    title, text = "Please try again in a moment", "This page could not be read. Please send it again."
    match refusal:
        case errors.TooMany():
            text = "Too many addresses were tried from here."
        case errors.Unavailable():
            text = "The service is busy. What you entered has not been saved yet: go back and send it again."
        case errors.NotFound():
            title = "This page is not here"
            text = (
                "The address may be incomplete, or what it led to has been removed. "
                "Please open the link from your message once more."
            )
        case _ if refusal.status >= SERVER_ERROR:
            text = "Something went wrong on our side. What you entered may not have been saved."
        case _:
            pass
    headers = {name: value for name, value in refusal.headers.items() if name == "Retry-After"}
    return message_page(
        words=words, title=words(title), paragraphs=[words(text)], status=refusal.status, headers=headers
    )


@cache
def asset_url(path: str) -> str:
    """The address of a file below static/, with a fingerprint of its bytes, so that it may be cached for long."""
    digest = hashlib.sha256((STATIC / path).read_bytes()).hexdigest()
    return f"/static/{path}?v={digest[:FINGERPRINT_CHARACTERS]}"
