"""Schedules the next reminder of each sent item, and ends waiting reminders after the first answer."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from afterword import ids
from afterword.asking.instances import service as instances
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.scheduling import decisions
from afterword.events import service as events
from afterword.events.service import Event
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.sending.queue import store as queue_store
from afterword.sending.queue.records import ItemKey
from afterword.sending.queue.scheduler import rules_of, zone_name_of
from afterword.sending.queue.store import INSERTED_ITEMS, Intake


class Sent(msgspec.Struct, frozen=True):
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
    return await db.records(Sent).fetch(
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


async def _insert_reminders(  # any tenant: a batch serves many
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


READER: Final = "reminders"
SUBMITTED: Final = "questionnaire_instance.submitted"
DELETED: Final = "questionnaire_instance.deleted"
EVENT_TYPES: Final = frozenset({SUBMITTED, DELETED})
_COPIED: Final = (
    "organization_id", "questionnaire_id", "pipeline_id", "test", "limited", "responder_channel_identifier",
    "responder_id", "locale", "metadata", "send_offset_minutes", "attempts_max", "resend_after_seconds",
    "questionnaire_instance_id", "previous_questionnaire_instance_id",
)  # fmt: skip


async def schedule_next(db: Database, *, sent: Sequence[ItemKey], now: datetime) -> None:
    """Schedule the next reminder of each item that has just been sent, where its pipeline has one.

    An instance that is answered, or can no longer be answered by then, gets none. Runs in the transaction that settles
    the item; repeating it inserts nothing twice.
    """
    followed = await list_sent(db, items=sorted(set(sent)))
    if not followed:
        return
    keys = {(each.organization_id, each.questionnaire_id, each.pipeline_id) for each in followed}
    intakes = {
        (each.organization_id, each.pipeline_id): each
        for each in await queue_store.list_intakes(db, wanted=sorted(keys))
    }
    documents = [
        document
        for each in followed
        if (intake := intakes.get((each.organization_id, each.pipeline_id))) is not None
        and (document := _document(each, intake, now)) is not None
    ]
    if documents:
        await _insert_reminders(db, documents=documents)


async def note_sent(db: Database, *, sent: Mapping[ItemKey, str | None], now: datetime) -> None:
    pairs = sorted((key[0], instance_id) for key, instance_id in sent.items() if instance_id is not None)
    if pairs:
        await instances.settle_times(db, "sent", times=dict.fromkeys(pairs, now), now=now)
        await schedule_next(db, sent=list(sent), now=now)


async def end_answered(db: Database, *, limit: int) -> int:
    """Read the next `limit` events of the log; the number read.

    Reminders of an instance that was answered or deleted become due at once, and the decision about them ends them. It
    would do so at their own time too, but the queue should not show them waiting until then.
    """
    return await events.handle_next(
        db, reader=READER, types=EVENT_TYPES, limit=limit, handle=lambda found: _handle(db, found)
    )


def _document(sent: Sent, intake: Intake, now: datetime) -> dict[str, object] | None:
    """The row of the reminder, or None where the questionnaire can no longer be answered by then."""
    reminder, offset = sent.reminder, intake.test_offset if sent.test else timedelta(0)
    send_time = (sent.dispatched_time + offset).replace(microsecond=0) + timedelta(
        days=reminder["delay_days"], hours=reminder["delay_hours"], minutes=reminder["delay_minutes"]
    )
    not_after = send_time + timedelta(days=intake.not_after_days)
    if sent.valid_days:
        not_after = min(not_after, sent.valid_from + offset + timedelta(days=sent.valid_days))
    if not_after <= send_time:
        return None
    item_id = ids.ordered(now)
    phone = sent.responder_channel_identifier if intake.channel_id == CHANNEL_SMS else None
    due_time = decisions.first_due(
        rules=rules_of(intake),
        zone_name=zone_name_of(intake, phone),
        item_id=item_id,
        send_time=send_time,
        not_after=not_after,
        now=now + offset,
    )
    return {
        **{name: getattr(sent, name) for name in _COPIED},
        "item_id": item_id,
        "address_key": f"\\x{sent.address_key.hex()}",
        "send_time": send_time,
        "due_time": due_time - offset,
        "not_after": not_after,
        "source": decisions.REMINDER,
        "previous_item_id": sent.item_id,
        "reminder_number": sent.number,
        "event_id": ids.ordered(now),
        "actor_kind": "worker",
    }


async def _handle(db: Database, found: Sequence[Event]) -> None:
    ended = sorted({(each.organization_id, each.subject_id) for each in found if each.subject_id is not None})
    if ended:
        await update_reminders_to_due(db, instances=ended)
