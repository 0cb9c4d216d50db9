"""Schedules the next reminder of each sent item, and ends waiting reminders after the first answer."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import ids
from afterword.asking.instances import service as instances
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.scheduling import decisions
from afterword.events import service as events
from afterword.events.service import Event
from afterword.kit.db import Database
from afterword.sending.queue import store as queue_store
from afterword.sending.queue.records import ItemKey
from afterword.sending.queue.reminders import store
from afterword.sending.queue.reminders.store import Sent
from afterword.sending.queue.scheduler import rules_of, zone_name_of
from afterword.sending.queue.store import Intake

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
    followed = await store.list_sent(db, items=sorted(set(sent)))
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
        await store.insert_reminders(db, documents=documents)


async def note_sent(db: Database, *, sent: Mapping[ItemKey, str | None], now: datetime) -> None:
    pairs = sorted((key[0], instance_id) for key, instance_id in sent.items() if instance_id is not None)
    if pairs:
        await instances.mark(db, "sent", times=dict.fromkeys(pairs, now), now=now)
        await schedule_next(db, sent=list(sent), now=now)


def has_next(reminders: Sequence[Mapping[str, Any]], number: int | None) -> bool:
    """True when another reminder follows reminder `number` (None: the invitation)."""
    return len(reminders) > (number or 0)


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
        await store.update_reminders_to_due(db, instances=ended)
