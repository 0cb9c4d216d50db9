"""SQL of custom reports, and of what reports count: responses and their answers, live or as `rollups` keeps them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.figures import periods
from afterword.core.figures.periods import Days
from afterword.core.figures.queries import CountQuery, Kept, Scope
from afterword.core.figures.reports import NUMERIC, Cell, Group, Repeat
from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row
from afterword.db.columns import qualified
from afterword.events.store import IS_NATIVE
from afterword.reports.values.store import DIMENSION, PARTS, VALUES_AND_RANKS


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomReport:
    """A saved report; `spec` as it was checked when it was saved."""

    organization_id: str
    report_id: str
    application_id: str | None
    title: str
    description: str | None
    spec: dict[str, Any]
    questionnaire_ids: list[str]
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    pinned_time: datetime | None


_COLUMNS: Final[LiteralString] = """organization_id, report_id, application_id, title, description, spec,
  questionnaire_ids, version, created_time, updated_time, created_by, updated_by, pinned_time"""
_COLUMNS_R: Final = qualified(_COLUMNS, "r")
# Reports, unless they, or questionnaires in them, belong to other applications than these (none: any).
_VISIBLE: Final[LiteralString] = f"""select {_COLUMNS_R} from custom_report r
  where r.organization_id = $1 and (cardinality($2::text[]) = 0 or (
    coalesce(r.application_id = any($2), true) and not exists (
      select 1 from questionnaire q where q.organization_id = r.organization_id
        and q.questionnaire_id = any(r.questionnaire_ids) and q.owner_application_id <> all($2))))"""


async def get_report(
    db: Database, *, organization_id: str, report_id: str, application_ids: Sequence[str], is_locked: bool = False
) -> CustomReport | None:
    """A report that these applications (none: all) may see; `is_locked`: until the transaction ends."""
    lock: LiteralString = "for update of r" if is_locked else ""
    row = await db.fetch_row(
        f"{_VISIBLE} and r.report_id = $3 {lock}", organization_id, list(application_ids), report_id
    )
    return CustomReport(**row) if row else None


async def list_custom_reports(
    db: Database, *, organization_id: str, application_ids: Sequence[str], page: Page
) -> Rows[CustomReport]:
    rows = await db.fetch_list(_VISIBLE, organization_id, list(application_ids), page=page)
    return rows.map(lambda row: CustomReport(**row))


async def list_pinned_reports(
    db: Database, *, organization_id: str, application_ids: Sequence[str], limit: int
) -> list[CustomReport]:
    pinned: LiteralString = "r.pinned_time is not null order by r.pinned_time, r.report_id limit $3"
    rows = await db.fetch(f"{_VISIBLE} and {pinned}", organization_id, list(application_ids), limit)
    return [CustomReport(**row) for row in rows]


async def count_reports(db: Database, *, organization_id: str) -> int:
    return await db.fetch_value("select count(*) from custom_report where organization_id = $1", organization_id)


async def insert_report(
    db: Database, *, organization_id: str, report_id: str, columns: Mapping[str, Any], now: datetime, by: str
) -> CustomReport:
    row = await db.fetch_one(
        f"""insert into custom_report (organization_id, report_id, application_id, title, description, spec,
             questionnaire_ids, created_time, updated_time, created_by, updated_by)
           select $1, $2, s.application_id, s.title, s.description, s.spec,
             array(select jsonb_array_elements_text(s.spec -> 'questionnaire_ids')), $4, $4, $5, $5
           from jsonb_populate_record(null::custom_report, $3::jsonb) s returning {_COLUMNS}""",
        *(organization_id, report_id, columns, now, by),
    )
    return CustomReport(**row)


async def update_report(
    db: Database, *, organization_id: str, report_id: str, changes: Mapping[str, Any], now: datetime, by: str
) -> CustomReport | None:
    """Write what is named of title, description, spec and pinned_time; None when nothing changed."""
    row = await db.fetch_row(
        f"""update custom_report r
           set title = n.title, description = n.description, spec = n.spec, pinned_time = n.pinned_time,
             questionnaire_ids = array(select jsonb_array_elements_text(n.spec -> 'questionnaire_ids')),
             version = r.version + 1, updated_time = greatest(r.updated_time, $4), updated_by = $5
           from custom_report o, jsonb_populate_record(o, $3::jsonb) n
           where r.organization_id = $1 and r.report_id = $2 and o.organization_id = $1 and o.report_id = $2
             and (r.title, r.description, r.spec, r.pinned_time)
               is distinct from (n.title, n.description, n.spec, n.pinned_time)
           returning {_COLUMNS_R}""",
        *(organization_id, report_id, dict(changes), now, by),
    )
    return CustomReport(**row) if row else None


async def delete_report(db: Database, *, organization_id: str, report_id: str) -> None:
    await db.execute(
        "delete from custom_report where organization_id = $1 and report_id = $2", organization_id, report_id
    )


# The responses of the spans $2 to $4 whose time (`at`) by the basis $5 lies in them; $6: test data alone, else none;
# $7: also those without an answer. Without a message an instance went out when it was issued. One of the branches runs,
# each on an index of its own; `offset 0`: each span reads its own part of it and no more.
_USED: Final[LiteralString] = """i.organization_id, i.instance_id, i.questionnaire_id, i.version_id, i.responder_id,
        i.channel_id, i.pipeline_id, i.locale, i.metadata, i.created_time, i.sent_time, i.delivered_time, i.viewed_time,
        i.submitted_time, i.completed_time"""
_TIME: Final[LiteralString] = """case $5 when 'submitted' then i.submitted_time when 'completed' then i.completed_time
  else coalesce(i.sent_time, i.created_time) end"""
_READ: Final[LiteralString] = f"""
    unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) as s (questionnaire_id, from_time, to_time)
    cross join lateral (
      select {_USED}, i.submitted_time as at from questionnaire_instance i
      where $5::text = 'submitted' and not $6::boolean and i.organization_id = $1
        and i.questionnaire_id = s.questionnaire_id and i.submitted_time >= s.from_time and i.submitted_time < s.to_time
        and i.deleted_time is null and not i.test
      union all
      select {_USED}, i.completed_time as at from questionnaire_instance i
      where $5 = 'completed' and not $6 and i.organization_id = $1
        and i.questionnaire_id = s.questionnaire_id and i.completed_time >= s.from_time and i.completed_time < s.to_time
        and i.deleted_time is null and not i.test and ($7::boolean or i.submitted_time is not null)
      union all
      select {_USED}, coalesce(i.sent_time, i.created_time) as at from questionnaire_instance i
      where $5 = 'sent' and not $6 and i.organization_id = $1 and i.questionnaire_id = s.questionnaire_id
        and coalesce(i.sent_time, i.created_time) >= s.from_time and coalesce(i.sent_time, i.created_time) < s.to_time
        and i.deleted_time is null and not i.test and ($7 or i.submitted_time is not null)
      union all
      select t.* from (
        select {_USED}, {_TIME} as at
        from questionnaire_instance i
        where $6 and i.organization_id = $1 and i.questionnaire_id = s.questionnaire_id and i.deleted_time is null
          and i.test and ($7 or i.submitted_time is not null)) t
      where t.at >= s.from_time and t.at < s.to_time
"""
_RESPONSES: Final[LiteralString] = f"{_READ} offset 0) i"
_SOME: Final[LiteralString] = f"{_READ} limit $18) i"
# The chosen ones among them ($8), of a channel and a pipeline.
_OF_WAY: Final[LiteralString] = """($9::smallint is null or i.channel_id = $9)
    and ($10::text is null or i.pipeline_id = $10)"""
_CHOSEN: Final[LiteralString] = f"($8::text[] is null or i.instance_id = any($8)) and {_OF_WAY}"

# The group of a response `i`, by buckets that begin at $13 and dimensions of kinds $11 and names $12.
_KEY: Final[LiteralString] = f"""width_bucket(i.at, $13::timestamptz[]) - 1 as bucket, i.questionnaire_id, array(
    select {DIMENSION} from unnest($11::text[], $12::text[]) with ordinality as d (kind, name, place) order by d.place
  ) as dimensions"""
_PERSON: Final[LiteralString] = """width_bucket(i.at, $13::timestamptz[]), i.questionnaire_id,
  coalesce(i.responder_id, i.instance_id)"""
_KEYED: Final[LiteralString] = f"""(select i.organization_id, i.instance_id,
    coalesce(i.responder_id, i.instance_id) as person, {_KEY} from {_RESPONSES} where {_CHOSEN} offset 0) i"""

# The questions that a response `i` answers, as they are counted, and the stages that a case has come to.
_GIVEN: Final[LiteralString] = """
    select q.counted_as as question_id, '' as stage from answer a
    join unnest($14::text[], $15::text[]) as q (question_id, counted_as) on q.question_id = a.question_id
    where a.organization_id = i.organization_id and a.instance_id = i.instance_id and a.question_id = any($14)
      and not a.provisional and a.value not in ('null', '[]', '{}')
    union all
    select '', w.stage from (values ('created', true), ('sent', i.sent_time is not null),
      ('delivered', i.delivered_time is not null),
      ('started', coalesce(i.submitted_time, i.completed_time) is not null)) w (stage, is_there)
    where $7 and w.is_there"""

_ANSWER: Final[LiteralString] = "i.bucket, i.questionnaire_id, i.dimensions, q.counted_as as question_id, v.value"
_READ_ANSWERS: Final[LiteralString] = f"""{_KEYED}
    join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
    join unnest($14::text[], $15::text[]) as q (question_id, counted_as) on q.question_id = a.question_id"""
_COUNTED: Final[LiteralString] = "a.question_id = any($14) and not a.provisional"


def _answers(values: LiteralString) -> LiteralString:
    return f"""select {_ANSWER}, count(*) as count from {_READ_ANSWERS} cross join lateral {values} as v (value)
    where {_COUNTED} group by 1, 2, 3, 4, 5 limit $17"""


_ANSWERS: Final = _answers(VALUES_AND_RANKS)
# Where each answer is a number, none is taken apart: half the time of a large day.
_NUMBERS: Final = _answers("(select a.value #>> '{}' where a.value <> 'null' and not $16::boolean)")
_PEOPLE: Final[LiteralString] = f"""
    select c.bucket, c.questionnaire_id, c.dimensions, c.question_id, c.value, count(*) as count from (
      select distinct on (i.bucket, i.questionnaire_id, i.person, q.counted_as, v.value) {_ANSWER}
      from {_READ_ANSWERS} cross join lateral {PARTS} as v (value) where {_COUNTED}
      order by i.bucket, i.questionnaire_id, i.person, q.counted_as, v.value, i.instance_id) c
    group by 1, 2, 3, 4, 5 limit $17"""


# Cases with how far they came, and those of each person, questionnaire and bucket that came farthest.
_CASE: Final[LiteralString] = f"""{_KEY}, i.sent_time is not null as sent, i.delivered_time is not null as delivered,
    i.viewed_time is not null as viewed, i.submitted_time is not null as submitted,
    i.completed_time is not null as completed, coalesce(i.submitted_time, i.completed_time) is not null as started,
    case when i.completed_time is not null then true when i.submitted_time is null then false else (
      select 2 * (select count(*) from answer a
          where a.organization_id = x.organization_id and a.instance_id = x.instance_id
            and not a.provisional and a.value not in ('null', '[]', '{{}}')) >= cardinality(x.question_ids)
      from questionnaire_instance x
      where x.organization_id = i.organization_id and x.instance_id = i.instance_id) end as answered
  from {_RESPONSES} where {_CHOSEN}"""
_FARTHEST: Final[LiteralString] = f"""select distinct on ({_PERSON}) {_CASE}
  order by {_PERSON}, i.completed_time is null, i.submitted_time is null, i.viewed_time is null,
    i.delivered_time is null, i.sent_time is null, i.instance_id"""
_STAGES: Final[LiteralString] = """
    select bucket, questionnaire_id, dimensions, count(*) as created, count(*) filter (where sent) as sent,
      count(*) filter (where delivered) as delivered, count(*) filter (where viewed) as viewed,
      count(*) filter (where started) as started, count(*) filter (where submitted) as submitted,
      count(*) filter (where completed) as completed,
      count(*) filter (where sent and delivered) as sent_delivered,
      count(*) filter (where sent and answered) as sent_answered,
      count(*) filter (where sent and submitted) as sent_submitted,
      count(*) filter (where sent and completed) as sent_completed,
      count(*) filter (where delivered and viewed) as delivered_viewed,
      count(*) filter (where delivered and submitted) as delivered_submitted
    from c group by 1, 2, 3 limit $14"""


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


async def list_answer_counts(
    db: Database, *, organization_id: str, asked: CountQuery, scope: Scope, once: bool, limit: int
) -> list[Cell]:
    """Count each value without provisional answers.

    With `once` the values are the parts of a question; in each a person counts once a bucket and questionnaire.
    """
    rows = await db.fetch(
        _PEOPLE if once else _NUMBERS if asked.types <= NUMERIC else _ANSWERS,
        *_chosen(organization_id, asked, scope),
        *asked.question_columns,
        "ranking" in asked.types,
        limit,
    )
    return [Cell(*cell) for cell in _grouped(rows)]


async def list_groups(
    db: Database,
    *,
    organization_id: str,
    asked: CountQuery,
    scope: Scope,
    people_max: int,
    limit: int,
    span_max: int | None = None,
) -> list[Group]:
    """List up to `people_max` people of each group; without questions, people by stage.

    Of each span of `scope` as many responses as `span_max` are read.
    """
    rows = await db.fetch(
        f"""select bucket, questionnaire_id, dimensions, question_id, stage, (array_agg(person))[1:$16] as people from (
             select distinct {_KEY}, g.question_id, g.stage, hashtextextended(i.responder_id, 0) as person
             from {_SOME} cross join lateral ({_GIVEN}) g where {_CHOSEN}) p
           group by 1, 2, 3, 4, 5 limit $17""",
        *_chosen(organization_id, asked, scope),
        *asked.question_columns,
        *(people_max, limit, span_max),
    )
    return [Group(*group, people=frozenset(people)) for *group, people in _grouped(rows)]


async def list_repeats(
    db: Database,
    *,
    organization_id: str,
    asked: CountQuery,
    scope: Scope,
    instance_ids: Sequence[str] | None,
    span_max: int | None,
    person_max: int,
) -> list[Repeat]:
    """Count the answers, or cases, of these people in all responses.

    Of each span of `scope` as many responses as `span_max` are read, and `person_max` of each person in the whole
    period, where given of `instance_ids`.
    """
    rows = await db.fetch(
        f"""with taken as (
             select i.responder_id, count(*) as taken from {_SOME} where {_CHOSEN} group by 1),
           i as (
             select {_USED}, i.at, t.taken::double precision / count(*) over (partition by i.responder_id) as weight
             from taken t cross join lateral (
               select {_USED}, i.at from (
                 select {_USED}, {_TIME} as at from questionnaire_instance i
                 where i.organization_id = $1 and i.responder_id = t.responder_id and i.questionnaire_id = any($19)
                   and i.deleted_time is null and i.test = $6 and ($7 or i.submitted_time is not null)) i
               where i.at >= $20 and i.at < $21 and ($16::text[] is null or i.instance_id = any($16)) and {_OF_WAY}
               limit $17) i)
           select {_KEY}, g.question_id, hashtextextended(i.responder_id, 0) as person, count(*) as answers,
             max(least(i.weight, 1)) as weight
           from i cross join lateral ({_GIVEN}) g where g.stage in ('', 'created') group by 1, 2, 3, 4, 5""",
        *_chosen(organization_id, asked, scope),
        *asked.question_columns,
        *(instance_ids, person_max, span_max, list(asked.questionnaire_ids)),
        *(asked.period.from_time, asked.period.to_time),
    )
    return [Repeat(*repeat) for repeat in _grouped(rows)]


async def list_case_counts(
    db: Database, *, organization_id: str, asked: CountQuery, scope: Scope, once: bool, limit: int
) -> list[Cell]:
    """Count instances by stage, and the pairs of stages for rates.

    With `once` the one of each person, questionnaire and bucket that came farthest.
    """
    values = (*_chosen(organization_id, asked, scope), limit)
    rows = await (
        db.fetch(f"with c as ({_FARTHEST}) {_STAGES}", *values)
        if once
        else db.fetch(f"with c as (select {_CASE}) {_STAGES}", *values)
    )
    return [
        Cell(row["bucket"], row["questionnaire_id"], tuple(row["dimensions"]), "", stage, row[stage])
        for row in rows
        for stage in list(row.keys())[3:]
        if row[stage]
    ]


async def list_pairs(
    db: Database, *, organization_id: str, asked: CountQuery, scope: Scope, outcome_question_id: str, limit: int
) -> list[tuple[str, str | None, str | None, int]]:
    """Count pairs of outcome and another answer: question, outcome, value, count.

    Without outcome and value it is the count of people who answered both.
    """
    rows = await db.fetch(
        f"""with pair as not materialized (
             select a.question_id, x.value #>> '{{}}' as outcome, a.value #>> '{{}}' as value, i.responder_id
             from {_RESPONSES}
             join answer x on x.organization_id = i.organization_id and x.instance_id = i.instance_id
               and x.question_id = $11 and not x.provisional
             join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
               and a.question_id = any($12) and not a.provisional
             where {_CHOSEN} and jsonb_typeof(x.value) = 'number' and jsonb_typeof(a.value) = 'number')
           (select question_id, outcome, value, count(*) from pair group by 1, 2, 3 limit $13)
           union all
           select question_id, null, null, count(distinct responder_id) from pair group by 1""",
        *_chosen(organization_id, asked, scope)[:10],
        outcome_question_id,
        list(asked.questions),
        limit,
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


async def count_responses(db: Database, *, organization_id: str, asked: CountQuery, scope: Scope, limit: int) -> int:
    """Count the responses (or cases) that a query would read; counting stops at `limit`."""
    return await db.fetch_value(
        f"select count(*) from (select 1 from {_RESPONSES} limit $8) found",
        *_chosen(organization_id, asked, scope)[:7],
        limit,
    )


async def list_instance_ids(
    db: Database, *, organization_id: str, asked: CountQuery, scope: Scope, limit: int
) -> list[str]:
    """The instances that a count would read, in no order."""
    rows = await db.fetch(
        f"select i.instance_id from {_RESPONSES} limit $8", *_chosen(organization_id, asked, scope)[:7], limit
    )
    return [row["instance_id"] for row in rows]


async def get_kept(
    db: Database,
    *,
    organization_id: str,
    asked: CountQuery,
    days: Days,
    events_max: int,
    cells_max: int,
    people_max: int,
) -> Kept | None:
    """The kept counts of these whole days of the organization's zone, all as of one moment.

    What the reader of the log has not seen yet makes its day live, so that a change shows with its own commit. None
    where it is `events_max` events behind.
    """
    rows = await db.fetch(
        _KEPT,
        organization_id,
        list(asked.questionnaire_ids),
        ":".join(filter(None, asked.dimensions[0])) if asked.dimensions else "",
        list(asked.questions),
        days.days,
        list(days.starts),
        days.end,
        list(asked.buckets if len(asked.buckets) > 1 else (days.first,)),
        events_max,
        list(asked.questions.values()),
        cells_max,
        people_max,
    )
    found = Kept()
    for row in rows:
        key = (row["bucket"], row["questionnaire_id"], (row["dimension_value"] or None,) if asked.dimensions else ())
        match row["kind"]:
            case "until":
                found.until[row["questionnaire_id"]] = row["day"]
            case "live":
                found.live.setdefault(row["questionnaire_id"], []).append(row["day"])
            case "people":
                found.groups.append(Group(*key, row["question_id"], "", frozenset(row["people"])))
            case "count":
                found.cells.append(Cell(*key, row["question_id"], row["value"], row["count"]))
            case _:  # the count of events that the reader of the log has not read
                if row["count"] >= events_max:
                    return None
    return found


def _chosen(organization_id: str, asked: CountQuery, scope: Scope) -> tuple[Any, ...]:
    """The values $1 to $7 of `_RESPONSES`, up to $10 of `_CHOSEN`, up to $13 of `_KEY`."""
    return (
        organization_id,
        [span.questionnaire_id for span in scope.spans],
        [span.from_time for span in scope.spans],
        [span.to_time for span in scope.spans],
        *(asked.basis, asked.test, asked.is_of_cases),
        *(scope.instance_ids, asked.channel_id, asked.pipeline_id),
        [kind for kind, _ in asked.dimensions],
        [name for _, name in asked.dimensions],
        periods.edges(asked.period, asked.buckets),
    )


def _grouped(rows: Iterable[Row]) -> Iterator[tuple[Any, ...]]:
    """The rows of `_KEY` and more, with the dimensions as a tuple."""
    return ((row[0], row[1], tuple(row[2]), *row[3:]) for row in rows)
