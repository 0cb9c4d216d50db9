"""SQL that reads kept counts of answers and of cases, with what they lack by now."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, LiteralString

from afterword.core.figures.cells import Cell
from afterword.core.figures.periods import Days, Hour
from afterword.core.figures.queries import CountQuery, DailyCounts
from afterword.events.store import IS_NATIVE
from afterword.kit.db import Database

# Without a cursor nobody follows the log yet: changes of kept days would not show.
_IS_FOLLOWED: Final[LiteralString] = f"{IS_NATIVE} and exists (select from event_cursor where reader = 'rollups')"
_KEPT: Final[LiteralString] = f"""with span as (
             select s.questionnaire_id, s.generation, s.kept_until from rollup_span s
             join organization o on o.organization_id = s.organization_id and o.time_zone = s.time_zone
             where s.organization_id = $1 and s.questionnaire_id = any($2) and s.dimension = $3 and {_IS_FOLLOWED}),
           unread as materialized (
             select unread.* from event_cursor c
             cross join lateral (
               select e.organization_id, e.questionnaire_id, e.type, e.data from event e
               where (e.xid, e.seq) > (c.xid, c.seq) order by e.xid, e.seq limit $9) unread
             where c.reader = 'rollups'),
           live as materialized (
             select d.questionnaire_id, d.day from rollup_dirty d
             where d.organization_id = $1 and d.questionnaire_id = any($2) and d.dimension = $3
             union
             select w.questionnaire_id, w.day from rollup_wide w join span s using (questionnaire_id, generation)
             where w.organization_id = $1 and w.dimension = $3
             union
             select u.questionnaire_id, ($5::date[])[width_bucket(u.at, $6::timestamptz[])] from (
               select questionnaire_id, (data ->> 'submitted_time')::timestamptz as at from unread
               where organization_id = $1 and questionnaire_id = any($2)) u
             where u.at >= ($6::timestamptz[])[1] and u.at < $7),
           hour as materialized ( -- those of the day $15, which begins at $7 and is not over
             select s.questionnaire_id, s.generation, h.hour from rollup_span s
             join organization o on o.organization_id = s.organization_id and o.time_zone = s.time_zone
             cross join unnest($12::text[], $13::timestamptz[]) as h (hour, to_time)
             where s.organization_id = $1 and s.questionnaire_id = any($2) and s.dimension = 'hour' and {_IS_FOLLOWED}
               and s.hours_generation = s.generation and s.hours_until > $7 and s.hours_until <= $14::timestamptz
               and h.to_time <= s.hours_until
               and not exists (
                 select from rollup_dirty d where d.organization_id = $1 and d.questionnaire_id = s.questionnaire_id
                   and d.dimension = 'hour' and d.day = $15 and (d.hours is null or h.hour = any(d.hours)))
               and not exists (
                 select from unread u where u.organization_id = $1 and u.questionnaire_id = s.questionnaire_id
                   and to_char((u.data ->> 'submitted_time')::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24')
                     = h.hour)),
           c as materialized (
             select c.questionnaire_id, width_bucket(c.day, $8::date[]) - 1 as bucket, c.dimension_value,
               q.counted_as as question_id, c.given, c.counts
             from span s cross join unnest($4::text[], $10::text[]) as q (question_id, counted_as)
             join rollup_count c on c.organization_id = $1 and c.questionnaire_id = s.questionnaire_id
               and c.dimension = $3 and c.generation = s.generation and c.question_id = q.question_id
               and c.day >= ($5::date[])[1] and c.day < least(($5::date[])[cardinality($5::date[])] + 1, s.kept_until)
               and c.day = any($5)
             where not exists (select 1 from live l where l.questionnaire_id = c.questionnaire_id and l.day = c.day)
             union all
             select h.questionnaire_id, width_bucket($15::date, $8) - 1, '', q.counted_as, c.given, c.counts
             from hour h cross join unnest($4, $10) as q (question_id, counted_as)
             join rollup_count c on c.organization_id = $1 and c.questionnaire_id = h.questionnaire_id
               and c.dimension = 'hour' and c.generation = h.generation and c.question_id = q.question_id
               and c.day = $15 and c.dimension_value = h.hour)
           (select 'count' as kind, c.questionnaire_id, c.bucket, c.dimension_value, c.question_id, v.value,
             sum(v.count)::bigint as count, null::date as day
           from c cross join lateral unnest(c.given, c.counts) as v (value, count)
           group by 2, 3, 4, 5, 6 limit $11)
           union all
           select 'until', questionnaire_id, null, null, null, null, null, kept_until from span
           union all
           select 'live', questionnaire_id, null, null, null, null, null, day from live
           union all
           select 'hour', questionnaire_id, null, hour, null, null, null, null from hour
           union all
           select 'unread', null, null, null, null, null, count(*), null from unread"""

# As `_KEPT`, of cases: the stages of kept days, and of live cases on the others and between $9 and $10, of at most $11.
_STAGES_KEPT: Final[LiteralString] = f"""with unread as materialized (
    select u.organization_id, u.instance_id from event_cursor c cross join lateral (
      select e.organization_id, case when e.type like 'queue_item.%' then e.data ->> 'questionnaire_instance_id'
        when e.type like 'questionnaire_instance.%' then e.subject_id end as instance_id
      from event e where (e.xid, e.seq) > (c.xid, c.seq) order by e.xid, e.seq limit $8) u
    where c.reader = 'rollups'),
  span as materialized (
    select s.questionnaire_id, s.generation, s.kept_from, s.kept_until from rollup_span s
    join organization o on o.organization_id = s.organization_id and o.time_zone = s.time_zone
    where s.organization_id = $1 and s.questionnaire_id = any($2::text[]) and s.dimension = 'cases' and {_IS_FOLLOWED}
      and (select count(*) from unread) < $8),
  live as materialized (
    select d.questionnaire_id, d.day from rollup_dirty d
    where d.organization_id = $1 and d.questionnaire_id = any($2) and d.dimension = 'cases'
    union
    select w.questionnaire_id, w.day from rollup_wide w join span s using (questionnaire_id, generation)
    where w.organization_id = $1 and w.dimension = 'cases'
    union
    select i.questionnaire_id, ($3::date[])[width_bucket(m.at, $4::timestamptz[])] from unread u
    join questionnaire_instance i on i.organization_id = $1 and i.instance_id = u.instance_id
    cross join lateral (values (i.created_time), (i.sent_time)) as m (at)
    where u.organization_id = $1 and m.at >= ($4::timestamptz[])[1]
      and m.at < ($5::timestamptz[])[cardinality($5::timestamptz[])]),
  kept as materialized (
    select c.questionnaire_id, width_bucket(c.day, $6::date[]) - 1 as bucket, c.given, c.counts
    from span s join rollup_count c on c.organization_id = $1 and c.questionnaire_id = s.questionnaire_id
      and c.dimension = 'cases' and c.generation = s.generation and c.question_id = ''
      and c.day >= s.kept_from and c.day < s.kept_until and c.day = any($3)
    where not exists (select from live l where l.questionnaire_id = c.questionnaire_id and l.day = c.day)),
  missing as (
    select q.questionnaire_id, d.day, d.from_time, d.to_time,
      d.day - row_number() over (partition by q.questionnaire_id order by d.day)::integer as island
    from unnest($2) q (questionnaire_id) cross join unnest($3, $4, $5) d (day, from_time, to_time)
    where exists (select from live l where l.questionnaire_id = q.questionnaire_id and l.day = d.day)
      or not exists (select from span s where s.questionnaire_id = q.questionnaire_id and d.day >= s.kept_from
        and d.day < s.kept_until)),
  s as materialized ( -- the cases of a moment are read once for all questionnaires: the index knows moments alone
    select array_agg(questionnaire_id) as questionnaire_ids, from_time, to_time from (
      select questionnaire_id, min(from_time) as from_time, max(to_time) as to_time from missing
      group by questionnaire_id, island) m
    group by from_time, to_time
    union all
    select $2, g.from_time, g.to_time from unnest($9::timestamptz[], $10::timestamptz[]) g (from_time, to_time)),
  i as materialized (
    select i.questionnaire_id, i.bucket, i.sent_time, i.delivered_time, i.viewed_time, i.submitted_time,
      i.completed_time
    from (
      select i.questionnaire_id, width_bucket(i.at, $7::timestamptz[]) - 1 as bucket, i.sent_time, i.delivered_time,
        i.viewed_time, i.submitted_time, i.completed_time
      from s cross join lateral (
        select i.questionnaire_id, i.sent_time, i.delivered_time, i.viewed_time, i.submitted_time, i.completed_time,
          coalesce(i.sent_time, i.created_time) as at
        from questionnaire_instance i
        where i.organization_id = $1 and i.questionnaire_id = any(s.questionnaire_ids)
          and coalesce(i.sent_time, i.created_time) >= s.from_time
          and coalesce(i.sent_time, i.created_time) < s.to_time and i.deleted_time is null and not i.test
        offset 0) i) i limit $11)
  select 'count' as kind, k.questionnaire_id, k.bucket, v.value, sum(v.count)::bigint as count
  from kept k cross join lateral unnest(k.given, k.counts) as v (value, count) group by 2, 3, 4
  union all
  select 'live', c.questionnaire_id, c.bucket, v.value, v.count from (
    select questionnaire_id, bucket, count(*) as created, count(sent_time) as sent, count(delivered_time) as delivered,
      count(viewed_time) as viewed, count(coalesce(submitted_time, completed_time)) as started,
      count(submitted_time) as submitted, count(completed_time) as completed
    from i group by 1, 2) c
  cross join lateral (values ('created', created), ('sent', sent), ('delivered', delivered), ('viewed', viewed),
    ('started', started), ('submitted', submitted), ('completed', completed)) v (value, count)"""


async def get_kept(
    db: Database,
    *,
    organization_id: str,
    asked: CountQuery,
    whole: Sequence[Days],
    hours: Sequence[Hour],
    events_max: int,
    cells_max: int,
) -> DailyCounts | None:
    """The kept counts of the `whole` days of each period in the organization's zone, all as of one moment.

    `hours`: those of the day that follows on the last period's whole days.
    What the reader of the log has not seen yet makes its day live, so that a change shows with its own commit. None
    where it is `events_max` events behind.
    """
    rows = await db.fetch(
        _KEPT,
        organization_id,
        list(asked.questionnaire_ids),
        ":".join(filter(None, asked.dimensions[0])) if asked.dimensions else "",
        list(asked.questions),
        [day for days in whole for day in days.days],
        [start for days in whole for start in days.starts],
        whole[-1].end,
        _bucket_days(asked, whole),
        events_max,
        list(asked.questions.values()),
        cells_max,
        [hour.name for hour in hours],
        [hour.end for hour in hours],
        asked.period.to_time,
        whole[-1].after,
    )
    found = DailyCounts()
    for kind, questionnaire_id, bucket, dimension_value, question_id, value, count, day in rows:
        key = (bucket, questionnaire_id, (dimension_value or None,) if asked.dimensions else ())
        match kind:
            case "count":
                found.cells.append(Cell(*key, question_id, value, count))
            case "until":
                found.until[questionnaire_id] = day
            case "live":
                found.live.setdefault(questionnaire_id, []).append(day)
            case "hour":
                found.hours.setdefault(questionnaire_id, set()).add(dimension_value)
            case _:  # the count of events that the reader of the log has not read
                if count >= events_max:
                    return None
    return found


async def list_stages(
    db: Database, *, organization_id: str, asked: CountQuery, whole: Sequence[Days], events_max: int, number_max: int
) -> tuple[list[Cell], int]:
    """Count cases by stage, from kept counts on their `whole` days; also the number of cases that were read."""
    ends: list[tuple[datetime, datetime]] = []
    for part, days in zip(asked.parts, whole, strict=True):
        first, last = (days.starts[0], days.end) if days.starts else (part.period.to_time, part.period.to_time)
        ends += [(part.period.from_time, first), (last, part.period.to_time)]
    ends = [(low, high) for low, high in ends if low < high]
    rows = await db.fetch(
        _STAGES_KEPT,
        organization_id,
        list(asked.questionnaire_ids),
        [day for days in whole for day in days.days],
        [start for days in whole for start in days.starts],
        [days.start(day + date.resolution) for days in whole for day in days.days],
        _bucket_days(asked, whole),
        asked.edges,
        events_max,
        [low for low, _ in ends],
        [high for _, high in ends],
        number_max,
    )
    number, cells = 0, list[Cell]()
    for kind, questionnaire_id, bucket, value, count in rows:
        number += count if (kind, value) == ("live", "created") else 0
        if count:
            cells.append(Cell(bucket, questionnaire_id, (), "", value, count))
    return cells, number


def _bucket_days(asked: CountQuery, whole: Sequence[Days]) -> list[date]:
    """The first day of each bucket; that of a period may begin in the days of the one before."""
    return [
        max(start, days.first) if index == 0 else start
        for part, days in zip(asked.parts, whole, strict=True)
        for index, start in enumerate(part.buckets)
    ]
