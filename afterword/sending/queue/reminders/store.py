"""The SQL of reminders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.sending.queue.records import ItemKey
from afterword.sending.queue.store import INSERTED_ITEMS


@dataclass(frozen=True, slots=True)
class Sent:
    """A sent, unanswered item that a reminder follows; `reminder` is its definition in the pipeline."""

    organization_id: str
    item_id: str
    questionnaire_id: str
    pipeline_id: str
    test: bool
    limited: bool
    responder_channel_identifier: str
    address_key: bytes
    responder_id: str | None
    locale: str | None
    metadata: dict[str, dict[str, str]]
    send_offset_minutes: int
    attempts_max: int
    resend_after_seconds: int | None
    dispatched_time: datetime
    questionnaire_instance_id: str
    previous_questionnaire_instance_id: str | None
    number: int
    reminder: dict[str, Any]
    valid_days: int
    valid_from: datetime


async def list_sent(db: Database, *, items: Sequence[ItemKey]) -> list[Sent]:  # any tenant: a batch serves many
    rows = await db.fetch(
        """select q.organization_id, q.item_id, q.questionnaire_id, q.pipeline_id, q.test, q.limited,
             q.responder_channel_identifier, q.address_key, q.responder_id, q.locale, q.metadata, q.send_offset_minutes,
             q.attempts_max, q.resend_after_seconds, q.dispatched_time, q.questionnaire_instance_id,
             q.previous_questionnaire_instance_id, coalesce(q.reminder_number, 0) + 1 as number,
             p.reminders -> coalesce(q.reminder_number, 0)::int as reminder, i.valid_days,
             coalesce(i.sent_time, q.dispatched_time) as valid_from
           from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id and q.status = 4
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
             and jsonb_array_length(p.reminders) > coalesce(q.reminder_number, 0) and p.deleted_time is null
           join questionnaire_instance i on i.organization_id = q.organization_id
             and i.instance_id = q.questionnaire_instance_id and i.submitted_time is null and i.deleted_time is null
             and i.full_quota_id is null and not (i.finalized and coalesce(i.anonymity = 'invitation', false))""",
        *arrays(items, 2),
    )
    return [Sent(**row) for row in rows]


async def insert_reminders(  # any tenant: a batch serves many
    db: Database, *, documents: Sequence[Mapping[str, object]]
) -> int:
    """Insert reminders and their events from documents; an item has one reminder. The number of new ones."""
    return await db.execute(f"{INSERTED_ITEMS} select from item", list(documents))


async def update_reminders_to_due(  # any tenant: a reader of the log serves everyone
    db: Database, *, instances: Sequence[tuple[str, str]]
) -> int:
    return await db.execute(
        """update queue_item q set due_time = now()
           from unnest($1::text[], $2::text[]) as b (organization_id, instance_id)
           where q.organization_id = b.organization_id and q.questionnaire_instance_id = b.instance_id
             and q.status = 1 and q.source = 'reminder' and q.due_time > now()""",
        *arrays(instances, 2),
    )
