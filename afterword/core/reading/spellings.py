"""Characters that people, chats and spreadsheets put into a value, and that mean nothing there. No I/O."""

import re
import unicodedata
from typing import Final

# Category Cf, and the fillers and selectors that show nothing either.
INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0001-\U000e01ef]"
)
_AROUND: Final = re.compile(rf"(?:\s|{INVISIBLE.pattern})+\Z|\A(?:\s|{INVISIBLE.pattern})+")
_MARK: Final = re.compile(r"'(?=[-+=@\d])")
_DASHES: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-")


def trimmed(text: str) -> str:
    """The text without blanks and invisible characters at its ends."""
    return text.strip() if text.isascii() else _AROUND.sub("", text)


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
