"""The page of a mail in a frame: sandboxed, without scripts and forms, with the styles alone that it came with."""

import hashlib
from base64 import b64encode
from html.parser import HTMLParser
from typing import Final

from starlette.responses import Response

from afterword.core.wire.site import PublicPages
from afterword.kit.web import html

STYLES_MAX: Final = 200


def mail_page(content: str, *, pages: PublicPages) -> Response:
    """`pages`: of the organization, whose mails show its pictures from there."""
    content = content.replace("\r\n", "\n")  # as a browser reads it where it hashes a style
    policy = (
        f"sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src 'self' data: "
        f"{pages.public_url}; style-src 'unsafe-hashes' {' '.join(_style_hashes(content))}; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'"
    )
    return Response(
        f'<base target="_blank">{content}',
        media_type="text/html",
        headers={**html.PAGE_HEADERS, "Content-Security-Policy": policy},
    )


class _Styles(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, None] = {}
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "style"
        for name, value in attrs:
            if name == "style" and value:
                self.found[value] = None

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  as the base names it
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[data] = None


def _style_hashes(page: str) -> list[str]:
    """The sources that allow exactly the styles of this page: no `unsafe-inline`."""
    styles = _Styles()
    styles.feed(page)
    return [
        f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in list(styles.found)[:STYLES_MAX]
    ]
