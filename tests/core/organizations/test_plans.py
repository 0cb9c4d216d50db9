"""Renewals, balances, warnings: tables first, then what always holds."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from afterword.core.organizations import plans

JANUARY_31 = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (JANUARY_31 - HOUR, datetime(2026, 2, 28, 9, 30, tzinfo=UTC)),  # never before the first month is over
        (JANUARY_31, datetime(2026, 2, 28, 9, 30, tzinfo=UTC)),
        (datetime(2026, 2, 28, 9, 29, tzinfo=UTC), datetime(2026, 2, 28, 9, 30, tzinfo=UTC)),
        (datetime(2026, 2, 28, 9, 30, tzinfo=UTC), datetime(2026, 3, 31, 9, 30, tzinfo=UTC)),  # the 31st again
        (datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 30, 9, 30, tzinfo=UTC)),
        (datetime(2026, 12, 31, 10, tzinfo=UTC), datetime(2027, 1, 31, 9, 30, tzinfo=UTC)),
        (datetime(2028, 2, 1, tzinfo=UTC), datetime(2028, 2, 29, 9, 30, tzinfo=UTC)),
        (datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=14))), datetime(2026, 3, 31, 9, 30, tzinfo=UTC)),
    ],
)
def test_next_renewal(after: datetime, expected: datetime) -> None:
    assert expected == plans.next_renewal(JANUARY_31, after=after)


times = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(start=times, later=st.timedeltas(timedelta(0), timedelta(days=4000)))
def test_renewals_are_a_month_apart_and_none_is_left_out(start: datetime, later: timedelta) -> None:
    renewal = plans.next_renewal(start, after=start + later)
    assert start + later < renewal <= start + later + timedelta(days=31)
    assert (start.hour, start.minute) == (renewal.hour, renewal.minute)
    assert timedelta(days=28) <= plans.next_renewal(start, after=renewal) - renewal <= timedelta(days=31)


@pytest.mark.parametrize(("remaining", "expected"), [(0, 100), (40, 100), (100, 100), (-1, 99), (-250, -150)])
def test_what_was_used_beyond_is_taken_off(remaining: int, expected: int) -> None:
    assert expected == plans.renewed_credits(remaining, credits=100)


@pytest.mark.parametrize(
    ("left", "credits", "expected"),
    [
        (11, 100, None), (10, 100, "low_credits"), (9, 100, None), (1, 100, None), (0, 100, "credits_exhausted"),
        (-1, 100, None), (1, 19, "low_credits"), (0, 5, "credits_exhausted"), (1, 5, None), (150, 100, None),
    ],
)  # fmt: skip
def test_news_of_use(left: int, credits: int, expected: str | None) -> None:  # noqa: A002
    assert expected == plans.event_of_use(left, credits=credits)


@given(credits=st.integers(1, 500), extra=st.integers(0, 100))
def test_each_is_told_once_on_the_way_down(credits: int, extra: int) -> None:  # noqa: A002
    told = [plans.event_of_use(left, credits=credits) for left in range(credits + extra - 1, -20, -1)]
    assert 1 == told.count("credits_exhausted")
    assert (1 if credits >= plans.LOW_SHARE else 0) == told.count("low_credits")
