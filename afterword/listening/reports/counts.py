"""Counts of reports: kept counts where there are some, else the answers themselves, with the same result.

A count that would read more than the limits below is refused, with advice on making it smaller.

Readers who may not read single answers see the groups that `core/figures/disclosure.py` lets them see. For them months
are counted apart and hidden answers are in no sum, so that the same group is hidden however it is asked for. A filter
selects among the groups that are shown.
"""

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any, Final, LiteralString, TypeVar

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.cases import recoveries
from afterword.core.figures import disclosure, periods, queries, reports as core_reports
from afterword.core.figures.disclosure import Key
from afterword.core.figures.queries import CountQuery, DailyCounts, Scope, Span, of_limit, subjects_of
from afterword.core.figures.reports import (
    BOUNCED,
    COUNTED,
    NUMERIC,
    RANKED,
    Cell,
    Counted,
    People,
    Repeat,
    RequestedMetric,
)
from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import Facts
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import has_own
from afterword.listening.reports.daily_counts import store
from afterword.listening.reports.values import DIMENSION, PARTS, VALUES_AND_RANKS

Group = tuple[str, str]  # of responses: a name of metadata and its value
# Anonymous responses have no invitation. Theirs have no times of answers, but tell that they were answered.
IS_INVITED: Final[LiteralString] = "i.anonymity is distinct from 'response'"
HAS_ANSWERED: Final[LiteralString] = "(i.anonymity is not distinct from 'invitation' and i.finalized)"

# The responses of the spans $2 to $4 whose time (`at`) by the basis $5 lies in them; $6: test data alone, else none;
# $7: also those without an answer. Without a message an instance went out when it was issued. One of the branches runs,
# each on an index of its own; `offset 0`: each span reads its own part of it and no more.
_USED: Final[LiteralString] = """i.organization_id, i.instance_id, i.questionnaire_id, i.version_id, i.responder_id,
        i.channel_id, i.pipeline_id, i.locale, i.metadata, i.created_time, i.sent_time, i.delivered_time,
        i.bounced_time, i.viewed_time, i.submitted_time, i.completed_time, i.finalized, i.anonymity"""
_TIME: Final[LiteralString] = """case $5 when 'submitted' then i.submitted_time when 'completed' then i.completed_time
  else coalesce(i.sent_time, i.created_time) end"""
_SPANS: Final[LiteralString] = """unnest($2::text[], $3::timestamptz[], $4::timestamptz[])
      as s (questionnaire_id, from_time, to_time)"""
# Beside kept counts it is always the first one: without the others the plan is small and serves every query.
_OF_REST: Final[LiteralString] = f""" cross join lateral (
      select {_USED}, i.submitted_time as at from questionnaire_instance i
      where $5::text = 'submitted' and not $6::boolean and i.organization_id = $1
        and i.questionnaire_id = s.questionnaire_id and i.submitted_time >= s.from_time and i.submitted_time < s.to_time
        and i.deleted_time is null and not i.test"""
_OF_SPAN: Final[LiteralString] = f"""{_OF_REST}
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
_RESPONSES: Final[LiteralString] = f"{_SPANS} {_OF_SPAN} offset 0) i"
_REST: Final[LiteralString] = f"{_SPANS} {_OF_REST} offset 0) i"
_FIRST: Final[LiteralString] = f"{_SPANS} {_OF_SPAN} limit $12) i"
_SAMPLED: Final[LiteralString] = f"""unnest($2::text[], $3::timestamptz[], $4::timestamptz[], $18::integer[])
      as s (questionnaire_id, from_time, to_time, most) {_OF_SPAN} limit s.most) i"""
# The chosen ones among them ($8), of a channel and a pipeline.
_OF_WAY: Final[LiteralString] = """($9::smallint is null or i.channel_id = $9)
    and ($10::text is null or i.pipeline_id = $10)"""
_CHOSEN: Final[LiteralString] = f"($8::text[] is null or i.instance_id = any($8)) and {_OF_WAY}"

# The group of a response `i`, by buckets that begin at $13 and dimensions of kinds $11 and names $12.
_KEY: Final[LiteralString] = f"""width_bucket(i.at, $13::timestamptz[]) - 1 as bucket, i.questionnaire_id,
  case when $11::text[] = '{{}}' then '{{}}' else array(
    select {DIMENSION} from unnest($11::text[], $12::text[]) with ordinality as d (kind, name, place) order by d.place)
  end as dimensions"""
_PERSON: Final[LiteralString] = """width_bucket(i.at, $13::timestamptz[]), i.questionnaire_id,
  coalesce(i.responder_id, i.instance_id)"""


def _keyed(responses: LiteralString) -> LiteralString:
    return f"""(select i.organization_id, i.instance_id, i.responder_id,
    coalesce(i.responder_id, i.instance_id) as person, {_KEY} from {responses} where {_CHOSEN} offset 0) i"""


# The questions that a response `i` answers, as they are counted, and the stages that a case has come to.
_GIVEN: Final[LiteralString] = f"""
    select q.counted_as as question_id, '' as stage from answer a
    join unnest($14::text[], $15::text[]) as q (question_id, counted_as) on q.question_id = a.question_id
    where a.organization_id = i.organization_id and a.instance_id = i.instance_id and a.question_id = any($14)
      and not a.provisional and a.value not in ('null', '[]', '{{}}')
    union all
    select '', w.stage from (values ('created', {IS_INVITED}), ('sent', i.sent_time is not null),
      ('delivered', i.delivered_time is not null),
      ('started', coalesce(i.submitted_time, i.completed_time) is not null)) w (stage, is_there)
    where $7 and w.is_there"""

_ANSWER: Final[LiteralString] = "i.bucket, i.questionnaire_id, i.dimensions, q.counted_as as question_id, v.value"
_READ_ANSWERS: Final[LiteralString] = f"""{_keyed(_RESPONSES)}
    join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
    join unnest($14::text[], $15::text[]) as q (question_id, counted_as) on q.question_id = a.question_id"""
# Beside kept counts few responses are read: never all answers to the questions.
_READ_FEW: Final[LiteralString] = f"""{_keyed(_REST)}
    cross join lateral (
      select a.question_id, a.value, a.provisional from answer a
      where a.organization_id = i.organization_id and a.instance_id = i.instance_id and a.question_id = any($14)
      offset 0) a
    join unnest($14::text[], $15::text[]) as q (question_id, counted_as) on q.question_id = a.question_id"""
_COUNTED: Final[LiteralString] = "a.question_id = any($14) and not a.provisional"


def _answers(values: LiteralString, read: LiteralString = _READ_ANSWERS) -> LiteralString:
    return f"""select {_ANSWER}, count(*) as count from {read} cross join lateral {values} as v (value)
    where {_COUNTED} group by 1, 2, 3, 4, 5 limit $17"""


# Answers that are all numbers are not taken apart: that halves the time of a large day.
_NUMBERS: Final[LiteralString] = "(select a.value #>> '{}' where a.value <> 'null' and not $16::boolean)"
_PEOPLE: Final[LiteralString] = f"""
    select c.bucket, c.questionnaire_id, c.dimensions, c.question_id, c.value, count(*) as count from (
      select distinct on (i.bucket, i.questionnaire_id, i.person, q.counted_as, v.value) {_ANSWER}
      from {_READ_ANSWERS} cross join lateral {PARTS} as v (value) where {_COUNTED}
      order by i.bucket, i.questionnaire_id, i.person, q.counted_as, v.value, i.instance_id) c
    group by 1, 2, 3, 4, 5 limit $17"""


# Cases with how far they came, and those of each person, questionnaire and bucket that came farthest.
_CASE: Final[LiteralString] = f"""{_KEY}, i.sent_time is not null as sent, i.delivered_time is not null as delivered,
    i.bounced_time is not null as bounced, i.viewed_time is not null as viewed,
    i.submitted_time is not null as submitted, {IS_INVITED} as invited, {HAS_ANSWERED} as answered_apart,
    i.completed_time is not null as completed, coalesce(i.submitted_time, i.completed_time) is not null as started,
    case when i.completed_time is not null then true when i.submitted_time is null then false else (
      select 2 * (select count(*) from answer a
          where a.organization_id = x.organization_id and a.instance_id = x.instance_id
            and not a.provisional and a.value not in ('null', '[]', '{{}}')) >= cardinality(x.question_ids)
      from questionnaire_instance x
      where x.organization_id = i.organization_id and x.instance_id = i.instance_id) end as answered
  from (select i.* from {_RESPONSES} where {_CHOSEN} limit $18) i"""
_FARTHEST: Final[LiteralString] = f"""select distinct on ({_PERSON}) {_CASE}
  order by {_PERSON}, i.completed_time is null, i.submitted_time is null, i.viewed_time is null,
    i.delivered_time is null, i.sent_time is null, i.instance_id"""
_STAGES: Final[LiteralString] = """
    select c.bucket, c.questionnaire_id, c.dimensions, '' as question_id, v.value, v.count from (
      select bucket, questionnaire_id, dimensions, count(*) filter (where invited) as created,
        count(*) filter (where sent) as sent,
        count(*) filter (where delivered) as delivered, count(*) filter (where bounced) as bounced,
        count(*) filter (where viewed) as viewed,
        count(*) filter (where started) as started, count(*) filter (where submitted) as submitted,
        count(*) filter (where completed) as completed,
        count(*) filter (where sent and delivered) as sent_delivered,
        count(*) filter (where sent and (answered or answered_apart)) as sent_answered,
        count(*) filter (where sent and (submitted or answered_apart)) as sent_submitted,
        count(*) filter (where sent and (completed or answered_apart)) as sent_completed,
        count(*) filter (where delivered and viewed) as delivered_viewed,
        count(*) filter (where delivered and (submitted or answered_apart)) as delivered_submitted
      from c group by 1, 2, 3 limit $17) c
    cross join lateral (values ('created', created), ('sent', sent), ('delivered', delivered), ('bounced', bounced),
      ('viewed', viewed), ('started', started), ('submitted', submitted), ('completed', completed),
      ('sent_delivered', sent_delivered), ('sent_answered', sent_answered), ('sent_submitted', sent_submitted),
      ('sent_completed', sent_completed), ('delivered_viewed', delivered_viewed),
      ('delivered_submitted', delivered_submitted)) v (value, count)
    where v.count > 0"""
_CASES: Final[LiteralString] = f"with c as (select {_CASE}) {_STAGES}"
_CASES_ONCE: Final[LiteralString] = f"with c as ({_FARTHEST}) {_STAGES}"


def _sizes(of_span: LiteralString) -> LiteralString:
    return f"""
    select 'size' as kind, p.part::integer - 1 as bucket, null as questionnaire_id, null::text[] as dimensions,
      null as question_id, null as value, (select count(*) from (
      select 1 from (select q.questionnaire_id, p.from_time, p.to_time from unnest($19::text[]) q (questionnaire_id)) s
        {of_span} offset 0) i limit $22::bigint) n) as count
    from unnest($20::timestamptz[], $21::timestamptz[]) with ordinality as p (from_time, to_time, part)"""


def _live_record(
    cells: LiteralString, responses: LiteralString = _RESPONSES, of_span: LiteralString = _OF_SPAN
) -> LiteralString:
    """The answers of responses that are not too many, and the size of each period."""
    return f"""with number as materialized (
      select count(*) as number, $7::boolean, $16::boolean from (select 1 from {responses} limit $18) n)
    {_sizes(of_span)}
    union all
    select 'number', null, null, null, null, null, number from number
    union all
    select 'count', c.* from ({cells}) c where (select number from number) < $18"""


def _live_cases(cells: LiteralString) -> LiteralString:
    """The stages of cases, of as many as the limit; else as for answers, whose parameters it takes."""
    return f"""{_sizes(_OF_SPAN)}
    union all
    select 'count', c.* from ({cells}) c
    where $14::text[] is not null and $15::text[] is not null and $16::boolean is not null"""


_LIVE_NUMBERS: Final = _live_record(_answers(_NUMBERS))
_LIVE_ANSWERS: Final = _live_record(_answers(VALUES_AND_RANKS))
_FEW_NUMBERS: Final = _live_record(_answers(_NUMBERS, _READ_FEW), _REST, _OF_REST)
_FEW_ANSWERS: Final = _live_record(_answers(VALUES_AND_RANKS, _READ_FEW), _REST, _OF_REST)
_LIVE_PEOPLE: Final = _live_record(_PEOPLE)
_LIVE_CASES: Final = _live_cases(_CASES)
_LIVE_CASES_ONCE: Final = _live_cases(_CASES_ONCE)
# People who answered one of the questions $11, of the first responses of each span. Without questions they are those of
# the first cases. Somebody who is not known is a person of each response.
_PERSONS: Final[LiteralString] = f"""select count(*) from (
    select distinct coalesce(i.responder_id, i.instance_id) as person from {_FIRST}
    where {_CHOSEN} and ($11::text[] = '{{}}' or exists (
      select from answer a where a.organization_id = i.organization_id and a.instance_id = i.instance_id
        and a.question_id = any($11) and not a.provisional and a.value not in ('null', '[]', '{{}}')))
    limit $13) p"""
_NUMBER: Final[LiteralString] = f"select count(*) from (select 1 from {_RESPONSES} limit $8) found"
# $9: of a limit, the name of metadata and its values.
_INSTANCE_IDS: Final[LiteralString] = f"""select i.instance_id from {_RESPONSES}
    where {has_own("i.metadata", "$9")} limit $8"""
# Pairs of outcome and another answer: question, row of a matrix (else empty), outcome, value, count. Without outcome
# and value it is the count of people who answered both. $14, $15: a name of metadata and its value, of a group alone.
_PAIRS: Final[LiteralString] = f"""with pair as not materialized (
      select a.question_id, v.part, x.value #>> '{{}}' as outcome, v.value, i.responder_id
      from {_RESPONSES}
      join answer x on x.organization_id = i.organization_id and x.instance_id = i.instance_id
        and x.question_id = $11 and not x.provisional
      join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
        and a.question_id = any($12) and not a.provisional
      cross join lateral jsonb_each_text(case jsonb_typeof(a.value) when 'object' then a.value
        when 'number' then jsonb_build_object('', a.value) else '{{}}' end) as v (part, value)
      where {_CHOSEN} and jsonb_typeof(x.value) = 'number' and ($14::text is null or i.metadata ->> $14 = $15))
    (select question_id, part, outcome, value, count(*) from pair group by 1, 2, 3, 4 limit $13)
    union all
    select question_id, part, null, null, count(distinct responder_id) from pair group by 1, 2"""


async def _list_live(
    db: Database, asked: CountQuery, scope: Scope, *, once: bool, is_rest: bool, has_sizes: bool
) -> tuple[Sequence[int], list[Cell]]:
    """Count the values that answers give, without provisional ones, or the stages of cases.

    With the responses of each period, up to a limit of their own.

    With `once` the values are the parts of a question, and each person counts once a bucket and questionnaire.
    `is_rest`: most answers are kept already. Raises Invalid where the responses are too many.
    """
    if scope.instance_ids == []:
        return [0] * len(asked.parts), []
    most = (CASES_MAX if asked.is_of_cases else RESPONSES_MAX) * len(asked.parts)
    is_numeric = asked.types <= NUMERIC
    query: LiteralString = (
        (_LIVE_CASES_ONCE if once else _LIVE_CASES) if asked.is_of_cases
        else _LIVE_PEOPLE if once
        else (_FEW_NUMBERS if is_numeric else _FEW_ANSWERS) if is_rest
        else _LIVE_NUMBERS if is_numeric else _LIVE_ANSWERS
    )  # fmt: skip
    parts = [part.period for part in asked.parts] if has_sizes and scope.instance_ids is None else []
    rows = await db.fetch(
        query,
        *_chosen(asked, scope),
        *asked.question_columns,
        *(bool(asked.types & RANKED), CELLS_MAX, most + 1, list(asked.questionnaire_ids)),
        *([part.from_time for part in parts], [part.to_time for part in parts], SAMPLED_MAX + 1),
    )
    number, sizes, cells = 0, [0] * len(parts), list[Cell]()
    for kind, bucket, questionnaire_id, dimensions, question_id, value, count in rows:
        match kind:
            case "number":
                number = count
            case "size":
                sizes[bucket] = count
            case _:
                cells.append(Cell(bucket, questionnaire_id, tuple(dimensions), question_id, value, count))
    if asked.is_of_cases:
        number = sum(cell.count for cell in cells if cell.value == "created")
    if number > most:
        raise _too_many(most)
    _bounded(cells)
    return sizes, cells


async def _list_repeats(
    db: Database,
    asked: CountQuery,
    scope: Scope,
    *,
    instance_ids: Sequence[str] | None,
    spans_max: Sequence[int | None],
) -> list[Repeat]:
    """Count the answers, or cases, of these people in all responses of a period.

    Of each span of `scope` as many responses as `spans_max` says are read, and PERSON_MAX of each person and period,
    where given of `instance_ids`.
    """
    parts = [part.period for part in asked.parts]
    rows = await db.fetch(
        f"""with taken as (
             select i.responder_id, width_bucket(i.at, $20::timestamptz[]) as part, count(*) as taken
             from {_SAMPLED} where {_CHOSEN} group by 1, 2),
           i as (
             select {_USED}, i.at,
               t.taken::double precision / count(*) over (partition by i.responder_id, t.part) as weight
             from taken t cross join lateral (
               select {_USED}, i.at from (
                 select {_USED}, {_TIME} as at from questionnaire_instance i
                 where i.organization_id = $1 and i.responder_id = t.responder_id and i.questionnaire_id = any($19)
                   and i.deleted_time is null and i.test = $6 and ($7 or i.submitted_time is not null)) i
               where i.at >= ($20::timestamptz[])[t.part] and i.at < ($21::timestamptz[])[t.part]
                 and ($16::text[] is null or i.instance_id = any($16)) and {_OF_WAY}
               limit $17) i)
           select {_KEY}, g.question_id, hashtextextended(i.responder_id, 0) as person, count(*) as answers,
             max(least(i.weight, 1)) as weight
           from i cross join lateral ({_GIVEN}) g where g.stage in ('', 'created') group by 1, 2, 3, 4, 5""",
        *_chosen(asked, scope),
        *asked.question_columns,
        *(instance_ids, PERSON_MAX, spans_max, list(asked.questionnaire_ids)),
        *([part.from_time for part in parts], [part.to_time for part in parts]),
    )
    return [_repeat(row) for row in rows]


async def _list_all_repeats(db: Database, asked: CountQuery, scope: Scope) -> list[Repeat]:
    """As `_list_repeats` where all responses are read: none of a person has to be looked up."""
    rows = await db.fetch(
        f"""select {_KEY}, g.question_id, hashtextextended(i.responder_id, 0) as person, count(*) as answers,
             1::double precision as weight
           from {_RESPONSES} cross join lateral ({_GIVEN}) g
           where {_CHOSEN} and i.responder_id is not null and g.stage in ('', 'created') group by 1, 2, 3, 4, 5""",
        *_chosen(asked, scope),
        *asked.question_columns,
    )
    return [_repeat(row) for row in rows]


def _repeat(row: Row) -> Repeat:
    return Repeat(row[0], row[1], tuple(row[2]), *row[3:])


async def count_people(db: Database, *, asked: CountQuery, limit: int) -> int:
    """The people, up to `limit`, among those who gave the first answers of each questionnaire."""
    chosen = _chosen(asked, Scope(asked.spans))[:10]
    return await db.fetch_value(_PERSONS, *chosen, list(asked.questions), FIRST_OF_SPAN, limit)


async def _list_pairs(
    db: Database, asked: CountQuery, scope: Scope, *, outcome_question_id: str, of_group: Group | None
) -> Sequence[Row]:
    chosen = _chosen(asked, scope)[:10]
    of = of_group or (None, None)
    return await db.fetch(_PAIRS, *chosen, outcome_question_id, list(asked.questions), CELLS_MAX, *of)


async def _count_responses(db: Database, asked: CountQuery, scope: Scope) -> int:
    return await db.fetch_value(_NUMBER, *_chosen(asked, scope)[:7], RESPONSES_MAX + 1)


async def _list_instance_ids(db: Database, asked: CountQuery, scope: Scope) -> list[str]:
    """The instances that a count would read, in no order."""
    return await db.fetch_column(_INSTANCE_IDS, *_chosen(asked, scope)[:7], FILTERED_MAX + 1, asked.only)


def _chosen(asked: CountQuery, scope: Scope) -> tuple[Any, ...]:
    """The values $1 to $7 of `_RESPONSES`, up to $10 of `_CHOSEN`, up to $13 of `_KEY`."""
    return (
        asked.organization_id,
        [span.questionnaire_id for span in scope.spans],
        [span.from_time for span in scope.spans],
        [span.to_time for span in scope.spans],
        *(asked.basis, asked.test, asked.is_of_cases),
        *(scope.instance_ids, asked.channel_id, asked.pipeline_id),
        [kind for kind, _ in asked.dimensions],
        [name for _, name in asked.dimensions],
        asked.edges,
    )


Found = TypeVar("Found")

RESPONSES_MAX: Final = 500_000  # with their answers, in one count
CASES_MAX: Final = 2_000_000  # without their answers
FILTERED_MAX: Final = 20_000  # responses that a condition is evaluated for
FILTERED_BATCH: Final = 1_000
CELLS_MAX: Final = 100_000
UNREAD_MAX: Final = 20_000  # events; where the reader of the log is further behind, everything is counted live
FIRST_OF_SPAN: Final = 1_000  # responses, among whose people it is looked whether they are enough for an alert
SAMPLED_MAX: Final = 1_000  # responses; above it the answers per person are estimated from a sample
SAMPLED_SPANS: Final = 50  # equal parts of the period, each with its part of the sample
SAMPLED_OF_SPAN: Final = 5
SAMPLES_KEPT_MAX: Final = 16  # by a process
HOUR: Final = timedelta(hours=1)
PERSON_MAX: Final = 500  # responses of one person
KEPT_DIMENSIONS: Final = frozenset({"version", "channel", "locale", "questionnaire_metadata"})
RANKED_BY: Final = "submitted"  # cases are hidden in the order of their answers, as the answers are
Part = tuple[str, str]  # a question, and the row of a matrix, else empty
_Table = tuple[int, str, str, str]  # month, questionnaire, question and part of it


async def answers(
    db: Database, *, asked: CountQuery, once: bool = False, is_live: bool = False, has_repeats: bool = True
) -> tuple[list[Cell], People]:
    """Count each value; `once`: people by part of a question; `is_live`: without kept counts. Raises Invalid."""
    return (await answers_of_parts(db, asked=asked, once=once, is_live=is_live, has_repeats=has_repeats))[-1]


async def cases(
    db: Database, *, asked: CountQuery, once: bool = False, has_repeats: bool = True
) -> tuple[list[Cell], People]:
    """Count instances by stage and pair of stages; `once`: one of each person. Raises Invalid for too much."""
    asked = dataclasses.replace(asked, questions={})
    return (await _count(db, asked, None, once=once, has_repeats=has_repeats and not once))[-1]


async def answers_of_parts(
    db: Database, *, asked: CountQuery, once: bool = False, is_live: bool = False, has_repeats: bool = True
) -> list[tuple[list[Cell], People]]:
    """Count each value in each period of the query, the earlier one first. Raises Invalid for too much.

    `has_repeats`: with the answers of each person.
    """
    if asked.is_of_cases:
        return [([], People()) for _ in asked.parts]
    kept = None if once or is_live else await _kept(db, asked)
    return await _count(db, asked, kept, once=once, has_repeats=has_repeats and not once)


async def cases_of_parts(db: Database, *, asked: CountQuery, has_repeats: bool) -> list[tuple[list[Cell], People]]:
    """Count instances by stage in each period of the query, the earlier one first.

    `has_repeats`: with the cases of each person, and the pairs of stages, which rates need. Raises Invalid for too
    much.
    """
    asked = dataclasses.replace(asked, questions={})
    if not has_repeats and _are_stages_kept(asked):
        return await _stages(db, asked)
    return await _count(db, asked, None, once=False, has_repeats=has_repeats)


async def pairs(
    db: Database, *, asked: CountQuery, outcome_question_id: str, of_group: Group | None = None
) -> tuple[Mapping[Part, Mapping[tuple[str, str], int]], Mapping[Part, int]]:
    """Count pairs of an outcome and each value of each question, and their people; rows of a matrix by themselves.

    Raises Invalid where that would read too much.
    """
    scope = await scope_of(db, asked, asked.spans)
    if scope.instance_ids is None and await _count_responses(db, asked, scope) > RESPONSES_MAX:
        raise _too_many(RESPONSES_MAX)
    rows = await _list_pairs(db, asked, scope, outcome_question_id=outcome_question_id, of_group=of_group)
    found: defaultdict[Part, dict[tuple[str, str], int]] = defaultdict(dict)
    people: dict[Part, int] = {}
    for question_id, part, outcome, value, count in _bounded(rows):
        if outcome is None:
            people[question_id, part] = count
        else:
            found[question_id, part][outcome, value] = count
    return found, people


async def scope_of(db: Database, asked: CountQuery, spans: Sequence[Span]) -> Scope:
    """The responses in these spans; with a condition or a limit, those that meet it. Raises Invalid for too many."""
    scope = Scope(spans)
    if (asked.condition is None and asked.only is None) or not spans:
        return scope
    if asked.only is not None and await _count_responses(db, asked, scope) > RESPONSES_MAX:
        raise _too_many(RESPONSES_MAX)
    found = await _list_instance_ids(db, asked, scope)
    if len(found) > FILTERED_MAX:
        raise _too_much(f"A filter looks at {FILTERED_MAX:,} responses at most: choose a shorter time or no filter.")
    if asked.condition is None:
        return Scope(spans, found)
    matching: list[str] = []
    for begin in range(0, len(found), FILTERED_BATCH):
        batch = found[begin : begin + FILTERED_BATCH]
        known = await recoveries.list_facts(
            db, organization_id=asked.organization_id, instance_ids=batch, condition=asked.condition
        )
        matching += [each for each, facts_of in known.items() if conditions.matches(asked.condition, facts_of)]
    return Scope(spans, matching)


async def _count(
    db: Database, asked: CountQuery, kept: DailyCounts | None, *, once: bool, has_repeats: bool
) -> list[tuple[list[Cell], People]]:
    scope = await scope_of(db, asked, asked.spans if kept is None else queries.gaps_of(asked, kept))
    found = kept or DailyCounts()
    has_sizes = has_repeats and found.responses_min(asked) <= SAMPLED_MAX
    sizes, cells = await _list_live(db, asked, scope, once=once, is_rest=kept is not None, has_sizes=has_sizes)
    people = [People() for _ in asked.parts]
    if has_repeats and scope.instance_ids != []:
        people = await _people(db, asked, scope, _sampled(asked, scope, sizes))
    return _by_part(asked, [*_bounded(found.cells), *cells], people)


def _by_part(asked: CountQuery, cells: Sequence[Cell], people: Sequence[People]) -> list[tuple[list[Cell], People]]:
    return [(core_reports.moved(cells, own), each) for own, each in zip(_own_buckets(asked), people, strict=True)]


def _own_buckets(asked: CountQuery) -> list[dict[int, int]]:
    """The number of each bucket in its own period."""
    firsts = accumulate((len(part.buckets) for part in asked.parts), initial=0)
    return [
        {first + index: index for index in range(len(part.buckets))}
        for first, part in zip(firsts, asked.parts, strict=False)
    ]


# Daily counts ---------------------------------------------------------------------------------------------------------


def _is_kept(asked: CountQuery) -> bool:
    """Whether counts of this kind are kept at all: no filter, one dimension at most, buckets of the same days."""
    kinds = {kind for kind, _ in asked.dimensions}
    return (
        asked.basis == "submitted"
        and asked.condition is None
        and asked.only is None
        and not asked.test
        and asked.types <= COUNTED
        and len(asked.dimensions) <= 1
        and kinds <= KEPT_DIMENSIONS
        and (len(asked.buckets) == 1 or asked.zone == asked.period.time_zone)
    )


async def _kept(db: Database, asked: CountQuery) -> DailyCounts | None:
    whole = queries.whole_days(asked)
    if not _is_kept(asked) or not any(days.starts for days in whole):
        return None
    return await store.get_daily_counts(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        whole=whole,
        hours=[] if asked.dimensions else queries.hours_of(asked, whole),
        events_max=UNREAD_MAX,
        cells_max=CELLS_MAX,
    )


def _are_stages_kept(asked: CountQuery) -> bool:
    chosen = any(one is not None for one in (asked.condition, asked.only, asked.channel_id, asked.pipeline_id))
    is_of_days = len(asked.buckets) == 1 or asked.zone == asked.period.time_zone
    return asked.basis == "sent" and not (asked.test or asked.dimensions or chosen) and is_of_days


async def _stages(db: Database, asked: CountQuery) -> list[tuple[list[Cell], People]]:
    most = CASES_MAX * len(asked.parts)
    cells, number = await store.list_stages(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        whole=queries.whole_days(asked),
        events_max=UNREAD_MAX,
        number_max=most + 1,
    )
    if number > most:
        raise _too_many(most)
    return _by_part(asked, cells, [People() for _ in asked.parts])


# Live counts ---------------------------------------------------------------------------------------------------------


def _sampled(asked: CountQuery, scope: Scope, sizes: Sequence[int]) -> list[bool]:
    """Whether the people of a period are more than are looked at one by one; they are where no size is told."""
    if scope.instance_ids is not None:
        return [len(scope.instance_ids) > SAMPLED_MAX] * len(asked.parts)
    return [size > SAMPLED_MAX for size in sizes] or [True] * len(asked.parts)


async def _people(db: Database, asked: CountQuery, scope: Scope, sampled: Sequence[bool]) -> list[People]:
    """The answers of each person in each whole period; of a sample spread over it, always the same, where it is large.

    A filter leaves so few responses that all of them are read, or each so many-th of them. A sample of all periods is
    taken up to the last whole hour, and kept for this hour.
    """
    if scope.instance_ids is not None or not all(sampled):
        return _people_by_part(asked, await _repeats(db, asked, scope, sampled), sampled)
    period, hour = asked.period, _hour_of(db.clock.now())
    to_time = max(_hour_of(period.to_time), period.from_time + HOUR)
    if to_time < period.to_time:
        asked = dataclasses.replace(asked, period=replace(period, to_time=to_time))
    found = _samples.get((asked, hour))
    if found is None:
        repeats = await _repeats(db, asked, Scope(asked.spans), sampled)
        found = _samples[asked, hour] = _people_by_part(asked, repeats, sampled)
        if len(_samples) > SAMPLES_KEPT_MAX:
            _samples.popitem(last=False)
    return found


_samples: OrderedDict[tuple[CountQuery, datetime], list[People]] = OrderedDict()


def _people_by_part(asked: CountQuery, repeats: Sequence[Repeat], sampled: Sequence[bool]) -> list[People]:
    return [
        People(core_reports.moved(repeats, own), is_sample=is_sample)
        for own, is_sample in zip(_own_buckets(asked), sampled, strict=True)
    ]


def _hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


async def _repeats(db: Database, asked: CountQuery, scope: Scope, sampled: Sequence[bool]) -> list[Repeat]:
    spans: list[Span] = []
    spans_max: list[int | None] = []
    instance_ids = scope.instance_ids
    if not any(sampled):
        return await _list_all_repeats(db, asked, Scope(asked.spans, instance_ids))
    if instance_ids is not None and sampled[0]:
        instance_ids = sorted(instance_ids)[:: len(instance_ids) // SAMPLED_MAX + 1]
    parts = max(2, SAMPLED_SPANS // len(asked.questionnaire_ids))
    for span, is_sample in zip(asked.spans, [each for each in sampled for _ in asked.questionnaire_ids], strict=True):
        is_cut = is_sample and instance_ids is None
        length = (span.to_time - span.from_time) / (parts if is_cut else 1)
        inner = [span.from_time + part * length for part in range(parts)] if is_cut else [span.from_time]
        edges = [*inner, span.to_time]
        spans += [Span(span.questionnaire_id, low, high) for low, high in pairwise(edges)]
        spans_max += [SAMPLED_OF_SPAN if is_cut else None] * (len(edges) - 1)
    sample = Scope(spans, instance_ids)
    return await _list_repeats(db, asked, sample, instance_ids=scope.instance_ids, spans_max=spans_max)


def _bounded(found: Sequence[Found]) -> Sequence[Found]:
    if len(found) >= CELLS_MAX:
        raise _too_much(f"It has more than {CELLS_MAX:,} groups: group by less, or choose a shorter time.")
    return found


def _too_many(most: int) -> errors.Invalid:
    return _too_much(f"It would read more than {most:,} responses: choose a shorter time or fewer groups.")


def _too_much(message: str) -> errors.Invalid:
    return errors.Invalid.in_query("from_time", "out_of_range", message)


# Readers of figures alone --------------------------------------------------------------------------------------------


class Visible(msgspec.Struct, frozen=True):
    """Cells of shown groups, those that make the total, and the hidden ones; `named`: hidden groups may be listed."""

    shown: list[Cell]
    total: list[Cell]
    hidden: list[Cell]
    named: bool

    def __add__(self, other: "Visible") -> "Visible":
        return Visible(
            self.shown + other.shown, self.total + other.total, self.hidden + other.hidden, self.named and other.named
        )


async def visible(
    db: Database, *, asked: CountQuery, is_of_cases: bool, types: Mapping[str, Any], minimum: int
) -> Visible:
    """The answers or cases that such a reader may see; `types`: of metadata by subject.

    Raises Invalid where that would read too much.
    """
    filtered = {group for each in subjects_of(asked.condition) if (group := core_reports.read_group(each))}
    limited = {of_limit(asked.only)} if asked.only else set[tuple[str, str]]()
    attributes = sorted({*asked.dimensions, *filtered, *limited})
    months = periods.buckets(asked.period, "month")
    monthly = dataclasses.replace(asked, buckets=months, dimensions=tuple(attributes), condition=None, only=None)
    read = cases if is_of_cases else answers
    cells, people = [(await read(db, asked=monthly, once=once, has_repeats=False))[0] for once in (False, True)]
    cells = [cell for cell in cells if cell.value != BOUNCED]  # not offered to them: few of them would hide a month
    shown = _shown(cells, people, minimum=minimum)
    found = Visible([], [], [], named=len(attributes) < disclosure.ATTRIBUTES_MAX)
    for cell in cells:
        values = dict(zip(attributes, cell.dimensions, strict=True))
        if asked.only and values[of_limit(asked.only)] not in asked.only[1:]:
            continue
        if not conditions.matches(asked.condition, _facts(values, types)):
            continue
        bucket = periods.bucket_of(months[cell.bucket], asked.buckets)
        moved = msgspec.structs.replace(
            cell, bucket=bucket, dimensions=tuple(values[each] for each in asked.dimensions)
        )
        keys = shown[_table(cell, part_of(cell))]
        is_shown = keys is not None and cell.dimensions in keys
        (found.shown if is_shown else found.hidden).append(moved)
        if is_shown or (keys is not None and asked.condition is None and not asked.only):
            found.total.append(moved)
    return found


def counted(
    wanted: Sequence[RequestedMetric], cells: Visible, group_by: Sequence[str], standing: Collection[Key]
) -> Counted:
    """The rows and the total, and which of their figures are hidden: not those of which some months are shown."""
    secret = core_reports.gather(wanted, cells.hidden, group_by, ())
    listed = [*standing, *(key for key in secret.rows if cells.named and key not in standing)]
    rows = core_reports.gather(wanted, cells.shown, group_by, listed).rows
    total = core_reports.gather(wanted, cells.total, (), ()).total
    hidden: list[set[Key]] = []
    for index in range(len(wanted)):
        keys = {key for key in rows if not cells.named or (key in secret.rows and secret.rows[key][index])}
        hidden.append({key for key in keys if not rows[key][index]})
        if not total[index] and (secret.total[index] or not cells.named):
            hidden[-1].add(core_reports.TOTAL)
    return Counted(rows, total, hidden)


def part_of(cell: Cell) -> str:
    """The row of a matrix or the rank of a ranking that a cell of answers counts; else empty."""
    return cell.value.rpartition(":")[0]


def _table(cell: Cell, part: str) -> _Table:
    return cell.bucket, cell.questionnaire_id, cell.question_id, part


def _shown(cells: Sequence[Cell], people: Sequence[Cell], *, minimum: int) -> Mapping[_Table, set[Key] | None]:
    """The shown groups of each table; None where even the total is hidden."""
    tables: defaultdict[_Table, dict[Key, dict[str, int]]] = defaultdict(dict)
    for cell in cells:
        size = tables[_table(cell, part_of(cell))].setdefault(cell.dimensions, {})
        size["" if cell.question_id else cell.value] = 0
    for cell in people:
        part, name = (cell.value, "") if cell.question_id else ("", cell.value)
        size = tables[_table(cell, part)].get(cell.dimensions, {})
        if name in size:
            size[name] = cell.count
    return {
        name: disclosure.shown(table, minimum=minimum, by="" if name[2] else RANKED_BY)
        for name, table in tables.items()
        if table
    }


def _facts(values: Mapping[tuple[str, str], str | None], types: Mapping[str, Any]) -> Facts:
    found: dict[str, object] = {}
    for (kind, name), text in values.items():
        subject = f"{kind}:{name}"
        found[subject] = text
        if kind == "question" and text is not None:
            found[subject] = {"true": True, "false": False}.get(text) if text in {"true", "false"} else int(text)
        elif (type_ := types.get(subject, "any")) != "any":
            found[subject] = metadata.typed(type_, text)
    return found
