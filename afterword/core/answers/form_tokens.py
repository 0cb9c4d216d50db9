"""The token in a hidden field of each form; a POST without it, by a client that never read the form, does nothing.

No cookie and no session: a keyed hash of what the form is for. It keeps link scanners out, not the person who has the
link, for whom the link itself is the key.
"""

import hashlib
import hmac
from collections.abc import Callable
from typing import Final

from afterword.core import keys

TOKEN_CHARACTERS: Final = 32


def token_of(secret: bytes, purpose: str, subject: str) -> str:
    """The token of a form: hexadecimal, the same each time."""
    return _digest(secret, purpose, subject).hex()[:TOKEN_CHARACTERS]


def is_token(token: str, *, secret: bytes, purpose: str, subject: str) -> bool:
    """Whether we gave out this token for this purpose and subject."""
    sent = token.encode("utf-8", "replace")
    return (
        keys.find(secret, lambda one: hmac.compare_digest(sent, token_of(one, purpose, subject).encode())) is not None
    )


def number_of(secret: bytes, purpose: str, subject: str) -> int:
    """A number of 128 bits that nobody can guess without the first secret: the same each time."""
    return int.from_bytes(_digest(keys.addresses_of(secret), purpose, subject)[:16])


def _digest(secret: bytes, purpose: str, subject: str) -> bytes:
    return hmac.digest(secret, f"{purpose}\n{subject}".encode(), hashlib.sha256)


def draws_of(secret: bytes, purpose: str, subject: str) -> Callable[[], float]:
    """Draws from 0 up to but not including 1 that come out the same each time: a form and its POST must agree."""
    count = 0

    def draw() -> float:
        nonlocal count
        count += 1
        return (number_of(secret, purpose, f"{subject}\n{count}") >> 75) / (1 << 53)

    return draw
