"""When a message may leave by the recipient's clock: weekdays, a daily window, quiet hours, over clock changes.

Local boundaries become instants (`times.instant_of`): in a gap the first instant after it, in a fold the first of the
two. So a window inside a gap is empty on that day, and no hour of a fold is sent in twice.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final, Literal

from afterword.core.scheduling import holidays
from afterword.core.scheduling.holidays import DaysOff
from afterword.core.wire.times import instant_of

SPREAD_MINUTES_MAX: Final = 10
SEARCH_DAYS_MAX: Final = 16  # a week, and a week more for windows that vanish on the day of a clock change
SEARCH_HOLIDAYS_MAX: Final = 370  # more, where there are holidays: no item waits longer than a year
Closed = Literal["window", "holiday", "quiet"]
WEEKDAYS_ALL: Final = frozenset(range(1, 8))
_DAY: Final = timedelta(days=1)
_HASH_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Hours:
    """A span of every local day, its end excluded. One that does not end after its start ends on the next day."""

    start: time
    end: time

    def contains(self, clock: time) -> bool:
        if self.start < self.end:
            return self.start <= clock < self.end
        return clock >= self.start or clock < self.end


@dataclass(frozen=True, slots=True)
class Calendar:
    """When a lane may send: a window on the days on which it starts, less the quiet hours. Both None: the whole day.

    A holiday is a day on which no window starts; one that began the evening before ends as on any other day.
    """

    zone: tzinfo
    window: Hours | None = None
    weekdays: frozenset[int] = WEEKDAYS_ALL  # ISO: 1 Monday, 7 Sunday
    quiet: Hours | None = None
    holidays: DaysOff = holidays.NONE

    @property
    def is_always_open(self) -> bool:
        return self.window is None and self.quiet is None and self.weekdays >= WEEKDAYS_ALL and not self.holidays


@dataclass(frozen=True, slots=True)
class Opening:
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
    if not _is_open(replace(calendar, quiet=None, holidays=holidays.NONE), at):
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
