"""Time that counts: the openings of a calendar, as business hours have them; what lies between does not count."""

from datetime import UTC, datetime, timedelta
from typing import Final

from afterword.core.scheduling import windows
from afterword.core.scheduling.windows import Calendar

OPENINGS_MAX: Final = 2_000  # behind them every hour counts: over seven years of working days
LEFT_MAX: Final = timedelta(days=3_650)
SPAN_MAX: Final = timedelta(days=3_650)  # as far as is looked back
HOUR: Final = timedelta(hours=1)
SECOND: Final = timedelta(seconds=1)


def after(calendar: Calendar, start: datetime, span: timedelta) -> datetime:
    """The moment at which so much time that counts has passed."""
    at = start.astimezone(UTC)
    for _ in range(OPENINGS_MAX):
        opening = windows.next_opening(calendar, at)
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
        opening = windows.next_opening(calendar, at)
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
