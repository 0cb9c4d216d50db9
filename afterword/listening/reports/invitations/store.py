"""The SQL of invitations behind a figure: a page of them, and their number."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.asking.instances.store import SHOWN_COLUMNS, ShownInstance
from afterword.core.figures.cells import Basis
from afterword.core.figures.queries import CountQuery
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import qualified
from afterword.listening.reports.counts.store import HAS_ANSWERED, IS_INVITED

Key = tuple[datetime, str]  # the time by the basis, and the instance's id


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """`stages`: all of them were reached. `channel_id`: 0 for a link that was not sent. None: any."""

    stages: Sequence[str] = ()
    channel_id: int | None = None
    pipeline_id: str | None = None
    version_id: str | None = None
    locale: str | None = None


class Invitation(ShownInstance, frozen=True):
    """An instance with its message; `at`: the time by which it counts."""

    item_id: str | None
    responder_channel_identifier: str | None
    bounced_time: datetime | None
    at: datetime


_ANSWERED_APART: Final[LiteralString] = f"({HAS_ANSWERED} and $6 && '{{sent,delivered}}')"
# The time by the basis $11, with an index for each; of test data, which are few, any.
_SENT: Final[LiteralString] = "coalesce(i.sent_time, i.created_time)"
_TIME: Final[LiteralString] = f"""case $11::text when 'submitted' then i.submitted_time
  when 'completed' then i.completed_time else {_SENT} end"""
# Of $1 organization and $2 questionnaires, from $3 up to $4, among $5 (null: all); $6 stages; $7 to $10 as in `Filter`.
# An anonymous response counts for its answers alone; of its invitation is known that it was answered.
_CHOSEN: Final[LiteralString] = f"""i.organization_id = $1 and i.deleted_time is null and $11::text is not null
  and ($5::text[] is null or i.instance_id = any($5))
  and ($7::integer is null or coalesce(i.channel_id, 0) = $7) and ($8::text is null or i.pipeline_id = $8)
  and ($9::text is null or i.version_id = $9) and ($10::text is null or i.locale = $10)
  and ({IS_INVITED} or $6::text[] && '{{viewed,started,submitted,completed,answered}}')
  and (i.sent_time is not null or 'sent' <> all($6))
  and (i.delivered_time is not null or 'delivered' <> all($6))
  and (i.bounced_time is not null or 'bounced' <> all($6)) and (i.viewed_time is not null or 'viewed' <> all($6))
  and (coalesce(i.submitted_time, i.completed_time) is not null or 'started' <> all($6))
  and (i.submitted_time is not null or 'submitted' <> all($6) or {_ANSWERED_APART})
  and (i.completed_time is not null or 'completed' <> all($6) or {_ANSWERED_APART})
  and (i.completed_time is not null or 'answered' <> all($6) or {_ANSWERED_APART} or i.submitted_time is not null
    and 2 * (select count(*) from answer a
      where a.organization_id = i.organization_id and a.instance_id = i.instance_id and not a.provisional
        and a.value not in ('null', '[]', '{{}}')) >= cardinality(i.question_ids))"""


def _found(time: LiteralString, test: LiteralString) -> LiteralString:
    return f"""from unnest($2::text[]) s (questionnaire_id) cross join lateral (
      select i.instance_id, {time} as at from questionnaire_instance i
      where i.questionnaire_id = s.questionnaire_id and {time} >= $3 and {time} < $4 and {test} and {_CHOSEN}"""


def _page(time: LiteralString, test: LiteralString) -> LiteralString:
    return f"""with found as (
        select x.instance_id, x.at {_found(time, test)} and ({time}, i.instance_id) < ($12, $13::text)
          order by {time} desc, i.instance_id desc limit $14) x
        order by x.at desc, x.instance_id desc limit $14)
      select {qualified(SHOWN_COLUMNS, "i")}, i.item_id, i.bounced_time, found.at, q.responder_channel_identifier
      from found join questionnaire_instance i on i.organization_id = $1 and i.instance_id = found.instance_id
      left join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
        and q.deleted_time is null
      order by found.at desc, found.instance_id desc"""


def _count(time: LiteralString, test: LiteralString) -> LiteralString:
    return f"select count(*) from (select 1 {_found(time, test)} limit $12) x limit $12) n"


_PAGE_BY_SENT: Final = _page(_SENT, "not i.test")
_PAGE_BY_SUBMITTED: Final = _page("i.submitted_time", "not i.test")
_PAGE_BY_COMPLETED: Final = _page("i.completed_time", "not i.test")
_PAGE_OF_TESTS: Final = _page(_TIME, "i.test")
_COUNT_BY_SENT: Final = _count(_SENT, "not i.test")
_COUNT_BY_SUBMITTED: Final = _count("i.submitted_time", "not i.test")
_COUNT_BY_COMPLETED: Final = _count("i.completed_time", "not i.test")
_COUNT_OF_TESTS: Final = _count(_TIME, "i.test")


async def list_invitations(
    db: Database,
    *,
    organization_id: str,
    asked: CountQuery,
    instance_ids: Sequence[str] | None,
    chosen: Filter,
    after: Key | None,
    limit: int,
) -> Rows[Invitation]:
    """A page of those that the query counts, the newest first; of these, where given, `instance_ids`."""
    rows = await db.fetch(
        _PAGE_OF_TESTS
        if asked.test
        else _PAGE_BY_SUBMITTED
        if asked.basis == "submitted"
        else _PAGE_BY_COMPLETED
        if asked.basis == "completed"
        else _PAGE_BY_SENT,
        *_parameters(organization_id, asked, instance_ids, chosen),
        *(after or (asked.period.to_time, "")),
        limit + 1,
    )
    items = [Invitation(**row) for row in rows[:limit]]
    has_more = len(rows) > limit
    return Rows(items, next_key=(items[-1].at, items[-1].instance_id) if has_more else None, has_more=has_more)


async def count_invitations(
    db: Database,
    *,
    organization_id: str,
    asked: CountQuery,
    instance_ids: Sequence[str] | None,
    chosen: Filter,
    limit: int,
) -> int:
    return await db.fetch_value(
        _COUNT_OF_TESTS
        if asked.test
        else _COUNT_BY_SUBMITTED
        if asked.basis == "submitted"
        else _COUNT_BY_COMPLETED
        if asked.basis == "completed"
        else _COUNT_BY_SENT,
        *_parameters(organization_id, asked, instance_ids, chosen),
        limit,
    )


async def get_key(db: Database, *, organization_id: str, instance_id: str, basis: Basis) -> Key | None:
    row = await db.fetch_row(
        """select case $3 when 'submitted' then submitted_time when 'completed' then completed_time
             else coalesce(sent_time, created_time) end as at
           from questionnaire_instance where organization_id = $1 and instance_id = $2""",
        *(organization_id, instance_id, basis),
    )
    return None if row is None or row["at"] is None else (row["at"], instance_id)


def _parameters(
    organization_id: str, asked: CountQuery, instance_ids: Sequence[str] | None, chosen: Filter
) -> tuple[Any, ...]:
    return (
        organization_id,
        list(asked.questionnaire_ids),
        *(asked.period.from_time, asked.period.to_time),
        instance_ids,
        list(chosen.stages),
        *(chosen.channel_id, chosen.pipeline_id, chosen.version_id, chosen.locale, asked.basis),
    )
