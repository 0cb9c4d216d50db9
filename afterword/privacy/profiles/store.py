"""SQL of one person: the items by all ways that lead to them, and everything in the order of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.asking.instances.store import INSTANCE_COLUMNS, Instance
from afterword.cases.messages.store import MESSAGE_COLUMNS_M, Message
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.people.responders.store import SUPPRESSION_COLUMNS, Suppression
from afterword.sending.queue.records import ITEM_COLUMNS, QueueItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that happened, or that will. `title`: of the questionnaire or the alert; the last four: of answers."""

    entry_id: str
    kind: str
    time: datetime
    title: str | None
    questionnaire_id: str | None
    item_id: str | None
    instance_id: str | None
    alert_instance_id: str | None
    channel_id: int | None
    source: str | None
    order_key: str | None
    reason: str | None
    result: str | None
    test: bool
    score_question_id: str | None = None
    score: int | None = None
    band: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Of a response: the question with the score and the score, and the first words."""

    instance_id: str
    score_question_id: str | None
    score: int | None
    band: str | None
    comment: str | None


# Items that were sent, by their instances; reminders by the item before; those that wait, or ended unsent, by address.
_ITEMS: Final[LiteralString] = """select i.item_id from questionnaire_instance i
    where i.organization_id = $1 and i.responder_id = $2 and i.item_id is not null
  union
  select m.item_id from questionnaire_instance i
    join queue_item m on m.organization_id = i.organization_id and m.previous_item_id = i.item_id
    where i.organization_id = $1 and i.responder_id = $2 and m.source = 'reminder'
  union
  select m.item_id from responder_address a
    join queue_item m on m.organization_id = a.organization_id and m.address_key = a.address_key and m.status = 1
    where a.organization_id = $1 and a.responder_id = $2
  union
  select m.item_id from responder_address a
    join queue_item m on m.organization_id = a.organization_id and m.address_key = a.address_key and m.status >= 5
    where a.organization_id = $1 and a.responder_id = $2"""
_OF_ITEMS: Final[LiteralString] = f"""select 'item:' || m.item_id as entry_id,
      case when m.status = 4 then 'sent' when m.status < 4 then 'waiting' else 'not_sent' end as kind,
      case when m.status = 4 then m.dispatched_time when m.status < 4 then m.due_time else m.updated_time end as time,
      q.display_name as title, m.questionnaire_id, m.item_id, m.questionnaire_instance_id as instance_id,
      null::text as alert_instance_id, p.channel_id, m.source,
      coalesce(m.external_reference, case when $7::boolean then coalesce(
        m.metadata -> 'questionnaire' ->> 'transaction_id', m.metadata -> 'questionnaire' ->> 'booking_no',
        m.metadata -> 'questionnaire' ->> 'case_id') end) as order_key,
      case when m.status <> 4 then m.reason end as reason, case when m.status <> 4 then m.result end as result, m.test
    from ({_ITEMS}) f
      join queue_item m on m.organization_id = $1 and m.item_id = f.item_id and m.deleted_time is null
      join questionnaire q on q.organization_id = $1 and q.questionnaire_id = m.questionnaire_id
      join pipeline p on p.organization_id = $1 and p.pipeline_id = m.pipeline_id
    where (not $4::boolean or m.test) and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))"""
_OF_INSTANCES: Final[LiteralString] = """select e.kind || ':' || i.instance_id as entry_id, e.kind, e.time,
      q.display_name as title, i.questionnaire_id, i.item_id, i.instance_id, null::text as alert_instance_id,
      i.channel_id, null::text as source,
      case when $7::boolean then coalesce(i.metadata ->> 'transaction_id', i.metadata ->> 'booking_no',
        i.metadata ->> 'case_id') end as order_key,
      null::text as reason, null::text as result, i.test
    from questionnaire_instance i
      join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
      cross join lateral (values ('issued', case when i.item_id is null then i.created_time end),
        ('viewed', i.viewed_time), ('answered', i.submitted_time)) e (kind, time)
    where i.organization_id = $1 and i.responder_id = $2 and i.deleted_time is null and e.time is not null
      and (not $4::boolean or i.test) and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))"""
_OF_CASES: Final[LiteralString] = """select e.kind || ':' || c.alert_instance_id as entry_id, e.kind, e.time,
      a.title, c.questionnaire_id, null::text as item_id, c.instance_id, c.alert_instance_id,
      null::smallint as channel_id, null::text as source, null::text as order_key, null::text as reason,
      null::text as result, false as test
    from alert_instance c join alert a on a.organization_id = c.organization_id and a.alert_id = c.alert_id
      cross join lateral (values ('case_opened', c.created_time), ('case_closed', c.resolved_time)) e (kind, time)
    where c.organization_id = $1 and c.responder_id = $2 and e.time is not null and $6::boolean
      and not $4::boolean and (cardinality($3::text[]) = 0 or a.application_id = any($3))"""
_OF_SUPPRESSIONS: Final[LiteralString] = """select 'suppression:' || s.suppression_id as entry_id,
      'suppressed' as kind, s.created_time as time, null::text as title, null::text as questionnaire_id,
      null::text as item_id, null::text as instance_id, null::text as alert_instance_id, s.channel_id,
      null::text as source, null::text as order_key, s.reason, null::text as result, false as test
    from responder_address d join suppression s on s.organization_id = d.organization_id
      and s.channel_id = d.channel_id and s.address_key = d.address_key
    where d.organization_id = $1 and d.responder_id = $2 and $5::boolean"""


async def list_entries(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    responder_id: str,
    has_addresses: bool,
    has_cases: bool,
    has_values: bool,
    page: Page,
) -> Rows[Entry]:
    """A page of the timeline: suppressions where the caller sees addresses, cases and values where it sees these."""
    rows = await db.fetch_list(
        f"""select * from ({_OF_ITEMS} union all {_OF_INSTANCES} union all {_OF_CASES}
            union all {_OF_SUPPRESSIONS}) e where true""",
        *(organization_id, responder_id, list(application_ids), test_only, has_addresses, has_cases, has_values),
        page=page,
    )
    return rows.map(lambda row: Entry(**row))


async def count_entries(db: Database, *, organization_id: str, responder_id: str) -> dict[str, int]:
    rows = await db.fetch(
        f"""select e.kind, count(*) as count from ({_OF_ITEMS} union all {_OF_INSTANCES} union all {_OF_CASES}
             union all {_OF_SUPPRESSIONS}) e group by e.kind""",
        *(organization_id, responder_id, [], False, True, True, False),
    )
    return {row["kind"]: row["count"] for row in rows}


async def list_answered(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[Answered]:
    rows = await db.fetch(
        """select instance_id, score_question_id, score, band, comment from response
           where organization_id = $1 and instance_id = any($2::text[])""",
        *(organization_id, list(instance_ids)),
    )
    return [Answered(**dict(row)) for row in rows]


async def list_items(
    db: Database, *, organization_id: str, responder_id: str, after: str, limit: int
) -> list[tuple[QueueItem, datetime | None]]:
    """The items of the person with ids behind `after`, in their order, and when each was deleted."""
    rows = await db.fetch(
        f"""select {ITEM_COLUMNS}, deleted_time from queue_item where organization_id = $1
             and item_id in (select item_id from ({_ITEMS}) f where item_id > $3 order by item_id limit $4)
           order by item_id""",
        *(organization_id, responder_id, after, limit),
    )
    return [(QueueItem.of(row), row["deleted_time"]) for row in rows]


async def list_instances(
    db: Database, *, organization_id: str, responder_id: str, after: str, limit: int
) -> list[Instance]:
    """The instances of the person with ids behind `after`, in their order, deleted ones too."""
    rows = await db.fetch(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance where organization_id = $1 and responder_id = $2
             and instance_id > $3
           order by instance_id limit $4""",
        *(organization_id, responder_id, after, limit),
    )
    return [Instance.of(row) for row in rows]


async def list_messages(
    db: Database, *, organization_id: str, responder_id: str, after: str, limit: int
) -> list[Message]:
    rows = await db.fetch(
        f"""select {MESSAGE_COLUMNS_M} from alert_message m
           join alert_instance c on c.organization_id = m.organization_id
             and c.alert_instance_id = m.alert_instance_id
           where m.organization_id = $1 and c.responder_id = $2 and m.message_id > $3
           order by m.message_id limit $4""",
        *(organization_id, responder_id, after, limit),
    )
    return [Message(**row) for row in rows]


async def list_suppressions_of(db: Database, *, organization_id: str, responder_id: str) -> list[Suppression]:
    """Those of the person's addresses, also when they have ended."""
    rows = await db.fetch(
        f"""select {SUPPRESSION_COLUMNS} from suppression where organization_id = $1 and (channel_id, address_key) in (
             select channel_id, address_key from responder_address where organization_id = $1 and responder_id = $2)
           order by suppression_id""",
        *(organization_id, responder_id),
    )
    return [Suppression(**row) for row in rows]
