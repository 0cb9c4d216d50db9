"""Operations of clients on queue items: schedule, change, cancel, delete. Sending is in `queue/sending`."""

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Required, TypedDict, TypeVar, Unpack

import msgspec

from afterword import errors, ids
from afterword.core.organizations.access import Caller, installation
from afterword.core.reading.findings import escape
from afterword.core.scheduling.statuses import Item
from afterword.core.wire.times import Moment
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database
from afterword.sending.pipelines.service import NO_PIPELINE
from afterword.sending.queue import reminders, store
from afterword.sending.queue.records import (
    STATUS_ABORTED,
    VALUE_SCOPES,
    ItemKey,
    QueueItemRecord,
    QueueItemRequest,
    QueueItemUpdate,
    ShownItem,
)
from afterword.sending.queue.scheduler import Scheduler, changed, changes_of, editable, edited, replaced
from afterword.sending.queue.store import Intake
from afterword.tenants.organizations import retention as holds

NO_ITEM: Final = "There is no item with this item_id here."
COPY_NOTE: Final = "(an earlier attempt may have delivered a copy)"
RESULT_CHARACTERS_MAX: Final = 500
CANCELLABLE: Final = frozenset({Item.SCHEDULED, Item.CLAIMED})
IN_DISPATCH_SECONDS: Final = 5
_REFERENCE_KEY: Final = ("organization_id", "pipeline_id", "external_reference")

Shown = TypeVar("Shown", bound=ShownItem)


class NotPublished(errors.Conflict):
    code_default = "questionnaire_not_published"


class ApplicationInactive(errors.Conflict):
    """The application is switched off: queued items wait, and none are added."""

    code_default = "application_inactive"


class ReferenceTaken(errors.Conflict):
    """A live item of the pipeline carries this external reference."""

    code_default = "already_exists"

    def __init__(self, advice: str = "") -> None:
        super().__init__("An item of this pipeline that is not aborted has this external reference." + advice)


class InDispatch(errors.Conflict):
    code_default = "item_in_dispatch"

    def __init__(self) -> None:
        super().__init__("The item is being sent.", headers={"Retry-After": str(IN_DISPATCH_SECONDS)})


class ItemClosed(errors.Conflict):
    code_default = "item_closed"


class OutcomeUnknown(errors.Conflict):
    """An attempt may have reached the recipient, so the record must stay."""

    code_default = "outcome_unknown"


class NewItem(msgspec.Struct, frozen=True, kw_only=True):
    caller: Caller
    questionnaire_id: str
    pipeline_id: str
    request: QueueItemRequest  # without `send_time`: by the pipeline's delay
    previous_item_id: str | None = None
    previous_questionnaire_instance_id: str | None = None
    sequence_id: str | None = None
    source: str = "api"
    test: bool = False  # an item of a test token is one anyway


class ItemPath(TypedDict, total=False):
    """The parameters of a path: an item below its questionnaire and pipeline, or alone."""

    item_id: Required[str]
    questionnaire_id: str
    pipeline_id: str


def caller_of(job: Any, *, application_ids: Sequence[str] = ()) -> Caller:
    """Whoever asked for long work on items, of its row; what they may was asked then."""
    is_user, created_by = job.actor_kind == "user", job.created_by or ""
    return dataclasses.replace(
        installation(job.organization_id),
        token_id="" if is_user else created_by,
        user_id=created_by if is_user else None,
        application_ids=tuple(application_ids),
        test=job.test,
    )


async def schedule(db: Database, *, new: NewItem, secret: bytes) -> QueueItemRecord:
    """Schedule an item; raises ReferenceTaken, Invalid `invalid_address` and the refusals of `require_open`."""
    [outcome] = await schedule_all(db, wanted=[new], secret=secret)
    if isinstance(outcome, errors.Refusal):
        raise outcome
    return outcome


async def schedule_all(
    db: Database, *, wanted: Sequence[NewItem], secret: bytes
) -> list[QueueItemRecord | errors.Refusal]:
    """Schedule items of any callers by two statements. Returns an item or an error for each."""
    keys = {(new.caller.organization_id, new.questionnaire_id, new.pipeline_id) for new in wanted}
    found = await store.list_intakes(db, wanted=sorted(keys))
    schedulers = {(i.organization_id, i.questionnaire_id, i.pipeline_id): Scheduler(i, secret) for i in found}
    outcomes: list[QueueItemRecord | errors.Refusal | str] = []
    documents: list[Mapping[str, object]] = []
    for new in wanted:
        try:
            key = new.caller.organization_id, new.questionnaire_id, new.pipeline_id
            document = _document(new, schedulers.get(key))
        except errors.Refusal as refusal:
            outcomes.append(refusal)
        else:
            documents.append(document)
            outcomes.append(str(document["item_id"]))
    # In the order of the keys, as batches insert too: two flushes with the same references never lock crosswise.
    documents.sort(key=lambda each: tuple(str(each[name]) for name in _REFERENCE_KEY))
    inserted = {item.item_id: item for item in await store.insert_items(db, documents=documents)} if documents else {}
    taken = ReferenceTaken(" GET …/queue/reference/{external_reference} returns that item, and PUT changes it.")
    return [inserted.get(one, taken) if isinstance(one, str) else one for one in outcomes]


async def get(db: Database, *, caller: Caller, **path: Unpack[ItemPath]) -> QueueItemRecord:
    row = await store.get_item(db, **caller.reach, only=caller.only, query=store.RECORD, **path)
    return QueueItemRecord.of(errors.found(row, NO_ITEM))


def visible(item: Shown, caller: Caller) -> Shown:
    """The item with the metadata that the caller's scopes open; the map of another kind is empty."""
    scopes, metadata = caller.scopes, item.metadata
    opened = {kind: metadata.get(kind, {}) if scope in scopes else {} for kind, scope in VALUE_SCOPES.items()}
    return msgspec.structs.replace(item, metadata=opened)


async def change(
    db: Database,
    *,
    caller: Caller,
    change: QueueItemUpdate,
    expect: errors.Expect = errors.ANY,
    secret: bytes,
    **path: Unpack[ItemPath],
) -> QueueItemRecord:
    """Cancel the item, or change the named members. Raises Invalid `invalid_address`, InDispatch, ItemClosed."""
    item = await _locked(db, caller=caller, **path)
    expect(item.version)
    if change.status_id == STATUS_ABORTED:
        return await cancel(db, caller=caller, item=item, result=change.result or None)
    return await _edit(db, caller=caller, item=item, wanted=edited(item, change), secret=secret)


async def replace(
    db: Database, *, caller: Caller, item: QueueItemRecord, request: QueueItemRequest, secret: bytes
) -> QueueItemRecord:
    """Replace the editable members of a locked item; raises InDispatch, ItemClosed, Invalid `invalid_address`."""
    require_pending(item)
    return await _edit(db, caller=caller, item=item, wanted=replaced(item, request), secret=secret)


async def cancel(db: Database, *, caller: Caller, item: QueueItemRecord, result: str | None = None) -> QueueItemRecord:
    """Cancel a locked item; raises InDispatch, ItemClosed."""
    if item.status == Item.ABORTED:
        return item
    if item.status == Item.SENDING:
        raise InDispatch
    if item.status not in CANCELLABLE:
        raise ItemClosed("The item has come to its end.")
    [cancelled] = await _cancel(db, caller=caller, items=[item], result=result)
    return cancelled


async def cancel_all(db: Database, *, caller: Caller, item_ids: Sequence[str], result: str | None = None) -> set[str]:
    """Cancel those of the items that nobody has begun to send, and return their ids."""
    locked = await store.list_locked_items(db, organization_id=caller.organization_id, item_ids=item_ids)
    items = [item for item in locked if item.status in CANCELLABLE]
    return {item.item_id for item in await _cancel(db, caller=caller, items=items, result=result)} if items else set()


async def _cancel(
    db: Database, *, caller: Caller, items: Sequence[QueueItemRecord], result: str | None
) -> list[QueueItemRecord]:
    cancelled = await store.update_items_to_aborted(
        db,
        organization_id=caller.organization_id,
        item_ids=[item.item_id for item in items],
        result=result or "aborted",
        note=COPY_NOTE,
        characters_max=RESULT_CHARACTERS_MAX,
        updated_by=caller.actor_id,
    )
    await release_contacts(db, items=[(item.organization_id, item.item_id) for item in items])
    await _record_events(db, caller=caller, items=cancelled, kind="aborted", is_terminal=True)
    return cancelled


def require_open(intake: Intake | None, *, caller: Caller) -> Intake:
    """The pipeline's rules if the caller may send through it; raises NotFound, ApplicationInactive, NotPublished."""
    if intake is None or (caller.application_ids and intake.application_id not in caller.application_ids):
        raise errors.NotFound(NO_PIPELINE)
    if not intake.application_active:
        raise ApplicationInactive("The application is not active.")
    if not intake.is_published:
        raise NotPublished("The questionnaire was never published.")
    return intake


def require_own(caller: Caller, metadata: Mapping[str, Mapping[str, str]]) -> None:
    """Raise Invalid for metadata of an item that its maker, who has a limit, would not see."""
    if caller.limit is not None:
        pointer = f"/metadata/questionnaire/{escape(caller.limit.name)}"
        caller.limit.check(metadata.get("questionnaire", {}), pointer)


def require_pending(item: QueueItemRecord) -> None:
    if item.status in {Item.CLAIMED, Item.SENDING}:
        raise InDispatch
    if item.status != Item.SCHEDULED:
        raise ItemClosed("The item has come to its end.")


async def delete(db: Database, *, caller: Caller, expect: errors.Expect = errors.ANY, **path: Unpack[ItemPath]) -> None:
    """Cancel the item where needed, and hide it. Raises Held, InDispatch, ItemClosed, OutcomeUnknown."""
    item = await _locked(db, caller=caller, **path)
    expect(item.version)
    await holds.require_not_held(
        db, organization_id=item.organization_id, responder_id=item.responder_id, address_key=item.address_key
    )
    if item.status == Item.SENDING:
        raise InDispatch
    if item.status == Item.SENT:
        raise ItemClosed("The item was sent.")
    key = {"organization_id": item.organization_id, "item_id": item.item_id}
    if item.status == Item.UNCERTAIN or await store.count_unknown_attempts(db, **key):
        raise OutcomeUnknown("An attempt may have reached the recipient; the record stays.")
    if item.status in CANCELLABLE:
        await cancel(db, caller=caller, item=item)
    deleted = await store.delete_item(db, **key, deleted_by=caller.actor_id)
    await _record_events(db, caller=caller, items=[deleted], kind="deleted")


async def release_contacts(db: Database, *, items: Sequence[ItemKey]) -> None:
    """Remove the contacts of items that ended unsent, unless an attempt's outcome is unknown."""
    if items:
        await store.delete_contacts(db, items=items)


async def resolve(db: Database, *, caller: Caller, is_sent: bool, **path: Unpack[ItemPath]) -> QueueItemRecord:
    """A person found out whether it was sent; else it failed for good. Raises ItemClosed unless it is uncertain."""
    item = await _locked(db, caller=caller, **path)
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
        raise ItemClosed("What became of this item is known.")
    if is_sent:
        sent = {(item.organization_id, item.item_id): resolved.questionnaire_instance_id}
        await reminders.note_sent(db, sent=sent, now=resolved.updated_time)
    await _record_events(db, caller=caller, items=[resolved], kind="sent" if is_sent else "updated")
    return resolved


def _document(new: NewItem, scheduler: Scheduler | None) -> dict[str, object]:
    scheduler = errors.found(scheduler, NO_PIPELINE)
    now = require_open(scheduler.intake, caller=new.caller).now
    require_own(new.caller, changes_of(new.request.metadata).as_stored)
    document = scheduler.document(
        new.request,
        item_id=ids.ordered(now),
        event_id=ids.ordered(now),
        caller=new.caller,
        test=new.test,
        source=new.source,
    )
    return {
        **document,
        "previous_item_id": new.previous_item_id,
        "previous_questionnaire_instance_id": new.previous_questionnaire_instance_id,
        "sequence_id": new.sequence_id,
    }


async def _locked(db: Database, *, caller: Caller, **path: Unpack[ItemPath]) -> QueueItemRecord:
    await get(db, caller=caller, **path)
    place = {"organization_id": caller.organization_id, "item_ids": [path["item_id"]]}
    return errors.found(next(iter(await store.list_locked_items(db, **place)), None), NO_ITEM)


async def _edit(
    db: Database, *, caller: Caller, item: QueueItemRecord, wanted: Mapping[str, Any], secret: bytes
) -> QueueItemRecord:
    """Raises Invalid `invalid_address`, InDispatch, ItemClosed, and Held for another address."""
    if wanted == editable(item):
        return item
    require_own(caller, wanted["metadata"])
    [intake] = await store.list_intakes(db, wanted=[(item.organization_id, item.questionnaire_id, item.pipeline_id)])
    document, new_key = changed(item, wanted, Scheduler(intake, secret))
    require_pending(item)
    if new_key != item.address_key:  # the reserved contact is of the old address
        await holds.require_may_move(
            db, organization_id=item.organization_id, responder_id=item.responder_id, address_key=item.address_key
        )
        await release_contacts(db, items=[(item.organization_id, item.item_id)])
    written = await write(db, caller=caller, documents=[document], now=intake.now)
    [item] = await store.list_locked_items(db, organization_id=item.organization_id, item_ids=written)
    return item


async def move_all(db: Database, *, caller: Caller, item_ids: Sequence[str], moment: Moment, secret: bytes) -> set[str]:
    """Give those of the items another send time that wait, and return the ids of all that have it."""
    items = await store.list_locked_items(db, organization_id=caller.organization_id, item_ids=item_ids)
    keys = {(item.organization_id, item.questionnaire_id, item.pipeline_id) for item in items}
    found = await store.list_intakes(db, wanted=sorted(keys))
    schedulers = {intake.pipeline_id: Scheduler(intake, secret) for intake in found}
    change, documents, moved = QueueItemUpdate(send_time=moment), list[dict[str, object]](), set[str]()
    for item in items:
        wanted = edited(item, change)
        if wanted == editable(item):
            moved.add(item.item_id)
        elif item.status == Item.SCHEDULED and item.pipeline_id in schedulers:  # whose pipeline was not removed
            with suppress(errors.Invalid):  # an address that is no longer taken
                documents.append(changed(item, wanted, schedulers[item.pipeline_id])[0])
    if documents:
        moved.update(await write(db, caller=caller, documents=documents, now=found[0].now))
    return moved


async def write(db: Database, *, caller: Caller, documents: Sequence[Mapping[str, object]], now: datetime) -> list[str]:
    """Write documents of `scheduler.changed`, of locked items that are scheduled, and their events; the items' ids."""
    event_ids = ids.ordered_many(now, len(documents))
    return await store.update_items(
        db,
        organization_id=caller.organization_id,
        limited=bool(caller.application_ids),
        updated_by=caller.actor_id or None,
        actor_kind=caller.actor_kind,
        documents=[{**one, "event_id": event_id} for one, event_id in zip(documents, event_ids, strict=True)],
    )


async def _record_events(
    db: Database, *, caller: Caller, items: Sequence[QueueItemRecord], kind: str, is_terminal: bool = False
) -> None:
    actor = Actor.of(caller)
    new = [
        NewEvent.of(
            item,
            f"queue_item.{kind}",
            item.item_id,
            item.as_event,
            now=item.updated_time,
            actor=actor,
            is_terminal=is_terminal,
        )
        for item in items
    ]
    await events.record(db, events=new)
