"""Reads request headers and writes response headers."""

import re
from typing import Final
from urllib.parse import quote

from starlette.requests import Request

from afterword import errors

COOKIES_BYTES_MAX: Final = 8_192  # of all cookies that a browser sends; ours have some 500 bytes each


def read(request: Request, name: str) -> str:
    """The first value under this name, or "". Cookies that do not end within `COOKIES_BYTES_MAX` are not read."""
    text = request.headers.get("cookie", "")
    if len(text) > COOKIES_BYTES_MAX:
        text = text[:COOKIES_BYTES_MAX].rpartition(";")[0]
    pairs = (one.partition("=") for one in text.split(";"))
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


Header = tuple[bytes, bytes]
RETRY_AFTER_SECONDS = {"unavailable": 2, "idempotency_in_progress": 1, "item_in_dispatch": 5}

JSON: Final[Header] = (b"content-type", b"application/json")
PROBLEM: Final[Header] = (b"content-type", b"application/problem+json")
NO_STORE: Final[Header] = (b"cache-control", b"no-store")
NO_CACHE: Final[Header] = (b"cache-control", b"private, no-cache")
SANDBOX: Final[Header] = (b"content-security-policy", b"default-src 'none'; sandbox")
VARY: Final[Header] = (b"vary", b"Authorization, esat-auth, Origin")

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-()")
_TAG: Final = re.compile(r'(?:W/)?("[^"]*"|\*)[ \t]*(?:,|\Z)')  # no repetition at its start: linear on any input
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}\Z")


def attachment(file_name: str) -> str:
    """A `Content-Disposition`; a name beyond ASCII is sent twice, for old and new clients (RFC 6266)."""
    plain = "".join(character if character in _PLAIN else "_" for character in file_name)
    disposition = f'attachment; filename="{plain}"'
    return disposition if plain == file_name else f"{disposition}; filename*=UTF-8''{quote(file_name, safe='')}"


def saved_as(file_name: str) -> dict[str, str]:
    """The headers of a file that browsers save, and never show on our address."""
    return {
        "Content-Disposition": attachment(file_name),
        "Content-Security-Policy": SANDBOX[1].decode(),
        "Cache-Control": "no-store",
    }


def matches(text: str, etag: str, *, is_there: bool = True) -> bool:
    """True where a list of entity tags has this one, or `*` of what is there; a `W/` that a proxy added is ignored."""
    found = [match[1] for match in _TAG.finditer(text)]
    return etag in found or (is_there and "*" in found)


def wants_strict(prefer: str) -> bool:
    """True where `Prefer` has handling=strict; other preferences are ignored."""
    for preference in prefer.split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip().lower() == "handling" and value.strip().strip('"').lower() == "strict":
            return True
    return False


def read_idempotency_key(text: str) -> str:
    """Accepts a bare or quoted key; raises Malformed for anything but 1 to 255 visible ASCII characters."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        bare = bare[1:-1]
    if _KEY.match(bare) is None:
        message = "1 to 255 visible ASCII characters are expected."
        raise errors.Malformed(
            "The header Idempotency-Key cannot be read.",
            "malformed_header",
            [errors.FieldError("malformed_header", message, header="Idempotency-Key")],
        )
    return bare


def header(name: str, value: str) -> Header:
    """Encode a header; characters outside Latin-1 are replaced, line ends removed."""
    return name.lower().encode("ascii"), value.replace("\r", " ").replace("\n", " ").encode("latin-1", "replace")


def of_refusal(refusal: errors.Refusal) -> list[Header]:
    more: list[Header] = [PROBLEM, NO_STORE, VARY]
    more.extend(header(name, value) for name, value in refusal.headers.items())
    seconds = RETRY_AFTER_SECONDS.get(refusal.code)
    if seconds is not None and "Retry-After" not in refusal.headers:
        more.append((b"retry-after", b"%d" % seconds))
    return more
