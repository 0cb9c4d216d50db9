"""The problems of an uploaded list in the reader's language: they are kept in English, as the API says them."""

import re
from collections.abc import Sequence
from typing import Final

from afterword.texts import Texts

ROW: Final = re.compile(r"\ARow [0-9,]+(?:, |: )")
SENTENCES: Final[Sequence[str]] = (  # numbers and names in them stay as they are
    "Column “{column}”: {problem}",
    "This row has {cells} cells, and the header {columns}.",
    "A row may have {n} bytes.",
    "The quotation marks of this row are broken: one within a quoted cell must be doubled.",
    "The character NUL is not allowed.",
    "This is not an e-mail address, such as ann@example.com.",
    "This is not a phone number, such as +30 210 123 4567.",
    "A phone number has digits, and + with the country code in front.",
    "A phone number without + and country code needs a locale that names its country.",
    "A phone number with these digits does not exist in that country.",
    "An address has no control characters and no line breaks.",
    "An address has at most {n} characters.",
    "The address is empty.",
    "This is required.",
    "At most {n} characters are allowed.",
    "At least 1 character is expected.",
    "Control characters are not allowed.",
    "A language tag is expected, such as el or en-US.",
    "A date with a time is expected, such as {example}.",
    "The date must lie between {first} and {last}.",
    "The offset must lie between {first} and {last}.",
    "Leap seconds are not taken; use the second before or after.",
    "A metadata name has 1 to {n} characters, none of them a control character.",
    "A metadata value has at most {n} characters.",
    "This name is not declared.",
    "This is not a number.",
    "This is not a date.",
    "This is not a boolean.",
    "An item of this pipeline that is not aborted has this external reference.",
)
_BLANK: Final = re.compile(r"\\\{(\w+)\\\}")


def _pattern_of(sentence: str) -> re.Pattern[str]:
    return re.compile(_BLANK.sub(r"(?P<\1>.+?)", re.escape(sentence)), re.DOTALL)


_PATTERNS: Final = [(_pattern_of(each), each) for each in SENTENCES]


def said(words: Texts, message: str) -> str:
    """The sentence in the reader's language, without the row, which stands beside it; as it is kept if not known."""
    sentence = ROW.sub("", message)
    sentence = sentence[:1].upper() + sentence[1:]
    for pattern, known in _PATTERNS:
        match = pattern.fullmatch(sentence)
        if match is not None:
            values = match.groupdict()
            if "problem" in values:
                values["problem"] = said(words, values["problem"])
            return words(known, **values)
    return sentence
