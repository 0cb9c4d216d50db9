"""The times at which a customer can ask to be called: halves of business days."""

from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Final

from afterword.core.scheduling import windows
from afterword.core.scheduling.windows import Calendar, Hours, Opening

WINDOWS_MAX: Final = 6
REST_MIN: Final = timedelta(hours=1)  # of a window that has begun
WHOLE_MAX: Final = timedelta(hours=5)  # longer openings are halved
OFFICE_HOURS: Final = Hours(time(9), time(17))  # where an organization has no business hours: nobody calls at night
WORKING_DAYS: Final = frozenset(range(1, 6))


def offered(calendar: Calendar, *, now: datetime) -> list[tuple[datetime, datetime]]:
    """The next windows, in order; none where the calendar has no opening for weeks."""
    if calendar.window is None:
        days = WORKING_DAYS if calendar.weekdays >= windows.WEEKDAYS_ALL else calendar.weekdays
        calendar = replace(calendar, window=OFFICE_HOURS, weekdays=days)
    found: list[tuple[datetime, datetime]] = []
    at = now
    while len(found) < WINDOWS_MAX:
        opening = windows.next_opening(calendar, at)
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
