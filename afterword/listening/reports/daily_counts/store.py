"""SQL that keeps counts: spans, the counts themselves, and the days that are counted again."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, LiteralString

import msgspec

from afterword.core.figures.periods import Days, Hour
from afterword.core.figures.queries import CountQuery, DailyCounts
from afterword.core.figures.reports import COUNTED, Cell
from afterword.events.service import IS_NATIVE
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, columns_of, qualified
from afterword.kit.db.walks import EPOCH, LOOKED_MAX, Position
from afterword.listening.reports.values import DIMENSION, VALUES

# The questions of the types $5 that any version of a questionnaire asks.
_ASKED: Final[LiteralString] = """asked as materialized (
    select distinct q ->> 'question_id' as question_id
    from questionnaire_version v, jsonb_array_elements(v.definition -> 'groups') g,
      jsonb_array_elements(g -> 'questions') q
    where v.organization_id = $1 and v.questionnaire_id = $2 and q ->> 'type' = any($5::text[]))"""


class Span(msgspec.Struct, frozen=True):
    """The kept days of a questionnaire and one dimension: all before `kept_until`, in `time_zone`.

    `kept_from`: the first day of cases. `hours_until`: the end of the kept hours of its day, of the generation
    `hours_generation`.
    `frozen_until`: days before it are not counted again, since their responses were removed by their age.
    """

    organization_id: str
    questionnaire_id: str
    dimension: str
    generation: int
    time_zone: str
    kept_until: date
    due_time: datetime
    kept_from: date | None = None
    hours_until: datetime | None = None
    hours_generation: int | None = None
    frozen_until: date | None = None

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.organization_id, self.questionnaire_id, self.dimension, self.generation


CASES: Final = "cases"  # the dimension of the stages that cases have come to, by the day when they went out
# The dimension of the hours of the day that is not over. Its spans are never due: marks alone lead to them.
HOUR: Final = "hour"
MARKS: Final[LiteralString] = "marked_time, organization_id, questionnaire_id, dimension, day"
MARKS_START: Final[Position] = (EPOCH, "", "", "", date.min)
# The mark of a row `l` that was found, unless another process has it.
_LOCKED: Final[LiteralString] = """select organization_id, questionnaire_id, dimension, day, hours from rollup_dirty d
  where d.organization_id = l.organization_id and d.questionnaire_id = l.questionnaire_id
    and d.dimension = l.dimension and d.day = l.day for update skip locked"""
_COLUMNS: Final = columns_of(Span)
_COLUMNS_S: Final = qualified(_COLUMNS, "s")
_OF_SPAN: Final[LiteralString] = "organization_id = $1 and questionnaire_id = $2 and dimension = $3 and generation = $4"
_RETIRE: Final[LiteralString] = """
  insert into rollup_retired (organization_id, questionnaire_id, dimension, generation, retired_time)
  select organization_id, questionnaire_id, dimension, $4, $5 from ended on conflict do nothing"""


class Questionnaire(msgspec.Struct, frozen=True):
    organization_id: str
    questionnaire_id: str
    application_id: str
    time_zone: str
    is_published: bool


async def list_spans(  # any tenant: the reader of the log serves all of them
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[Span]:
    return await db.records(Span).fetch(
        f"""select {_COLUMNS_S} from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join rollup_span s on s.organization_id = b.organization_id and s.questionnaire_id = b.questionnaire_id""",
        *arrays(questionnaires, 2),
    )


async def list_questionnaires(  # any tenant: one job keeps counts for all
    db: Database, *, after: str, limit: int
) -> list[Questionnaire]:
    return await db.records(Questionnaire).fetch(
        """select q.organization_id, q.questionnaire_id, q.owner_application_id as application_id, o.time_zone,
             q.published_version_id is not null as is_published
           from questionnaire q
           join organization o on o.organization_id = q.organization_id
           where q.questionnaire_id > $1 order by q.questionnaire_id limit $2""",
        after,
        limit,
    )


async def insert_spans(  # any tenant: the questionnaire names its own
    db: Database, *, questionnaire: Questionnaire, dimensions: Sequence[str], cases_from: date
) -> list[Span]:
    """Begin to keep these dimensions, cases from a day on; those that are kept already stay as they are."""
    return await db.records(Span).fetch(
        f"""insert into rollup_span (organization_id, questionnaire_id, dimension, time_zone, kept_from, kept_until,
             due_time)
           select $1, $2, d.dimension, $4, case when d.dimension = $6 then $5::date end,
             case when d.dimension = $6 then $5 else '1970-01-01' end,
             case when d.dimension = 'hour' then '9999-12-31'::timestamptz else '1970-01-01' end
           from unnest($3::text[]) as d (dimension) on conflict do nothing returning {_COLUMNS}""",
        *(questionnaire.organization_id, questionnaire.questionnaire_id, dimensions),
        *(questionnaire.time_zone, cases_from, CASES),
    )


async def update_span(db: Database, *, span: Span, time_zone: str, now: datetime) -> None:  # any tenant: the span's own
    """Count again from the beginning, with the days of another zone. Frozen days keep their counts."""
    await db.execute(
        f"""with ended as (
             update rollup_span set generation = default, time_zone = $6,
               kept_until = greatest(kept_from, frozen_until, '1970-01-01'),
               due_time = case when dimension = 'hour' then due_time else '1970-01-01' end
             where {_OF_SPAN} returning organization_id, questionnaire_id, dimension, generation, frozen_until),
           frozen as (
             insert into rollup_count (organization_id, questionnaire_id, dimension, generation, question_id, day,
               dimension_value, given, counts, people)
             select c.organization_id, c.questionnaire_id, c.dimension, e.generation, c.question_id, c.day,
               c.dimension_value, c.given, c.counts, c.people
             from ended e join rollup_count c on c.organization_id = e.organization_id
               and c.questionnaire_id = e.questionnaire_id and c.dimension = e.dimension and c.generation = $4
               and c.day < e.frozen_until)
           {_RETIRE}""",
        *(*span.key, now, time_zone),
    )


async def delete_span(db: Database, *, span: Span, now: datetime) -> None:  # any tenant: the span's own
    """Stop keeping this dimension; `prune_retired` removes its counts later."""
    await db.execute(
        f"""with ended as (
             delete from rollup_span where {_OF_SPAN} returning organization_id, questionnaire_id, dimension)
           {_RETIRE}""",
        *(*span.key, now),
    )


async def insert_dirty_days(  # any tenant: the reader of the log serves all of them
    db: Database, *, days: Sequence[tuple[Span, date]], now: datetime
) -> None:
    """Mark days of spans; waits for the end of a count that is reading the same day, and marks it again."""
    await db.execute(
        """insert into rollup_dirty (organization_id, questionnaire_id, dimension, day, marked_time)
           select b.*, $5 from unnest($1::text[], $2::text[], $3::text[], $4::date[])
             as b (organization_id, questionnaire_id, dimension, day)
           join rollup_span s using (organization_id, questionnaire_id, dimension)
           where b.day >= coalesce(s.frozen_until, '-infinity')
           order by b.organization_id, b.questionnaire_id, b.dimension, b.day
           on conflict (organization_id, questionnaire_id, dimension, day)
           do update set hours = null where rollup_dirty.hours is not null""",
        *arrays(((*span.key[:3], day) for span, day in days), 4),
        now,
    )


async def insert_dirty_hours(  # any tenant: the reader of the log serves all of them
    db: Database, *, hours: Sequence[tuple[Span, date, str]], now: datetime
) -> None:
    """Mark hours of days, as `insert_dirty_days` marks whole ones."""
    await db.execute(
        """insert into rollup_dirty (organization_id, questionnaire_id, dimension, day, marked_time, hours)
           select b.organization_id, b.questionnaire_id, b.dimension, b.day, $6, array_agg(b.hour)
           from unnest($1::text[], $2::text[], $3::text[], $4::date[], $5::text[])
             as b (organization_id, questionnaire_id, dimension, day, hour)
           join rollup_span s using (organization_id, questionnaire_id, dimension)
           group by 1, 2, 3, 4 order by 1, 2, 3, 4
           on conflict (organization_id, questionnaire_id, dimension, day)
           do update set marked_time = excluded.marked_time,
             hours = array(select distinct h from unnest(rollup_dirty.hours || excluded.hours) h)
           where not excluded.hours <@ rollup_dirty.hours""",
        *arrays(((*span.key[:3], day, hour) for span, day, hour in hours), 5),
        now,
    )


async def claim_dirty_hours(
    db: Database, *, before: datetime, hour: str, limit: int
) -> list[tuple[Span, date, list[str] | None]]:
    """Claim marks of hours before `hour`, the longest waiting ones first, each with its day; None: all of the day."""
    rows = await db.fetch(
        f"""with marked as (
             select d.organization_id, d.questionnaire_id, d.dimension, d.day, d.hours from (
               select organization_id, questionnaire_id, dimension, day, hours, marked_time from rollup_dirty
               where dimension = 'hour' and marked_time <= $1 order by marked_time limit $4) l
             cross join lateral ({_LOCKED}) d
             where l.hours is null or exists (select from unnest(l.hours) h where h < $2)
             order by l.marked_time limit $3),
           gone as (
             delete from rollup_dirty d using marked m
             where d.organization_id = m.organization_id and d.questionnaire_id = m.questionnaire_id
               and d.dimension = m.dimension and d.day = m.day)
           select {_COLUMNS_S}, m.day, m.hours
           from marked m join rollup_span s using (organization_id, questionnaire_id, dimension)
           for no key update of s""",
        *(before, hour, limit, LOOKED_MAX),  # those of the present hour that are passed are over soon
    )
    return [(_span(row), row["day"], row["hours"]) for row in rows]


async def delete_hours(db: Database, *, span: Span, hours: Sequence[str] | None) -> None:  # any tenant: the span's own
    """Remove the counts of these hours; None: of all."""
    await db.execute(
        f"delete from rollup_count where {_OF_SPAN} and ($5::text[] is null or dimension_value = any($5))",
        *(*span.key, hours),
    )


async def settle_hours(db: Database, *, span: Span, hours_until: datetime) -> None:
    await db.execute(
        f"update rollup_span set hours_until = $5, hours_generation = generation where {_OF_SPAN}",
        *(*span.key, hours_until),
    )


async def delete_dirty_days(db: Database, *, span: Span, days: Days) -> None:  # any tenant: the span's own
    """Remove the marks of days that are counted next: the count sees the changes of all marks that are there."""
    await db.execute(
        """delete from rollup_dirty where organization_id = $1 and questionnaire_id = $2 and dimension = $3
             and day >= $4 and day < $5""",
        *(*span.key[:3], days.first, days.after),
    )


async def claim_due_spans(db: Database, *, now: datetime) -> list[Span]:
    """Claim the spans of one questionnaire that wait for the same day; the longest waiting questionnaire first."""
    return await db.records(Span).fetch(
        f"""with first as (
             select organization_id, questionnaire_id, kept_until, time_zone, dimension = $2 as is_of_cases
             from rollup_span where due_time <= $1 and dimension <> 'hour' order by due_time limit 1
             for no key update skip locked)
           select {_COLUMNS_S} from first f join rollup_span s
             on s.organization_id = f.organization_id and s.questionnaire_id = f.questionnaire_id
               and s.kept_until = f.kept_until and s.time_zone = f.time_zone
               and (s.dimension = $2) = f.is_of_cases and s.dimension <> 'hour'
           order by s.dimension for no key update of s skip locked""",
        *(now, CASES),
    )


async def claim_dirty_days(db: Database, *, after: Position, before: datetime, limit: int) -> list[tuple[Span, date]]:
    """Claim those of the next marked days that are kept, the longest waiting ones first; their marks are removed."""
    rows = await db.fetch(
        f"""with marked as (
             select d.organization_id, d.questionnaire_id, d.dimension, d.day from (
               select {MARKS} from rollup_dirty where marked_time <= $1 and ({MARKS}) > ($4, $5, $6, $7, $8)
               order by {MARKS} limit $3) l
             cross join lateral (
               select kept_until from rollup_span s where s.organization_id = l.organization_id
                 and s.questionnaire_id = l.questionnaire_id and s.dimension = l.dimension offset 0) s
             cross join lateral ({_LOCKED}) d
             where l.day < s.kept_until order by l.marked_time limit $2),
           gone as (
             delete from rollup_dirty d using marked m
             where d.organization_id = m.organization_id and d.questionnaire_id = m.questionnaire_id
               and d.dimension = m.dimension and d.day = m.day)
           select {_COLUMNS_S}, m.day
           from marked m join rollup_span s using (organization_id, questionnaire_id, dimension)
           for no key update of s""",
        *(before, limit, LOOKED_MAX, *after),
    )
    return [(_span(row), row["day"]) for row in rows]


async def get_next_response_time(
    db: Database, *, organization_id: str, questionnaire_id: str, from_time: datetime, offset: int
) -> datetime | None:
    """The time of the response at position `offset`, from 0, after `from_time`; None where there are fewer."""
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


async def delete_counts(db: Database, *, span: Span, days: Days) -> None:  # any tenant: the span's own
    await db.execute(
        f"""with {_ASKED}, wide as (delete from rollup_wide where {_OF_SPAN} and day >= $6 and day < $7)
           delete from rollup_count
           where {_OF_SPAN} and question_id = any(array(select question_id from asked) || ''::text)
             and day >= $6 and day < $7""",
        *(*span.key, sorted(COUNTED), days.first, days.after),
    )


async def insert_counts(db: Database, *, span: Span, days: Days, values_max: int) -> None:  # any tenant: the span's own
    """Count these days of a span; of a day with more values of its dimension than this, only that it is so."""
    kind, _, name = span.dimension.partition(":")
    await db.execute(
        f"""with {_ASKED},
           answered as materialized (
             select i.day, i.dimension_value, a.question_id, a.value
             from (
               select i.organization_id, i.instance_id,
                 ($9::date[])[width_bucket(i.submitted_time, $10::timestamptz[])] as day,
                 coalesce({DIMENSION}, '') as dimension_value
               from questionnaire_instance i cross join (values ($6::text, $7::text)) d (kind, name)
               where i.organization_id = $1 and i.questionnaire_id = $2
                 and i.submitted_time >= ($10::timestamptz[])[1] and i.submitted_time < $11
                 and i.submitted_time is not null and i.deleted_time is null and not i.test offset 0) i
             join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
             where not a.provisional and a.question_id in (select question_id from asked)
               and a.value not in ('null', '[]', '{{}}')),
           counted as materialized (
             select a.day, a.dimension_value, a.question_id, v.value, count(*) as count
             from answered a cross join lateral {VALUES} as v (value) group by 1, 2, 3, 4),
           wide as (
             select day from counted group by day
             having count(distinct dimension_value) > $8 or max(length(dimension_value)) > 200),
           told as (
             insert into rollup_wide (organization_id, questionnaire_id, dimension, generation, day)
             select $1, $2, $3, $4, day from wide)
           insert into rollup_count (organization_id, questionnaire_id, dimension, generation, question_id, day,
             dimension_value, given, counts, people)
           select $1, $2, $3, $4, question_id, day, dimension_value, array_agg(value), array_agg(count), '{{}}'
           from counted where value is not null and day not in (select day from wide) group by 5, 6, 7""",
        *span.key,
        sorted(COUNTED),
        *(kind, name, values_max),
        *(days.days, days.starts, days.end),
    )


async def insert_cases(db: Database, *, span: Span, days: Days) -> None:  # any tenant: the span's own
    """Count the cases of these days by the stages that they have come to."""
    await db.execute(
        """insert into rollup_count (organization_id, questionnaire_id, dimension, generation, question_id, day,
             dimension_value, given, counts, people)
           select $1, $2, $3, $4, '', i.day, '',
             array['created', 'sent', 'delivered', 'viewed', 'started', 'submitted', 'completed'],
             array[count(*) filter (where i.anonymity is distinct from 'response'),
               count(i.sent_time), count(i.delivered_time), count(i.viewed_time),
               count(coalesce(i.submitted_time, i.completed_time)), count(i.submitted_time), count(i.completed_time)],
             '{}'
           from (
             select ($5::date[])[width_bucket(coalesce(i.sent_time, i.created_time), $6::timestamptz[])] as day,
               i.sent_time, i.delivered_time, i.viewed_time, i.submitted_time, i.completed_time, i.anonymity
             from questionnaire_instance i
             where i.organization_id = $1 and i.questionnaire_id = $2
               and coalesce(i.sent_time, i.created_time) >= ($6::timestamptz[])[1]
               and coalesce(i.sent_time, i.created_time) < $7 and i.deleted_time is null and not i.test) i
           group by i.day""",
        *span.key,
        *(days.days, days.starts, days.end),
    )


async def list_case_moments(  # any tenant: the reader of the log serves all of them
    db: Database, *, cases: Sequence[tuple[str, str]]
) -> list[tuple[str, str, datetime]]:
    """The moments by which these cases (organization, instance) count, or counted before they were sent.

    Each with its organization and questionnaire; without test data.
    """
    return await db.fetch_tuples(
        """select distinct i.organization_id, i.questionnaire_id, m.at
           from unnest($1::text[], $2::text[]) as b (organization_id, instance_id)
           join questionnaire_instance i on i.organization_id = b.organization_id and i.instance_id = b.instance_id
           cross join lateral (values (i.created_time), (i.sent_time)) as m (at)
           where not i.test and m.at is not null""",
        *arrays(cases, 2),
    )


async def get_next_case_time(
    db: Database, *, organization_id: str, questionnaire_id: str, from_time: datetime, offset: int
) -> datetime | None:
    """When the instance at position `offset` after `from_time` was made: about as many cases have gone out by then."""
    return await db.fetch_value(
        """select created_time from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and created_time >= $3
           order by created_time offset $4 limit 1""",
        *(organization_id, questionnaire_id, from_time, offset),
    )


async def insert_wide_day(db: Database, *, span: Span, day: date) -> None:  # any tenant: the span's own
    await db.execute(
        """insert into rollup_wide (organization_id, questionnaire_id, dimension, generation, day)
           values ($1, $2, $3, $4, $5) on conflict do nothing""",
        *(*span.key, day),
    )


async def settle_span(db: Database, *, span: Span, kept_until: date, due_time: datetime) -> None:
    """All days before `kept_until` are kept now; the next one is over at `due_time`."""
    await db.execute(
        f"update rollup_span set kept_until = $5, due_time = $6 where {_OF_SPAN}",
        *(*span.key, kept_until, due_time),
    )


async def get_time_zone(db: Database, *, organization_id: str) -> str:
    return await db.fetch_value("select time_zone from organization where organization_id = $1", organization_id)


async def update_to_frozen(db: Database, *, organization_id: str, day: date) -> bool:
    """Close the counts of all days before this one; False while some of them are still to be counted."""
    is_open = await db.fetch_value(
        """select exists (select from rollup_span s join organization o using (organization_id)
             where s.organization_id = $1 and s.dimension <> 'hour'
               and (s.kept_until < $2 or s.time_zone <> o.time_zone))
           or exists (select from rollup_dirty where organization_id = $1 and dimension <> 'hour' and day < $2)""",
        *(organization_id, day),
    )
    if not is_open:
        await db.execute(
            """update rollup_span set frozen_until = $2
               where organization_id = $1 and dimension <> 'hour' and (frozen_until is null or frozen_until < $2)""",
            *(organization_id, day),
        )
    return not is_open


async def prune_retired(db: Database, *, before: datetime, limit: int) -> int:
    """Remove counts of generations that were retired before; how many rows went."""
    return await db.execute(
        """with retired as (
             select d.organization_id, d.questionnaire_id, d.dimension, d.generation from (
               select organization_id, questionnaire_id, dimension, generation, retired_time from rollup_retired
               order by organization_id, questionnaire_id, dimension, generation limit $3) l, lateral ( -- all soon old
               select organization_id, questionnaire_id, dimension, generation from rollup_retired d
               where d.organization_id = l.organization_id and d.questionnaire_id = l.questionnaire_id
                 and d.dimension = l.dimension and d.generation = l.generation for update skip locked) d
             where l.retired_time < $1 limit 1),
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
        *(before, limit, LOOKED_MAX),
    )


def _span(row: Row) -> Span:
    return Span(**{name: row[name] for name in Span.__struct_fields__})


# Without a cursor nobody follows the log yet: changes of kept days would not show.
_IS_FOLLOWED: Final[LiteralString] = f"{IS_NATIVE} and exists (select from event_cursor where reader = 'rollups')"
_KEPT: Final[LiteralString] = f"""with span as (
             select s.questionnaire_id, s.generation, s.kept_until from rollup_span s
             join organization o on o.organization_id = s.organization_id and o.time_zone = s.time_zone
             where s.organization_id = $1 and s.questionnaire_id = any($2) and s.dimension = $3 and {_IS_FOLLOWED}),
           unread as materialized (
             select unread.* from event_cursor c
             cross join lateral (
               select e.organization_id, e.questionnaire_id,
                 coalesce((e.data ->> 'submitted_time')::timestamptz, (e.instance).submitted_time) as submitted_time
               from event e
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
               select questionnaire_id, submitted_time as at from unread
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
                   and to_char(u.submitted_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24')
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
      select e.organization_id, case when e.type like 'queue_item.%'
          then coalesce(e.data ->> 'questionnaire_instance_id', (e.item).questionnaire_instance_id)
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


async def get_daily_counts(
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
