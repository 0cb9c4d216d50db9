"""The frame of pages for responders, and the plain page: a heading, a few sentences, one button."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import quote, urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from afterword import errors
from afterword.kit.texts import Texts, accepted, texts
from afterword.kit.web import html, parsing, static

DOMAIN: Final = "pages"  # of the texts
SERVER_ERROR: Final = 500
# Mail readers take what stands behind a link into it, such as a full stop; no id or key has it.
_LINK_AND_MORE: Final = re.compile(r"(/[alpsu](?:/[0-9A-Za-z_-]+)+)[^0-9A-Za-z_/-]+\Z")
_UNPLACED: Final[dict[str, Any]] = {"placed": None, "is_done": False, "is_left": False}
_PLAIN: Final[dict[str, Any]] = {"brand": "", "theme_url": "", "logo_url": "", "coupon": None, "call_back": None}


class Link(msgspec.Struct, frozen=True):
    """`told`: the address to which the page tells that somebody opened the link, and the token for it."""

    url: str
    label: str
    is_main: bool = False
    told: tuple[str, str] | None = None


class Button(msgspec.Struct, frozen=True):
    """A form of one button; `token` proves that the form was loaded before it is sent."""

    action: str
    token: str
    label: str


def page(
    template: str,
    /,
    *,
    words: Texts,
    language: str | None = None,
    direction: Literal["ltr", "rtl"] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: object,
) -> Response:
    """Render a template of `public/`; `language` and `direction` are the content's, if not the page's."""
    return html.page(
        f"public/{template}",
        status=status,
        headers=headers,
        t=words,
        lang=language or words.language,
        direction=direction or words.direction,
        style_url=static.url("public/afterword.css"),
        controls_url=static.url("public/controls.css"),
        script_url=static.url("public/answer.js"),
        review_url=static.url("public/review.js"),
        **(_UNPLACED | values),
    )


def message_page(
    *,
    words: Texts,
    title: str,
    paragraphs: Sequence[str] = (),
    facts: Sequence[str] = (),
    link: Link | None = None,
    links: Sequence[Link] = (),
    button: Button | None = None,
    **frame: Any,
) -> Response:
    """A heading and a few sentences; `links` stand before the `facts`, `link` behind them.

    `frame`: `brand`, `theme_url` and `logo_url`, and other arguments of `page`.
    """
    return page(
        "message.html",
        words=words,
        title=title,
        paragraphs=paragraphs,
        facts=facts,
        link=link,
        links=links,
        button=button,
        **(_PLAIN | frame),
    )


def picture(content: bytes, media_type: str, *, is_named: bool) -> Response:
    """Serve an uploaded picture, sandboxed. `is_named`: its address contains a digest, so it is cached for long."""
    lasting = "public, max-age=31536000, immutable" if is_named else "public, max-age=300"
    return Response(
        content,
        media_type=media_type,
        headers={
            "Cache-Control": lasting,
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Robots-Tag": "noindex",
        },
    )


def refusal_page(request: Request, refusal: errors.Refusal) -> Response:
    if isinstance(refusal, errors.NotFound) and request.method in {"GET", "HEAD"}:
        linked = _LINK_AND_MORE.match(request.url.path)
        if linked is not None:
            return html.redirect(f"{linked[1]}?{request.url.query}" if request.url.query else linked[1])
    words = texts(DOMAIN, accepted(request.headers.get("accept-language", "")))
    title, text = "Please try again in a moment", "This page could not be read. Please send it again."
    link: Link | None = None
    match refusal:
        case errors.TooMany() if request.method == "GET":
            text = "Too many addresses were tried from here. Wait a minute, then open the link again."
        case errors.TooMany() | errors.Unavailable():  # a post: many people may answer from one network
            text = "The service is busy. What you entered has not been saved yet: go back and send it again."
        case errors.Misdirected():
            title, text = "This server only shows a copy", "Nothing was saved here. Please go on at this address:"
            link = Link(address := _address_of(request, refusal.url), address)
        case errors.NotFound() | errors.MethodNotAllowed():
            title = "This page is not here"
            text = (
                "The address may be incomplete, or what it led to has been removed. "
                "Please open the link from your message once more."
            )
        case errors.TooLarge():
            title = "Please check your answers"
            text = "The files are too large. What you entered has not been saved yet: go back and choose smaller ones."
        case _ if refusal.status >= SERVER_ERROR:
            text = "Something went wrong on our side. What you entered may not have been saved."
        case _:
            pass
    headers = {name: value for name, value in refusal.headers.items() if name in {"Allow", "Retry-After"}}
    return message_page(
        words=words,
        title=words(title),
        paragraphs=[words(text)],
        link=link,
        status=refusal.status,
        headers=headers,
    )


def _address_of(request: Request, url: str) -> str:
    """The same page of another server; of a form the page that it stood on, as its own address may be none."""
    if request.method in {"GET", "HEAD"}:
        return f"{url}{quote(request.scope['path'])}"
    try:
        return f"{url}{urlsplit(request.headers.get('referer', '')).path}"
    except ValueError:
        return url


async def read_body(
    request: Request, *, bytes_max: int = parsing.BODY_BYTES_MAX, seconds_max: int | None = None
) -> bytes:
    """Read a posted form within the limits of parsing.py; raises Malformed where the client disconnected early."""
    try:
        return await parsing.read_body(
            request.receive, request.scope["afterword.headers"], bytes_max=bytes_max, seconds_max=seconds_max
        )
    except ClientDisconnect as error:
        raise errors.Malformed("The form ended before it was whole.", "malformed_form") from error
