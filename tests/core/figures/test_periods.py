from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from afterword.core.figures import periods
from afterword.core.figures.periods import Bucket, Every, Period, next_due, next_run

ATHENS = "Europe/Athens"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


class TestBuckets:
    @pytest.mark.parametrize(
        ("bucket", "expected"),
        [
            (None, ["2026-02-10"]),
            ("week", ["2026-02-09", "2026-02-16", "2026-02-23", "2026-03-02"]),
            ("month", ["2026-02-01", "2026-03-01"]),
            ("quarter", ["2026-01-01"]),
        ],
    )
    def test_first_days(self, bucket: Bucket | None, expected: list[str]) -> None:
        period = Period(at("2026-02-10T12:00:00+02:00"), at("2026-03-03T00:00:00+02:00"), ATHENS)
        assert [date.fromisoformat(text) for text in expected] == list(periods.buckets(period, bucket))

    @pytest.mark.parametrize(
        ("first_weekday", "expected"), [(1, "2026-02-09"), (6, "2026-02-07"), (7, "2026-02-08"), (2, "2026-02-10")]
    )
    def test_weeks_of_an_organization(self, first_weekday: int, expected: str) -> None:
        """They begin on its day, also in the period before, and each has seven days."""
        period = Period(at("2026-02-10T12:00:00+02:00"), at("2026-03-03T00:00:00+02:00"), ATHENS, first_weekday)
        starts = periods.buckets(period, "week")
        assert (date.fromisoformat(expected), {7}) == (starts[0], {(b - a).days for a, b in pairwise(starts)})
        before = periods.previous(period, "previous_period")
        assert before is not None
        assert {first_weekday} == {day.isoweekday() for day in periods.buckets(before, "week")}

    def test_the_end_is_left_out(self) -> None:
        period = Period(at("2026-02-01T00:00:00+02:00"), at("2026-03-01T00:00:00+02:00"), ATHENS)
        assert (date(2026, 2, 1),) == periods.buckets(period, "month")
        assert 28 == len(periods.buckets(period, "day"))

    def test_days_of_23_and_25_hours(self) -> None:
        period = Period(at("2026-03-28T00:00:00+02:00"), at("2026-03-31T00:00:00+03:00"), ATHENS)
        starts = periods.buckets(period, "day")
        edges = periods.edges(period, starts)
        assert [24, 23] == [(later - earlier) / timedelta(hours=1) for earlier, later in pairwise(edges)]

    def test_years_end(self) -> None:
        period = Period(at("2025-12-31T00:00:00+02:00"), at("2026-01-02T00:00:00+02:00"), ATHENS)
        assert (date(2025, 10, 1), date(2026, 1, 1)) == periods.buckets(period, "quarter")

    @pytest.mark.parametrize(
        ("from_time", "to_time", "expected"),
        [
            ("2026-03-23T00:00:00+02:00", "2026-04-06T00:00:00+03:00", (False, False)),  # two whole weeks
            ("2026-03-23T00:00:01+02:00", "2026-04-06T00:00:00+03:00", (True, False)),
            ("2026-03-23T00:00:00+02:00", "2026-04-05T23:59:59+03:00", (False, True)),
            ("2026-03-25T00:00:00+02:00", "2026-03-27T00:00:00+02:00", (True, True)),  # within one
        ],
    )
    def test_cut(self, from_time: str, to_time: str, expected: tuple[bool, bool]) -> None:
        period = Period(at(from_time), at(to_time), ATHENS)
        first, *_, last = [periods.buckets(period, "week")[0], *periods.buckets(period, "week")]
        assert expected == periods.are_cut(period, "week", first=first, last=last)


class TestWholeDays:
    def test_ends_are_no_whole_days(self) -> None:
        for to_time, days in (("2026-02-13T12:00:00+02:00", [11, 12]), ("2026-02-10T13:00:00+02:00", [])):
            period = Period(at("2026-02-10T12:00:00+02:00"), at(to_time), ATHENS)
            assert [date(2026, 2, day) for day in days] == periods.whole_days(period, period.zone).days


class TestPrevious:
    def test_none(self) -> None:
        assert periods.previous(Period(at("2026-02-01T00:00:00Z"), at("2026-03-01T00:00:00Z"), "UTC"), "none") is None

    @pytest.mark.parametrize(
        ("from_time", "to_time", "expected"),
        [
            ("2026-03-15T00:00:00+02:00", "2026-04-14T00:00:00+03:00", "2026-02-13T00:00:00+02:00"),  # 30 local days
            ("2026-03-15T00:00:00+02:00", "2026-04-14T10:00:00+03:00", "2026-02-13T00:00:00+02:00"),  # and ten hours
            ("2026-03-15T00:00:00+02:00", "2026-03-15T10:00:00+02:00", "2026-03-14T14:00:00+02:00"),  # no whole day
            ("2026-03-15T10:00:00+02:00", "2026-03-16T10:00:00+02:00", "2026-03-14T10:00:00+02:00"),
        ],
    )
    def test_as_long_and_directly_before(self, from_time: str, to_time: str, expected: str) -> None:
        found = periods.previous(Period(at(from_time), at(to_time), ATHENS), "previous_period")
        assert found == Period(at(expected), at(from_time), ATHENS)

    def test_a_year_earlier_is_the_same_wall_time(self) -> None:
        period = Period(at("2024-02-29T00:00:00+02:00"), at("2024-07-01T00:00:00+03:00"), ATHENS)
        expected = Period(at("2023-02-28T00:00:00+02:00"), at("2023-07-01T00:00:00+03:00"), ATHENS)
        assert expected == periods.previous(period, "previous_year")


class TestCalendar:
    NOW = at("2026-03-31T10:30:00+03:00")  # a Tuesday, two days after the change to summer time

    @pytest.mark.parametrize(
        ("name", "first", "end", "before", "before_end"),
        [
            ("this_week", "03-30T00:00+03:00", "03-31T10:30+03:00", "03-23T00:00+02:00", "03-24T10:30+02:00"),
            ("last_week", "03-23T00:00+02:00", "03-30T00:00+03:00", "03-16T00:00+02:00", "03-23T00:00+02:00"),
            ("this_month", "03-01T00:00+02:00", "03-31T10:30+03:00", "02-01T00:00+02:00", "03-01T00:00+02:00"),
            ("last_month", "02-01T00:00+02:00", "03-01T00:00+02:00", "01-01T00:00+02:00", "02-01T00:00+02:00"),
            (
                "this_quarter", "01-01T00:00+02:00", "03-31T10:30+03:00",
                "2025-10-01T00:00+03:00", "2025-12-29T10:30+02:00",
            ),
            (
                "last_quarter", "2025-10-01T00:00+03:00", "01-01T00:00+02:00",
                "2025-07-01T00:00+03:00", "2025-10-01T00:00+03:00",
            ),
            (
                "this_year", "01-01T00:00+02:00", "03-31T10:30+03:00",
                "2025-01-01T00:00+02:00", "2025-03-31T10:30+03:00",
            ),
            (
                "last_year", "2025-01-01T00:00+02:00", "01-01T00:00+02:00",
                "2024-01-01T00:00+02:00", "2025-01-01T00:00+02:00",
            ),
        ],
    )  # fmt: skip
    def test_the_unit_and_the_one_before(
        self, name: periods.CalendarPeriod, first: str, end: str, before: str, before_end: str
    ) -> None:
        """Of a unit that is not over as much as has passed is compared, never more than the whole one before."""
        expected = [at(text if text.startswith("20") else f"2026-{text}") for text in (first, end, before, before_end)]
        period = periods.of_calendar(name, now=self.NOW, time_zone=ATHENS, first_weekday=1)
        earlier = periods.previous(period, "previous_period")
        assert earlier is not None
        assert expected == [period.from_time, period.to_time, earlier.from_time, earlier.to_time]

    def test_weeks_begin_on_the_day_of_the_organization(self) -> None:
        period = periods.of_calendar("this_week", now=self.NOW, time_zone=ATHENS, first_weekday=7)
        assert at("2026-03-29T00:00+02:00") == period.from_time

    def test_in_its_first_moment(self) -> None:
        period = periods.of_calendar("this_month", now=at("2026-03-01T00:00+02:00"), time_zone=ATHENS, first_weekday=1)
        assert timedelta(seconds=1) == period.to_time - period.from_time


@pytest.mark.parametrize(
    ("frequency", "day", "now", "due"),
    [
        ("weekly", 1, "2026-11-25T19:00Z", "2026-11-30T06:00Z"),
        ("weekly", 3, "2026-11-25T05:59Z", "2026-11-25T06:00Z"),
        ("weekly", 3, "2026-11-25T06:00Z", "2026-12-02T06:00Z"),  # never twice at once
        ("weekly", 7, "2026-10-24T12:00Z", "2026-10-25T06:00Z"),  # winter time begins that night
        ("monthly", 1, "2026-12-01T06:00Z", "2027-01-01T06:00Z"),
        ("monthly", 28, "2027-02-01T00:00Z", "2027-02-28T06:00Z"),
        ("monthly", 1, "2026-06-30T23:00Z", "2026-07-01T05:00Z"),  # already July there
    ],
)
def test_next_due(frequency: Literal["weekly", "monthly"], day: int, now: str, due: str) -> None:
    moment = next_due(datetime.fromisoformat(now), frequency=frequency, day=day, hour=8, zone=ZoneInfo(ATHENS))
    assert datetime.fromisoformat(due) == moment


@pytest.mark.parametrize(
    ("every", "now", "due"),
    [
        ("hourly", "2026-11-29T10:00Z", "2026-11-29T11:00Z"),
        ("hourly", "2026-11-29T10:59:59Z", "2026-11-29T11:00Z"),
        ("daily", "2026-11-29T00:59Z", "2026-11-29T01:00Z"),  # three there
        ("daily", "2026-11-29T01:00Z", "2026-11-30T01:00Z"),
        ("daily", "2026-03-28T12:00Z", "2026-03-29T01:00Z"),  # this hour is left out there
        ("weekly", "2026-11-29T10:00Z", "2026-12-01T01:00Z"),
    ],
)
def test_next_run(every: Every, now: str, due: str) -> None:
    moment = next_run(datetime.fromisoformat(now), every=every, day=2, hour=3, zone=ZoneInfo(ATHENS))
    assert datetime.fromisoformat(due) == moment
