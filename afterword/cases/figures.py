"""The figures of the work on cases in a period."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final, Literal, LiteralString, Unpack, cast, get_args

import msgspec

from afterword import errors
from afterword.core.figures import metrics, periods
from afterword.core.figures.metrics import Measure
from afterword.core.figures.periods import DAYS_DEFAULT, DAYS_MAX, Bucket, Period
from afterword.core.organizations.access import Caller, Reach, values_of
from afterword.core.wire import times
from afterword.kit import db as databases
from afterword.kit.db import Database
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import service as organizations

_COLUMNS: Final[LiteralString] = """i.alert_id, i.status_id, i.assigned_user_id, i.severity, i.cause, i.remedy,
  i.due_time, i.resolved_time, i.work_seconds, i.recovered"""
_REACHED: Final[LiteralString] = """i.organization_id = $1 and not $3::boolean
  and (cardinality($2::text[]) = 0 or exists (select from alert a
    where a.organization_id = i.organization_id and a.alert_id = i.alert_id and a.application_id = any($2)))"""


async def _list_counts(
    db: Database,
    *,
    from_time: datetime,
    to_time: datetime,
    group_by: str | None,
    edges: Sequence[datetime],
    limit: int,
    **reach: Unpack[Reach],
) -> list[databases.Row]:
    """The total first, then the groups with most cases; of `bucket` by their number, 1 for the first of `edges`.

    A case counts as opened by the time when it was, as closed and as answered by those times.
    `key` is None for cases without a value. `timed`: closed ones that had a due time, `measured`: whose
    `median_seconds` are known; `answered`: customers who said how it is now, `compared`: whose answer can be compared
    with the first.
    """
    return await db.fetch(
        f"""with e as (
             select 'opened' as kind, i.created_time as time, {_COLUMNS} from alert_instance i
             where {_REACHED} and i.created_time >= $4 and i.created_time < $5
             union all
             select 'closed', i.resolved_time, {_COLUMNS} from alert_instance i
             where {_REACHED} and greatest(i.resolved_time, i.recovery_time) >= $4
               and i.resolved_time >= $4 and i.resolved_time < $5
             union all
             select 'answered', i.recovery_time, {_COLUMNS} from alert_instance i
             where {_REACHED} and greatest(i.resolved_time, i.recovery_time) >= $4
               and i.recovery_time >= $4 and i.recovery_time < $5),
           k as (
             select e.*, case $6::text when 'status' then status_id::text when 'owner' then assigned_user_id
               when 'alert' then alert_id when 'severity' then severity when 'cause' then cause
               when 'remedy' then remedy when 'bucket' then width_bucket(time, $7::timestamptz[])::text end as key
             from e),
           g as (
             select key, grouping(key) = 1 as is_total, count(*) as cases,
               count(*) filter (where kind = 'opened') as opened, count(*) filter (where kind = 'closed') as closed,
               count(*) filter (where kind = 'closed' and due_time is not null) as timed,
               count(*) filter (where kind = 'closed' and resolved_time <= due_time) as in_time,
               count(work_seconds) filter (where kind = 'closed') as measured,
               percentile_disc(0.5) within group (order by work_seconds) filter (where kind = 'closed')
                 as median_seconds,
               count(*) filter (where kind = 'answered') as answered,
               count(recovered) filter (where kind = 'answered') as compared,
               count(*) filter (where kind = 'answered' and recovered) as won_back
             from k group by grouping sets ((), (key)))
           select key, opened, closed, timed, in_time, measured, median_seconds, answered, compared, won_back,
             case $6 when 'status' then (select s.title from alert_status s
                 where s.organization_id = $1 and s.status_id::text = key)
               when 'owner' then (select coalesce(u.display_name,
                   nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) from organization_user u
                 where u.organization_id = $1 and u.user_id = key)
               when 'alert' then (select a.title from alert a where a.organization_id = $1 and a.alert_id = key)
               else key end as title
           from g where is_total or $6 is not null
           order by is_total desc, case $6 when 'bucket' then key::integer else -cases end, key limit $8""",
        *(*values_of(reach), reach["test_only"], from_time, to_time, group_by, list(edges), limit),
    )


ROWS_MAX: Final = 100
HOUR_SECONDS: Final = 3_600
Group = Literal["status", "owner", "alert", "severity", "cause", "remedy", "day", "week", "month", "quarter"]
BUCKETS: Final = frozenset(get_args(Bucket))


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The work on the cases of one group."""

    key: str | None  # an id, a text or the first day of a part of the period; None: cases without a value
    title: str | None
    opened: int
    closed: int
    in_time: Measure
    median_hours: float | None
    measured: int
    answered: int
    won_back: Measure


class Figures(msgspec.Struct, frozen=True, kw_only=True):
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
    to_time, first_weekday = to_time or periods.whole_second(now), 1
    if group_by in BUCKETS and (
        organization := await organizations.get_organization(db, organization_id=caller.organization_id)
    ):
        first_weekday = organization.first_weekday
    period = Period(from_time or to_time - timedelta(days=DAYS_DEFAULT), to_time, time_zone, first_weekday)
    if not timedelta(0) < period.to_time - period.from_time <= timedelta(days=DAYS_MAX):
        wrong = f"The period has at most {DAYS_MAX:,} days and ends after it begins."
        raise errors.Invalid.in_query("to_time", "out_of_range", wrong)
    bucket = cast("Bucket", group_by) if group_by in BUCKETS else None
    starts = periods.buckets(period, bucket)
    if len(starts) > ROWS_MAX:
        wrong = f"The period has {len(starts):,} of these parts, and {ROWS_MAX} are shown at most."
        raise errors.Invalid.in_query("group_by", "too_many", wrong)
    found = await _list_counts(
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


def _row(counts: databases.Row, starts: Sequence[date] = ()) -> Row:
    day, seconds = starts[int(counts["key"] or 1) - 1].isoformat() if starts else None, counts["median_seconds"]
    return Row(
        key=day or counts["key"],
        title=day or counts["title"],
        in_time=metrics.share(counts["in_time"], counts["timed"], metric="in_time"),
        median_hours=None if seconds is None else round(seconds / HOUR_SECONDS, 2),
        won_back=metrics.share(counts["won_back"], counts["compared"], metric="won_back"),
        **{name: counts[name] for name in ("opened", "closed", "measured", "answered")},
    )


routes = Routes(tag="Alert Instance")


class FiguresQuery(fields.Request):
    """The period, in the organization's time zone, and the groups."""

    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    group_by: Group | None = None


class CaseShare(fields.Resource):
    """`hits` of `n` cases in percent, with the interval of 95 %; null of no case."""

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None


CaseCounts: Final = shown_as("CaseCounts", Row, types={"in_time": CaseShare, "won_back": CaseShare})


class CaseFigures(fields.Resource):
    """The work on cases in a period: each counts as opened, closed and asked again by the time when it was."""

    from_time: fields.DateTime
    to_time: fields.DateTime
    group_by: Group | None
    total: CaseCounts
    rows: list[CaseCounts]
    truncated: bool


@routes.get(
    "/alert/figures",
    scope="Alert Instance.Read",
    query=FiguresQuery,
    answer=CaseFigures,
    summary="Get the figures of the work on cases",
    description=(
        "Times to close are business hours, without those in which the customer was waited for. `won_back`: customers "
        "whose answer to the recovery questionnaire is better by the rule, of those who could be compared."
    ),
)
async def get_case_figures(call: Call[None], db: Database) -> Answer:
    query: FiguresQuery = call.query
    found = await figures(
        db,
        caller=call.caller,
        from_time=query.from_time and query.from_time.instant,
        to_time=query.to_time and query.to_time.instant,
        time_zone=str(call.zone),
        group_by=query.group_by,
        now=call.now,
    )
    shown = CaseFigures.of(
        found,
        from_time=times.format_time(found.period.from_time, zone=call.zone),
        to_time=times.format_time(found.period.to_time, zone=call.zone),
        total=_counts(found.total),
        rows=[_counts(row) for row in found.rows],
        truncated=found.is_cut,
    )
    return Answer(shown)


def _counts(row: Row) -> fields.Resource:
    return CaseCounts.of(row, in_time=_share(row.in_time), won_back=_share(row.won_back))


def _share(measure: Measure) -> CaseShare:
    interval = measure.interval
    return CaseShare(
        hits=measure.hits or 0,
        n=measure.n,
        value=None if measure.value is None else round(measure.value, 2),
        low=None if interval is None else round(interval.low, 2),
        high=None if interval is None else round(interval.high, 2),
    )
