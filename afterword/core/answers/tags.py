"""Tags: short texts in one normal form."""

import unicodedata
from typing import Final

from afterword.errors import Sentence

TAG_CHARACTERS_MAX: Final = 50
INSTANCE_TAGS_MAX: Final = 50
_DOTS: Final = frozenset({".", ".."})  # special in a path, which names a tag to delete


class InvalidTag(ValueError):
    """Not a tag; `code` is stable, the sentence does not repeat it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def normalise(text: str) -> str:
    """The tag: composed, in lower case, with single spaces and none around it. Raises InvalidTag."""
    tag = " ".join(unicodedata.normalize("NFC", text).lower().split())
    if not tag:
        raise InvalidTag("too_short", "A tag has at least one character.")
    if len(tag) > TAG_CHARACTERS_MAX:
        raise InvalidTag("too_long", Sentence("A tag has at most {n} characters.", n=TAG_CHARACTERS_MAX))
    if tag in _DOTS or "/" in tag or any(unicodedata.category(one) in {"Cc", "Cs"} for one in tag):
        raise InvalidTag("invalid_format", "A tag has neither slashes nor control characters.")
    return tag
