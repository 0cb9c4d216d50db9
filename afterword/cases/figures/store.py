"""SQL of the figures of the work on cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The cases of one group; `key` is None for those without a value, `is_total`: of all groups.

    `timed`: closed ones that had a due time, `measured`: whose `median_seconds` are known; `answered`: customers who
    said how it is now, `compared`: whose answer can be compared with the first.
    """

    key: str | None
    title: str | None
    is_total: bool
    opened: int
    closed: int
    timed: int
    in_time: int
    measured: int
    median_seconds: int | None
    answered: int
    compared: int
    won_back: int


_COLUMNS: Final[LiteralString] = """i.alert_id, i.status_id, i.assigned_user_id, i.severity, i.cause, i.remedy,
  i.due_time, i.resolved_time, i.work_seconds, i.recovered"""
_REACHED: Final[LiteralString] = """i.organization_id = $1 and not $3::boolean
  and (cardinality($2::text[]) = 0 or exists (select from alert a
    where a.organization_id = i.organization_id and a.alert_id = i.alert_id and a.application_id = any($2)))"""


async def list_counts(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    from_time: datetime,
    to_time: datetime,
    group_by: str | None,
    edges: Sequence[datetime],
    limit: int,
) -> list[Counts]:
    """The total first, then the groups with most cases; of `bucket` by their number, 1 for the first of `edges`.

    A case counts as opened by the time when it was, as closed and as answered by those times.
    """
    rows = await db.fetch(
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
           select key, is_total, opened, closed, timed, in_time, measured, median_seconds, answered, compared, won_back,
             case $6 when 'status' then (select s.title from alert_status s
                 where s.organization_id = $1 and s.status_id::text = key)
               when 'owner' then (select coalesce(u.display_name,
                   nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) from organization_user u
                 where u.organization_id = $1 and u.user_id = key)
               when 'alert' then (select a.title from alert a where a.organization_id = $1 and a.alert_id = key)
               else key end as title
           from g where is_total or $6 is not null
           order by is_total desc, case $6 when 'bucket' then key::integer else -cases end, key limit $8""",
        *(organization_id, list(application_ids), test_only, from_time, to_time, group_by, list(edges), limit),
    )
    return [Counts(**row) for row in rows]
