"""Ids: 22 letters and digits. Those that open something without a login are random, the others time-ordered."""

import hashlib
import re
import secrets
import ssl
from datetime import UTC, datetime
from functools import lru_cache

ID_CHARACTERS = 22
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in byte order, so that ids sort by time
SHORT_CODE_CHARACTERS = 12
PATTERN = re.compile(r"[0-9A-Za-z]{22}\Z")
_SHORT_CODE = re.compile(r"[0-9A-Za-z]{12}\Z")
_RANDOM_BITS = 80
_DERIVED_BYTES = 16
_PAIRS = tuple(f"{first}{second}" for first in ALPHABET for second in ALPHABET)  # two digits a division
_BLOCK_DIGITS = 4
_BLOCK = len(_PAIRS) ** 2
_HEAD_CHARACTERS = 9  # of an ordered id; six values of them are a millisecond, the other 13 characters are random
_TAIL = len(ALPHABET) ** (ID_CHARACTERS - _HEAD_CHARACTERS)
_DIGITS = bytes(ord(ALPHABET[byte % len(ALPHABET)]) for byte in range(256))
_UNFAIR = bytes(range(256 - 256 % len(ALPHABET), 256))  # they would favour the first letters
_SPARE = 10  # random bytes beside those that are wanted; one in 32 is unfair


def ordered(now: datetime) -> str:
    """An id whose text order is the order of `now` in milliseconds: new rows meet at one end of an index."""
    return _head(int(now.timestamp() * 1000)) + _random(ID_CHARACTERS - _HEAD_CHARACTERS)


def ordered_first(moment: datetime) -> str:
    """The least id that `ordered` could have given at `moment`: what is below was made before it."""
    return base62(int(moment.timestamp() * 1000) << _RANDOM_BITS, ID_CHARACTERS)


def ordered_many(now: datetime, count: int) -> list[str]:
    """As many ids as are wanted at one moment, in order: a random beginning, and then one after the other."""
    milliseconds = int(now.timestamp() * 1000)
    start = milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    found: list[str] = []
    while len(found) < count:
        head, first = divmod(start, _BLOCK)
        text = base62(head, ID_CHARACTERS - _BLOCK_DIGITS)
        last = min(_BLOCK, first + count - len(found))
        found += [text + _PAIRS[number // len(_PAIRS)] + _PAIRS[number % len(_PAIRS)] for number in range(first, last)]
        start = (head + 1) * _BLOCK
    return found


def moment_of(ordered_id: str) -> datetime | None:
    """The moment of an id of `ordered`; None for a text that is no id."""
    if not is_id(ordered_id):
        return None
    number = 0
    for letter in ordered_id:
        number = number * len(ALPHABET) + ALPHABET.index(letter)
    try:
        return datetime.fromtimestamp((number >> _RANDOM_BITS) / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def derived(text: str) -> str:
    """The id of a text, always the same: 128 bits of a digest."""
    return base62(int.from_bytes(digest(text)[:_DERIVED_BYTES], "big"), ID_CHARACTERS)


def digest(secret: str) -> bytes:
    """Stored in place of a secret, or as the key of what it counts."""
    return hashlib.sha256(secret.encode()).digest()


def secret() -> str:
    """131 random bits, for what a stranger must not guess: instances, unsubscribe links."""
    return _random(ID_CHARACTERS)


def short_code() -> str:
    """12 random letters and digits for short links; guessing is throttled besides."""
    return _random(SHORT_CODE_CHARACTERS)


def is_id(text: str) -> bool:
    """Whether this has the shape of an id; whether it names anything is the database's to say."""
    return PATTERN.match(text) is not None


def is_short_code(text: str) -> bool:
    return _SHORT_CODE.match(text) is not None


def base62(number: int, width: int) -> str:
    """`number` in base 62, padded on the left with `0` to `width` characters."""
    digits: list[str] = []
    while number:
        number, pair = divmod(number, len(_PAIRS))
        digits.append(_PAIRS[pair])
    return "".join(reversed(digits)).rjust(width, "0")[-width:]


@lru_cache(maxsize=16)
def _head(milliseconds: int) -> str:
    """The first characters of all ids of a millisecond: not below it, and far from the next."""
    return base62(-(-(milliseconds << _RANDOM_BITS) // _TAIL), _HEAD_CHARACTERS)


def _random(characters: int) -> str:
    text = b""
    while len(text) < characters:  # `os.urandom` would let another thread run at each call, and wait for it
        text += ssl.RAND_bytes(characters + _SPARE).translate(_DIGITS, _UNFAIR)
    return text[:characters].decode()
