# ruff: noqa: RUF001  letters of other scripts are what is tested
"""Values as people and spreadsheets write them: read rightly, or left as they are and so refused."""

from datetime import UTC, datetime

import pytest

from afterword.core.wire import times, written

NOW = datetime(2026, 11, 28, tzinfo=UTC)
FIFTH = "2026-12-05T15:04"


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("2026-12-05 15:04", "", f"{FIFTH}:00+00:00"),
        ("2026-12-05T15:04:05", "", f"{FIFTH}:05+00:00"),
        ("2026-12-05T15:04:05.123+02:00", "", f"{FIFTH}:05+02:00"),
        ("2026-12-05 15:04:05 +0200", "", f"{FIFTH}:05+02:00"),
        ("2026-12-05 15:04:05 UTC", "", f"{FIFTH}:05+00:00"),
        ("2026/12/05 15:04:00", "", f"{FIFTH}:00+00:00"),
        ("2026.12.05 15:04", "", f"{FIFTH}:00+00:00"),
        ("20261205T150405Z", "", f"{FIFTH}:05+00:00"),
        ("20261205150405", "", f"{FIFTH}:05+00:00"),
        ("05.12.2026 15:04", "", f"{FIFTH}:00+00:00"),
        ("05.12.2026 15:04", "month", f"{FIFTH}:00+00:00"),
        ("05.12.2026, 15:04 Uhr", "day", f"{FIFTH}:00+00:00"),
        ("05.12.26 15:04", "day", f"{FIFTH}:00+00:00"),
        ("5. 12. 2026 15:04", "day", f"{FIFTH}:00+00:00"),
        ("5.12.2026 15.04", "day", f"{FIFTH}:00+00:00"),
        ("05-12-2026 15:04", "day", f"{FIFTH}:00+00:00"),
        ("05/12/2026 15h04", "day", f"{FIFTH}:00+00:00"),
        ("15:04 05.12.2026", "day", f"{FIFTH}:00+00:00"),
        ("12/5/2026 3:04 PM", "month", f"{FIFTH}:00+00:00"),
        ("12/05/2026 03:04:05 PM EST", "month", f"{FIFTH}:05-05:00"),
        ("3 PM 12/5/2026", "month", "2026-12-05T15:00:00+00:00"),
        ("12/5/2026 12:04 AM", "month", "2026-12-05T00:04:00+00:00"),
        ("5/12/2026 3:04 μμ", "day", f"{FIFTH}:00+00:00"),
        ("5/12/2026 3:04:05 π.μ.", "day", "2026-12-05T03:04:05+00:00"),
        ("5/12/26, 3:04 p. m.", "day", f"{FIFTH}:00+00:00"),
        ("Dec 5, 2026 3:04:05 PM", "", f"{FIFTH}:05+00:00"),
        ("Dec 5, 2026 15:04:05 PM", "", f"{FIFTH}:05+00:00"),
        ("December 5, 2026 at 3:04 PM", "", f"{FIFTH}:00+00:00"),
        ("5th December 2026 15:04", "", f"{FIFTH}:00+00:00"),
        ("05-Dez-26 15:04", "", f"{FIFTH}:00+00:00"),
        ("Sat, 05 Dec 2026 15:04:05 +0200", "", f"{FIFTH}:05+02:00"),
        ("Sat Dec 05 2026 15:04:05 GMT+0200 (Eastern European Standard Time)", "", f"{FIFTH}:05+02:00"),
        ("Sat Dec  5 15:04:05 EET 2026", "", f"{FIFTH}:05+02:00"),
        ("Σάββατο 5 Δεκεμβρίου 2026 στις 3:04 μ.μ.", "", f"{FIFTH}:00+00:00"),
        ("5. Dezember 2026 um 15:04 Uhr", "", f"{FIFTH}:00+00:00"),
        ("samedi 5 décembre 2026 à 15:04", "", f"{FIFTH}:00+00:00"),
        ("5 de diciembre de 2026, 15:04", "", f"{FIFTH}:00+00:00"),
        ("mar., 10 mar. 2026 15:04", "", "2026-03-10T15:04:00+00:00"),
        ("5 грудня 2026 р. о 15:04", "", f"{FIFTH}:00+00:00"),
        ("5 grudnia 2026 15:04", "", f"{FIFTH}:00+00:00"),
        ("5 Ara 2026 15:04", "", f"{FIFTH}:00+00:00"),
        ("5 בדצמבר 2026, 15:04", "", f"{FIFTH}:00+00:00"),
        ("٥/١٢/٢٠٢٦ ٣:٠٤ م", "day", f"{FIFTH}:00+00:00"),
        ("2026年12月5日 15:04", "", f"{FIFTH}:00+00:00"),
    ],
)
def test_times(text: str, order: str, expected: str) -> None:
    assert expected == str(times.parse_date_time(written.iso(text, order), zone=UTC, now=NOW))


@pytest.mark.parametrize(
    "text",
    [
        "5/12/2026 15:04", "tomorrow", "46361.6278", "1796479445", "2026-12-05 15:04 Europe/Athens", "12/2026", "KW 49",
        "15:04", "5 Foo 2026 15:04", "2026-12-05 15:04 AM", "0:30 PM 2026-12-05", "5/12/2026/7 15:04", "Dec 2026 15:04",
        "1 5 Dec 2026 15:04", "5 " * 50,
    ],
)  # fmt: skip
def test_no_times(text: str) -> None:
    """An open order is among them: nobody guesses it."""
    with pytest.raises(times.InvalidDateTime):
        times.parse_date_time(written.iso(text), zone=UTC, now=NOW)


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("10-Dez-25", "", "2025-12-10"), ("5.12.2026", "day", "2026-12-05"), ("2026/12/05", "", "2026-12-05"),
        ("31/12/2026", "month", "2026-31-12"), ("20261205", "", "2026-12-05"), ("Dec 5, 2026", "", "2026-12-05"),
    ],
)  # fmt: skip
def test_days(text: str, order: str, expected: str) -> None:
    assert expected == written.iso(text, order)
    assert f"{expected} 10:00" == written.iso(text, order, "10:00")


@pytest.mark.parametrize(
    ("text", "comma", "point"),
    [
        ("1041", "1041", "1041"), ("1041,50", "1041.50", None), ("1.041,50", "1041.50", None),
        ("1,041.50", None, "1041.50"), ("1 041,50", "1041.50", None), ("1\u202f041,50", "1041.50", None),
        ("1'041.50", None, "1041.50"), ("1\u2019041,50", "1041.50", None), ("1.041", "1041", "1.041"),
        ("€41.00", None, "41.00"), ("41,00 €", "41.00", None), ("$1,041.00", None, "1041.00"), ("41 EUR", "41", "41"),
        ("kr 5", "5", "5"), ("5,00 Kč", "5.00", None), ("\u22125", "-5", "-5"), ("-€5.00", None, "-5.00"),
        ("$-5", "-5", "-5"), ("+5", "5", "5"), ("\u200e-5", "-5", "-5"),
        *((text, None, None) for text in ("4,9E+12", "12 %", "5 kg", "5-", "(5)", "1,2,3", "many", "")),
    ],
)  # fmt: skip
def test_numbers(text: str, comma: str | None, point: str | None) -> None:
    assert (comma, point) == (written.number(text, ","), written.number(text, "."))


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("true", "1 TRUE yes Ja WAHR vrai sí Ναι ΣΩΣΤΌ ΣΩΣΤΟ да tak evet نعم"),
        ("false", "0 false No nein FALSCH non όχι ΛΆΘΟΣ nie hayır לא"),
        (None, "perhaps 2 paid -"),
    ],
)
def test_booleans(expected: str | None, words: str) -> None:
    assert {expected} == {written.boolean(word) for word in words.split()}


@pytest.mark.parametrize(
    ("text", "expected", "is_country"),
    [
        ("el_GR", "el-gr", False), ("Greek", "el", False), ("Ελληνικά", "el", False), ("DEUTSCH", "de", False),
        ("en-US", "en-us", False), ("de", "de", False), ("français", "fr", False),
        ("GR", None, True), ("gr", None, True),
        ("CZ", None, True), ("Martian!", None, False), ("", None, False),
    ],
)  # fmt: skip
def test_languages(text: str, expected: str | None, is_country: bool) -> None:  # noqa: FBT001
    assert (expected, is_country) == (written.language(text), written.is_country(text))


@pytest.mark.parametrize(
    ("text", "expected"), [("4,90E+12", True), (" 4.9E+12", True), ("5E12", False), ("A4,9E+12", False)]
)
def test_rounded(text: str, expected: bool) -> None:  # noqa: FBT001
    assert expected is written.is_rounded(text)
