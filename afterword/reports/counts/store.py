"""SQL that counts responses and their answers themselves, in given spans of time; nothing is written here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.figures.reports import Basis, Cell, Group, Repeat
from afterword.db import Database

# The responses of the spans $2 to $4 whose time (`at`) by the basis $5 lies in them; $6: test data alone, else none;
# $7: also those without an answer. Without a message an instance went out when it was issued. One of the branches runs,
# each on an index of its own; `offset 0`: each span reads its own part of it and no more.
_USED: Final[LiteralString] = """i.organization_id, i.instance_id, i.questionnaire_id, i.version_id, i.responder_id,
        i.channel_id, i.pipeline_id, i.locale, i.metadata, i.created_time, i.sent_time, i.delivered_time, i.viewed_time,
        i.submitted_time, i.completed_time"""
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
        select {_USED}, case $5 when 'submitted' then i.submitted_time when 'completed' then i.completed_time
          else coalesce(i.sent_time, i.created_time) end as at
        from questionnaire_instance i
        where $6 and i.organization_id = $1 and i.questionnaire_id = s.questionnaire_id and i.deleted_time is null
          and i.test and ($7 or i.submitted_time is not null)) t
      where t.at >= s.from_time and t.at < s.to_time
"""
_RESPONSES: Final[LiteralString] = f"{_READ} offset 0) i"
_SOME: Final[LiteralString] = f"{_READ} limit $18) i"

# The questions that a response `i` answers, as they are counted, and the stages that a case has come to.
_GIVEN: Final[LiteralString] = """
    select q.counted_as as question_id, '' as stage from answer a
    join unnest($12::text[], $13::text[]) as q (question_id, counted_as) on q.question_id = a.question_id
    where a.organization_id = i.organization_id and a.instance_id = i.instance_id and a.question_id = any($12)
      and not a.provisional and a.value not in ('null', '[]', '{}')
    union all
    select '', w.stage from (values ('created', true), ('sent', i.sent_time is not null),
      ('delivered', i.delivered_time is not null),
      ('started', coalesce(i.submitted_time, i.completed_time) is not null)) w (stage, is_there)
    where $7 and w.is_there"""
_THEIR: Final[LiteralString] = """($14::smallint is null or i.channel_id = $14)
    and ($15::text is null or i.pipeline_id = $15)"""

# The values that one answer gives: itself, each choice of several and the answer as such (*), each row of a matrix, or
# each rank of a ranking ($15).
VALUES: Final[LiteralString] = """unnest(case jsonb_typeof(a.value)
    when 'array' then case when $15::boolean then
      array(select e.rank || ':' || e.value from jsonb_array_elements_text(a.value) with ordinality e (value, rank))
      when jsonb_array_length(a.value) > 0 then
      array(select distinct e.value from jsonb_array_elements_text(a.value) e (value)) || '*'::text end
    when 'object' then array(select m.key || ':' || m.value from jsonb_each_text(a.value) m)
    when 'null' then null
    else array[a.value #>> '{}'] end)"""
# The parts of an answer: the rows of a matrix, the ranks of a ranking ($15), of other answers one without a name.
_PARTS: Final[LiteralString] = """unnest(case
    when jsonb_typeof(a.value) = 'object' then array(select m.key from jsonb_object_keys(a.value) m (key))
    when jsonb_typeof(a.value) = 'array' and $15::boolean then
      array(select e.rank::text from jsonb_array_elements(a.value) with ordinality e (value, rank))
    else array[''] end)"""
_PERSON: Final[LiteralString] = """width_bucket(i.at, $10::timestamptz[]), i.questionnaire_id, q.counted_as, v.value,
  coalesce(i.responder_id, i.instance_id)"""
# The value that a response `i` has of a dimension `d` of kind and name.
DIMENSION: Final[LiteralString] = """case d.kind
    when 'version' then i.version_id
    when 'locale' then i.locale
    when 'questionnaire_metadata' then i.metadata ->> d.name
    when 'responder_metadata' then (
      select p.metadata ->> d.name from responder p
      where p.organization_id = i.organization_id and p.responder_id = i.responder_id)
    when 'question' then (
      select x.value #>> '{}' from answer x
      where x.organization_id = i.organization_id and x.instance_id = i.instance_id and x.question_id = d.name
        and not x.provisional)
    when 'channel' then i.channel_id::text
    end"""
# The case of a person that came farthest in its bucket and questionnaire is the first.
_RANK: Final[LiteralString] = """row_number() over (
    partition by width_bucket(i.at, $10::timestamptz[]), i.questionnaire_id, coalesce(i.responder_id, i.instance_id)
    order by i.completed_time is null, i.submitted_time is null, i.viewed_time is null, i.delivered_time is null,
      i.sent_time is null, i.instance_id)"""
_DIMENSIONS: Final[LiteralString] = f"""array(
    select {DIMENSION} from unnest($8::text[], $9::text[]) with ordinality as d (kind, name, place) order by d.place)"""


_ASKED: Final[LiteralString] = f"""width_bucket(i.at, $10::timestamptz[]) - 1 as bucket, i.questionnaire_id,
      {_DIMENSIONS} as dimensions, q.counted_as as question_id, v.value"""
_ANSWER: Final[LiteralString] = f"""{_RESPONSES}
    join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
    join unnest($12::text[], $13::text[]) as q (question_id, counted_as) on q.question_id = a.question_id"""
_COUNTS: Final[LiteralString] = """($11::text[] is null or i.instance_id = any($11)) and a.question_id = any($12)
      and not a.provisional"""
_ANSWERS: Final[LiteralString] = f"""select {_ASKED}, count(*) as count
    from {_ANSWER} cross join lateral {VALUES} as v (value) where {_COUNTS} group by 1, 2, 3, 4, 5 limit $14"""
_PEOPLE: Final[LiteralString] = f"""
    select c.bucket, c.questionnaire_id, c.dimensions, c.question_id, c.value, count(*) as count from (
      select distinct on ({_PERSON}) {_ASKED} from {_ANSWER} cross join lateral {_PARTS} as v (value)
      where {_COUNTS} order by {_PERSON}, i.instance_id) c group by 1, 2, 3, 4, 5 limit $14"""
# Cases with how far they came; behind it stands their rank, 1 for those that count.
_CASES: Final[LiteralString] = f"""with c as (
      select width_bucket(i.at, $10::timestamptz[]) - 1 as bucket, i.questionnaire_id,
        {_DIMENSIONS} as dimensions, i.sent_time is not null as sent, i.delivered_time is not null as delivered,
        i.viewed_time is not null as viewed, i.submitted_time is not null as submitted,
        i.completed_time is not null as completed,
        case when i.completed_time is not null then true when i.submitted_time is null then false else (
          select 2 * (select count(*) from answer a
              where a.organization_id = x.organization_id and a.instance_id = x.instance_id
                and not a.provisional and a.value not in ('null', '[]', '{{}}')) >= cardinality(x.question_ids)
          from questionnaire_instance x
          where x.organization_id = i.organization_id and x.instance_id = i.instance_id) end as answered,
        coalesce(i.submitted_time, i.completed_time) is not null as started"""
_STAGES: Final[LiteralString] = f"""      from {_RESPONSES}
      where ($11::text[] is null or i.instance_id = any($11))
        and ($12::smallint is null or i.channel_id = $12) and ($13::text is null or i.pipeline_id = $13))
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
    from c where rank = 1 group by 1, 2, 3 limit $14"""


@dataclass(frozen=True, slots=True)
class Span:
    """Responses of a questionnaire from one moment up to another."""

    questionnaire_id: str
    from_time: datetime
    to_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which responses count: `spans` do not overlap; `instance_ids` None: all; `test`: test data alone, else none."""

    spans: Sequence[Span]
    basis: Basis
    instance_ids: Sequence[str] | None = None
    test: bool = False


async def list_answer_counts(
    db: Database,
    *,
    organization_id: str,
    scope: Scope,
    questions: Mapping[str, str],
    edges: Sequence[datetime],
    dimensions: Sequence[tuple[str, str]],
    is_ranking: bool,
    once: bool,
    limit: int,
) -> list[Cell]:
    """Count each value without provisional answers; `edges`: the starts of buckets.

    `questions`: ids, and the name under which each is counted: that of another where they count as one. With `once` the
    values are the parts of a question, in each of which a person counts once a bucket and questionnaire.
    """
    values = (
        *_responses(organization_id, scope),
        *_named(dimensions),
        list(edges),
        _instances(scope),
        list(questions),
        list(questions.values()),
        limit,
        is_ranking,
    )
    rows = await (db.fetch(_PEOPLE, *values) if once else db.fetch(_ANSWERS, *values))
    return [
        Cell(
            row["bucket"],
            row["questionnaire_id"],
            tuple(row["dimensions"]),
            row["question_id"],
            row["value"],
            row["count"],
        )
        for row in rows
    ]


async def list_groups(
    db: Database,
    *,
    organization_id: str,
    scope: Scope,
    questions: Mapping[str, str],
    edges: Sequence[datetime],
    dimensions: Sequence[tuple[str, str]],
    channel_id: int | None,
    pipeline_id: str | None,
    people_max: int,
    limit: int,
) -> list[Group]:
    """List up to `people_max` people of each group; without questions, people by stage."""
    rows = await db.fetch(
        f"""select bucket, questionnaire_id, dimensions, question_id, stage, (array_agg(person))[1:$16] as people from (
             select distinct width_bucket(i.at, $10::timestamptz[]) - 1 as bucket, i.questionnaire_id,
               {_DIMENSIONS} as dimensions, g.question_id, g.stage, hashtextextended(i.responder_id, 0) as person
             from {_RESPONSES} cross join lateral ({_GIVEN}) g
             where ($11::text[] is null or i.instance_id = any($11)) and {_THEIR}) p
           group by 1, 2, 3, 4, 5 limit $17""",
        *_responses(organization_id, scope, is_of_cases=not questions),
        *_named(dimensions),
        list(edges),
        _instances(scope),
        list(questions),
        list(questions.values()),
        *(channel_id, pipeline_id, people_max, limit),
    )
    return [
        Group(
            row["bucket"],
            row["questionnaire_id"],
            tuple(row["dimensions"]),
            row["question_id"],
            row["stage"],
            frozenset(row["people"]),
        )
        for row in rows
    ]


async def list_repeats(
    db: Database,
    *,
    organization_id: str,
    scope: Scope,
    whole: Scope,
    questions: Mapping[str, str],
    edges: Sequence[datetime],
    dimensions: Sequence[tuple[str, str]],
    channel_id: int | None,
    pipeline_id: str | None,
    span_max: int | None,
    person_max: int,
) -> list[Repeat]:
    """Count the answers, or cases, of these people in all responses.

    Of each span of `scope` as many responses as `span_max` are read, and `person_max` of each person in `whole`.
    """
    rows = await db.fetch(
        f"""with taken as (
             select i.responder_id, count(*) as taken from {_SOME}
             where ($11::text[] is null or i.instance_id = any($11)) and {_THEIR} group by 1),
           i as (
             select {_USED}, i.at, t.taken::double precision / count(*) over (partition by i.responder_id) as weight
             from taken t cross join lateral (
               select {_USED}, i.at from (
                 select {_USED}, case $5 when 'submitted' then i.submitted_time when 'completed' then i.completed_time
                   else coalesce(i.sent_time, i.created_time) end as at
                 from questionnaire_instance i
                 where i.organization_id = $1 and i.responder_id = t.responder_id and i.questionnaire_id = any($19)
                   and i.deleted_time is null and i.test = $6 and ($7 or i.submitted_time is not null)) i
               where i.at >= $20 and i.at < $21 and ($16::text[] is null or i.instance_id = any($16)) and {_THEIR}
               limit $17) i)
           select width_bucket(i.at, $10::timestamptz[]) - 1 as bucket, i.questionnaire_id, {_DIMENSIONS} as dimensions,
             g.question_id, hashtextextended(i.responder_id, 0) as person, count(*) as answers,
             max(least(i.weight, 1)) as weight
           from i cross join lateral ({_GIVEN}) g where g.stage in ('', 'created') group by 1, 2, 3, 4, 5""",
        *_responses(organization_id, scope, is_of_cases=not questions),
        *_named(dimensions),
        list(edges),
        _instances(scope),
        list(questions),
        list(questions.values()),
        *(channel_id, pipeline_id, _instances(whole), person_max, span_max),
        [span.questionnaire_id for span in whole.spans],
        min(span.from_time for span in whole.spans),
        max(span.to_time for span in whole.spans),
    )
    return [
        Repeat(
            row["bucket"],
            row["questionnaire_id"],
            tuple(row["dimensions"]),
            row["question_id"],
            row["person"],
            row["answers"],
            row["weight"],
        )
        for row in rows
    ]


async def list_case_counts(
    db: Database,
    *,
    organization_id: str,
    scope: Scope,
    edges: Sequence[datetime],
    dimensions: Sequence[tuple[str, str]],
    channel_id: int | None,
    pipeline_id: str | None,
    once: bool,
    limit: int,
) -> list[Cell]:
    """Count instances by stage, and the pairs of stages for rates.

    With `once` the one of each person, questionnaire and bucket that came farthest.
    """
    values = (
        *_responses(organization_id, scope, is_of_cases=True),
        *_named(dimensions),
        list(edges),
        _instances(scope),
        channel_id,
        pipeline_id,
        limit,
    )
    rows = await (
        db.fetch(f"{_CASES}, {_RANK} as rank {_STAGES}", *values)
        if once
        else db.fetch(f"{_CASES}, 1 as rank {_STAGES}", *values)
    )
    return [
        Cell(row["bucket"], row["questionnaire_id"], tuple(row["dimensions"]), "", stage, row[stage])
        for row in rows
        for stage in list(row.keys())[3:]
        if row[stage]
    ]


async def list_pairs(
    db: Database,
    *,
    organization_id: str,
    scope: Scope,
    outcome_question_id: str,
    question_ids: Sequence[str],
    limit: int,
) -> list[tuple[str, str, str, int]]:
    """Count pairs of outcome and another answer: question, outcome, value, count."""
    rows = await db.fetch(
        f"""select a.question_id, x.value #>> '{{}}' as outcome, a.value #>> '{{}}' as value, count(*) as count
           from {_RESPONSES}
           join answer x on x.organization_id = i.organization_id and x.instance_id = i.instance_id
             and x.question_id = $9 and not x.provisional
           join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
             and a.question_id = any($10) and not a.provisional
           where ($8::text[] is null or i.instance_id = any($8))
             and jsonb_typeof(x.value) = 'number' and jsonb_typeof(a.value) = 'number'
           group by 1, 2, 3 limit $11""",
        *_responses(organization_id, scope),
        _instances(scope),
        outcome_question_id,
        list(question_ids),
        limit,
    )
    return [(row["question_id"], row["outcome"], row["value"], row["count"]) for row in rows]


async def count_pair_people(
    db: Database, *, organization_id: str, scope: Scope, outcome_question_id: str, question_ids: Sequence[str]
) -> dict[str, int]:
    """Count the people who answered both the outcome and each of these questions."""
    rows = await db.fetch(
        f"""select a.question_id, count(distinct i.responder_id) as people
           from {_RESPONSES}
           join answer x on x.organization_id = i.organization_id and x.instance_id = i.instance_id
             and x.question_id = $9 and not x.provisional
           join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
             and a.question_id = any($10) and not a.provisional
           where ($8::text[] is null or i.instance_id = any($8))
             and jsonb_typeof(x.value) = 'number' and jsonb_typeof(a.value) = 'number'
           group by 1""",
        *_responses(organization_id, scope),
        _instances(scope),
        outcome_question_id,
        list(question_ids),
    )
    return {row["question_id"]: row["people"] for row in rows}


async def count_responses(db: Database, *, organization_id: str, scope: Scope, is_of_cases: bool, limit: int) -> int:
    """Count the responses (or cases) that a query would read; counting stops at `limit`."""
    return await db.fetch_value(
        f"select count(*) from (select 1 from {_RESPONSES} limit $8) found",
        *_responses(organization_id, scope, is_of_cases=is_of_cases),
        limit,
    )


async def list_instance_ids(
    db: Database, *, organization_id: str, scope: Scope, is_of_cases: bool, limit: int
) -> list[str]:
    """The instances that a count would read, in no order."""
    rows = await db.fetch(
        f"select i.instance_id from {_RESPONSES} limit $8",
        *_responses(organization_id, scope, is_of_cases=is_of_cases),
        limit,
    )
    return [row["instance_id"] for row in rows]


def _responses(organization_id: str, scope: Scope, *, is_of_cases: bool = False) -> tuple[object, ...]:
    """The values $1 to $7 of `_RESPONSES`."""
    return (
        organization_id,
        [span.questionnaire_id for span in scope.spans],
        [span.from_time for span in scope.spans],
        [span.to_time for span in scope.spans],
        scope.basis,
        scope.test,
        is_of_cases,
    )


def _named(dimensions: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [kind for kind, _ in dimensions], [name for _, name in dimensions]


def _instances(scope: Scope) -> list[str] | None:
    return None if scope.instance_ids is None else list(scope.instance_ids)
