"""The figures of the work on cases in a period."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal, cast, get_args

from afterword import errors
from afterword.cases.figures import store
from afterword.cases.figures.store import Counts
from afterword.core.figures import metrics, periods
from afterword.core.figures.metrics import Measure
from afterword.core.figures.periods import DAYS_DEFAULT, DAYS_MAX, Bucket, Period
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.tenants.organizations import service as organizations

ROWS_MAX: Final = 100
HOUR_SECONDS: Final = 3_600
Group = Literal["status", "owner", "alert", "severity", "cause", "remedy", "day", "week", "month", "quarter"]
BUCKETS: Final = frozenset(get_args(Bucket))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One group: `key` is an id, a text or the first day of a part of the period; None: cases without a value."""

    key: str | None
    title: str | None
    opened: int
    closed: int
    in_time: Measure
    median_hours: float | None
    measured: int
    answered: int
    won_back: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    period: Period
    group_by: Group | None
    total: Row
    rows: Sequence[Row]
    is_cut: bool


async def figures(
    db: Database,
    *,
    caller: Caller,
    from_time: datetime | None,
    to_time: datetime | None,
    time_zone: str,
    group_by: Group | None,
    now: datetime,
) -> Figures:
    """The last 30 days unless they are given. Raises Invalid for a period that ends early or has too many parts."""
    to_time = to_time or periods.whole_second(now)
    organization = await organizations.get_organization(db, organization_id=caller.organization_id)
    first_weekday = organization.first_weekday if organization else 1
    period = Period(from_time or to_time - timedelta(days=DAYS_DEFAULT), to_time, time_zone, first_weekday)
    if not timedelta(0) < period.to_time - period.from_time <= timedelta(days=DAYS_MAX):
        wrong = f"The period has at most {DAYS_MAX:,} days and ends after it begins."
        raise errors.Invalid.of(errors.FieldError("out_of_range", wrong, parameter="to_time"))
    bucket = cast("Bucket", group_by) if group_by in BUCKETS else None
    starts = periods.buckets(period, bucket)
    if len(starts) > ROWS_MAX:
        wrong = f"The period has {len(starts):,} of these parts, and {ROWS_MAX} are shown at most."
        raise errors.Invalid.of(errors.FieldError("too_many", wrong, parameter="group_by"))
    found = await store.list_counts(
        db,
        **caller.reach,
        from_time=period.from_time,
        to_time=period.to_time,
        group_by="bucket" if bucket else group_by,
        edges=periods.edges(period, starts),
        limit=ROWS_MAX + 2,
    )
    rows = [_row(one, starts if bucket else ()) for one in found[1 : ROWS_MAX + 1]]
    return Figures(period=period, group_by=group_by, total=_row(found[0]), rows=rows, is_cut=len(found) > ROWS_MAX + 1)


def _row(counts: Counts, starts: Sequence[date] = ()) -> Row:
    day = starts[int(counts.key or 1) - 1].isoformat() if starts else None
    return Row(
        key=day or counts.key,
        title=day or counts.title,
        opened=counts.opened,
        closed=counts.closed,
        in_time=metrics.share(counts.in_time, counts.timed, metric="in_time"),
        median_hours=None if counts.median_seconds is None else round(counts.median_seconds / HOUR_SECONDS, 2),
        measured=counts.measured,
        answered=counts.answered,
        won_back=metrics.share(counts.won_back, counts.compared, metric="won_back"),
    )
