"""Dates, times, booleans and languages as people and spreadsheets write them, one function for each kind.

The order of day and month, and the decimal sign of a number, are arguments: nothing here guesses them.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple

from babel.core import Locale
from babel.dates import get_day_names, get_month_names

from afterword.core import toml
from afterword.core.questionnaires.metadata import MetadataDefinition
from afterword.core.reading import structs
from afterword.core.text import locales

TEXT_CHARACTERS_MAX: Final = 80
NOON: Final = 12
ROUNDED: Final = "A spreadsheet has rounded this number. Show its column there as a whole number, and save it again."
COUNTRY: Final = "This is the code of a country. A language is expected, such as el for Greek."
WORDS: Final[Mapping[str, Any]] = toml.tables_of(__name__, "words")
_TITLES: Final[Mapping[str, str]] = WORDS["columns"]["metadata"]
_DATES: Final = WORDS["dates"]
_LANGUAGES: Final = WORDS["languages"].split()
_MERIDIEMS: Final = {word: hours for hours, key in ((0, "am"), (NOON, "pm")) for word in _DATES[key].split()}
_SIGNS: Final[Mapping[str, str]] = {"年": "-", "月": "-", "日": " "}
_WIDTHS: Final[tuple[Literal["wide", "abbreviated"], ...]] = ("wide", "abbreviated")
_ISO: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?\Z", re.ASCII
)
_MERIDIEM: Final = rf"({'|'.join(_MERIDIEMS)})(?![^\W\d_])"
_CLOCK: Final = (
    re.compile(r"(?<![\d:])(\d{1,2})(?::| ?h ?)(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?![\d:])"),
    re.compile(r"(?<=\s)(\d{1,2})\.(\d\d)(?:\.(\d\d))?(?![\d.])"),
    re.compile(rf"(?<![\d:.])(\d{{1,2}})()()(?= ?{_MERIDIEM})"),
)
_BEHIND: Final = re.compile(
    rf" ?(?:{_MERIDIEM}\.?)? ?(?:\(?({'|'.join(_DATES['zones'])})(?![^\W\d_])\)?)?"
    r" ?(?:([+-])(\d{1,2})(?::?(\d\d))?(?!\d))? ?(?:\([^()]*\))?"
)
_COMPACT: Final = re.compile(r"(\d{4})(\d\d)(\d\d)[t ]?(\d\d)(\d\d)(\d\d)?(?=\D|\Z)")
_YEAR_FIRST: Final = re.compile(r"(\d{4})([-/.]) ?(\d{1,2})\2 ?(\d{1,2})[.-]?|((?:19|20)\d\d)(\d\d)(\d\d)")
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d\d)\.?")
_INITIALS: Final = re.compile(r"(?<![^\W\d_])([^\W\d_])\. ?([^\W\d_])\.?(?![^\W\d_])")
_WORD: Final = re.compile(r"[^\W\d_]+")
_ROUNDED: Final = re.compile(r"[+-]?\d(?:[.,]\d+)?E\+\d+\Z", re.ASCII)


class Written(NamedTuple):
    """A date as it is written. `first` and `second` are month and day, or, where `is_open`, in either order."""

    year: int
    first: int
    second: int
    is_open: bool
    time: str  # as ISO 8601, with its offset; empty without one


@lru_cache(maxsize=4096)
def date(text: str) -> Written | None:
    """The parts of a date, perhaps with a time; None for a text that is no date."""
    if len(text) > TEXT_CHARACTERS_MAX or not any(map(str.isdigit, text)):
        return None
    whole = _COMPACT.sub(r"\1-\2-\3 \4:\5:\6", _bare_date(text)).replace(": ", " ").removesuffix(":")
    rest, time = _without_time(whole)
    return None if rest is None else _day(rest, time)


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
    value = structs.read_as(text, sign)
    return None if value is None else f"{value:f}"


def boolean(text: str) -> str | None:
    return _BOOLEANS.get(plain(text))


@lru_cache(maxsize=4096)
def language(text: str) -> str | None:
    """The tag of a language that is written as one or by its name; None for another text."""
    if tag := _languages().get(plain(text)):
        return tag
    try:
        tag = locales.normalise(text.strip())
    except locales.InvalidLocale:
        return None
    return tag if tag.partition("-")[0] in Locale("en").languages else None


@lru_cache(maxsize=4096)
def is_country(text: str) -> bool:
    """Whether two letters are the code of a country and of no language: GR, CZ, but not DE."""
    code = text.strip().upper()
    return code in Locale("en").territories and code.lower() not in Locale("en").languages


def is_rounded(text: str) -> bool:
    """Whether a spreadsheet has shown a long number as 4,90E+12, and left its last digits away."""
    return _ROUNDED.match(text.strip()) is not None


def names_of(one: MetadataDefinition) -> tuple[str, ...]:
    """Names of a column with its values: its title too, if it is the product's in all languages of the console."""
    titles = _TITLES[one.name].split() if one.is_of_product else ()
    return one.name, one.title, f"{one.kind}.{one.name}", *titles


def plain(text: str) -> str:
    """Letters and digits alone, small and without marks: two names that people take for one are equal."""
    marked = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in marked if each.isalnum()) or text.strip()


# Below: how, in the order of their use ------------------------------------------------------------------------


def _bare_date(text: str) -> str:
    """Small letters without marks, digits of any script as 0 to 9, one blank between words, no dots within "p.m."."""
    bare = "".join(
        str(unicodedata.decimal(each)) if each.isdecimal() else _SIGNS.get(each, each)
        for each in unicodedata.normalize("NFKD", text.casefold())
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
    offset = _DATES["zones"].get(zone or "")
    if sign:
        minute = int(hours or 0) * 60 + int(minutes or 0)
        offset = (offset or 0) + (minute if sign == "+" else -minute)
    shown = "" if offset is None else f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    time = f"{hour:02}:{match[2] or '00'}{f':{match[3]}' if match[3] else ''}{shown}"
    return f"{text[: match.start()]} {text[behind.end() if behind else match.end() :]}", time


def _day(text: str, time: str) -> Written | None:
    months, others = _date_words()
    words = _WORD.findall(text)
    named = [word for word in words if word in months]
    if len(named) > 1:  # "mar" is a Tuesday and a March
        named = [word for word in named if word not in others] or named[-1:]
    if any(word not in others and word not in named for word in words):
        return None
    if not named:
        digits = _WORD.sub("", text).strip(" ,;")
        if match := _YEAR_FIRST.fullmatch(digits):
            year, month, day = (match[1], match[3], match[4]) if match[1] else match.group(5, 6, 7)
            return Written(int(year), int(month), int(day), False, time)
        match = _YEAR_LAST.fullmatch(digits)
        if match and match[2] == ".":  # nobody writes the month first with dots
            return Written(_year(match[4]), int(match[3]), int(match[1]), False, time)
        return match and Written(_year(match[4]), int(match[1]), int(match[3]), True, time)
    numbers = re.findall(r"\d+", text)  # a year of two digits stands behind the day
    if len(numbers) != 2 or not {len(one) for one in numbers} <= {1, 2, 4}:  # noqa: PLR2004
        return None
    day, year = numbers if len(numbers[0]) < len("2026") else reversed(numbers)
    return Written(_year(year), months[named[0]], int(day), False, time)


def _year(text: str) -> int:
    return int(text) if len(text) > 2 else 2000 + int(text)  # noqa: PLR2004  as spreadsheets write it


@cache
def _date_words() -> tuple[Mapping[str, int], frozenset[str]]:
    """Months by their names, and words that may stand beside them, as the days of the week."""
    widths = [(tag, width) for tag in _LANGUAGES for width in _WIDTHS]
    names = [get_month_names(width, "format", tag) for tag, width in widths]
    names += [get_month_names(width, "stand-alone", tag) for tag, width in widths]
    months = {plain(name): month for each in names for month, name in each.items()}
    hebrew = {f"ב{plain(name)}": month for month, name in get_month_names("wide", "format", "he").items()}
    days = {plain(name) for tag, width in widths for name in get_day_names(width, "format", tag).values()}
    return {**months, **hebrew, **_DATES["months"]}, frozenset(days).union(map(plain, _DATES["fillers"].split()))


@cache
def _languages() -> Mapping[str, str]:
    """Codes of languages by their names in each of ours."""
    languages = [pair for tag in reversed(_LANGUAGES) for pair in Locale(tag).languages.items()]
    return {plain(name): code for code, name in sorted(languages, key=lambda pair: -len(pair[0])) if code.isalpha()}


_BOOLEANS: Final = {
    plain(word): value for key, value in (("no", "false"), ("yes", "true")) for word in WORDS["values"][key].split()
}
