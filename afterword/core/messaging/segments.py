"""The length of an SMS: its alphabet, units and parts (3GPP TS 23.038 and 23.040).

A message in the GSM 7-bit alphabet has 160 units, or parts of 153; one character outside it makes the whole message
UCS-2, with 70 units, or parts of 67. A part never ends inside a character.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

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
_CODES: Final = {character: code for code, character in enumerate(BASIC) if code != ESCAPE}


@dataclass(frozen=True, slots=True)
class Length:
    """The length of a text as an SMS. `forcing`: the characters that need UCS-2, each once, in order."""

    encoding: Encoding
    units: int
    segments: int
    forcing: tuple[str, ...] = ()


def measure(text: str) -> Length:
    """Alphabet, units and parts of a text; an empty one has one part with nothing in it."""
    forcing = tuple(dict.fromkeys(c for c in text if c not in _CODES and c not in EXTENSION))
    encoding = _encoding(text)
    return Length(encoding, _units(text, encoding), len(split(text)), forcing)


def split(text: str) -> list[str]:
    """The parts in which it travels, which together are the text."""
    encoding = _encoding(text)
    if _units(text, encoding) <= UNITS_MAX[encoding]:
        return [text]
    return list(_packed(text, encoding))


def encode(text: str) -> tuple[bytes, Encoding]:
    """Its octets: one a septet, unpacked, or big-endian UTF-16, which is what phones take UCS-2 for."""
    if _encoding(text) == "ucs2":
        return text.encode("utf-16-be"), "ucs2"
    octets = bytearray()
    for character in text:
        code = _CODES.get(character)
        octets += bytes([code]) if code is not None else bytes([ESCAPE, EXTENSION[character]])
    return bytes(octets), "gsm7"


def _encoding(text: str) -> Encoding:
    return "gsm7" if all(character in _CODES or character in EXTENSION for character in text) else "ucs2"


def _units(text: str, encoding: Encoding) -> int:
    return sum(_width(character, encoding) for character in text)


def _width(character: str, encoding: Encoding) -> int:
    if encoding == "gsm7":
        return 2 if character in EXTENSION else 1
    return 2 if ord(character) > 0xFFFF else 1  # noqa: PLR2004  beyond the first plane: two surrogates


def _packed(text: str, encoding: Encoding) -> Iterator[str]:
    part, left = "", PART_UNITS_MAX[encoding]
    for character in text:
        width = _width(character, encoding)
        if width > left:
            yield part
            part, left = "", PART_UNITS_MAX[encoding]
        part, left = part + character, left - width
    yield part
