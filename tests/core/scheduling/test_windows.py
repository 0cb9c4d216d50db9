from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings, strategies as st

from afterword.core.scheduling import windows
from afterword.core.scheduling.windows import (
    SPREAD_MINUTES_MAX,
    WEEKDAYS_ALL,
    Calendar,
    DaysOff,
    Hours,
    Opening,
    closed_by,
    is_known,
    leaves_time,
    next_opening,
    regions_of,
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


class TestCountries:
    def test_unknown(self) -> None:
        assert [False] * 6 == [is_known(name) for name in ("XX", "GR-XX", "gr", "GR\n", "", "GRC")]

    def test_a_country_no_longer_known_has_none(self) -> None:
        assert date(2026, 12, 25) not in DaysOff("XX")

    @pytest.mark.parametrize("country", ["GR", "DE-BY", "US-CA", "GB-SCT"])
    def test_known(self, country: str) -> None:
        assert is_known(country)
        assert date(2026, 12, 25) in DaysOff(country)

    @pytest.mark.parametrize(
        ("country", "days"),
        [
            ("GR", ["2027-05-02", "2027-06-20"]),  # Orthodox Easter, Whit Sunday
            ("CY", ["2027-05-02", "2027-06-20"]),
            ("RO", ["2027-05-02", "2027-06-20"]),
            ("UA", []),  # law names no feast while it is at war
            ("DE-BY", ["2027-03-28", "2027-05-16"]),
            ("AT", ["2027-03-28", "2027-05-16"]),
            ("FR", ["2027-03-28", "2027-05-16"]),
            ("GB-ENG", ["2027-03-28"]),
            ("US", []),
        ],
    )
    def test_sundays_with_a_feast(self, country: str, days: list[str]) -> None:
        easter_and_whit = ["2027-03-28", "2027-05-02", "2027-05-16", "2027-06-20"]
        assert days == [day for day in easter_and_whit if date.fromisoformat(day) in DaysOff(country)]

    def test_a_holiday_that_is_a_monday_by_chance(self) -> None:
        """The Monday after Orthodox Easter 2024 was the British holiday of early May."""
        assert date(2024, 5, 6) in DaysOff("GB-ENG")
        assert date(2024, 5, 5) not in DaysOff("GB-ENG")

    @pytest.mark.parametrize(
        ("country", "region"), [("CH", "CH-ZH"), ("DE", "DE-BY"), ("ES", "ES-MD"), ("GB", "GB-ENG"), ("AU", "AU-NSW")]
    )
    def test_regions(self, country: str, region: str) -> None:
        assert region in regions_of(country, 2027)

    @pytest.mark.parametrize("country", ["GR", "US", "IT", "AT", "FR", "DE-BY", "XX"])
    def test_no_region_needed(self, country: str) -> None:
        assert not regions_of(country, 2027)

    def test_of_a_part_alone(self) -> None:
        assert date(2026, 1, 6) in DaysOff("DE-BY")
        assert date(2026, 1, 6) not in DaysOff("DE")


class TestZoneName:
    KNOWN: ClassVar[dict[str, Any]] = {
        "pipeline": None,
        "zone_of_kind": "recipient",
        "responder": None,
        "phone": None,
        "application": None,
        "organization": "Europe/Athens",
    }

    @pytest.mark.parametrize(
        ("known", "zone"),
        [
            ({}, "Europe/Athens"),
            ({"application": "Asia/Tokyo"}, "Asia/Tokyo"),
            ({"application": "Asia/Tokyo", "phone": "+4915112345678"}, "Europe/Berlin"),
            ({"application": "Asia/Tokyo", "phone": "+12025550123"}, "Asia/Tokyo"),  # a country of many zones
            ({"application": "Asia/Tokyo", "phone": "+34612345678"}, "Asia/Tokyo"),  # the Canaries have their own
            ({"phone": "key 7"}, "Europe/Athens"),
            ({"responder": "Europe/Rome", "phone": "+4915112345678"}, "Europe/Rome"),
            ({"responder": "Mars/Base"}, "Europe/Athens"),
            ({"responder": "Europe/Rome", "zone_of_kind": "organization"}, "Europe/Athens"),
            ({"responder": "Europe/Rome", "pipeline": "Europe/Oslo"}, "Europe/Oslo"),
            ({"pipeline": "Europe/Oslo", "zone_of_kind": "organization"}, "Europe/Oslo"),
        ],
    )
    def test_of_the_first_that_is_known(self, known: dict[str, Any], zone: str) -> None:
        assert zone == windows.zone_name_for(**{**self.KNOWN, **known})


WEEK = frozenset({1, 2, 3, 4, 5})
BUSINESS = Calendar(ATHENS, OFFICE, WEEK)
CHRISTMAS = Calendar(ATHENS, OFFICE, WEEK, holidays=DaysOff(dates=frozenset({date(2026, 12, 25)})))
NIGHTS = Calendar(ATHENS, NIGHT, WEEK)
NEVER = Calendar(ATHENS, OFFICE, quiet=Hours(time(8), time(18)))

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


@pytest.mark.parametrize(
    ("calendar", "start", "hours", "end"),
    [
        (Calendar(ATHENS), "2026-11-27 16:00", 24, "2026-11-28 16:00"),
        (BUSINESS, "2026-11-25 10:00", 3, "2026-11-25 13:00"),
        (BUSINESS, "2026-11-25 10:00", 7, "2026-11-25 17:00"),  # the very end of the day, not the next morning
        (BUSINESS, "2026-11-25 16:00", 2, "2026-11-26 10:00"),
        (BUSINESS, "2026-11-25 20:00", 2, "2026-11-26 11:00"),
        (BUSINESS, "2026-11-27 16:00", 2, "2026-11-30 10:00"),  # over a weekend
        (CHRISTMAS, "2026-12-24 16:00", 2, "2026-12-28 10:00"),
        (NIGHTS, "2026-11-27 23:00", 8, "2026-11-30 23:00"),  # Friday's night ends on Saturday
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
    left = windows.left(BUSINESS, now=at("2026-11-25 10:00"), due=datetime.max.replace(tzinfo=UTC))
    assert windows.LEFT_MAX == left
    assert windows.due_again(BUSINESS, now=at("2026-11-25 10:00"), left=left).year < 2050


def test_due_time() -> None:
    assert windows.due_time(BUSINESS, now=at("2026-11-25 10:00"), hours=None) is None
    assert at("2026-11-26 10:00") == windows.due_time(BUSINESS, now=at("2026-11-25 10:00"), hours=8)


@settings(max_examples=20)
@given(CALENDARS, MOMENTS, st.integers(1, 100).map(lambda hours: timedelta(hours=hours)))
def test_before(calendar: Calendar, end: datetime, span: timedelta) -> None:
    """As much time passes from that moment, and less from two seconds later."""
    start = windows.before(calendar, end, span)
    assert windows.between(calendar, start, end) >= span
    assert windows.between(calendar, start + timedelta(seconds=2), end) < span


SHOP = Calendar(ATHENS, Hours(time(8), time(18)), frozenset({1, 2, 3, 4, 5}))
UNSET = Calendar(ATHENS)
SHORT = Calendar(ATHENS, Hours(time(10), time(13)), frozenset({6}))


@pytest.mark.parametrize(
    ("calendar", "now", "first"),
    [
        (SHOP, "2026-11-27T11:00", ["Fri 08-13", "Fri 13-18", "Mon 08-13", "Mon 13-18", "Tue 08-13", "Tue 13-18"]),
        (SHOP, "2026-11-27T12:01", ["Fri 13-18", "Mon 08-13"]),
        (SHOP, "2026-11-27T20:00", ["Mon 08-13"]),
        (UNSET, "2026-11-28T03:00", ["Mon 09-13", "Mon 13-17"]),
        (SHORT, "2026-11-27T20:00", ["Sat 10-13", "Sat 10-13"]),
        (NEVER, "2026-11-27T20:00", []),
    ],
)
def test_offered(calendar: Calendar, now: str, first: list[str]) -> None:
    found = windows.offered(calendar, now=datetime.fromisoformat(now).replace(tzinfo=ATHENS))
    said = [f"{start.astimezone(ATHENS):%a %H}-{end.astimezone(ATHENS):%H}" for start, end in found]
    assert first == said[: len(first)]
    assert (len(said) <= windows.WINDOWS_MAX, bool(first)) == (True, bool(said))
