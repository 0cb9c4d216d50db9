"""What clients may do with queue items: schedule, change, cancel, delete. Sending them is in `queue/sending`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn

from afterword import errors, ids
from afterword.core import metadata, scheduling, times
from afterword.core.access import Caller
from afterword.core.addresses import CHANNEL_SMS, InvalidAddress, address_key, normalise
from afterword.core.metadata import Changes
from afterword.core.statuses import Item
from afterword.core.times import Moment
from afterword.db import Database
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.instances import service as instances
from afterword.queue import store
from afterword.queue.deciding import service as deciding
from afterword.queue.pipelines.service import create_pipeline
from afterword.queue.store import Intake, QueueItem

__all__ = [
    "InDispatch", "ItemChange", "ItemClosed", "NewItem", "NotPublished", "NotUncertain", "OutcomeUnknown", "Place",
    "ReferenceTaken", "capture", "change", "create_pipeline", "delete", "get", "prune_outbox", "resolve", "schedule",
    "schedule_all",
]  # fmt: skip

ABORTED_DEFAULT: Final = "aborted"
COPY_NOTE: Final = "(an earlier attempt may have delivered a copy)"
RESULT_CHARACTERS_MAX: Final = 500
IN_DISPATCH_SECONDS: Final = 5
OUTBOX_DAYS: Final = 30
# After an attempt of unknown outcome; null: never again. Mail servers know the Message-ID after ten minutes, receivers
# that honour the item's id as a key take a repetition at once, and an SMS is heard twice.
RESEND_AFTER_SECONDS: Final[Mapping[int, int | None]] = {1: 600, 2: None, 3: 1, 4: 1, 5: 1}


class NotPublished(errors.Conflict):
    """Nothing can be sent of a questionnaire before it was published."""

    code_default = "questionnaire_not_published"


class ReferenceTaken(errors.Conflict):
    """A live item of the pipeline carries this external reference."""

    code_default = "already_exists"


class InDispatch(errors.Conflict):
    """A worker holds the item; in a moment it will be decided."""

    code_default = "item_in_dispatch"

    def __init__(self) -> None:
        super().__init__("The item is being sent.", headers={"Retry-After": str(IN_DISPATCH_SECONDS)})


class ItemClosed(errors.Conflict):
    """The item has come to its end."""

    code_default = "item_closed"


class NotUncertain(errors.Conflict):
    """Only an item of unknown outcome wants a person's word."""

    code_default = "item_closed"


class OutcomeUnknown(errors.Conflict):
    """An attempt may have reached the recipient, so the record must stay."""

    code_default = "outcome_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """What a client wants to be sent, on whose behalf."""

    caller: Caller
    questionnaire_id: str
    pipeline_id: str
    responder_channel_identifier: str
    locale: str | None = None
    send_time: Moment | None = None  # None: now and the pipeline's delay
    metadata: Changes = field(default_factory=Changes)
    external_reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """What a PATCH names; None: untouched. `has_locale` tells a locale of null from an absent one."""

    is_abort: bool = False
    result: str | None = None
    responder_channel_identifier: str | None = None
    has_locale: bool = False
    locale: str | None = None
    send_time: Moment | None = None
    metadata: Changes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a caller looks for an item: nested below a questionnaire and pipeline, or by its id alone."""

    item_id: str
    questionnaire_id: str | None = None
    pipeline_id: str | None = None


async def schedule(db: Database, *, new: NewItem, secret: bytes) -> QueueItem:
    """Put an item into the queue; raises NotFound, Invalid `invalid_address`, NotPublished, ReferenceTaken."""
    [outcome] = await schedule_all(db, wanted=[new], secret=secret)
    if isinstance(outcome, errors.Refusal):
        raise outcome
    return outcome


async def schedule_all(db: Database, *, wanted: Sequence[NewItem], secret: bytes) -> list[QueueItem | errors.Refusal]:
    """Put items of any callers into the queue, with two statements for all: each its item, or its own refusal."""
    keys = {(new.caller.organization_id, new.questionnaire_id, new.pipeline_id) for new in wanted}
    found = await store.list_intakes(db, wanted=sorted(keys))
    intakes = {(i.organization_id, i.questionnaire_id, i.pipeline_id): i for i in found}
    outcomes: list[QueueItem | errors.Refusal | str] = []
    documents: list[Mapping[str, object]] = []
    for new in wanted:
        try:
            intake = intakes.get((new.caller.organization_id, new.questionnaire_id, new.pipeline_id))
            document = _document(new, intake, secret)
        except errors.Refusal as refusal:
            outcomes.append(refusal)
        else:
            documents.append(document)
            outcomes.append(str(document["item_id"]))
    inserted = {item.item_id: item for item in await store.insert_items(db, documents=documents)} if documents else {}
    taken = ReferenceTaken("An item of this pipeline that is not aborted has this external reference.")
    return [inserted.get(one, taken) if isinstance(one, str) else one for one in outcomes]


async def capture(
    db: Database,
    *,
    organization_id: str,
    item_id: str,
    channel_id: int,
    recipient: str,
    subject: str | None,
    content: bytes,
) -> None:
    """Keep a message in the outbox in place of sending it."""
    await store.insert_outbox_message(
        db,
        organization_id=organization_id,
        item_id=item_id,
        channel_id=channel_id,
        recipient=recipient,
        subject=subject,
        content=content,
    )


async def prune_outbox(db: Database, *, now: datetime, limit: int) -> int:
    """Forget captured messages after their days; how many."""
    return await store.prune_outbox_messages(db, before=now - timedelta(days=OUTBOX_DAYS), limit=limit)


async def get(db: Database, *, caller: Caller, place: Place) -> QueueItem:
    """The item as the caller may see it; raises NotFound."""
    item = await store.get_item(
        db,
        organization_id=caller.organization_id,
        item_id=place.item_id,
        questionnaire_id=place.questionnaire_id,
        pipeline_id=place.pipeline_id,
        application_ids=caller.application_ids,
        test_only=caller.test,
    )
    return item or _refuse_unknown()


async def change(
    db: Database,
    *,
    caller: Caller,
    place: Place,
    change: ItemChange,
    check_version: Callable[[int], None],
    secret: bytes,
) -> QueueItem:
    """Cancel the item, or change what a PATCH names; what equals the stored value is no change.

    Raises NotFound, Stale (by `check_version`), Invalid `invalid_address`, InDispatch, ItemClosed.
    """
    item = await _locked(db, caller=caller, place=place)
    check_version(item.version)
    if change.is_abort:
        return await _cancel(db, caller=caller, item=item, result=change.result)
    return await _edit(db, caller=caller, item=item, change=change, secret=secret)


async def delete(db: Database, *, caller: Caller, place: Place, check_version: Callable[[int], None]) -> None:
    """Cancel the item where needed, and hide it; raises NotFound, Stale, InDispatch, ItemClosed, OutcomeUnknown."""
    item = await _locked(db, caller=caller, place=place)
    check_version(item.version)
    if item.status == Item.SENDING:
        raise InDispatch
    if item.status == Item.SENT:
        raise ItemClosed("The item was sent.")
    key = {"organization_id": item.organization_id, "item_id": item.item_id}
    if item.status == Item.UNCERTAIN or await store.count_unknown_attempts(db, **key):
        raise OutcomeUnknown("An attempt may have reached the recipient; the record stays.")
    if item.status in {Item.SCHEDULED, Item.CLAIMED}:
        await _cancel(db, caller=caller, item=item, result=None)
    deleted = await store.delete_item(db, **key, deleted_by=caller.actor_id)
    if deleted is None:
        raise AssertionError("the locked item changed under us")
    await _tell(db, caller=caller, item=deleted, kind="deleted")


async def resolve(db: Database, *, caller: Caller, place: Place, is_sent: bool) -> QueueItem:
    """A person knows what became of an uncertain item: sent, which corrects what was told, or failed for good.

    Raises NotFound, NotUncertain.
    """
    item = await _locked(db, caller=caller, place=place)
    verdict = "it was sent" if is_sent else "it was not sent"
    resolved = await store.update_item_to_resolved(
        db,
        organization_id=item.organization_id,
        item_id=item.item_id,
        is_sent=is_sent,
        result=f"Resolved by a person: {verdict}",
        updated_by=caller.actor_id,
    )
    if resolved is None:
        raise NotUncertain("What became of this item is known.")
    if is_sent and resolved.questionnaire_instance_id is not None:
        sent = [(item.organization_id, resolved.questionnaire_instance_id)]
        await instances.mark_sent(db, sent=sent, now=resolved.updated_time)
    await _tell(db, caller=caller, item=resolved, kind="sent" if is_sent else "updated")
    return resolved


# Below: how, in the order of their use ------------------------------------------------------------------------


def _document(new: NewItem, intake: Intake | None, secret: bytes) -> dict[str, object]:
    """The row of a new item."""
    caller = new.caller
    if intake is None or (caller.application_ids and intake.application_id not in caller.application_ids):
        _refuse_unknown()
    normal = _normal(intake.channel_id, new.responder_channel_identifier, new.locale or intake.locale)
    if not intake.is_published:
        raise NotPublished("The questionnaire was never published.")
    moment = new.send_time or _default_moment(intake)
    not_after = _not_after(intake, moment.instant, intake.now)
    item_id = ids.ordered(intake.now)
    return {
        "organization_id": intake.organization_id,
        "item_id": item_id,
        "questionnaire_id": intake.questionnaire_id,
        "pipeline_id": intake.pipeline_id,
        "test": caller.test,
        "responder_channel_identifier": new.responder_channel_identifier,
        "address_key": address_key(secret, intake.channel_id, normal).hex(),
        "locale": new.locale,
        "metadata": new.metadata.as_stored,
        "send_time": moment.instant,
        "send_offset_minutes": moment.offset_minutes,
        "due_time": _due_time(intake, moment.instant, not_after, normal=normal, item_id=item_id),
        "not_after": not_after,
        "attempts_max": intake.max_retry_attempts + 1,
        "resend_after_seconds": RESEND_AFTER_SECONDS[intake.channel_id],
        "source": "api",
        "external_reference": new.external_reference,
        "created_by": caller.actor_id,
        "event_id": ids.ordered(intake.now),
        "actor_kind": caller.actor_kind,
    }


def _normal(channel_id: int, identifier: str, locale: str | None) -> str:
    try:
        return normalise(channel_id, identifier, locale=locale)
    except InvalidAddress as error:
        wrong = FieldError("invalid_address", str(error), pointer="/responder_channel_identifier")
        raise errors.Invalid.of(wrong) from error


def _default_moment(intake: Intake) -> Moment:
    """Now and the delay caps, in whole seconds, as the organization's clocks show it."""
    delay = timedelta(days=intake.delay_cap_days, hours=intake.delay_cap_hours, minutes=intake.delay_cap_minutes)
    instant = intake.now.replace(microsecond=0) + delay
    return Moment(instant, times.offset_minutes_at(instant, times.zone_of(intake.organization_zone)))


def _due_time(intake: Intake, send_time: datetime, not_after: datetime, *, normal: str, item_id: str) -> datetime:
    rules = scheduling.Rules(
        start_time=intake.start_time,
        window=scheduling.hours_of(intake.dispatch_start_time, intake.dispatch_end_time),
        weekdays=frozenset(intake.weekdays),
        if_outside=intake.if_outside,
    )
    zone_name = scheduling.zone_name_for(
        pipeline=intake.time_zone, zone_of_kind=intake.zone_of, responder=None,
        phone=normal if intake.channel_id == CHANNEL_SMS else None, application=intake.application_zone,
        organization=intake.organization_zone,
    )  # fmt: skip
    return scheduling.first_due(
        rules=rules, zone_name=zone_name, item_id=item_id, send_time=send_time, not_after=not_after, now=intake.now
    )


def _not_after(intake: Intake, send_time: datetime, created_time: datetime) -> datetime:
    return scheduling.expiry(
        send_time=send_time, created_time=created_time, not_after_days=intake.not_after_days,
        valid_days=intake.valid_days,
    )  # fmt: skip


async def _locked(db: Database, *, caller: Caller, place: Place) -> QueueItem:
    """The item, locked; what the caller may not see is not locked either."""
    await get(db, caller=caller, place=place)
    item = await store.get_item_locked(db, organization_id=caller.organization_id, item_id=place.item_id)
    return item or _refuse_unknown()


async def _cancel(db: Database, *, caller: Caller, item: QueueItem, result: str | None) -> QueueItem:
    if item.status == Item.ABORTED:
        return item
    if item.status == Item.SENDING:
        raise InDispatch
    if item.status not in {Item.SCHEDULED, Item.CLAIMED}:
        raise ItemClosed("The item has come to its end.")
    key = {"organization_id": item.organization_id, "item_id": item.item_id}
    text = result or ABORTED_DEFAULT
    if await store.count_unknown_attempts(db, **key):
        text = f"{text[: RESULT_CHARACTERS_MAX - len(COPY_NOTE) - 1]} {COPY_NOTE}"
    cancelled = await store.update_item_to_aborted(db, **key, result=text, updated_by=caller.actor_id)
    if cancelled is None:
        raise AssertionError("the locked item changed under us")
    await deciding.release_places(db, items=[(item.organization_id, item.item_id)])
    await _tell(db, caller=caller, item=cancelled, kind="aborted", is_terminal=True)
    return cancelled


async def _edit(db: Database, *, caller: Caller, item: QueueItem, change: ItemChange, secret: bytes) -> QueueItem:
    wanted = _wanted(item, change)
    if wanted == _editable(item):
        return item
    [intake] = await store.list_intakes(db, wanted=[(item.organization_id, item.questionnaire_id, item.pipeline_id)])
    document, new_key = _edited(item, wanted, intake, secret)
    if item.status in {Item.CLAIMED, Item.SENDING}:
        raise InDispatch
    if item.status != Item.SCHEDULED:
        raise ItemClosed("The item has come to its end.")
    if new_key != item.address_key:  # its place in the caps was the old address's
        await deciding.release_places(db, items=[(item.organization_id, item.item_id)])
    edited = await store.update_item(
        db,
        organization_id=item.organization_id,
        item_id=item.item_id,
        address_key=new_key,
        document={**document, "updated_by": caller.actor_id},
    )
    if edited is None:
        raise AssertionError("the locked item changed under us")
    await _tell(db, caller=caller, item=edited, kind="updated")
    return edited


def _editable(item: QueueItem) -> dict[str, Any]:
    """What a PATCH may change of an item."""
    return {
        "responder_channel_identifier": item.responder_channel_identifier,
        "locale": item.locale,
        "send_time": item.send_time,
        "send_offset_minutes": item.send_offset_minutes,
        "metadata": item.metadata,
    }


def _wanted(item: QueueItem, change: ItemChange) -> dict[str, Any]:
    """The editable part as it would be after the change."""
    wanted = _editable(item)
    if change.responder_channel_identifier is not None:
        wanted["responder_channel_identifier"] = change.responder_channel_identifier
    if change.has_locale:
        wanted["locale"] = change.locale
    if change.send_time is not None:
        wanted |= {"send_time": change.send_time.instant, "send_offset_minutes": change.send_time.offset_minutes}
    if change.metadata is not None:
        wanted["metadata"] = {
            kind: metadata.merge(item.metadata.get(kind, {}), getattr(change.metadata, kind)) for kind in metadata.KINDS
        }
    return wanted


def _edited(
    item: QueueItem, wanted: Mapping[str, Any], intake: Intake, secret: bytes
) -> tuple[dict[str, object], bytes]:
    """The changed columns and the address's key. Between attempts the wait before the next one stays."""
    normal = _normal(intake.channel_id, wanted["responder_channel_identifier"], wanted["locale"] or intake.locale)
    key = address_key(secret, intake.channel_id, normal)
    not_after = _not_after(intake, wanted["send_time"], item.created_time)
    was_tried = item.attempts > 0 or item.throttled > 0
    due_time = _due_time(intake, wanted["send_time"], not_after, normal=normal, item_id=item.item_id)
    return {
        **wanted,
        "not_after": not_after,
        "due_time": max(due_time, item.due_time) if was_tried else due_time,
        "reason": item.reason if was_tried else None,
        "result": item.result if was_tried else None,
    }, key


async def _tell(db: Database, *, caller: Caller, item: QueueItem, kind: str, is_terminal: bool = False) -> None:
    event = NewEvent(
        organization_id=item.organization_id,
        event_id=ids.ordered(item.updated_time),
        type=f"queue_item.{kind}",
        subject_id=item.item_id,
        subject_version=item.version,
        questionnaire_id=item.questionnaire_id,
        actor_kind=caller.actor_kind,
        actor_id=caller.actor_id,
        data=item.as_event,
        is_terminal=is_terminal,
        test=item.test,
    )
    await events.record(db, events=[event])


def _refuse_unknown() -> NoReturn:
    raise errors.NotFound("There is no such thing here.")
