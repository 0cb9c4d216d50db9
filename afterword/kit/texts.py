"""Interface words in the reader's language, from `locale/{language}/LC_MESSAGES/{domain}.po`, read as they are.

English is the source. A word that a catalogue lacks, and a language without one, fall back to it.
"""

import contextlib
import gettext
import io
import re
from datetime import date, datetime, time
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from babel import Locale
from babel.core import UnknownLocaleError, get_global
from babel.dates import format_date, format_skeleton, format_time, get_day_names
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, get_decimal_symbol

from afterword.core import toml
from afterword.core.text import locales
from afterword.core.text.locales import Marked
from afterword.errors import Sentence

SOURCE_LANGUAGE: Final = "en"
LOCALE_FOLDER = Path(__file__).parents[1] / "locale"
LANGUAGES: Final = (SOURCE_LANGUAGE, *sorted(path.name for path in LOCALE_FOLDER.iterdir() if path.is_dir()))
CONSOLE: Final = "console"
# Those that the console speaks.
CONSOLE_LANGUAGES: Final = (
    SOURCE_LANGUAGE, *(one for one in LANGUAGES if (LOCALE_FOLDER / one / f"LC_MESSAGES/{CONSOLE}.po").is_file())
)  # fmt: skip
ISOLATE_FIRST, ISOLATE_END = "\u2068", "\u2069"  # a name of the other direction must not reorder its sentence
_STOP: Final = f".{ISOLATE_END}"
_TWO_STOPS: Final = re.compile(rf"(\.{ISOLATE_END}+)\.")  # of a value and its sentence: “3:30 μ.μ.” ends one


class Texts:
    """The words of one domain in one language: `_ = texts("mail", "el")`, then `_("Your opinion")`."""

    def __init__(self, catalogue: gettext.NullTranslations, *, language: str, locale: Locale) -> None:
        self._catalogue = catalogue
        self._locale = locale
        self.language = language

    def __call__(self, message: Marked, **values: object) -> str:
        """This text in the language, its `{names}` filled with the values; of whole numbers as `count` writes them."""
        text = self._catalogue.gettext(message) if message else ""  # the empty message is the catalogue's header
        if not values:
            return text
        text = text.format_map({name: self._filling(value) for name, value in values.items()})
        return _TWO_STOPS.sub(r"\1", text) if _STOP in text else text

    def _filling(self, value: object) -> object:
        if isinstance(value, str):
            return f"{ISOLATE_FIRST}{value}{ISOLATE_END}"
        return self.count(value) if isinstance(value, int) else value

    def plural(self, one: Marked, many: Marked, number: int, *, is_capped: bool = False) -> str:
        """The form for this number, by the language's own rule; `{n}` stands for the number, as `count` writes it."""
        return self._catalogue.ngettext(one, many, number).replace("{n}", self.count(number, is_capped=is_capped))

    def said(self, message: str) -> str:
        """The sentence of a refusal in the language; English where the catalogue lacks it."""
        sentence = Sentence.of(message)
        given = sentence.values.items()
        said = {name: self.said(one) if isinstance(one, Sentence) else self.count(one) for name, one in given}
        return self(sentence.text, **said)

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        return locales.direction(self.language)

    @property
    def point(self) -> str:
        return get_decimal_symbol(self._locale)

    def date(self, time: datetime, *, time_zone: str, style: Literal["medium", "long"] = "long") -> str:
        return _date(time.astimezone(ZoneInfo(time_zone)).date(), style, self._locale)

    def near_date(self, time: datetime, *, time_zone: str) -> str:
        """The weekday with the date, without the year."""
        return _date(time.astimezone(ZoneInfo(time_zone)).date(), "MMMEd", self._locale)

    def moment(self, time: datetime, *, time_zone: str) -> str:
        local = time.astimezone(ZoneInfo(time_zone))
        return f"{_date(local.date(), 'medium', self._locale)}, {_clock(local.hour, local.minute, self._locale)}"

    def clock(self, time: datetime, *, time_zone: str) -> str:
        local = time.astimezone(ZoneInfo(time_zone))
        return _clock(local.hour, local.minute, self._locale)

    def day(self, day: str) -> str:
        return _date(date.fromisoformat(day), "long", self._locale)

    def short_day(self, day: str) -> str:
        """The day and its month, without the year."""
        return _date(date.fromisoformat(day), "MMMd", self._locale)

    def weekday(self, day: int) -> str:
        """Its short name; 0: Monday."""
        return get_day_names("abbreviated", locale=self._locale)[day]

    def language_name(self, tag: str) -> str:
        """The name of a language, in this one; the tag itself where it has none."""
        return _language_name(tag, self._locale)

    def country_name(self, code: str) -> str:
        """The name of a country by its two letters, in this language; the code itself where it has none."""
        names: Any = self._locale.territories
        return str(names.get(code, code))

    def count(self, count: float | str, *, is_capped: bool = False) -> str:
        """A number in groups of thousands, with a plus where counting ended there; a text of it as it is."""
        more = "+" if is_capped else ""
        return count if isinstance(count, str) else f"{_decimal(count, self._locale, is_grouped=True)}{more}"

    def number(self, number: float) -> str:
        """A number with the language's point, all its decimals and nothing between thousands."""
        return _decimal(number, self._locale, is_grouped=False)

    def figure(self, value: float, decimals: int = 1, *, is_signed: bool = False) -> str:
        """A value with exactly so many decimals, as columns need it; `is_signed`: with its plus too."""
        return _figure(round(value, decimals) + 0.0, decimals, self._locale, is_signed=is_signed)  # no minus zero


@lru_cache(maxsize=4_096)  # the steps of a trend are the same in each of its scores
def _date(day: date, style: Literal["medium", "long", "MMMd", "MMMEd"], locale: Locale) -> str:
    if style in {"medium", "long"}:
        return format_date(day, format=style, locale=locale)
    return format_skeleton(style, day, locale=locale)


@lru_cache(maxsize=4_096)
def _clock(hour: int, minute: int, locale: Locale) -> str:
    # Greeks write 20:30, whatever CLDR says.
    return format_time(time(hour, minute), format="HH:mm" if locale.language == "el" else "short", locale=locale)


@lru_cache(maxsize=256)
def texts(domain: str, locale: str) -> Texts:
    """The words of `domain` (`mail`, `pages`) in the language of a tag such as `el`, `de-at`, `ar_EG`."""
    language = locales.match(locale, LANGUAGES, SOURCE_LANGUAGE)
    return Texts(_catalogue(domain, language), language=language, locale=_formats(locale, language))


def accepted(header: str) -> str:
    """The first of our languages that an `Accept-Language` header names, in its order; English without any."""
    return locales.accepted(header, LANGUAGES, SOURCE_LANGUAGE)


@lru_cache(maxsize=1_000)
def _language_name(tag: str, locale: Locale | None) -> str:
    """The name of a language in another one, or in itself; the tag where it has none."""
    try:
        return Locale.parse(tag.replace("-", "_")).get_display_name(locale) or tag
    except (ValueError, UnknownLocaleError):
        return tag


def own_name(tag: str) -> str:
    """The name of a language in itself, as its speakers look for it."""
    name = _language_name(tag, None)
    return name if name == tag else name[:1].upper() + name[1:]


def first_weekday(time_zone: str) -> int:
    """The day (ISO: Monday is 1) with which weeks begin in the country of a time zone; Monday where it has none."""
    country = get_global("zone_territories").get(time_zone, "")
    try:
        return Locale.parse(f"und_{country}", resolve_likely_subtags=True).first_week_day + 1
    except (ValueError, UnknownLocaleError):
        return 1


@lru_cache(maxsize=64)
def _catalogue(domain: str, language: str) -> gettext.NullTranslations:
    path = LOCALE_FOLDER / language / "LC_MESSAGES" / f"{domain}.po"
    if not path.is_file():
        return gettext.NullTranslations()
    compiled = io.BytesIO()
    with path.open("rb") as source:
        write_mo(compiled, read_po(source, locale=language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def _formats(locale: str, language: str) -> Locale:
    """The formats of dates and clocks: of the reader's region, where the language has some for it.

    English has some for Europe (150) as a whole, so that a reader in Athens does not get those of the United States.
    """
    tags = (locale, f"{language}-150") if locale.lower().startswith(f"{language}-") else ()
    for tag in tags:
        with contextlib.suppress(ValueError, UnknownLocaleError):
            return Locale.parse(tag.replace("-", "_"))
    return Locale.parse(language)


def tables_of(module: str, name: str = "") -> dict[str, Any]:
    """The tables of texts in a TOML file beside a module (`__name__`); the texts are in the catalogues."""
    return toml.tables_of(module, name)


# A page has hundreds of numbers, most of them small or with one decimal.
@lru_cache(maxsize=8_192, typed=True)
def _decimal(number: float, locale: Locale, *, is_grouped: bool) -> str:
    return format_decimal(number, locale=locale, decimal_quantization=False, group_separator=is_grouped)


@lru_cache(maxsize=8_192)
def _figure(value: float, decimals: int, locale: Locale, *, is_signed: bool) -> str:
    digits = f"0.{'0' * decimals}" if decimals else "0"
    return format_decimal(
        value, format=f"{'+' if is_signed and value > 0 else ''}{digits};\u2212{digits}", locale=locale
    )
