"""SQL of kept counts: spans, the counts themselves, and the days that are counted anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, LiteralString

from afterword.core.figures.periods import Days
from afterword.core.figures.reports import Cell, Group
from afterword.db import Database, Row
from afterword.db.columns import qualified
from afterword.events.store import IS_NATIVE

# As in counts/store.py, for one dimension of kind $6 and name $7.
_DIMENSION: Final[LiteralString] = """coalesce(case $6::text
    when 'version' then i.version_id
    when 'locale' then i.locale
    when 'questionnaire_metadata' then i.metadata ->> $7::text
    when 'channel' then i.channel_id::text
    end, '')"""
_VALUES: Final[LiteralString] = """unnest(case jsonb_typeof(a.value)
    when 'array' then case when jsonb_array_length(a.value) > 0 then
      array(select distinct e.value from jsonb_array_elements_text(a.value) e (value)) || '*'::text end
    when 'number' then array[a.value #>> '{}']
    when 'boolean' then array[a.value #>> '{}'] end)"""

# The questions of the types $5 that any version of a questionnaire asks.
_ASKED: Final[LiteralString] = """asked as materialized (
    select distinct q ->> 'question_id' as question_id
    from questionnaire_version v, jsonb_array_elements(v.definition -> 'groups') g,
      jsonb_array_elements(g -> 'questions') q
    where v.organization_id = $1 and v.questionnaire_id = $2 and q ->> 'type' = any($5::text[]))"""


@dataclass(frozen=True, slots=True)
class Span:
    """The kept days of a questionnaire and one dimension: all before `kept_until`, in `time_zone`.

    Of each group as many people as `people_max` are kept, to know whether there are fewer.
    """

    organization_id: str
    questionnaire_id: str
    dimension: str
    generation: int
    time_zone: str
    kept_until: date
    due_time: datetime
    people_max: int


_COLUMNS: Final[LiteralString] = """organization_id, questionnaire_id, dimension, generation, time_zone, kept_until,
  due_time, people_max"""
_COLUMNS_S: Final = qualified(_COLUMNS, "s")


@dataclass(frozen=True, slots=True)
class Kept:
    """Kept counts and people by bucket, the watermark, and the stale days.

    `unread`: how many events the reader of the log is behind; at the limit of the query nothing of it may be used.
    """

    cells: Sequence[Cell]
    until: dict[str, date]
    live: dict[str, list[date]]
    unread: int
    groups: Sequence[Group] = ()


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """One whose answers may be kept, with what its organization has now."""

    organization_id: str
    questionnaire_id: str
    time_zone: str
    minimum_base: int


_KEPT: Final[LiteralString] = f"""with span as (
             select s.questionnaire_id, s.generation, s.kept_until from rollup_span s
             join organization o on o.organization_id = s.organization_id and o.time_zone = s.time_zone
               and o.minimum_base <= s.people_max
             where s.organization_id = $1 and s.questionnaire_id = any($2) and s.dimension = $3 and {IS_NATIVE}),
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
           c as materialized (
             select c.questionnaire_id, width_bucket(c.day, $8::date[]) - 1 as bucket, c.dimension_value,
               q.counted_as as question_id, c.given, c.counts, case when $12 > 0 then c.people end as people
             from span s cross join unnest($4::text[], $10::text[]) as q (question_id, counted_as)
             join rollup_count c on c.organization_id = $1 and c.questionnaire_id = s.questionnaire_id
               and c.dimension = $3 and c.generation = s.generation and c.question_id = q.question_id
               and c.day >= ($5::date[])[1] and c.day < least(($5::date[])[cardinality($5::date[])] + 1, s.kept_until)
             where not exists (select 1 from live l where l.questionnaire_id = c.questionnaire_id and l.day = c.day)),
           enough as (
             select questionnaire_id, bucket, dimension_value, question_id,
               max(people) filter (where cardinality(people) >= $12) as people
             from c where $12 > 0 group by 1, 2, 3, 4)
           (select 'count' as kind, c.questionnaire_id, c.bucket, c.dimension_value, c.question_id, v.value,
             sum(v.count)::bigint as count, null::date as day, null::bigint[] as people
           from c cross join lateral unnest(c.given, c.counts) as v (value, count)
           group by 2, 3, 4, 5, 6 limit $11)
           union all
           (select 'people', questionnaire_id, bucket, dimension_value, question_id, null, null, null, people[1:$12]
           from enough where people is not null limit $11)
           union all
           (select 'people', questionnaire_id, bucket, dimension_value, question_id, null, null, null,
             (array_agg(distinct p.person))[1:$12]
           from enough e join c using (questionnaire_id, bucket, dimension_value, question_id)
           cross join lateral unnest(c.people) as p (person)
           where e.people is null group by 2, 3, 4, 5 limit $11)
           union all
           select 'until', questionnaire_id, null, null, null, null, null, kept_until, null from span
           union all
           select 'live', questionnaire_id, null, null, null, null, null, day, null from live
           union all
           select 'unread', null, null, null, null, null, count(*), null, null from unread"""


async def get_kept(
    db: Database,
    *,
    organization_id: str,
    questionnaire_ids: Sequence[str],
    questions: Mapping[str, str],
    dimension: str,
    days: Days,
    buckets: Sequence[date],
    events_max: int,
    cells_max: int,
    people_max: int,
) -> Kept:
    """The kept counts of these whole days of the organization's zone, all as of one moment.

    What the reader of the log has not seen yet makes its day live, so that a change shows with its own commit.
    """
    rows = await db.fetch(
        _KEPT,
        organization_id,
        list(questionnaire_ids),
        dimension,
        list(questions),
        days.days,
        list(days.starts),
        days.end,
        list(buckets),
        events_max,
        list(questions.values()),
        cells_max,
        people_max,
    )
    return _kept(rows, has_dimension=bool(dimension))


async def list_spans(  # any tenant: the reader of the log serves all of them
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[Span]:
    """The spans of these pairs of organization and questionnaire."""
    rows = await db.fetch(
        f"""select {_COLUMNS_S} from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join rollup_span s on s.organization_id = b.organization_id and s.questionnaire_id = b.questionnaire_id""",
        [organization_id for organization_id, _ in questionnaires],
        [questionnaire_id for _, questionnaire_id in questionnaires],
    )
    return [_span(row) for row in rows]


async def list_published_questionnaires(  # any tenant: one job keeps counts for all
    db: Database, *, after: str, limit: int
) -> list[Questionnaire]:
    """Published questionnaires behind this id, in its order."""
    rows = await db.fetch(
        """select q.organization_id, q.questionnaire_id, o.time_zone, o.minimum_base from questionnaire q
           join organization o on o.organization_id = q.organization_id
           where q.questionnaire_id > $1 and q.published_version_id is not null
           order by q.questionnaire_id limit $2""",
        after,
        limit,
    )
    return [Questionnaire(**row) for row in rows]


async def insert_spans(
    db: Database, *, organization_id: str, spans: Sequence[tuple[str, str, str]], people_max: int
) -> None:
    """Begin to keep: triples of questionnaire, dimension and time zone; what there is stays."""
    await db.execute(
        """insert into rollup_span (organization_id, questionnaire_id, dimension, time_zone, people_max)
           select $1, b.*, $5
           from unnest($2::text[], $3::text[], $4::text[]) as b (questionnaire_id, dimension, time_zone)
           on conflict do nothing""",
        organization_id,
        [questionnaire_id for questionnaire_id, _, _ in spans],
        [dimension for _, dimension, _ in spans],
        [time_zone for _, _, time_zone in spans],
        people_max,
    )


async def update_span(
    db: Database, *, organization_id: str, span: Span, time_zone: str, people_max: int, now: datetime
) -> None:
    """Count again from the beginning, with the days of another zone or more people."""
    await db.execute(
        """with begun as (
             update rollup_span set generation = default, time_zone = $5, people_max = $7, kept_until = default,
               due_time = default
             where organization_id = $1 and questionnaire_id = $2 and dimension = $3 and generation = $4
             returning organization_id, questionnaire_id, dimension)
           insert into rollup_retired (organization_id, questionnaire_id, dimension, generation, retired_time)
           select organization_id, questionnaire_id, dimension, $4, $6 from begun on conflict do nothing""",
        *(organization_id, span.questionnaire_id, span.dimension, span.generation, time_zone, now),
        people_max,
    )


async def delete_span(db: Database, *, organization_id: str, span: Span, now: datetime) -> None:
    """Keep this dimension no longer; its counts are removed by and by."""
    await db.execute(
        """with ended as (
             delete from rollup_span
             where organization_id = $1 and questionnaire_id = $2 and dimension = $3 and generation = $4
             returning organization_id, questionnaire_id, dimension)
           insert into rollup_retired (organization_id, questionnaire_id, dimension, generation, retired_time)
           select organization_id, questionnaire_id, dimension, $4, $5 from ended on conflict do nothing""",
        *(organization_id, span.questionnaire_id, span.dimension, span.generation, now),
    )


async def insert_dirty_days(  # any tenant: the reader of the log serves all of them
    db: Database, *, days: Sequence[tuple[Span, date]], now: datetime
) -> None:
    """Mark days of spans; of one that is being counted at this moment it waits for the end, and marks it again."""
    await db.execute(
        """insert into rollup_dirty (organization_id, questionnaire_id, dimension, day, marked_time)
           select b.*, $5 from unnest($1::text[], $2::text[], $3::text[], $4::date[])
             as b (organization_id, questionnaire_id, dimension, day)
           join rollup_span s using (organization_id, questionnaire_id, dimension)
           order by b.organization_id, b.questionnaire_id, b.dimension, b.day
           on conflict (organization_id, questionnaire_id, dimension, day)
           do update set marked_time = excluded.marked_time where false""",
        [span.organization_id for span, _ in days],
        [span.questionnaire_id for span, _ in days],
        [span.dimension for span, _ in days],
        [day for _, day in days],
        now,
    )


async def delete_dirty_days(db: Database, *, organization_id: str, span: Span, days: Days) -> None:
    """Forget the marks of days that are counted next: what was marked is there to be seen by the next statement."""
    await db.execute(
        """delete from rollup_dirty where organization_id = $1 and questionnaire_id = $2 and dimension = $3
             and day >= $4 and day < $5""",
        *(organization_id, span.questionnaire_id, span.dimension, days.first, days.after),
    )


async def claim_due_spans(db: Database, *, now: datetime) -> list[Span]:
    """Spans of one questionnaire whose next day is over, the longest waiting one first; all that wait for the same."""
    rows = await db.fetch(
        f"""with first as (
             select organization_id, questionnaire_id, kept_until, time_zone from rollup_span
             where due_time <= $1 order by due_time limit 1 for no key update skip locked)
           select {_COLUMNS_S} from first f join rollup_span s
             on s.organization_id = f.organization_id and s.questionnaire_id = f.questionnaire_id
               and s.kept_until = f.kept_until and s.time_zone = f.time_zone
           order by s.dimension for no key update of s skip locked""",
        now,
    )
    return [_span(row) for row in rows]


async def claim_dirty_days(db: Database, *, before: datetime, limit: int) -> list[tuple[Span, date]]:
    """Marked days that are kept, the longest waiting ones first; their marks are gone when we commit."""
    rows = await db.fetch(
        f"""with marked as (
             select d.organization_id, d.questionnaire_id, d.dimension, d.day from rollup_dirty d
             join rollup_span s using (organization_id, questionnaire_id, dimension)
             where d.marked_time <= $1 and d.day < s.kept_until
             order by d.marked_time limit $2 for update of d skip locked),
           gone as (
             delete from rollup_dirty d using marked m
             where d.organization_id = m.organization_id and d.questionnaire_id = m.questionnaire_id
               and d.dimension = m.dimension and d.day = m.day)
           select {_COLUMNS_S}, m.day
           from marked m join rollup_span s using (organization_id, questionnaire_id, dimension)
           for no key update of s""",
        before,
        limit,
    )
    return [(_span(row), row["day"]) for row in rows]


async def get_next_response_time(
    db: Database, *, organization_id: str, questionnaire_id: str, from_time: datetime, offset: int
) -> datetime | None:
    """When the response at this place (0 is the first) after `from_time` was submitted; None where there are fewer."""
    return await db.fetch_value(
        """select submitted_time from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and submitted_time >= $3
             and submitted_time is not null and deleted_time is null and not test
           order by organization_id, questionnaire_id, submitted_time offset $4 limit 1""",
        organization_id,
        questionnaire_id,
        from_time,
        offset,
    )


async def delete_counts(db: Database, *, organization_id: str, span: Span, days: Days, types: Sequence[str]) -> None:
    """Forget what is kept of these days."""
    await db.execute(
        f"""with {_ASKED}, wide as (
             delete from rollup_wide where organization_id = $1 and questionnaire_id = $2 and dimension = $3
               and generation = $4 and day >= $6 and day < $7)
           delete from rollup_count where organization_id = $1 and questionnaire_id = $2 and dimension = $3
             and generation = $4 and question_id in (select question_id from asked) and day >= $6 and day < $7""",
        *(organization_id, span.questionnaire_id, span.dimension, span.generation, list(types), days.first, days.after),
    )


async def insert_counts(
    db: Database, *, organization_id: str, span: Span, days: Days, types: Sequence[str], values_max: int
) -> None:
    """Count these days of a span; of a day with more values of its dimension than this, only that it is so."""
    kind, _, name = span.dimension.partition(":")
    await db.execute(
        f"""with {_ASKED},
           answered as materialized (
             select i.day, i.dimension_value, a.question_id, i.person, a.value
             from (
               select i.organization_id, i.instance_id, hashtextextended(i.responder_id, 0) as person,
                 ($9::date[])[width_bucket(i.submitted_time, $10::timestamptz[])] as day,
                 {_DIMENSION} as dimension_value
               from questionnaire_instance i
               where i.organization_id = $1 and i.questionnaire_id = $2
                 and i.submitted_time >= ($10::timestamptz[])[1] and i.submitted_time < $11
                 and i.submitted_time is not null and i.deleted_time is null and not i.test offset 0) i
             join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
             where not a.provisional and a.question_id in (select question_id from asked)
               and a.value not in ('null', '[]', '{{}}')),
           counted as materialized (
             select a.day, a.dimension_value, a.question_id, v.value, count(*) as count
             from answered a cross join lateral {_VALUES} as v (value) group by 1, 2, 3, 4),
           people as (
             select day, dimension_value, question_id, (array_agg(person))[1:$12] as people
             from (select distinct day, dimension_value, question_id, person from answered) a group by 1, 2, 3),
           wide as (
             select day from counted group by day
             having count(distinct dimension_value) > $8 or max(length(dimension_value)) > 200),
           told as (
             insert into rollup_wide (organization_id, questionnaire_id, dimension, generation, day)
             select $1, $2, $3, $4, day from wide)
           insert into rollup_count (organization_id, questionnaire_id, dimension, generation, question_id, day,
             dimension_value, given, counts, people)
           select $1, $2, $3, $4, question_id, day, dimension_value, array_agg(value), array_agg(count), people
           from counted join people using (question_id, day, dimension_value)
           where day not in (select day from wide) group by question_id, day, dimension_value, people""",
        organization_id,
        span.questionnaire_id,
        span.dimension,
        span.generation,
        list(types),
        kind,
        name,
        values_max,
        days.days,
        list(days.starts),
        days.end,
        span.people_max,
    )


async def insert_wide_day(db: Database, *, organization_id: str, span: Span, day: date) -> None:
    await db.execute(
        """insert into rollup_wide (organization_id, questionnaire_id, dimension, generation, day)
           values ($1, $2, $3, $4, $5) on conflict do nothing""",
        *(organization_id, span.questionnaire_id, span.dimension, span.generation, day),
    )


async def settle_span(db: Database, *, organization_id: str, span: Span, kept_until: date, due_time: datetime) -> None:
    """All days before `kept_until` are kept now; the next one is over at `due_time`."""
    await db.execute(
        """update rollup_span set kept_until = $5, due_time = $6
           where organization_id = $1 and questionnaire_id = $2 and dimension = $3 and generation = $4""",
        *(organization_id, span.questionnaire_id, span.dimension, span.generation, kept_until, due_time),
    )


async def prune_retired(db: Database, *, before: datetime, limit: int) -> int:
    """Remove counts of generations that were retired before; how many rows went."""
    return await db.execute(
        """with retired as (
             select organization_id, questionnaire_id, dimension, generation from rollup_retired
             where retired_time < $1 order by retired_time limit 1 for update skip locked),
           counts as (
             delete from rollup_count c using (
               select c.ctid from retired r join rollup_count c using (organization_id, questionnaire_id, dimension,
                 generation) limit $2) old
             where c.ctid = old.ctid returning 1),
           days as (
             delete from rollup_wide w using retired r
             where w.organization_id = r.organization_id and w.questionnaire_id = r.questionnaire_id
               and w.dimension = r.dimension and w.generation = r.generation),
           done as (
             delete from rollup_retired d using retired r
             where d.organization_id = r.organization_id and d.questionnaire_id = r.questionnaire_id
               and d.dimension = r.dimension and d.generation = r.generation
               and (select count(*) from counts) < $2)
           select 1 from counts""",
        before,
        limit,
    )


def _kept(rows: Sequence[Row], *, has_dimension: bool) -> Kept:
    found = Kept([], {}, {}, 0)
    cells: list[Cell] = []
    groups: list[Group] = []
    unread = 0
    for row in rows:
        match row["kind"]:
            case "until":
                found.until[row["questionnaire_id"]] = row["day"]
            case "live":
                found.live.setdefault(row["questionnaire_id"], []).append(row["day"])
            case "unread":
                unread = row["count"]
            case kind:
                value = (row["dimension_value"] or None,) if has_dimension else ()
                place = row["bucket"], row["questionnaire_id"], value, row["question_id"]
                if kind == "people":
                    groups.append(Group(*place, "", frozenset(row["people"])))
                else:
                    cells.append(Cell(*place, row["value"], row["count"]))
    return Kept(cells, found.until, found.live, unread, groups)


def _span(row: Row) -> Span:
    return Span(**{name: row[name] for name in Span.__dataclass_fields__})
