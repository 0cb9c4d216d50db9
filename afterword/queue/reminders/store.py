"""The SQL of reminders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.db import Database
from afterword.db.columns import as_document
from afterword.queue.records import EVENT_COLUMNS, ITEM_COLUMNS

_TOLD: Final = as_document(EVENT_COLUMNS, "i")

ItemKey = tuple[str, str]  # organization_id, item_id


@dataclass(frozen=True, slots=True)
class Sent:
    """An item that was sent, is not answered, and has a reminder after it; `reminder` is that of its pipeline."""

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
    """List the items (organization_id, item_id) that a reminder follows."""
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
             and i.instance_id = q.questionnaire_instance_id and i.submitted_time is null and i.deleted_time is null""",
        [organization_id for organization_id, _ in items],
        [item_id for _, item_id in items],
    )
    return [Sent(**row) for row in rows]


async def insert_reminders(  # any tenant: a batch serves many
    db: Database, *, documents: Sequence[Mapping[str, object]]
) -> int:
    """Insert reminders from documents whose keys are columns, and their events; an item has one. How many were new."""
    return await db.execute(
        f"""with d as materialized (
             select * from jsonb_to_recordset($1::jsonb) as d (organization_id text, item_id text,
               questionnaire_id text, pipeline_id text, test boolean, limited boolean,
               responder_channel_identifier text, address_key text, responder_id text, locale text, metadata jsonb,
               send_time timestamptz, send_offset_minutes smallint, due_time timestamptz, not_after timestamptz,
               attempts_max smallint, resend_after_seconds integer, questionnaire_instance_id text,
               previous_item_id text, previous_questionnaire_instance_id text, reminder_number smallint,
               event_id text)),
           item as (
             insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, test, limited,
               responder_channel_identifier, address_key, responder_id, locale, metadata, send_time,
               send_offset_minutes, due_time, not_after, attempts_max, resend_after_seconds, questionnaire_instance_id,
               previous_item_id, previous_questionnaire_instance_id, reminder_number, source)
             select organization_id, item_id, questionnaire_id, pipeline_id, test, limited,
               responder_channel_identifier, decode(address_key, 'hex'), responder_id, locale, metadata,
               send_time, send_offset_minutes, due_time, not_after, attempts_max, resend_after_seconds,
               questionnaire_instance_id, previous_item_id,
               previous_questionnaire_instance_id, reminder_number, 'reminder'
             from d
             on conflict (organization_id, previous_item_id) where source = 'reminder' do nothing
             returning {ITEM_COLUMNS})
           insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
             actor_kind, test, data)
           select i.organization_id, d.event_id, 'queue_item.created', i.questionnaire_id, i.item_id, i.version,
             'worker', i.test, {_TOLD}
           from item i join d on d.organization_id = i.organization_id and d.item_id = i.item_id""",
        list(documents),
    )


async def update_reminders_to_due(  # any tenant: a reader of the log serves everyone
    db: Database, *, instances: Sequence[tuple[str, str]]
) -> int:
    """Let workers look at the waiting reminders of these instances at once; how many there were."""
    return await db.execute(
        """update queue_item q set due_time = now()
           from unnest($1::text[], $2::text[]) as b (organization_id, instance_id)
           where q.organization_id = b.organization_id and q.questionnaire_instance_id = b.instance_id
             and q.status = 1 and q.source = 'reminder' and q.due_time > now()""",
        [organization_id for organization_id, _ in instances],
        [instance_id for _, instance_id in instances],
    )
