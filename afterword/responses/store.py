"""SQL of responses: those of all questionnaires, the newest first, each with its score, its words and its person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row

EVER, NEVER = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
FOUND_MAX: Final = 1_000  # counted of a tab; of more it says that there are more
SCANNED_MAX: Final = 5_000  # responses that a page looks at to find its rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuestions:
    """The questions that a list of responses shows and filters by.

    `scores` are those with a score, in the order in which one is shown; `texts` those in people's own words.
    """

    scores: Sequence[str]
    texts: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """`ranges`: question, lowest and highest answer, one of which was given; None for any."""

    questionnaire_id: str | None = None
    from_time: datetime = EVER
    to_time: datetime = NEVER
    tag: str | None = None
    has_comment: bool = False
    ranges: Sequence[tuple[str, int, int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRow:
    """`score`: the question and its answer; `person`: an address; `case_id`: the open case."""

    instance_id: str
    questionnaire_id: str
    questionnaire_name: str
    submitted_time: datetime
    locale: str
    channel_id: int | None
    responder_id: str | None
    person: str | None
    external_reference: str | None
    score: tuple[str, int] | None
    comment: str | None
    tags: list[str]
    case_id: str | None


_GIVEN: Final[LiteralString] = """from answer a where a.organization_id = i.organization_id
    and a.instance_id = i.instance_id and not a.provisional"""
_WINDOW: Final[LiteralString] = """from questionnaire_instance i
    join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
  where i.organization_id = $1 and i.submitted_time is not null and i.deleted_time is null and not i.test
    and not $3::boolean and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
    and ($4::text is null or i.questionnaire_id = $4) and i.submitted_time >= $5 and i.submitted_time <= $6
    and (i.submitted_time, $7::text) < ($6, i.instance_id)"""
_MET: Final[LiteralString] = f"""($8::text is null or exists (
      select from instance_tag t where t.organization_id = i.organization_id and t.instance_id = i.instance_id
        and t.tag = $8))
    and (not $9::boolean or exists (select {_GIVEN} and a.question_id = any($10::text[])))
    and ($11::text[] is null or exists (
      select from unnest($11, $12::integer[], $13::integer[]) as s (question_id, lowest, highest) join answer a
        on a.organization_id = i.organization_id and a.instance_id = i.instance_id and a.question_id = s.question_id
      where not a.provisional and jsonb_typeof(a.value) = 'number'
        and a.value::integer between s.lowest and s.highest))"""
_ORDER: Final[LiteralString] = "order by i.submitted_time desc, i.instance_id"
# The newest responses of the window, so many that a filter that few of them meet ends.
_NEWEST: Final[LiteralString] = f"""from (
    select i.organization_id, i.instance_id, i.questionnaire_id, i.submitted_time, i.locale, i.channel_id,
      i.responder_id, i.item_id, q.display_name
    {_WINDOW} {_ORDER} limit $15) i"""
_SHOWN: Final[LiteralString] = f"""i.instance_id, i.questionnaire_id, i.submitted_time, i.locale,
             i.channel_id, i.responder_id,
             (select r.identifier from responder_address r
              where r.organization_id = i.organization_id and r.responder_id = i.responder_id
              order by r.channel_id limit 1) as person,
             (select m.external_reference from queue_item m
              where m.organization_id = i.organization_id and m.item_id = i.item_id) as external_reference,
             (select array[a.question_id, a.value #>> '{{}}'] {_GIVEN} and a.question_id = any($14)
                and jsonb_typeof(a.value) = 'number'
              order by array_position($14, a.question_id::text) limit 1) as score,
             (select left(a.value #>> '{{}}', 1000) {_GIVEN} and a.question_id = any($10)
              order by array_position($10, a.question_id::text) limit 1) as comment,
             array(select t.tag from instance_tag t
                   where t.organization_id = i.organization_id and t.instance_id = i.instance_id
                   order by t.tag limit 20) as tags,
             (select c.alert_instance_id from alert_instance c
              where c.organization_id = i.organization_id and c.instance_id = i.instance_id and c.resolved_time is null
              order by c.created_time desc limit 1) as case_id"""


async def list_responses(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    questions: ListedQuestions,
    chosen: Filter,
    after: str,
    limit: int,
    scanned: int = SCANNED_MAX,
) -> list[ResponseRow]:
    """The responses before `chosen.to_time`, and of that moment those with ids behind `after`.

    Only the newest `scanned` of them are looked at; `get_last_scanned` tells where to go on.
    """
    rows = await db.fetch(
        f"""select {_SHOWN}, i.display_name as questionnaire_name {_NEWEST} where {_MET} {_ORDER} limit $16""",
        *(organization_id, list(application_ids), test_only),
        *_values(questions, chosen, after),
        *(scanned, limit),
    )
    return [_row(row) for row in rows]


async def list_response_page(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    questions: ListedQuestions,
    chosen: Filter,
    page: Page,
) -> Rows[ResponseRow]:
    rows = await db.fetch_list(
        f"select {_SHOWN}, q.display_name as questionnaire_name {_WINDOW} and {_MET}",
        *(organization_id, list(application_ids), test_only),
        *_values(questions, chosen),
        page=page,
    )
    return rows.map(_row)


async def get_last_scanned(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    chosen: Filter,
    after: str,
    scanned: int = SCANNED_MAX,
) -> tuple[datetime, str] | None:
    """The last of the newest `scanned` responses; None where there are fewer."""
    row = await db.fetch_row(
        f"select i.submitted_time, i.instance_id {_WINDOW} {_ORDER} offset $8 limit 1",
        *(organization_id, list(application_ids), test_only),
        *_window(chosen, after),
        scanned - 1,
    )
    return (row["submitted_time"], row["instance_id"]) if row else None


async def count_responses(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    questions: ListedQuestions,
    chosen: Filter,
) -> int:
    """Of the newest FOUND_MAX + 1 alone: without a filter that many mean that there are more."""
    return await db.fetch_value(
        f"select count(*) {_NEWEST} where {_MET} and $14::text[] is not null",  # it shows no score
        *(organization_id, list(application_ids), test_only),
        *_values(questions, chosen),
        FOUND_MAX + 1,
    )


def _row(row: Row) -> ResponseRow:
    values: dict[str, Any] = dict(row)
    pair: Sequence[str] | None = values.pop("score")
    return ResponseRow(**values, score=(pair[0], int(float(pair[1]))) if pair else None)


def _window(chosen: Filter, after: str) -> tuple[Any, ...]:
    return chosen.questionnaire_id, chosen.from_time, chosen.to_time, after


def _values(questions: ListedQuestions, chosen: Filter, after: str = "") -> tuple[Any, ...]:
    ranges = (None, None, None) if chosen.ranges is None else tuple(map(list, zip(*chosen.ranges, strict=True)))
    given = (chosen.tag, chosen.has_comment, list(questions.texts))
    return (*_window(chosen, after), *given, *(ranges or ([], [], [])), list(questions.scores))
