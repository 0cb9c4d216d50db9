"""Language tags: what is refused, what is stored, which language a reader gets, which way it runs."""

import pytest
from hypothesis import given, strategies as st

from afterword.core.text import locales

TAGS = st.sampled_from(
    ["el", "en", "en-us", "en-gb", "de", "de-at", "ar", "zh-hant-tw", "zh-hans", "sr-latn", "nb", "he"]
)


@pytest.mark.parametrize(
    "tag",
    ["", "a", "en--us", "-en", "en-", "en us", "english-language", "ελ", "\uff45\uff4e",
     "en\n", "e1", "123", "en/us", "x" * 36,
     "en-" + "-".join(["abcdefgh"] * 4), "C.UTF-8", "en-us-en-us", "\x00"],
)  # fmt: skip
def test_not_a_tag(tag: str) -> None:
    with pytest.raises(locales.InvalidLocale):
        locales.normalise(tag)


@pytest.mark.parametrize(
    ("tag", "stored"),
    [("el", "el"), ("EN", "en"), ("en_US", "en-us"), ("zh-Hant-TW", "zh-hant-tw"), ("de-DE-1996", "de-de-1996"),
     ("x-private", "x-private"), ("es_419", "es-419"), ("en-u-ca-gregory", "en-u-ca-gregory")],
)  # fmt: skip
def test_stored_form(tag: str, stored: str) -> None:
    assert stored == locales.normalise(tag)


@pytest.mark.parametrize(
    ("tag", "available", "found"),
    [
        ("el", ["en", "el"], "el"),
        ("EN_us", ["en", "en-us"], "en-us"),
        ("en-US-x-shop", ["en", "en-us"], "en-us"),
        ("zh-Hant-TW", ["zh", "zh-hant"], "zh-hant"),
        ("en-GB", ["el", "en-us", "en-au"], "en-us"),  # another variety, in the questionnaire's order
        ("en", ["el", "en-au", "en-us"], "en-au"),
        ("de-AT", ["el", "de-ch"], "de-ch"),
        ("iw", ["en", "he"], "he"),  # the old name of Hebrew
        ("arb", ["en", "ar"], "ar"),  # standard Arabic is Arabic
        ("fr", ["en", "el"], "en"),
        (None, ["en", "el"], "en"),
        ("not a tag", ["en", "el"], "en"),
        ("", ["en", "el"], "en"),
    ],
)
def test_best_match(tag: str | None, available: list[str], found: str) -> None:
    assert found == locales.match(tag, available, "en" if "en" in available else available[0])


@given(tag=st.one_of(st.none(), st.text(max_size=40), TAGS), available=st.lists(TAGS, min_size=1, unique=True))
def test_match_is_always_one_of_them(tag: str | None, available: list[str]) -> None:
    assert locales.match(tag, available, available[-1]) in available


@given(tag=TAGS, available=st.lists(TAGS, min_size=1, unique=True))
def test_an_exact_tag_wins(tag: str, available: list[str]) -> None:
    assert tag == locales.match(tag.upper().replace("-", "_"), [*available, tag], available[0])


@given(text=st.text(alphabet="abcdefxyzABC0189-_", max_size=40))
def test_stored_form_is_stable(text: str) -> None:
    try:
        stored = locales.normalise(text)
    except locales.InvalidLocale:
        return
    assert stored == locales.normalise(stored)
    assert stored == stored.lower()
    assert "_" not in stored
    assert len(stored) <= locales.LOCALE_CHARACTERS_MAX


@pytest.mark.parametrize(
    ("locale", "direction"),
    [("ar", "rtl"), ("he", "rtl"), ("fa-ir", "rtl"), ("ur", "rtl"), ("az-arab", "rtl"), ("az", "ltr"), ("el", "ltr"),
     ("en-us", "ltr"), ("ar-latn", "ltr"), ("x-private", "ltr"), ("dv", "rtl")],
)  # fmt: skip
def test_direction(locale: str, direction: str) -> None:
    assert direction == locales.direction(locale)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("", "en"),
        ("*, ;;,\x00", "en"),
        ("fr;q=1, EL-gr;q=0.8, en", "el"),
        ("fr," * locales.ACCEPTED_TAGS_MAX + "el", "en"),  # further ones are not looked at
    ],
)
def test_accepted(header: str, found: str) -> None:
    assert found == locales.accepted(header, ("en", "el"), "en")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("", "en"),
        ("*;q=0.1", "en"),
        ("en", "en"),
        ("en-150", "en"),  # not a country
        ("el-gr,en;q=0.8", "en-GR"),
        ("zh-Hant-TW", "en-TW"),
        ("en, en-GB, en-US", "en-GB"),
    ],
)
def test_with_region(header: str, found: str) -> None:
    assert found == locales.with_region("en", header)
    assert "en-au" == locales.with_region("en-au", header)
