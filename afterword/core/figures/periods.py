"""The period of a report: its days, weeks, months and quarters in a time zone, and the period before it.

All borders are computed here, with one copy of the zones' rules, and given to the database as moments.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, Literal, cast, get_args
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace

from afterword.core.wire import times

Frequency = Literal["weekly", "monthly"]
WEEK_DAYS: Final = 7
MONTH_DAYS_MAX: Final = 28  # each month has such a day


def next_due(now: datetime, *, frequency: Frequency, day: int, hour: int, zone: ZoneInfo) -> datetime:
    """The next such moment after now; `day`: of the week from Monday 1, or of the month."""
    local = now.astimezone(zone).date()
    if frequency == "weekly":
        first = local + timedelta(days=(day - local.isoweekday()) % WEEK_DAYS)
        following = first + timedelta(days=WEEK_DAYS)
    else:
        first = local.replace(day=day)
        following = (first.replace(day=1) + timedelta(days=31)).replace(day=day)
    moments = [datetime.combine(each, time(hour), tzinfo=zone).astimezone(UTC) for each in (first, following)]
    return moments[0] if moments[0] > now else moments[1]


Every = Literal["hourly", "daily", "weekly"]


def next_run(now: datetime, *, every: Every, day: int, hour: int, zone: ZoneInfo) -> datetime:
    """The next such moment after now; hours are whole ones, `day` is of the week."""
    if every == "hourly":
        return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    days = (day,) if every == "weekly" else range(1, WEEK_DAYS + 1)
    return min(next_due(now, frequency="weekly", day=one, hour=hour, zone=zone) for one in days)


DAYS_MAX: Final = 3660
DAYS_DEFAULT: Final = 30
HOUR_CHARACTERS: Final = len("2026-11-29T03")
Bucket = Literal["day", "week", "month", "quarter"]
Unit = Literal["day", "week", "month", "quarter", "year"]
CalendarPeriod = Literal[
    "this_week", "last_week", "this_month", "last_month", "this_quarter", "last_quarter", "this_year", "last_year"
]  # fmt: skip
CALENDAR_PERIODS: Final[tuple[CalendarPeriod, ...]] = get_args(CalendarPeriod)
Compare = Literal["none", "previous_period", "previous_year", "rest"]
_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)


class Period(msgspec.Struct, frozen=True):
    """From one moment up to another, the second excluded, in a time zone; weeks begin on `first_weekday` (ISO).

    `unit`: of a period by the calendar, which begins with such a unit.
    """

    from_time: datetime
    to_time: datetime
    time_zone: str
    first_weekday: int = 1
    unit: Unit | None = None

    @property
    def zone(self) -> ZoneInfo:
        return times.zone_of(self.time_zone)


class Days(msgspec.Struct, frozen=True):
    """Whole local days, and the moments where each begins; `end` is where the last one ends."""

    first: date
    starts: tuple[datetime, ...]
    end: datetime

    @property
    def days(self) -> list[date]:
        return [self.first + timedelta(days=index) for index in range(len(self.starts))]

    @property
    def after(self) -> date:
        return self.first + timedelta(days=len(self.starts))

    def start(self, day: date) -> datetime:
        """The beginning of one of the days, or of the one after them."""
        index = (day - self.first).days
        return self.end if index == len(self.starts) else self.starts[index]


class Hour(msgspec.Struct, frozen=True):
    """An hour of the clock in UTC; the first one of a day begins with the day."""

    name: str
    start: datetime
    end: datetime


def text_of(from_time: datetime, to_time: datetime) -> str:
    """Two moments as an address has them, with a slash; the second one is excluded."""
    return f"{from_time.isoformat()}/{to_time.isoformat()}"


def read_text(text: str) -> tuple[datetime, datetime] | None:
    """The moments of `text_of`; None for another text."""
    try:
        first, last = (datetime.fromisoformat(each) for each in text.split("/"))
    except ValueError:
        return None
    return (first, last) if first.tzinfo and last.tzinfo else None


def hour_name(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()[:HOUR_CHARACTERS]


def whole_hours(start: datetime, now: datetime) -> list[Hour]:
    """The hours since `start` that are over by `now`."""
    found: list[Hour] = []
    while (end := start.replace(minute=0, second=0, microsecond=0) + _HOUR) <= now:
        found.append(Hour(hour_name(start), start, end))
        start = end
    return found


@lru_cache(maxsize=10_000)  # a report asks for those of each of its days again and again
def day_start(day: date, zone: ZoneInfo) -> datetime:
    """The first moment of a local day, in UTC: where midnight is skipped the moment of the change, twice: the first."""
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)


def day_of(moment: datetime, zone: ZoneInfo) -> date:
    """The local day that a moment lies in, by the same borders."""
    day = moment.astimezone(zone).date()
    while moment < day_start(day, zone):
        day -= _DAY
    while moment >= day_start(day + _DAY, zone):
        day += _DAY
    return day


def days(first: date, after: date, zone: ZoneInfo) -> Days:
    count = max(0, (after - first).days)
    starts = tuple(day_start(first + timedelta(days=index), zone) for index in range(count))
    return Days(first, starts, day_start(first + timedelta(days=count), zone))


def of_calendar(name: CalendarPeriod, *, now: datetime, time_zone: str, first_weekday: int) -> Period:
    """The week, month, quarter or year that `now` lies in, up to now, or the whole one before it."""
    zone = times.zone_of(time_zone)
    unit = cast("Unit", name.partition("_")[2])
    first = _begin(day_of(now, zone), unit, first_weekday)
    begin, end = day_start(first, zone), whole_second(now)
    if name.startswith("last"):
        begin, end = day_start(_begin(first - _DAY, unit, first_weekday), zone), begin
    return Period(begin, max(end, begin + timedelta(seconds=1)), time_zone, first_weekday, unit)


def days_before(moment: datetime, days: int, zone: ZoneInfo) -> datetime:
    """The beginning of the local day that is so many days before the moment's: kept counts are of whole days."""
    return day_start(day_of(moment, zone) - timedelta(days=days), zone)


def whole_days(period: Period, zone: ZoneInfo) -> Days:
    """The days of `zone` that lie in the period from their beginning to their end."""
    first, after = day_of(period.from_time, zone), day_of(period.to_time, zone)
    if day_start(first, zone) < period.from_time:
        first += _DAY
    return days(first, max(first, after), zone)


def buckets(period: Period, bucket: Bucket | None) -> tuple[date, ...]:
    """The first days of the buckets that the period touches, in order; one for all of it without buckets."""
    zone = period.zone
    first = day_of(period.from_time, zone)
    if bucket is None:
        return (first,)
    last = day_of(max(period.from_time, period.to_time - timedelta(microseconds=1)), zone)
    found = [_begin(first, bucket, period.first_weekday)]
    while (following := _next(found[-1], bucket, period.first_weekday)) <= last:
        found.append(following)
    return tuple(found)


def are_cut(period: Period, bucket: Bucket, *, first: date, last: date) -> tuple[bool, bool]:
    """Whether the bucket `first` begins before the period, and whether the bucket `last` ends after it."""
    zone = period.zone
    after = day_start(_next(last, bucket, period.first_weekday), zone)
    return day_start(first, zone) < period.from_time, period.to_time < after


def borders(period: Period, all_buckets: Sequence[Bucket]) -> tuple[date, ...]:
    """The first days of the parts that are in the same bucket of each of these kinds, in order."""
    first = day_of(period.from_time, period.zone)
    return tuple(sorted({max(first, start) for bucket in all_buckets for start in buckets(period, bucket)}))


def edges(period: Period, starts: Sequence[date]) -> tuple[datetime, ...]:
    zone = period.zone
    return (period.from_time, *(day_start(day, zone) for day in starts[1:]))


def whole_months(period: Period, *, now: datetime) -> Period:
    """The months that the period touches and that are over by `now`; where there is none, the newest month that is."""
    zone = period.zone
    first = _begin(day_of(period.from_time, zone), "month")
    last = day_of(period.to_time - timedelta(microseconds=1), zone)
    after = min(_next(_begin(last, "month"), "month"), _begin(day_of(now, zone), "month"))
    first = min(first, _begin(after - _DAY, "month"))
    return replace(period, from_time=day_start(first, zone), to_time=day_start(after, zone))


def months_before(period: Period) -> Period:
    """As many months directly before a period of whole months."""
    zone, count = period.zone, len(buckets(period, "month"))
    first = day_of(period.from_time, zone)
    for _ in range(count):
        first = _begin(first - _DAY, "month")
    return replace(period, from_time=day_start(first, zone), to_time=period.from_time)


def bucket_of(day: date, starts: Sequence[date]) -> int:
    """The index of a day's bucket, from 0."""
    return max(0, bisect_right(starts, day) - 1)


def whole_second(now: datetime) -> datetime:
    """The end of this second: times are shown without fractions, and a period as it is shown has the same responses."""
    return now if now.microsecond == 0 else now.replace(microsecond=0) + timedelta(seconds=1)


def previous(period: Period, compare: Compare) -> Period | None:
    """The period to compare with: as long and directly before, or the same a year earlier; else None."""
    match compare:
        case "none" | "rest":
            return None
        case "previous_year":
            zone = period.zone
            from_time, to_time = (_year_before(each, zone) for each in (period.from_time, period.to_time))
            return replace(period, from_time=from_time, to_time=max(from_time, to_time))
        case "previous_period" if period.unit:
            return _unit_before(period, period.unit)
        case "previous_period":
            return replace(period, from_time=_shifted(period), to_time=period.from_time)


def _unit_before(period: Period, unit: Unit) -> Period:
    """The whole unit before a whole one; before one that is not over, as many days and hours of it as have passed."""
    zone, first = period.zone, day_of(period.from_time, period.zone)
    before = _begin(first - _DAY, unit, period.first_weekday)
    end, last = period.from_time, day_of(period.to_time, zone)
    if last < _next(first, unit, period.first_weekday):
        passed = day_start(before + (last - first), zone) + (period.to_time - day_start(last, zone))
        end = min(end, passed)
    return replace(period, from_time=day_start(before, zone), to_time=end)


def _shifted(period: Period) -> datetime:
    """The beginning of the period before: as many whole local days where it begins with one, else as long."""
    zone = period.zone
    first, after = day_of(period.from_time, zone), day_of(period.to_time, zone)
    if first < after and day_start(first, zone) == period.from_time:
        return day_start(first - (after - first), zone)
    return period.from_time - (period.to_time - period.from_time)


def _year_before(moment: datetime, zone: ZoneInfo) -> datetime:
    local = moment.astimezone(zone)
    day = local.day if (local.month, local.day) != (2, 29) else 28
    return local.replace(year=local.year - 1, day=day, fold=0).astimezone(UTC)


def _begin(day: date, unit: Unit, first_weekday: int = 1) -> date:
    match unit:
        case "day":
            return day
        case "week":
            return day - timedelta(days=(day.isoweekday() - first_weekday) % 7)
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "year":
            return day.replace(month=1, day=1)


_DAYS_TO_NEXT: Final[Mapping[Unit, int]] = {"day": 1, "week": 7, "month": 31, "quarter": 95, "year": 370}


def _next(first: date, unit: Unit, first_weekday: int = 1) -> date:
    return _begin(first + timedelta(days=_DAYS_TO_NEXT[unit]), unit, first_weekday)
