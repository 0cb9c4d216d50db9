"""The length of an SMS: its alphabet, units and parts (3GPP TS 23.038 and 23.040).

A message in the GSM 7-bit alphabet has 160 units, or parts of 153; one character outside it makes the whole message
UCS-2, with 70 units, or parts of 67. A part never ends inside a character.
"""

from collections.abc import Iterator
from typing import Final, Literal, final

import msgspec

Encoding = Literal["gsm7", "ucs2"]

# The basic alphabet in the order of its codes. Code 27 is the escape to the second table, which no text contains.
BASIC: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
ESCAPE: Final = 27
EXTENSION: Final = {"\f": 10, "^": 20, "{": 40, "}": 41, "\\": 47, "[": 60, "~": 61, "]": 62, "|": 64, "€": 101}
UNITS_MAX: Final[dict[Encoding, int]] = {"gsm7": 160, "ucs2": 70}
PART_UNITS_MAX: Final[dict[Encoding, int]] = {"gsm7": 153, "ucs2": 67}
_GSM7: Final = {
    **{character: bytes([code]) for code, character in enumerate(BASIC) if code != ESCAPE},
    **{character: bytes([ESCAPE, code]) for character, code in EXTENSION.items()},
}


@final
class Length(msgspec.Struct, frozen=True):
    encoding: Encoding
    segments: int


def measure(text: str) -> Length:
    """Alphabet and number of parts of a text; an empty one has one part with nothing in it."""
    return Length(_encoding(text), len(split(text)))


def split(text: str) -> list[str]:
    """The parts in which it travels, which together are the text."""
    encoding = _encoding(text)
    units = sum(_units(character, encoding) for character in text)
    return [text] if units <= UNITS_MAX[encoding] else list(_packed(text, encoding))


def encode(text: str) -> tuple[bytes, Encoding]:
    """Its octets: one a septet, unpacked, or big-endian UTF-16, which is what phones take UCS-2 for."""
    if _encoding(text) == "ucs2":
        return text.encode("utf-16-be"), "ucs2"
    return b"".join(_GSM7[character] for character in text), "gsm7"


def _encoding(text: str) -> Encoding:
    return "gsm7" if all(character in _GSM7 for character in text) else "ucs2"


def _units(character: str, encoding: Encoding) -> int:
    if encoding == "gsm7":
        return len(_GSM7[character])
    return 2 if ord(character) > 0xFFFF else 1  # noqa: PLR2004  beyond the first plane: two surrogates


def _packed(text: str, encoding: Encoding) -> Iterator[str]:
    part, left = "", PART_UNITS_MAX[encoding]
    for character in text:
        units = _units(character, encoding)
        if units > left:
            yield part
            part, left = "", PART_UNITS_MAX[encoding]
        part, left = part + character, left - units
    yield part
