"""Ids: 22 letters and digits. Those that open something without a login are random, the others time-ordered."""

import re
import secrets
from datetime import datetime

ID_CHARACTERS = 22
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in byte order, so that ids sort by time
SHORT_CODE_CHARACTERS = 12
_PATTERN = re.compile(r"[0-9A-Za-z]{22}\Z")
_SHORT_CODE = re.compile(r"[0-9A-Za-z]{12}\Z")
_RANDOM_BITS = 80
_PAIRS = tuple(f"{first}{second}" for first in ALPHABET for second in ALPHABET)  # two digits a division


def ordered(now: datetime) -> str:
    """An id whose text order is the order of `now` in milliseconds: new rows meet at one end of an index."""
    milliseconds = int(now.timestamp() * 1000)
    return base62(milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS), ID_CHARACTERS)


def secret() -> str:
    """128 random bits, for what a stranger must not guess: instances, unsubscribe links."""
    return base62(secrets.randbits(128), ID_CHARACTERS)


def short_code() -> str:
    """12 random letters and digits for short links; guessing is throttled besides."""
    return base62(secrets.randbelow(len(ALPHABET) ** SHORT_CODE_CHARACTERS), SHORT_CODE_CHARACTERS)


def is_id(text: str) -> bool:
    """Whether this has the shape of an id; whether it names anything is the database's to say."""
    return _PATTERN.match(text) is not None


def is_short_code(text: str) -> bool:
    """Whether this has the shape of a short link's code."""
    return _SHORT_CODE.match(text) is not None


def base62(number: int, width: int) -> str:
    """`number` in base 62, padded on the left with `0` to `width` characters."""
    digits: list[str] = []
    while number:
        number, pair = divmod(number, len(_PAIRS))
        digits.append(_PAIRS[pair])
    return "".join(reversed(digits)).rjust(width, "0")[-width:]
