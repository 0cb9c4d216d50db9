"""When a digest of a report is due: on a day of the week or of the month, at an hour of a time zone."""

from datetime import UTC, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

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
