from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from afterword.core.scheduling.windows import (
    SPREAD_MINUTES_MAX,
    WEEKDAYS_ALL,
    Calendar,
    DaysOff,
    Hours,
    Opening,
    closed_by,
    leaves_time,
    next_opening,
    spread_start,
)

ATHENS = ZoneInfo("Europe/Athens")
OFFICE = Hours(time(9), time(17))
NIGHT = Hours(time(22), time(6))
ZONES = [
    "Europe/Athens", "Europe/London", "Europe/Dublin", "Australia/Lord_Howe", "Australia/Sydney", "Pacific/Apia",
    "Africa/Casablanca", "Africa/Cairo", "America/New_York", "America/Santiago", "America/Sao_Paulo", "America/Havana",
    "Asia/Tehran", "Asia/Amman", "Asia/Gaza", "Asia/Beirut", "Asia/Kathmandu", "Pacific/Chatham", "Antarctica/Troll",
    "America/Nuuk", "America/Asuncion", "America/Scoresbysund", "UTC", "Asia/Kolkata", "Pacific/Kiritimati",
]  # fmt: skip


def at(text: str, zone: str = "Europe/Athens") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def days(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


class TestNextOpening:
    def test_never(self) -> None:
        calendar = Calendar(ATHENS, OFFICE, quiet=Hours(time(8), time(18)))

        assert next_opening(calendar, at("2026-11-23 10:00")) is None

    def test_always(self) -> None:
        now = at("2026-11-23 10:00")

        assert Opening(now, None) == next_opening(Calendar(ATHENS), now)

    @pytest.mark.parametrize(
        ("calendar", "now", "start", "end"),
        [
            (Calendar(ATHENS, OFFICE), "2026-11-23 10:00", "2026-11-23 09:00", "2026-11-23 17:00"),
            (Calendar(ATHENS, OFFICE), "2026-11-23 09:00", "2026-11-23 09:00", "2026-11-23 17:00"),
            (Calendar(ATHENS, OFFICE), "2026-11-23 08:59:59", "2026-11-23 09:00", "2026-11-23 17:00"),
            (Calendar(ATHENS, OFFICE), "2026-11-23 17:00", "2026-11-24 09:00", "2026-11-24 17:00"),
            (Calendar(ATHENS, OFFICE, days(1)), "2026-11-23 18:00", "2026-11-30 09:00", "2026-11-30 17:00"),
            (Calendar(ATHENS, None, days(6, 7)), "2026-11-23 18:00", "2026-11-28 00:00", "2026-11-29 00:00"),
            # A window over midnight belongs to the day on which it starts.
            (Calendar(ATHENS, NIGHT, days(7)), "2026-11-23 05:00", "2026-11-22 22:00", "2026-11-23 06:00"),
            (Calendar(ATHENS, NIGHT, days(1)), "2026-11-23 05:00", "2026-11-23 22:00", "2026-11-24 06:00"),
            # Quiet hours cut: before, after, in the middle.
            (Calendar(ATHENS, OFFICE, quiet=Hours(time(8), time(10))), "2026-11-23 09:30", "2026-11-23 10:00",
             "2026-11-23 17:00"),
            (Calendar(ATHENS, OFFICE, quiet=Hours(time(16), time(8))), "2026-11-23 16:00", "2026-11-24 09:00",
             "2026-11-24 16:00"),
            (Calendar(ATHENS, OFFICE, quiet=Hours(time(12), time(13))), "2026-11-23 12:30", "2026-11-23 13:00",
             "2026-11-23 17:00"),
            (Calendar(ATHENS, OFFICE, quiet=Hours(time(12), time(13))), "2026-11-23 11:30", "2026-11-23 09:00",
             "2026-11-23 12:00"),
            (Calendar(ATHENS, quiet=NIGHT), "2026-11-23 23:00", "2026-11-24 06:00", "2026-11-24 22:00"),
        ],
    )  # fmt: skip
    def test_ordinary_days(self, calendar: Calendar, now: str, start: str, end: str) -> None:
        opening = next_opening(calendar, at(now))

        assert opening is not None
        assert (at(start), at(end)) == (opening.start, opening.end) or (
            opening.start <= at(now) and opening.end == at(end)
        )

    def test_starts_after_the_gap(self) -> None:
        """Athens, 29 March 2026: 03:00 becomes 04:00."""
        opening = next_opening(Calendar(ATHENS, Hours(time(3, 30), time(5))), at("2026-03-28 12:00"))

        assert opening is not None
        assert datetime(2026, 3, 29, 1, 0, tzinfo=UTC) == opening.start
        assert datetime(2026, 3, 29, 2, 0, tzinfo=UTC) == opening.end

    def test_a_window_inside_the_gap_is_empty_that_day(self) -> None:
        opening = next_opening(Calendar(ATHENS, Hours(time(3), time(4))), at("2026-03-28 12:00"))

        assert opening is not None
        assert date(2026, 3, 30) == opening.start.astimezone(ATHENS).date()

    def test_a_weekly_window_inside_the_gap_waits_for_another_week(self) -> None:
        opening = next_opening(Calendar(ATHENS, Hours(time(3), time(4)), days(7)), at("2026-03-28 12:00"))

        assert opening is not None
        assert date(2026, 4, 5) == opening.start.astimezone(ATHENS).date()

    def test_starts_with_the_first_of_the_fold(self) -> None:
        """Athens, 25 October 2026: 04:00 becomes 03:00."""
        opening = next_opening(Calendar(ATHENS, Hours(time(3, 30), time(3, 45))), at("2026-10-25 00:00"))

        assert opening is not None
        assert datetime(2026, 10, 25, 0, 30, tzinfo=UTC) == opening.start
        assert datetime(2026, 10, 25, 0, 45, tzinfo=UTC) == opening.end

    def test_a_day_that_never_was(self) -> None:
        """Apia left out 30 December 2011."""
        calendar = Calendar(ZoneInfo("Pacific/Apia"), None, days(5))

        opening = next_opening(calendar, at("2011-12-29 12:00", "Pacific/Apia"))

        assert opening is not None
        assert date(2012, 1, 6) == opening.start.astimezone(calendar.zone).date()


clocks = st.builds(time, st.integers(0, 23), st.sampled_from([0, 15, 30, 59]))
hours = st.builds(Hours, clocks, clocks)
calendars = st.builds(
    Calendar,
    st.sampled_from(ZONES).map(ZoneInfo),
    st.none() | hours,
    st.frozensets(st.integers(1, 7), min_size=1),
    st.none() | hours.filter(lambda span: span.start != span.end),
)
moments = st.datetimes(datetime(2020, 1, 1), datetime(2030, 12, 31)).map(lambda moment: moment.replace(tzinfo=UTC))  # noqa: DTZ001


@given(calendars, moments)
def test_an_opening_is_open_and_the_first(calendar: Calendar, now: datetime) -> None:
    opening = next_opening(calendar, now)
    if opening is None:
        # Nothing of an ordinary week is left, or only what two weeks of clock changes took away.
        assert not leaves_time(window=calendar.window, weekdays=calendar.weekdays, quiet=calendar.quiet)
        return
    assert opening.end is None or opening.start < opening.end
    assert opening.end is None or opening.end > now
    assert next_opening(calendar, max(opening.start, now)) == opening or opening.end is None


@given(calendars, moments, st.text("abc", min_size=1, max_size=3))
def test_held_items_start_inside_and_near_the_start(calendar: Calendar, now: datetime, item_id: str) -> None:
    opening = next_opening(calendar, now)
    assume(opening is not None)
    assert opening is not None
    start = spread_start(opening, item_id)

    assert opening.start <= start <= opening.start + timedelta(minutes=SPREAD_MINUTES_MAX)
    assert opening.end is None or start < opening.end
    assert start == spread_start(opening, item_id)


def test_spread_uses_the_whole_span() -> None:
    opening = Opening(at("2026-11-23 09:00"), at("2026-11-23 17:00"))
    offsets = sorted((spread_start(opening, f"item{n}") - opening.start).total_seconds() for n in range(1000))

    assert offsets[0] < 10
    assert offsets[-1] > 590
    assert all(abs(offset - 0.6 * place) < 40 for place, offset in enumerate(offsets))


@pytest.mark.parametrize(
    ("window", "weekdays", "quiet", "left"),
    [
        (None, WEEKDAYS_ALL, None, True),
        (None, days(), None, False),
        (OFFICE, days(3), None, True),
        (OFFICE, WEEKDAYS_ALL, Hours(time(8), time(18)), False),
        (OFFICE, WEEKDAYS_ALL, Hours(time(9), time(17)), False),
        (OFFICE, WEEKDAYS_ALL, Hours(time(9), time(16, 59)), True),
        (OFFICE, WEEKDAYS_ALL, Hours(time(9, 1), time(9)), True),
        (NIGHT, WEEKDAYS_ALL, Hours(time(21), time(7)), False),
        (NIGHT, WEEKDAYS_ALL, Hours(time(21), time(5)), True),
        (None, WEEKDAYS_ALL, Hours(time(7), time(7)), False),
        (Hours(time(9), time(9)), WEEKDAYS_ALL, NIGHT, True),
    ],
)
def test_leaves_time(*, window: Hours | None, weekdays: frozenset[int], quiet: Hours | None, left: bool) -> None:
    assert left is leaves_time(window=window, weekdays=weekdays, quiet=quiet)


GREECE = DaysOff("GR", frozenset({date(2026, 12, 24)}))


class TestHolidays:
    @pytest.mark.parametrize(
        ("calendar", "now", "start"),
        [
            # Thursday 24, Friday 25 and Saturday 26 December are off, Sunday is no day for sending.
            (Calendar(ATHENS, OFFICE, days(1, 2, 3, 4, 5), holidays=GREECE), "2026-12-23 18:00", "2026-12-28 09:00"),
            (Calendar(ATHENS, holidays=GREECE), "2026-12-24 00:00", "2026-12-27 00:00"),
            # A night that began before the holiday ends as on any other day.
            (Calendar(ATHENS, NIGHT, holidays=GREECE), "2026-12-24 05:00", "2026-12-23 22:00"),
            (Calendar(ATHENS, NIGHT, holidays=GREECE), "2026-12-24 06:00", "2026-12-27 22:00"),
            (Calendar(ATHENS, NIGHT, holidays=GREECE, quiet=Hours(time(0), time(7))), "2026-12-24 05:00",
             "2026-12-27 22:00"),
            # Many in a row.
            (Calendar(ATHENS, None, days(7),
                      holidays=DaysOff(dates=frozenset(date(2026, 11, 22) + timedelta(weeks=n) for n in range(9)))),
             "2026-11-21 12:00", "2027-01-24 00:00"),
        ],
    )  # fmt: skip
    def test_no_window_starts(self, calendar: Calendar, now: str, start: str) -> None:
        opening = next_opening(calendar, at(now))

        assert opening is not None
        assert at(start) == opening.start

    def test_a_whole_year(self) -> None:
        every = frozenset(date(2026, 11, 22) + timedelta(days=n) for n in range(366))

        opening = next_opening(Calendar(ATHENS, holidays=DaysOff(dates=every)), at("2026-11-22 12:00"))

        assert opening is not None
        assert date(2027, 11, 23) == opening.start.astimezone(ATHENS).date()


def test_closed_by() -> None:
    calendar = Calendar(ATHENS, OFFICE, quiet=Hours(time(16), time(8)), holidays=GREECE)

    assert "quiet" == closed_by(calendar, at("2026-11-23 16:30"))
    assert "window" == closed_by(calendar, at("2026-11-23 18:00"))  # outside the window in any case
    assert "holiday" == closed_by(calendar, at("2026-12-25 12:00"))
    assert "holiday" == closed_by(calendar, at("2026-12-25 16:30"))
    assert closed_by(calendar, at("2026-11-23 12:00")) is None
