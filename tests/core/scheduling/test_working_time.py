"""Time that counts: within business hours, over nights, weekends, holidays and clock changes."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterword.core.scheduling import windows
from afterword.core.scheduling.windows import Calendar, DaysOff, Hours, next_opening

ATHENS = ZoneInfo("Europe/Athens")
WEEK = frozenset({1, 2, 3, 4, 5})
OFFICE = Calendar(ATHENS, Hours(time(9), time(17)), WEEK)
CHRISTMAS = Calendar(ATHENS, Hours(time(9), time(17)), WEEK, holidays=DaysOff(dates=frozenset({date(2026, 12, 25)})))
NIGHT = Calendar(ATHENS, Hours(time(22), time(6)), WEEK)
NEVER = Calendar(ATHENS, Hours(time(9), time(17)), quiet=Hours(time(8), time(18)))

CALENDARS = st.builds(
    lambda start, hours, days, off: Calendar(
        ATHENS, Hours(time(start), time((start + hours) % 24)), days, holidays=DaysOff(dates=off)
    ),
    st.integers(0, 23),
    st.integers(1, 23),
    st.frozensets(st.integers(1, 7), min_size=1),
    st.frozensets(st.dates(date(2026, 1, 1), date(2026, 12, 31)), max_size=5),
)
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
SPANS = st.integers(1, 200 * 3_600).map(lambda seconds: timedelta(seconds=seconds))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ATHENS)


@pytest.mark.parametrize(
    ("calendar", "start", "hours", "end"),
    [
        (Calendar(ATHENS), "2026-11-27 16:00", 24, "2026-11-28 16:00"),
        (OFFICE, "2026-11-25 10:00", 3, "2026-11-25 13:00"),
        (OFFICE, "2026-11-25 10:00", 7, "2026-11-25 17:00"),  # the very end of the day, not the next morning
        (OFFICE, "2026-11-25 16:00", 2, "2026-11-26 10:00"),
        (OFFICE, "2026-11-25 20:00", 2, "2026-11-26 11:00"),
        (OFFICE, "2026-11-27 16:00", 2, "2026-11-30 10:00"),  # over a weekend
        (CHRISTMAS, "2026-12-24 16:00", 2, "2026-12-28 10:00"),
        (NIGHT, "2026-11-27 23:00", 8, "2026-11-30 23:00"),  # Friday's night ends on Saturday
        (Calendar(ATHENS, None, WEEK), "2026-10-23 12:00", 24, "2026-10-26 12:00"),
        (Calendar(ATHENS), "2026-10-25 02:00", 24, "2026-10-26 01:00"),  # a day of 25 hours
        (NEVER, "2026-11-25 10:00", 5, "2026-11-25 15:00"),  # no opening: every hour counts
    ],
)
def test_after(calendar: Calendar, start: str, hours: int, end: str) -> None:
    assert at(end) == windows.after(calendar, at(start), timedelta(hours=hours))


@given(CALENDARS, MOMENTS, SPANS)
def test_there_and_back(calendar: Calendar, start: datetime, span: timedelta) -> None:
    """So much time counts up to the end, which lies within the hours, and a longer span ends later."""
    end = windows.after(calendar, start, span)
    assert span == windows.between(calendar, start, end)
    opening = next_opening(calendar, end - timedelta(microseconds=1))
    assert opening is not None
    assert opening.start < end
    assert end < windows.after(calendar, start, span + timedelta(seconds=1))


@given(CALENDARS, MOMENTS, MOMENTS, MOMENTS)
def test_parts_add_up(calendar: Calendar, one: datetime, two: datetime, three: datetime) -> None:
    first, second, third = sorted((one, two, three))
    parts = windows.between(calendar, first, second) + windows.between(calendar, second, third)
    assert parts == windows.between(calendar, first, third)
    assert timedelta(0) == windows.between(calendar, third, first)


@given(CALENDARS, MOMENTS, SPANS, SPANS)
def test_stopped_clock(calendar: Calendar, now: datetime, wait: timedelta, span: timedelta) -> None:
    """Nothing of the time that was left is lost by waiting; what was overdue stays so by as much."""
    due = windows.after(calendar, now, span)
    left = windows.left(calendar, now=now, due=due)
    assert span == left
    again = windows.due_again(calendar, now=now + wait, left=left)
    assert left == windows.left(calendar, now=now + wait, due=again)
    overdue = windows.left(calendar, now=now, due=now - wait)
    assert now == windows.due_again(calendar, now=now + wait, left=overdue)


def test_far_future_is_bounded() -> None:
    left = windows.left(OFFICE, now=at("2026-11-25 10:00"), due=datetime.max.replace(tzinfo=UTC))
    assert windows.LEFT_MAX == left
    assert windows.due_again(OFFICE, now=at("2026-11-25 10:00"), left=left).year < 2050


def test_due_time() -> None:
    assert windows.due_time(OFFICE, now=at("2026-11-25 10:00"), hours=None) is None
    assert at("2026-11-26 10:00") == windows.due_time(OFFICE, now=at("2026-11-25 10:00"), hours=8)


@settings(max_examples=20)
@given(CALENDARS, MOMENTS, st.integers(1, 100).map(lambda hours: timedelta(hours=hours)))
def test_before(calendar: Calendar, end: datetime, span: timedelta) -> None:
    """As much time passes from that moment, and less from two seconds later."""
    start = windows.before(calendar, end, span)
    assert windows.between(calendar, start, end) >= span
    assert windows.between(calendar, start + timedelta(seconds=2), end) < span
