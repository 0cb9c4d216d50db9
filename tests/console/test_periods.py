"""The period that an address names, its members of a spec, and its moments by the calendar of the reader."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from afterword.console.periods import CALENDAR, PeriodChoice, PeriodFilter
from afterword.core.figures.periods import CALENDAR_PERIODS
from afterword.kit.texts import texts

NOW = datetime(2026, 3, 31, 7, 30, tzinfo=UTC)  # 10:30 in Athens
VISIT: Any = SimpleNamespace(now=NOW, zone="Europe/Athens", session=SimpleNamespace(first_weekday=1))
DAYS = (7, 30)


class Listed(PeriodFilter):
    path = "/console/listed"
    lengths = DAYS
    days_default = 30


def read(**query: str) -> PeriodChoice:
    return PeriodChoice.read(query, 30, DAYS)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"period": "31"},
        {"period": "last_monday"},
        {"period": "dates"},
        {"period": "dates", "first": "2026-02-30", "last": "x"},
        {"period": "dates", "first": "0001-01-01"},
        {"period": "dates", "last": "9999-12-31"},
        {"days": "\u0667"},
    ],
)
def test_what_is_not_known_is_the_default(query: dict[str, str]) -> None:
    assert PeriodChoice("30") == read(**query)


def test_dates_in_either_order_and_one_alone() -> None:
    expected = PeriodChoice("dates", "2026-02-01", "2026-02-28")
    assert expected == read(period="dates", first="2026-02-28", last="2026-02-01")
    assert PeriodChoice("dates", "2026-02-01", "2026-02-01") == read(period="dates", last="2026-02-01")


def test_days_of_older_addresses() -> None:
    assert (PeriodChoice("7"), 7) == (read(days="7"), read(days="7").days)
    assert PeriodChoice("last_month") == read(days="7", period="last_month")


def test_each_unit_of_the_calendar_has_words() -> None:
    assert [*CALENDAR_PERIODS] == [*CALENDAR]


def test_moments() -> None:
    assert read(period="7").period(VISIT) is None
    dates = read(period="dates", first="2026-03-28", last="2026-03-29").period(VISIT)
    assert dates is not None
    assert datetime(2026, 3, 27, 22, tzinfo=UTC) == dates.from_time
    assert timedelta(hours=47) == dates.to_time - dates.from_time  # one hour is skipped
    month = read(period="this_month").period(VISIT)
    assert month is not None
    assert (datetime(2026, 2, 28, 22, tzinfo=UTC), NOW, "month") == (month.from_time, month.to_time, month.unit)


def test_members_of_a_spec() -> None:
    none = dict.fromkeys(("last_days", "calendar_period", "from_time", "to_time"))
    assert {**none, "last_days": 7} == read(period="7").spec(VISIT)
    assert {**none, "calendar_period": "last_year"} == read(period="last_year").spec(VISIT)
    dates = read(period="dates", first="2026-01-01").spec(VISIT)
    assert {**none, "from_time": "2025-12-31T22:00:00+00:00", "to_time": "2026-01-01T22:00:00+00:00"} == dates


def test_words() -> None:
    words = texts("console", "en")
    chosen = (read(period="7"), read(period="last_week"), read(period="dates", first="2026-01-01", last="2026-01-31"))
    shown = [one.text(words).translate({0x2068: None, 0x2069: None}) for one in chosen]
    assert ["7 days", "Last week", "January 1, 2026 to January 31, 2026"] == shown


def test_a_list_says_its_default_nowhere() -> None:
    assert "/console/listed" == Listed.read({"period": "30"}).url()
    assert "/console/listed?period=7" == Listed.read({"period": "7"}).url()


def test_a_list_has_no_end_before_the_period_has() -> None:
    """A message that waits for a later time belongs to this month, and not to the last one."""
    assert (NOW - timedelta(days=30), None) == Listed.read({}).span(VISIT)
    assert None is Listed.read({"period": "dates", "first": "2026-03-01", "last": "2026-03-31"}).span(VISIT)[1]
    assert datetime(2026, 2, 28, 22, tzinfo=UTC) == Listed.read({"period": "last_month"}).span(VISIT)[1]
