"""When a message may leave by the recipient's clock: weekdays, a daily window, quiet hours, over clock changes.

Local boundaries become instants (`times.instant_of`): in a gap the first instant after it, in a fold the first of the
two. So a window inside a gap is empty on that day, and no hour of a fold is sent in twice.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final, Literal

import msgspec
import phonenumbers
from babel.core import get_global
from msgspec.structs import replace

from afterword.core.wire.times import instant_of, zone_of

_CLOCK_SAMPLES: Final = tuple(datetime(year, month, 1) for year in (2024, 2030) for month in (1, 7))  # noqa: DTZ001  local


def zone_name_for(
    *,
    pipeline: str | None,
    zone_of_kind: str,
    responder: str | None,
    phone: str | None,
    application: str | None,
    organization: str,
) -> str:
    """The pipeline's zone, else the recipient's if known, else the organization's."""
    if zone_of_kind == "organization":
        return pipeline or organization
    candidates = (pipeline, responder, zone_of_phone(phone) if phone else None, application)
    return next((name for name in candidates if name and _is_zone(name)), organization)


@lru_cache(maxsize=4096)
def zone_of_phone(number: str) -> str | None:
    """The zone of a phone number's country, if one clock rules that country now."""
    try:
        region = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return None
    zones = get_global("territory_zones").get(region or "", [])
    clocks = {tuple(zone_of(zone).utcoffset(day) for day in _CLOCK_SAMPLES) for zone in zones if _is_zone(zone)}
    return min(zones, key=len) if len(clocks) == 1 else None


@lru_cache(maxsize=1024)
def _is_zone(name: str) -> bool:
    try:
        zone_of(name)
    except ValueError:
        return False
    return True


DATES_MAX: Final = 366
COUNTRY_CHARACTERS_MAX: Final = 12
COUNTRY_PATTERN: Final = r"^[A-Z]{2}(-[A-Za-z0-9]{1,9})?(?![\s\S])"
_COUNTRY: Final = re.compile(COUNTRY_PATTERN)
_BESIDE_SUNDAY: Final = (  # weekday, words of its name, days to the Sunday
    (4, re.compile(r"(Good|Great|Holy) Friday"), 2),
    (0, re.compile(r"Easter|Whit|Pentecost|Holy Spirit"), -1),
)


class DaysOff(msgspec.Struct, frozen=True):
    """The days without sending; test with `in`. `country`: ISO 3166-1, perhaps with `-` and a subdivision."""

    country: str | None = None
    dates: frozenset[date] = frozenset()

    def __contains__(self, day: date) -> bool:
        return day in self.dates or (self.country is not None and day in _holidays_of(self.country, day.year))

    def __bool__(self) -> bool:
        return bool(self.country or self.dates)


NONE: Final = DaysOff()


@lru_cache(maxsize=256)
def is_known(country: str) -> bool:
    if _COUNTRY.search(country) is None:
        return False
    import holidays  # noqa: PLC0415  19 MB, for those who use it

    code, _, subdivision = country.partition("-")
    supported = holidays.list_supported_countries()
    return code in supported and (not subdivision or subdivision in supported[code])


@lru_cache(maxsize=256)
def regions_of(country: str, year: int) -> Sequence[str]:
    """The regions to choose from, such as `DE-BY`, where none has the country's own holidays alone; else none."""
    import holidays  # noqa: PLC0415

    regions = [f"{country}-{each}" for each in holidays.list_supported_countries().get(country, ())]
    own = _holidays_of(country, year)
    return regions if all(_holidays_of(each, year) - own for each in regions) else ()


@lru_cache(maxsize=1024)
def _holidays_of(country: str, year: int) -> frozenset[date]:
    """A country's holidays of a year, moved ones included; none if it is not known any more.

    Laws name a feast on a Sunday in some countries alone. It is added where the Monday or the Friday beside it is one.
    """
    import holidays  # noqa: PLC0415

    code, _, subdivision = country.partition("-")
    try:
        found = holidays.country_holidays(code, subdiv=subdivision or None, years=year, language="en_US")
    except NotImplementedError:
        return frozenset()
    sundays = {
        day + timedelta(days=to_sunday)
        for day, name in found.items()
        for weekday, names, to_sunday in _BESIDE_SUNDAY
        if day.weekday() == weekday and names.search(name)
    }
    return frozenset(found) | sundays


SPREAD_MINUTES_MAX: Final = 10
SEARCH_DAYS_MAX: Final = 16  # a week, and a week more for windows that vanish on the day of a clock change
SEARCH_HOLIDAYS_MAX: Final = 370  # more, where there are holidays: no item waits longer than a year
Closed = Literal["window", "holiday", "quiet"]
WEEKDAYS_ALL: Final = frozenset(range(1, 8))
_DAY: Final = timedelta(days=1)
_HASH_BYTES: Final = 4


class Hours(msgspec.Struct, frozen=True):
    """A span of every local day, its end excluded. One that does not end after its start ends on the next day."""

    start: time
    end: time

    def contains(self, clock: time) -> bool:
        if self.start < self.end:
            return self.start <= clock < self.end
        return clock >= self.start or clock < self.end


class Calendar(msgspec.Struct, frozen=True):
    """When a lane may send: a window on the days on which it starts, less the quiet hours. Both None: the whole day.

    A holiday is a day on which no window starts; one that began the evening before ends as on any other day.
    """

    zone: tzinfo
    window: Hours | None = None
    weekdays: frozenset[int] = WEEKDAYS_ALL  # ISO: 1 Monday, 7 Sunday
    quiet: Hours | None = None
    holidays: DaysOff = NONE

    @property
    def is_always_open(self) -> bool:
        return self.window is None and self.quiet is None and self.weekdays >= WEEKDAYS_ALL and not self.holidays


class Opening(msgspec.Struct, frozen=True):
    """A span in which sending is allowed; `end` is excluded, None is never."""

    start: datetime
    end: datetime | None


def leaves_time(*, window: Hours | None, weekdays: frozenset[int], quiet: Hours | None) -> bool:
    """Whether these settings leave any time of an ordinary week."""
    if not weekdays & WEEKDAYS_ALL:
        return False
    if quiet is None:
        return True
    if quiet.start == quiet.end:
        return False
    if window is None:
        return True
    return not quiet.contains(window.start) or window.contains(quiet.end)


def next_opening(calendar: Calendar, at: datetime) -> Opening | None:
    """The opening that contains `at`, else the next one; None when there is none in 16 days, or a year of holidays."""
    if calendar.is_always_open:
        return Opening(at, None)
    today = at.astimezone(calendar.zone).date()
    for offset in range(-1, SEARCH_DAYS_MAX + (SEARCH_HOLIDAYS_MAX if calendar.holidays else 0)):
        for opening in _openings_of(calendar, today + offset * _DAY):
            if opening.end is None or opening.end > at:
                return opening
    return None


def closed_by(calendar: Calendar, at: datetime) -> Closed | None:
    """The rule that forbids this moment: the window, else a holiday, else the quiet hours. None: allowed."""
    if _is_open(calendar, at):
        return None
    if not _is_open(replace(calendar, quiet=None, holidays=NONE), at):
        return "window"
    return "quiet" if _is_open(replace(calendar, quiet=None), at) else "holiday"


def spread_start(opening: Opening, item_id: str) -> datetime:
    """A moment near the opening's start, the same one for the same item: held items must not all leave at once."""
    span = timedelta(minutes=SPREAD_MINUTES_MAX)
    if opening.end is not None:
        span = min(span, (opening.end - opening.start) / 2)
    drawn = int.from_bytes(hashlib.blake2b(item_id.encode(), digest_size=_HASH_BYTES).digest())
    return opening.start + span * (drawn / 256**_HASH_BYTES)


def _is_open(calendar: Calendar, at: datetime) -> bool:
    opening = next_opening(calendar, at)
    return opening is not None and opening.start <= at


def _openings_of(calendar: Calendar, day: date) -> Iterator[Opening]:
    if day.isoweekday() not in calendar.weekdays or day in calendar.holidays:
        return
    start, end = _span(calendar.zone, day, calendar.window or Hours(time(), time()))
    if calendar.quiet is not None:
        for offset in (-1, 0, 1):
            quiet_start, quiet_end = _span(calendar.zone, day + offset * _DAY, calendar.quiet)
            if quiet_start < quiet_end and quiet_end > start:
                if start < min(quiet_start, end):
                    yield Opening(start, min(quiet_start, end))
                start = max(start, quiet_end)
    if start < end:
        yield Opening(start, end)


@lru_cache(maxsize=4096)
def _span(zone: tzinfo, day: date, hours: Hours) -> tuple[datetime, datetime]:
    last = day if hours.start < hours.end else day + _DAY
    return _instant(zone, day, hours.start), _instant(zone, last, hours.end)


def _instant(zone: tzinfo, day: date, clock: time) -> datetime:
    return instant_of(datetime.combine(day, clock), zone).astimezone(UTC)


OPENINGS_MAX: Final = 2_000  # behind them every hour counts: over seven years of working days
LEFT_MAX: Final = timedelta(days=3_650)
SPAN_MAX: Final = timedelta(days=3_650)  # as far as is looked back
HOUR: Final = timedelta(hours=1)
SECOND: Final = timedelta(seconds=1)


def after(calendar: Calendar, start: datetime, span: timedelta) -> datetime:
    """The moment at which so much time that counts has passed."""
    at = start.astimezone(UTC)
    for _ in range(OPENINGS_MAX):
        opening = next_opening(calendar, at)
        if opening is None:
            break
        begin = max(opening.start, at)
        if opening.end is None or opening.end - begin >= span:
            return begin + span
        span -= opening.end - begin
        at = opening.end
    return at + span


def between(calendar: Calendar, start: datetime, end: datetime) -> timedelta:
    """The time that counts from `start` to `end`; nothing where `end` is not later."""
    total, at, end = timedelta(0), start.astimezone(UTC), end.astimezone(UTC)
    for _ in range(OPENINGS_MAX):
        opening = next_opening(calendar, at)
        if opening is None:
            break
        begin = max(opening.start, at)
        if begin >= end:
            return total
        if opening.end is None or opening.end >= end:
            return total + (end - begin)
        total += opening.end - begin
        at = opening.end
    return total + max(end - at, timedelta(0))


def before(calendar: Calendar, end: datetime, span: timedelta) -> datetime:
    """The latest moment from which so much time that counts passes until `end`, to the second."""
    low, high = end - span, end
    while between(calendar, low, end) < span and end - low < SPAN_MAX:
        low -= max(end - low, HOUR)
    while high - low > SECOND:
        middle = low + (high - low) / 2
        low, high = (middle, high) if between(calendar, middle, end) >= span else (low, middle)
    return low


def due_time(calendar: Calendar, *, now: datetime, hours: int | None) -> datetime | None:
    return None if hours is None else after(calendar, now, timedelta(hours=hours))


def left(calendar: Calendar, *, now: datetime, due: datetime) -> timedelta:
    """The time that counts until `due`; of what is overdue, the time since then by the clock, negative."""
    return due - now if due <= now else min(between(calendar, now, due), LEFT_MAX)


def due_again(calendar: Calendar, *, now: datetime, left: timedelta) -> datetime:
    """When a stopped clock that goes on at `now` will have run out, or had."""
    return now + left if left <= timedelta(0) else after(calendar, now, left)


WINDOWS_MAX: Final = 6
REST_MIN: Final = timedelta(hours=1)  # of a window that has begun
WHOLE_MAX: Final = timedelta(hours=5)  # longer openings are halved
OFFICE_HOURS: Final = Hours(time(9), time(17))  # where an organization has no business hours: nobody calls at night
WORKING_DAYS: Final = frozenset(range(1, 6))


def offered(calendar: Calendar, *, now: datetime) -> list[tuple[datetime, datetime]]:
    """The next windows, in order; none where the calendar has no opening for weeks."""
    if calendar.window is None:
        days = WORKING_DAYS if calendar.weekdays >= WEEKDAYS_ALL else calendar.weekdays
        calendar = replace(calendar, window=OFFICE_HOURS, weekdays=days)
    found: list[tuple[datetime, datetime]] = []
    at = now
    while len(found) < WINDOWS_MAX:
        opening = next_opening(calendar, at)
        if opening is None or opening.end is None:
            break
        found += [one for one in _parts(opening) if one[1] - now >= REST_MIN]
        at = opening.end
    return found[:WINDOWS_MAX]


def _parts(opening: Opening) -> list[tuple[datetime, datetime]]:
    start, end = opening.start, opening.end or opening.start
    if end - start <= WHOLE_MAX:
        return [(start, end)]
    hours = (end - start) / 2 // timedelta(hours=1)
    middle = start + timedelta(hours=hours)
    return [(start, middle), (middle, end)]
