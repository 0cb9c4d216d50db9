"""Plans and credits: when a plan renews, its credits after that, and the events of their use. Pure."""

import calendar
from datetime import UTC, datetime
from typing import Final, Literal

Kind = Literal["once", "monthly", "unlimited"]
PlanEvent = Literal["low_credits", "credits_exhausted"]
CREDITS_MAX: Final = 1_000_000_000
LOW_SHARE: Final = 10  # low: a tenth of the plan's credits is left


def next_renewal(start_time: datetime, *, after: datetime) -> datetime:
    """The first whole number of months from `start_time` that lies after `after`, both counted in UTC.

    A plan of the 31st renews on the last day of shorter months, and on the 31st again where there is one.
    """
    start, then = start_time.astimezone(UTC), after.astimezone(UTC)
    months = max(1, (then.year - start.year) * 12 + then.month - start.month)
    at = _months_later(start, months)
    return at if at > then else _months_later(start, months + 1)


def renewed_credits(remaining: int, *, credits: int) -> int:  # noqa: A002  the field's own name
    """The credits of a renewed plan: its own, less overuse of the last period; unused ones expire."""
    return credits + min(remaining, 0)


def event_of_use(left: int, *, credits: int) -> PlanEvent | None:  # noqa: A002  the field's own name
    """The event of a use that left `left` credits, extra ones included; each is recorded once as credits run down."""
    if left == 0:
        return "credits_exhausted"
    return "low_credits" if left == credits // LOW_SHARE else None


def _months_later(start: datetime, months: int) -> datetime:
    years, month = divmod(start.month - 1 + months, 12)
    year = start.year + years
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return start.replace(year=year, month=month + 1, day=day)
