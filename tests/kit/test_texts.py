"""The words of the interface: the language of a tag or a header, fallbacks, blanks, dates and numbers.

The tests of the browser and of notices prove that the catalogues of pages and notices are complete.
"""

import re
from datetime import UTC, datetime

import pytest
from babel.messages.catalog import Catalog
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po

from afterword.core.questionnaires.question_types import STANDARD_TEXTS
from afterword.errors import Sentence
from afterword.kit import texts
from afterword.kit.texts import ISOLATE_END, ISOLATE_FIRST

BLANKS = re.compile(r"\{\w+\}")
NOON = datetime(2026, 11, 21, 22, 30, tzinfo=UTC)


def test_languages() -> None:
    listed = "en ar bg cs de el es fr he it nl pl pt ro sv tr uk"
    assert tuple(listed.split()) == texts.LANGUAGES
    assert "Weiter" == texts.texts("pages", "de-AT")("Next")
    assert "Next" == texts.texts("pages", "ja")("Next")
    assert "Next" == texts.texts("pages", "no tag at all")("Next")
    assert ("rtl", "ltr") == (texts.texts("pages", "ar").direction, texts.texts("pages", "el").direction)
    assert "el" == texts.accepted("ja;q=1, EL-gr;q=0.8, en")
    assert "en" == texts.accepted("*, ;;,\x00")


@pytest.mark.parametrize("locale", texts.LANGUAGES)
def test_unknown_words_stay_as_they_are(locale: str) -> None:
    for domain in ("pages", "no such domain"):
        assert "Quokka {name}" == texts.texts(domain, locale)("Quokka {name}")
        assert not texts.texts(domain, locale)("")


def test_a_name_cannot_reorder_its_sentence() -> None:
    shown = texts.texts("pages", "ar")("Quokka {name}, {count}", name="Ann {count}", count=7)
    assert f"Quokka {ISOLATE_FIRST}Ann {{count}}{ISOLATE_END}, 7" == shown


def test_a_value_that_ends_with_a_stop_ends_its_sentence() -> None:
    words = texts.texts("pages", "el")
    assert f"Quokka {ISOLATE_FIRST}3:30 μ.μ.{ISOLATE_END}" == words("Quokka {time}.", time="3:30 μ.μ.")
    assert f"Quokka {ISOLATE_FIRST}3:30{ISOLATE_END}." == words("Quokka {time}.", time="3:30")
    today = words("quokka {time}", time="3:30 μ.μ.")
    assert f"Quokka {ISOLATE_FIRST}{today}{ISOLATE_END}" == words("Quokka {time}.", time=today)


@pytest.mark.parametrize(
    ("locale", "date", "number"),
    [
        ("en", "November 22, 2026", "1234.5"),
        ("en-GB", "22 November 2026", "1234.5"),
        ("de-AT", "22. November 2026", "1234,5"),
        ("el", "22 \u039d\u03bf\u03b5\u03bc\u03b2\u03c1\u03af\u03bf\u03c5 2026", "1234,5"),
        ("fr", "22 novembre 2026", "1234,5"),
        ("he", "22 \u05d1\u05e0\u05d5\u05d1\u05de\u05d1\u05e8 2026", "1234.5"),
        ("ja", "November 22, 2026", "1234.5"),  # the formats belong to the language that is shown
    ],
)
def test_dates_and_numbers(locale: str, date: str, number: str) -> None:
    words = texts.texts("pages", locale)
    assert date == words.date(NOON, time_zone="Europe/Athens")
    assert date == words.day("2026-11-22")
    assert number == words.number(1234.5)


def test_whole_numbers_in_a_sentence_are_of_the_language() -> None:
    """Names of digits alone, and values that somebody has written as text, stay as they are."""
    words = texts.texts(texts.CONSOLE, "de")
    assert "Höchstens 2.000 Zeichen." == words("At most {n} characters.", n=2_000)
    assert "Höchstens \u20682000\u2069 Zeichen." == words("At most {n} characters.", n="2000")


def test_the_limits_of_a_refusal_are_numbers_of_the_language() -> None:
    high = Sentence("At most {high} is allowed.", high=65_535)
    low = Sentence("At least {low} is expected.", low=0.0001)
    assert ("At most 65,535 is allowed.", "At least 0.0001 is expected.") == (high, low)
    german = texts.texts(texts.CONSOLE, "de")
    assert "65.535" in german.said(high)
    assert "0,0001" in german.said(low)


@pytest.mark.parametrize(
    ("locale", "moment"),
    [
        ("no-such-Tag", "Nov 22, 2026, 12:30\u202fAM"),
        ("en-US", "Nov 22, 2026, 12:30\u202fAM"),
        ("en-GB", "22 Nov 2026, 00:30"),
        ("en-GR", "22 Nov 2026, 00:30"),  # English has no formats of Greece
        ("el-GR", "22 Νοε 2026, 00:30"),
        ("de-US", "22.11.2026, 00:30"),
    ],
)
def test_moments_as_in_the_region(locale: str, moment: str) -> None:
    assert moment == texts.texts("console", locale).moment(NOON, time_zone="Europe/Athens")


@pytest.mark.parametrize(
    ("time_zone", "weekday"), [("Nowhere/At_all", 1), ("UTC", 1), ("Europe/Athens", 1), ("America/New_York", 7)]
)
def test_first_weekday(time_zone: str, weekday: int) -> None:
    assert weekday == texts.first_weekday(time_zone)


@pytest.mark.parametrize(
    ("locale", "value", "decimals", "plain", "signed"),
    [
        ("en", 37.84, 1, "37.8", "+37.8"),
        ("en", 54, 1, "54.0", "+54.0"),
        ("en", -9.75, 1, "\u22129.8", "\u22129.8"),
        ("en", -0.04, 1, "0.0", "0.0"),
        ("en", 1200, 0, "1200", "+1200"),
        ("el", -0.126, 2, "\u22120,13", "\u22120,13"),
        ("ar", -3, 1, "\u22123.0", "\u22123.0"),
    ],
)
def test_figures(locale: str, value: float, decimals: int, plain: str, signed: str) -> None:
    words = texts.texts("console", locale)
    assert (plain, signed) == (words.figure(value, decimals), words.figure(value, decimals, is_signed=True))


def catalogue_of(domain: str, language: str) -> Catalog:
    with (texts.LOCALE_FOLDER / language / f"LC_MESSAGES/{domain}.po").open("rb") as file:
        return read_po(file, locale=language)


@pytest.mark.parametrize("language", [one for one in texts.LANGUAGES if one != texts.SOURCE_LANGUAGE])
def test_plural_forms(language: str) -> None:
    """As many as the language has; one of a single number may spell it out."""
    for domain in ("mail", "notices"):
        catalogue = catalogue_of(domain, language)
        assert get_plural(language).num_plurals == catalogue.num_plurals
        plurals = [list(one.string or ()) for one in catalogue if one.pluralizable and one.id]
        assert plurals
        for forms in plurals:
            assert catalogue.num_plurals == len(forms)
            assert all(forms)
            assert "{n}" in forms[-1]


@pytest.mark.parametrize("language", [one for one in texts.LANGUAGES if one != texts.SOURCE_LANGUAGE])
def test_texts_of_mails(language: str) -> None:
    """The mails' catalogue has those of the Greek one, each with the same blanks."""
    greek = catalogue_of("mail", "el")
    catalogue = {one.id: one.string for one in catalogue_of("mail", language) if one.id}
    assert {one.id for one in greek if one.id} == catalogue.keys()
    for text, said in catalogue.items():
        assert not isinstance(text, str) or set(BLANKS.findall(text)) == set(BLANKS.findall(str(said)))


def test_countries() -> None:
    names = [texts.texts("console", language).country_name("DE") for language in ("en", "el", "de-at")]
    assert ["Germany", "Γερμανία", "Deutschland"] == names
    assert "Q0" == texts.texts("console", "en").country_name("Q0")


@pytest.mark.parametrize("language", [one for one in texts.LANGUAGES if one != texts.SOURCE_LANGUAGE])
def test_texts_of_new_questions(language: str) -> None:
    catalogue = {one.id for one in catalogue_of("pages", language) if one.string}
    assert set() == STANDARD_TEXTS - catalogue
