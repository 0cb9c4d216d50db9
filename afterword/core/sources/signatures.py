"""Checks of signatures and secrets: each raises NotSigned, compares in constant time and never repeats the secret."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from afterword.core.messaging.webhooks import SECRET_PREFIX
from afterword.core.sources.parts import AGE_SECONDS_MAX, NotSigned
from afterword.errors import Sentence

SECRET_HEADER: Final = "X-Afterword-Secret"  # noqa: S105  for systems that sign nothing
SIGNATURES_MAX: Final = 10  # in one header
WRONG: Final = Sentence("The signature is wrong: another secret made it, or the body was changed.")
Headers = Mapping[str, str]
Verify = Callable[[str, Headers, bytes, datetime, str], None]


def required(headers: Headers, name: str) -> str:
    """The header of this name, as documents spell it."""
    value = headers.get(name.lower(), "").strip()
    if not value:
        raise NotSigned(Sentence("The header {name} is missing.", name=name))
    return value


def by_hmac(header: str, *, algorithm: str = "sha256", encoding: str = "base64", prefix: str = "") -> Verify:
    """The check of an HMAC over the body in this header, behind the prefix."""

    def verify(secret: str, headers: Headers, body: bytes, _now: datetime, _url: str) -> None:
        given = required(headers, header).removeprefix(prefix)
        check_any([given], secret.encode(), body, algorithm=algorithm, encoding=encoding)

    return verify


def by_header(*names: str) -> Verify:
    """The check of the secret itself, in one of these headers, which may be Authorization with Bearer or Basic."""

    def verify(secret: str, headers: Headers, _body: bytes, _now: datetime, _url: str) -> None:
        given = [text for name in names if (text := headers.get(name.lower(), "").strip())]
        tries = [one for text in given for one in (text, *_credentials(text))]
        if not tries:
            raise NotSigned(Sentence("The header {name} is missing.", name=names[0]))
        _check_key(secret.encode())
        if not any(is_same(one, secret) for one in tries):
            raise NotSigned(Sentence("The secret is another one."))

    return verify


def by_standard(secret: str, headers: Headers, body: bytes, now: datetime, _url: str) -> None:
    """The signature of Standard Webhooks; the secret may be `whsec_` and base64, as its libraries have it."""
    message_id, time, given = (required(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    check_age(unix_seconds(time, "webhook-timestamp"), now)
    signatures = [text.removeprefix("v1,") for text in given.split() if text.startswith("v1,")]
    check_any(signatures, _standard_key(secret), f"{message_id}.{time}.".encode("utf-8", "replace") + body)


def check_any(
    given: list[str], key: bytes, content: bytes, *, algorithm: str = "sha256", encoding: str = "base64"
) -> None:
    """Whether one of these is the HMAC of the content; several are sent while a secret changes."""
    _check_key(key)
    digest = hmac.digest(key, content, getattr(hashlib, algorithm))
    expected = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode()
    if not any(is_same(one.lower() if encoding == "hex" else one, expected) for one in given[:SIGNATURES_MAX]):
        raise NotSigned(WRONG)


def is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def check_age(seconds: float, now: datetime) -> None:
    """Refuses what was signed more than five minutes ago, or as long ahead. `seconds`: of the Unix clock."""
    if abs(seconds - now.timestamp()) > AGE_SECONDS_MAX:
        raise NotSigned(Sentence("The signature is older than five minutes, or one of the two clocks is wrong."))


def unix_seconds(text: str, name: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise NotSigned(Sentence("The header {name} has no time.", name=name))
    return int(text[:15])


def _check_key(key: bytes) -> None:
    if not key:
        raise NotSigned(Sentence("This source has no secret yet."))


def _standard_key(secret: str) -> bytes:
    text = secret.removeprefix(SECRET_PREFIX)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True) if text != secret else secret.encode()
    except binascii.Error:
        return secret.encode()


def _credentials(text: str) -> list[str]:
    """The token of Bearer, or user and password of Basic."""
    kind, _, rest = text.partition(" ")
    if kind.lower() != "basic":
        return [rest.strip()] if kind.lower() == "bearer" else []
    try:
        user, _, password = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
    except ValueError:
        return []
    return [user, password]
