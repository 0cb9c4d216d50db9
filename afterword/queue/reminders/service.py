"""Makes the next reminder of what was sent, and lets the first answer end those that wait."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import ids
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.scheduling import decisions
from afterword.db import Database
from afterword.events import service as events
from afterword.events.service import Event
from afterword.queue import store as queue_store
from afterword.queue.reminders import store
from afterword.queue.reminders.store import ItemKey, Sent
from afterword.queue.scheduler import rules_of, zone_name_of
from afterword.queue.store import Intake

READER: Final = "reminders"
SUBMITTED: Final = "questionnaire_instance.submitted"
DELETED: Final = "questionnaire_instance.deleted"
EVENT_TYPES: Final = frozenset({SUBMITTED, DELETED})


async def schedule_next(db: Database, *, sent: Sequence[ItemKey], now: datetime) -> None:
    """Put the next reminder of each item that has just been sent into the queue, where its pipeline has one.

    Nothing is made for an instance that is answered, or that can no longer be answered by then. In the transaction that
    settles the item; repeating it makes nothing twice.
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


def has_next(reminders: Sequence[Mapping[str, Any]], number: int | None) -> bool:
    """True when another reminder follows reminder `number` (None: the invitation)."""
    return len(reminders) > (number or 0)


async def end_answered(db: Database, *, limit: int) -> int:
    """Read the next `limit` events of the log; how many were passed.

    Reminders of an instance that was answered or deleted become due at once, and the decision about them ends them: it
    would at their time in any case, but whoever looks at the queue should not see them wait for nothing.
    """
    return await events.handle_next(
        db, reader=READER, types=EVENT_TYPES, limit=limit, handle=lambda told: _handle(db, told)
    )


# Below: how, in the order of their use ------------------------------------------------------------------------


def _document(sent: Sent, intake: Intake, now: datetime) -> dict[str, object] | None:
    """The row of the reminder, or None where the questionnaire can no longer be answered by then."""
    reminder = sent.reminder
    send_time = sent.dispatched_time.replace(microsecond=0) + timedelta(
        days=reminder["delay_days"], hours=reminder["delay_hours"], minutes=reminder["delay_minutes"]
    )
    not_after = send_time + timedelta(days=intake.not_after_days)
    if sent.valid_days:
        not_after = min(not_after, sent.valid_from + timedelta(days=sent.valid_days))
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
        now=now,
    )
    return {
        "organization_id": sent.organization_id,
        "item_id": item_id,
        "questionnaire_id": sent.questionnaire_id,
        "pipeline_id": sent.pipeline_id,
        "test": sent.test,
        "limited": sent.limited,
        "responder_channel_identifier": sent.responder_channel_identifier,
        "address_key": sent.address_key.hex(),
        "responder_id": sent.responder_id,
        "locale": sent.locale,
        "metadata": sent.metadata,
        "send_time": send_time,
        "send_offset_minutes": sent.send_offset_minutes,
        "due_time": due_time,
        "not_after": not_after,
        "attempts_max": sent.attempts_max,
        "resend_after_seconds": sent.resend_after_seconds,
        "questionnaire_instance_id": sent.questionnaire_instance_id,
        "previous_item_id": sent.item_id,
        "previous_questionnaire_instance_id": sent.previous_questionnaire_instance_id,
        "reminder_number": sent.number,
        "event_id": ids.ordered(now),
    }


async def _handle(db: Database, told: Sequence[Event]) -> None:
    instances = sorted({(each.organization_id, each.subject_id) for each in told if each.subject_id is not None})
    if instances:
        await store.update_reminders_to_due(db, instances=instances)
