"""Language tags (BCP 47): the stored form, the best match among a questionnaire's languages, the direction."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

import langcodes
from langcodes.tag_parser import LanguageTagError, parse_tag

LOCALE_CHARACTERS_MAX = 35
ACCEPTED_TAGS_MAX = 20
Marked = str  # a text that a test looks up in the catalogues, wherever it is declared or given for a parameter

_SHAPE: Final = re.compile(r"(?:[A-Za-z]{2,8}|[xXiI])(?:[-_][A-Za-z0-9]{1,8})*\Z")
_REGION: Final = re.compile(r"\b[A-Za-z]{2,3}(?:-[A-Za-z]{4})?-([A-Za-z]{2})\b")  # of a language, behind its script
_RIGHT_TO_LEFT: Final = frozenset(
    {"Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"}
)


class InvalidLocale(ValueError):
    """Not a well-formed language tag, or longer than `LOCALE_CHARACTERS_MAX`."""


@lru_cache(maxsize=1000)
def normalise(tag: str) -> str:
    """The stored form of a well-formed tag: lower case, dashes (`en_US` is `en-us`). Raises InvalidLocale."""
    if len(tag) > LOCALE_CHARACTERS_MAX or not _SHAPE.match(tag):
        raise InvalidLocale("A language tag is expected, such as el or en-US.")
    try:
        parse_tag(tag)
    except LanguageTagError as error:
        raise InvalidLocale("A language tag is expected, such as el or en-US.") from error
    return tag.replace("_", "-").lower()


def is_same_language(one: str, other: str) -> bool:
    """Whether two well-formed tags have their language in common, whatever their script and region."""
    return normalise(one).partition("-")[0] == normalise(other).partition("-")[0]


def match(tag: str | None, locales: Sequence[str], default: str) -> str:
    """The one of `locales` (stored forms) that serves a reader of `tag` best; it never fails.

    The exact tag, else the tag shortened from the right, else another variety of its language in the order of
    `locales`, else `default`, which also answers None and a malformed tag.
    """
    if tag is None:
        return default
    try:
        tag_text = normalise(tag)
    except InvalidLocale:
        return default
    parts = tag_text.split("-")
    for length in range(len(parts), 0, -1):
        shortened = "-".join(parts[:length])
        if shortened in locales:
            return shortened
    language = _language(tag_text)
    return next((locale for locale in locales if _language(locale) == language), default)


@lru_cache(maxsize=100)  # browsers of one country send few different ones
def accepted(header: str, locales: tuple[str, ...], default: str) -> str:
    """The first of `locales` that an `Accept-Language` header names, in its order; `default` without any."""
    tags = (part.partition(";")[0].strip() for part in header.split(",")[:ACCEPTED_TAGS_MAX])
    return next((found for tag in tags if (found := match(tag, locales, ""))), default)


@lru_cache(maxsize=100)
def with_region(language: str, header: str) -> str:
    """The language with the first region that an `Accept-Language` header names, if any: `en`, `el-GR` give `en-GR`.

    A tag with a region keeps it.
    """
    found = _REGION.search(header)
    return f"{language}-{found[1].upper()}" if found and "-" not in language else language


@lru_cache(maxsize=1000)
def direction(locale: str) -> Literal["ltr", "rtl"]:
    """Which way a well-formed tag's script runs: `ar` and `he` from right to left, `az-arab` too, `az` not."""
    script = langcodes.Language.get(locale).maximize().script
    return "rtl" if script in _RIGHT_TO_LEFT else "ltr"


@lru_cache(maxsize=1000)
def _language(locale: str) -> str:
    """The language alone, old and special names replaced (`iw` is `he`, `arb` is `ar`), so that varieties meet."""
    return langcodes.standardize_tag(locale, macro=True).partition("-")[0]
