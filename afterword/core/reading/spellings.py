"""Characters that people, chats and spreadsheets put into a value, and that mean nothing there. No I/O."""

import re
import unicodedata
from typing import Final

# Category Cf as far as nothing of it is drawn, and the fillers and selectors that show nothing either.
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\ufeff\uffa0"
    + "".join(
        chr(number)
        for first, last in (
            (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F), (0xFFF9, 0xFFFB),
            (0x1BCA0, 0x1BCA3), (0xE0001, 0xE007F), (0xE0100, 0xE01EF),
        )
        for number in range(first, last + 1)
    )
)  # fmt: skip
INVISIBLE: Final = re.compile(f"[{_INVISIBLE}]")
_AROUND: Final = _INVISIBLE + "".join(chr(one) for one in range(0x3001) if chr(one).isspace())
_NUMBER: Final = re.compile(r"\+?[\d\s().,/-]{3,40}", re.ASCII)
_DECIMALS: Final = re.compile(r"(\+?[1-9]\d{6,})[.,]00?", re.ASCII)
_MARK: Final = re.compile(r"'(?=[-+=@\d])")
_DASHES: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-")


def trimmed(text: str) -> str:
    """The text without blanks and invisible characters at its ends."""
    return text.strip() if text.isascii() else text.strip(_AROUND)


def plain(text: str) -> str:
    """A text of digits and signs: nothing invisible, every dash `-`, every blank a space, every digit one of ASCII."""
    if text.isascii():
        return text
    return "".join(map(_plain, INVISIBLE.sub("", text).translate(_DASHES)))


def _plain(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return " " if unicodedata.category(character) == "Zs" else character


def unmarked(text: str) -> str:
    """The text without the apostrophe by which spreadsheets, and our own CSV, keep `+`, `-`, `=`, `@` or digits."""
    return text[1:] if _MARK.match(text) else text


def cleaned(address: str) -> str:
    """An address without what a spreadsheet added: blanks, apostrophes, decimals of a phone number."""
    text = trimmed(address)
    if "@" in text:
        return text[1:].removesuffix("'") if text.startswith("'") and text[1].isalnum() else text
    number = unmarked(plain(text)).strip()
    if not _NUMBER.fullmatch(number):
        return unmarked(text)
    return match[1] if (match := _DECIMALS.fullmatch(number)) else number
