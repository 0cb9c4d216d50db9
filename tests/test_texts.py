"""The words of the interface: the language of a tag or a header, fallbacks, blanks, dates and numbers.

The tests of the browser and of notices prove that the catalogues are complete.
"""

from datetime import UTC, datetime

import pytest

from afterword import texts
from afterword.texts import ISOLATE_END, ISOLATE_FIRST

NOON = datetime(2026, 11, 21, 22, 30, tzinfo=UTC)


def test_languages() -> None:
    assert ("en", "ar", "de", "el") == texts.LANGUAGES
    assert "Weiter" == texts.texts("pages", "de-AT")("Next")
    assert "Next" == texts.texts("pages", "fr")("Next")
    assert "Next" == texts.texts("pages", "no tag at all")("Next")
    assert ("rtl", "ltr") == (texts.texts("pages", "ar").direction, texts.texts("pages", "el").direction)
    assert "el" == texts.accepted("fr;q=1, EL-gr;q=0.8, en")
    assert "en" == texts.accepted("*, ;;,\x00")


@pytest.mark.parametrize("locale", texts.LANGUAGES)
def test_unknown_words_stay_as_they_are(locale: str) -> None:
    for domain in ("pages", "no such domain"):
        assert "Quokka {name}" == texts.texts(domain, locale)("Quokka {name}")
        assert not texts.texts(domain, locale)("")


def test_a_name_cannot_reorder_its_sentence() -> None:
    shown = texts.texts("pages", "ar")("Quokka {name}, {count}", name="Ann {count}", count=7)
    assert f"Quokka {ISOLATE_FIRST}Ann {{count}}{ISOLATE_END}, 7" == shown


@pytest.mark.parametrize(
    ("locale", "date", "number"),
    [
        ("en", "November 22, 2026", "1234.5"),
        ("en-GB", "22 November 2026", "1234.5"),
        ("de-AT", "22. November 2026", "1234,5"),
        ("el", "22 \u039d\u03bf\u03b5\u03bc\u03b2\u03c1\u03af\u03bf\u03c5 2026", "1234,5"),
        ("fr", "November 22, 2026", "1234.5"),  # the formats belong to the language that is shown
    ],
)
def test_dates_and_numbers(locale: str, date: str, number: str) -> None:
    words = texts.texts("pages", locale)
    assert date == words.date(NOON, time_zone="Europe/Athens")
    assert date == words.day("2026-11-22")
    assert number == words.number(1234.5)
