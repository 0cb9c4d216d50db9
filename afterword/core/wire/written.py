"""Dates, times, numbers, booleans and languages as people and spreadsheets write them, one function for each kind.

The order of day and month, and the decimal sign, are arguments: nothing here guesses them.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final, NamedTuple

from babel.core import Locale
from babel.dates import get_day_names, get_month_names

from afterword.core.text import locales
from afterword.core.text.locales import InvalidLocale

LANGUAGES: Final = (
    "en", "ar", "bg", "cs", "de", "el", "es", "fr", "he", "it", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk",
)  # fmt: skip
TEXT_CHARACTERS_MAX: Final = 80
NOON: Final = 12
ROUNDED: Final = "A spreadsheet has rounded this number. Show its column there as a whole number, and save it again."
COUNTRY: Final = "This is the code of a country. A language is expected, such as el for Greek."
WORDS: Final[Mapping[str, Any]] = tomllib.loads(
    (resources.files("afterword.core.wire") / "words.toml").read_text("utf-8")
)

_MERIDIEMS: Final = {
    **dict.fromkeys(("am", "a", "πμ", "ص", "проб", "dop", "fm", "oo", "дп"), 0),
    **dict.fromkeys(("pm", "p", "μμ", "م", "слоб", "odp", "em", "os", "пп"), NOON),
}
_ZONES: Final = {  # minutes; the American ones as RFC 5322 has them
    "z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 60, "cet": 60, "cest": 120, "mez": 60, "mesz": 120, "eet": 120,
    "eest": 180, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
}  # fmt: skip
_SIGNS: Final[Mapping[str, str]] = {"年": "-", "月": "-", "日": " "}
_ISO: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?\Z", re.ASCII
)
_CLOCK: Final = (
    re.compile(r"(?<![\d:])(\d{1,2})(?::| ?h ?)(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?![\d:])"),
    re.compile(r"(?<=\s)(\d{1,2})\.(\d\d)(?:\.(\d\d))?(?![\d.])"),
    re.compile(rf"(?<![\d:.])(\d{{1,2}})()()(?= ?(?:{'|'.join(_MERIDIEMS)})(?![^\W\d_]))"),
)
_BEHIND: Final = re.compile(
    rf" ?(?:({'|'.join(_MERIDIEMS)})(?![^\W\d_])\.?)? ?(?:\(?({'|'.join(_ZONES)})(?![^\W\d_])\)?)?"
    r" ?(?:([+-])(\d{1,2})(?::?(\d\d))?(?!\d))? ?(?:\([^()]*\))?"
)
_COMPACT: Final = re.compile(r"(\d{4})(\d\d)(\d\d)[t ]?(\d\d)(\d\d)(\d\d)?(?=\D|\Z)")
_YEAR_FIRST: Final = re.compile(r"(\d{4})([-/.]) ?(\d{1,2})\2 ?(\d{1,2})[.-]?")
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d\d)\.?")
_EIGHT_DIGITS: Final = re.compile(r"((?:19|20)\d\d)()(\d\d)(\d\d)")
_INITIALS: Final = re.compile(r"(?<![^\W\d_])([^\W\d_])\. ?([^\W\d_])\.?(?![^\W\d_])")
_WORD: Final = re.compile(r"[^\W\d_]+")

_WITH_COMMA: Final = re.compile(r"-?(?:\d+|\d{1,3}(?:[. '\u2019]\d{3})+)(?:,\d+)?\Z", re.ASCII)
_WITH_POINT: Final = re.compile(r"-?(?:\d+|\d{1,3}(?:[, '\u2019]\d{3})+)(?:\.\d+)?\Z", re.ASCII)
_GROUPS: Final = {",": re.compile(r"[. '\u2019]"), ".": re.compile(r"[, '\u2019]")}
_CURRENCY: Final = r"(?:[^\W\d_]{1,3}\.?|[$¢£¤¥\u20a0-\u20cf])"
_BEFORE: Final = re.compile(rf"(-?){_CURRENCY} ?(?=[-\d])")
_AFTER: Final = re.compile(rf" ?{_CURRENCY}\Z")
_ROUNDED: Final = re.compile(r"[+-]?\d(?:[.,]\d+)?E\+\d+\Z", re.ASCII)


class Written(NamedTuple):
    """A date as it is written. `first` and `second` are month and day, or, where `is_open`, in either order."""

    year: int
    first: int
    second: int
    is_open: bool
    time: str  # as ISO 8601, with its offset; empty without one


def date(text: str) -> Written | None:
    """The parts of a date, perhaps with a time; None for a text that is none."""
    return _date(text) if len(text) <= TEXT_CHARACTERS_MAX and any(map(str.isdigit, text)) else None


def is_date(text: str) -> bool:
    """Whether it is written as a date, and not as a number of eight digits."""
    return not text.strip().isdigit() and date(text) is not None


def iso(text: str, order: str = "", hour: str = "") -> str:
    """A date in the order of ISO 8601. `order`: day or month, whichever comes first. `hour`: of one without a time.

    A text that is no date, or whose order is open, stays as it is. A month above 12 stays one, so that it is refused.
    """
    if _ISO.match(text.strip()):  # most are
        return f"{text.strip()} {hour}" if hour and len(text.strip()) == len("2026-12-05") else text
    found = date(text)
    if found is None or (found.is_open and not order):
        return text
    month, day = (found.second, found.first) if found.is_open and order == "day" else (found.first, found.second)
    time = found.time or hour
    return f"{found.year:04}-{month:02}-{day:02}{time and f' {time}'}"


def number(text: str, sign: str) -> str | None:
    """A number with the decimal sign `,` or `.` as we write it; None for one that it cannot be."""
    bare = _bare(text)
    if (_WITH_COMMA if sign == "," else _WITH_POINT).match(bare) is None:
        return None
    return _GROUPS[sign].sub("", bare).replace(",", ".")


def boolean(text: str) -> str | None:
    return _booleans().get(plain(text))


def language(text: str) -> str | None:
    """The tag of a language that is written as one or by its name; None for another text."""
    if tag := _languages().get(plain(text)):
        return tag
    try:
        tag = locales.normalise(text.strip())
    except InvalidLocale:
        return None
    return tag if tag.partition("-")[0] in _codes() else None


def is_country(text: str) -> bool:
    """Whether two letters are the code of a country and of no language: GR, CZ, but not DE."""
    code = text.strip().upper()
    return code in Locale("en").territories and code.lower() not in _codes()


def is_rounded(text: str) -> bool:
    """Whether a spreadsheet has shown a long number as 4,90E+12, and left its last digits away."""
    return _ROUNDED.match(text.strip()) is not None


# Below: how, in the order of their use ------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _date(text: str) -> Written | None:
    whole = _plain_date(text)
    whole = _COMPACT.sub(r"\1-\2-\3 \4:\5:\6", whole).replace(": ", " ").removesuffix(":")
    rest, time = _without_time(whole)
    return None if rest is None else _day(rest, time)


def _plain_date(text: str) -> str:
    """Small letters without marks, digits of any script as 0 to 9, one blank between words, no dots within "p.m."."""
    marked = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(
        str(unicodedata.decimal(each)) if each.isdecimal() else _SIGNS.get(each, each)
        for each in marked
        if unicodedata.category(each) not in {"Mn", "Cf"}
    )
    bare = _INITIALS.sub(lambda match: match[1] + match[2] if match[1] + match[2] in _MERIDIEMS else match[0], bare)
    bare = re.sub(r"(?<=[^\W\d_])\.(?=[^\W\d_])", "", bare)
    return re.sub(r"(?<=\d)t(?=\d)", " ", " ".join(bare.split()).strip("'"))


def _without_time(text: str) -> tuple[str | None, str]:
    """The text around a time of the day, and the time; None for a time that does not exist."""
    match = next((match for one in _CLOCK if (match := one.search(text))), None)
    if match is None:
        return text, ""
    behind = _BEHIND.match(text, match.end())
    meridiem, zone, sign, hours, minutes = behind.groups() if behind else (None,) * 5
    hour, half = int(match[1]), _MERIDIEMS.get(meridiem or "")
    if half is not None:
        if (hour > NOON and half == 0) or (hour == 0 and half):
            return None, ""
        hour = hour % NOON + half if hour <= NOON else hour
    offset = _ZONES.get(zone or "")
    if sign:
        minute = int(hours or 0) * 60 + int(minutes or 0)
        offset = (offset or 0) + (minute if sign == "+" else -minute)
    shown = "" if offset is None else f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    time = f"{hour:02}:{match[2] or '00'}{f':{match[3]}' if match[3] else ''}{shown}"
    return f"{text[: match.start()]} {text[behind.end() if behind else match.end() :]}", time


def _day(text: str, time: str) -> Written | None:
    words = _WORD.findall(text)
    named = [word for word in words if word in _months()]
    if len(named) > 1:  # "mar" is a Tuesday and a March
        named = [word for word in named if word not in _weekdays()] or named[-1:]
    if any(word not in _fillers() and word not in _weekdays() and word not in named for word in words):
        return None
    if named:
        return _named_day([int(one) for one in re.findall(r"\d+", text)], re.findall(r"\d+", text), named, time)
    digits = _WORD.sub("", text).strip(" ,;")
    if match := _YEAR_FIRST.fullmatch(digits) or _EIGHT_DIGITS.fullmatch(digits):
        return Written(int(match[1]), int(match[3]), int(match[4]), False, time)
    if match := _YEAR_LAST.fullmatch(digits):
        return Written(_year(match[4]), int(match[1]), int(match[3]), True, time)
    return None


def _named_day(numbers: list[int], texts: list[str], named: list[str], time: str) -> Written | None:
    """A day with the month by its name, which stands before the year wherever that has two digits."""
    if len(numbers) != 2 or len(named) != 1:  # noqa: PLR2004  day and year
        return None
    is_year_first = len(texts[0]) == len("2026")
    day, year = (numbers[1], texts[0]) if is_year_first else (numbers[0], texts[1])
    return Written(_year(year), _months()[named[0]], day, False, time) if len(year) in {2, 4} else None


def _year(text: str) -> int:
    return int(text) if len(text) > 2 else 2000 + int(text)  # noqa: PLR2004  as spreadsheets write it


@cache
def _months() -> Mapping[str, int]:
    found = {
        plain(name): month
        for tag in LANGUAGES
        for width in ("wide", "abbreviated")
        for context in ("format", "stand-alone")
        for month, name in get_month_names(width, context, tag).items()
    }
    hebrew = {f"ב{plain(name)}": month for month, name in get_month_names("wide", "format", "he").items()}
    return {**found, **hebrew, **WORDS["dates"]["months"]}


@cache
def _fillers() -> frozenset[str]:
    """Words between the parts of a date."""
    return frozenset(map(plain, WORDS["dates"]["fillers"].split()))


@cache
def _weekdays() -> frozenset[str]:
    return frozenset(
        plain(name)
        for tag in LANGUAGES
        for width in ("wide", "abbreviated")
        for name in get_day_names(width, "format", tag).values()
    )


@cache
def _booleans() -> Mapping[str, str]:
    found = {"true": WORDS["values"]["yes"], "false": WORDS["values"]["no"]}
    return {plain(word): value for value, words in found.items() for word in words.split()}


@cache
def _codes() -> frozenset[str]:
    """The codes of languages."""
    return frozenset(Locale("en").languages)


@cache
def _languages() -> Mapping[str, str]:
    """Codes of languages by their names in each of ours, the more widespread names last."""
    return {
        plain(name): code
        for tag in reversed(LANGUAGES)
        for code, name in sorted(Locale(tag).languages.items(), key=lambda pair: -len(pair[0]))
        if code.isalpha()
    }


def plain(text: str) -> str:
    """Letters and digits alone, small and without marks: two names that people take for one are equal."""
    marked = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in marked if each.isalnum()) or text.strip()


def _bare(text: str) -> str:
    """A number without its currency and invisible characters, with plain blanks and minus."""
    visible = (each for each in unicodedata.normalize("NFKC", text) if unicodedata.category(each) != "Cf")
    bare = " ".join("".join(visible).split()).replace("\u2212", "-").removeprefix("+")
    return _AFTER.sub("", _BEFORE.sub(r"\1", bare, count=1)).replace("- ", "-")
