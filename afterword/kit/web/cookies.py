"""Reads the cookies that Afterword sets itself. Their values need no quotes, so nothing is unquoted."""

from typing import Final

from starlette.requests import Request

COOKIES_BYTES_MAX: Final = 8_192  # of all cookies that a browser sends; ours have some 500 bytes each


def read(request: Request, name: str) -> str:
    """The first value under this name, or "". Cookies that do not end within `COOKIES_BYTES_MAX` are not read."""
    text = request.headers.get("cookie", "")
    if len(text) > COOKIES_BYTES_MAX:
        text = text[:COOKIES_BYTES_MAX].rpartition(";")[0]
    pairs = (one.partition("=") for one in text.split(";"))
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")
