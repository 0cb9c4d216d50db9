"""Acts on many items that wait or failed: a worker goes through them in steps, each a transaction with its progress.

Items are taken from the latest `send_time` to the earliest, behind the key of the last one. An item that was moved
ahead of that key is met again, and passed over because it is where it should be.
"""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

import msgspec

from afterword import errors, ids
from afterword.core.organizations.access import Caller, installation
from afterword.core.scheduling.statuses import Item, PublicItem
from afterword.core.wire import times
from afterword.core.wire.lists import Rows
from afterword.core.wire.times import Moment
from afterword.kit.db import Database
from afterword.kit.db.leases import LeaseLost
from afterword.sending.queue import service as queue
from afterword.sending.queue.batches import store
from afterword.sending.queue.batches.store import Batch
from afterword.sending.queue.deciding import service as deciding
from afterword.sending.queue.lanes import service as lanes
from afterword.sending.queue.lanes import store as lanes_store
from afterword.sending.queue.lists import service as lists
from afterword.sending.queue.lists.service import Count, ItemFilter
from afterword.sending.queue.lists.store import ListedItem
from afterword.sending.queue.resources import STATUS_ABORTED, QueueItemUpdate
from afterword.sending.queue.store import QueueItem
from afterword.sending.queue.traces import service as traces

ITEMS_A_STEP: Final = 100
KEEP_DAYS: Final = 30
ERROR_CHARACTERS_MAX: Final = 500

Action = Literal["cancel", "move", "send_now", "repeat"]
UNKNOWN: Final = "outcome_unknown"  # repeated by those alone who chose this reason: a second message may arrive
FILTER: Final = ("reason", "application_id", "questionnaire_id", "pipeline_id", "from_time", "to_time")


@dataclass(frozen=True, slots=True)
class NewBatch:
    """The items that are meant, and what happens to them; `moment` is for `move` alone.

    `repeat` means those that failed and were not sent again yet, all others those that wait. `import_id`: those alone
    that this import made.
    """

    wanted: ItemFilter
    action: Action
    moment: Moment | None = None
    import_id: str | None = None
    dry_run: bool = False


class CannotResume(errors.Conflict):
    """Only what was stopped or failed can go on."""

    code_default = "not_ready"


async def create(db: Database, *, caller: Caller, new: NewBatch, now: datetime) -> Batch:
    """Queue the act. Raises Invalid for ids that are unknown or a missing time, and TooMany."""
    if (new.moment is None) == (new.action == "move"):
        message = "A time is needed." if new.action == "move" else "Only `move` has a time."
        raise errors.Invalid.at("/send_time", "required" if new.action == "move" else "exclusive", message)
    unknown = await lists.unknown_of(db, caller=caller, wanted=new.wanted)
    if unknown is not None:
        raise errors.Invalid.at(f"/filter/{unknown}", "unknown_id", "There is nothing with this id.")
    if new.import_id is not None:
        await _require_import(db, caller=caller, import_id=new.import_id)
    await store.BATCHES.require_capacity(db, organization_id=caller.organization_id, noun="acts on many items")
    moment = new.moment
    if new.action in {"send_now", "repeat"}:
        instant = now.replace(microsecond=0)
        moment = Moment(instant, times.offset_minutes_at(instant, times.zone_of(caller.time_zone)))
    wanted = new.wanted
    return await store.insert_batch(
        db,
        organization_id=caller.organization_id,
        columns={
            "batch_id": ids.ordered(now),
            "action": new.action,
            "send_time": moment and moment.instant,
            "send_offset_minutes": moment and moment.offset_minutes,
            "dry_run": new.dry_run,
            **{name: getattr(wanted, name) for name in FILTER},
            "import_id": new.import_id,
            "application_ids": list(caller.application_ids),
            "test": caller.test,
            "created_by": caller.actor_id or None,
            "actor_kind": caller.actor_kind,
        },
    )


async def count_of_import(db: Database, *, caller: Caller, import_id: str) -> Count | None:
    """The items of an import that wait; None where there is no such import."""
    try:
        await _require_import(db, caller=caller, import_id=import_id)
    except errors.Invalid:
        return None
    count = await store.count_items_of_import(
        db, organization_id=caller.organization_id, import_id=import_id, limit=lists.COUNT_MAX + 1
    )
    return Count(PublicItem.PENDING, None, min(count, lists.COUNT_MAX), count > lists.COUNT_MAX)


async def get(db: Database, *, caller: Caller, batch_id: str) -> Batch:
    return errors.found(await store.get_batch(db, **caller.reach, batch_id=batch_id), "There is no such act.")


async def stop(db: Database, *, job: Batch, now: datetime) -> None:
    """Stop what waits or runs; what is done stays. One that has ended is forgotten."""
    if not await store.BATCHES.end(db, job=job, owner=None, state="cancelled", now=now):
        await store.delete_batch(db, organization_id=job.organization_id, batch_id=job.batch_id)


async def resume(db: Database, *, caller: Caller, batch_id: str, now: datetime) -> Batch:
    """Let one that failed or was stopped go on; one that has not ended does anyway. Raises NotFound, CannotResume."""
    job = await get(db, caller=caller, batch_id=batch_id)
    if not job.has_ended:
        return job
    again = await store.update_to_queued(db, organization_id=job.organization_id, batch_id=batch_id, now=now)
    if again is None:
        raise CannotResume("It is done; start another one.")
    return again


async def _require_import(db: Database, *, caller: Caller, import_id: str) -> None:
    """Raise Invalid `unknown_id` for one that is not there, or whose pipeline the caller does not reach."""
    pipeline_id = await store.get_pipeline_of_import(
        db, organization_id=caller.organization_id, import_id=import_id, test_only=caller.test
    )
    if pipeline_id is None or await lists.unknown_of(db, caller=caller, wanted=ItemFilter(pipeline_id=pipeline_id)):
        raise errors.Invalid.at("/filter/import_id", "unknown_id", "There is nothing with this id.")


async def work(db: Database, *, job: Batch, owner: UUID, secret: bytes, now: datetime) -> Batch:
    """Work off the next items; the act after it, done with the last ones. Raises LeaseLost, Invalid `unknown_id`."""
    caller = _caller(job)
    page = await _items_of_import(db, job=job) if job.import_id else await _items(db, job=job, caller=caller)
    if job.action == "repeat":
        meant = await _repeatable(db, job=job, items=page.items)
    else:
        meant = [
            item.item_id
            for item in page.items
            if item.created_time <= job.created_time and (job.send_time is None or item.send_time != job.send_time)
        ]
    if job.dry_run:
        counts = await _foreseen(db, job=job, item_ids=meant, now=now)
    else:
        counts = Counter([await _act(db, job=job, caller=caller, item_id=one, secret=secret, now=now) for one in meant])
    after: Any = page.next_key
    settled = await store.settle_step(db, job=job, owner=owner, counts=counts, after=after)
    if settled is None:
        raise LeaseLost
    if after is not None:
        return settled
    return await store.BATCHES.end(db, job=settled, owner=owner, state="done", now=now) or settled


async def fail(db: Database, *, job: Batch, owner: UUID, error: str | None, now: datetime) -> None:
    """It cannot go on, if it is still this worker's. No `error`: it was tried too often."""
    error = error or f"Something went wrong on our side, after {job.items_done:,} items."
    await store.BATCHES.end(db, job=job, owner=owner, state="failed", now=now, error=error[:ERROR_CHARACTERS_MAX])


def _caller(job: Batch) -> Caller:
    """Whoever asked for it, as far as items are concerned."""
    is_user, created_by = job.actor_kind == "user", job.created_by or ""
    return dataclasses.replace(
        installation(job.organization_id),
        token_id="" if is_user else created_by,
        user_id=created_by if is_user else None,
        application_ids=tuple(job.application_ids),
        test=job.test,
    )


async def _items(db: Database, *, job: Batch, caller: Caller) -> Rows[ListedItem]:
    wanted = ItemFilter(statuses=[_status(job)], **{name: getattr(job, name) for name in FILTER})
    after = (job.after_time, job.after_id) if job.after_time and job.after_id else None
    return await lists.list_items(db, caller=caller, wanted=wanted, after=after, limit=ITEMS_A_STEP)


async def _items_of_import(db: Database, *, job: Batch) -> Rows[QueueItem]:
    """The items of the next rows; the key is the number of the row, with the time of the act."""
    rows = await store.list_items_of_import(
        db,
        organization_id=job.organization_id,
        import_id=job.import_id or "",
        test_only=job.test,
        after=int(job.after_id or 0),
        limit=ITEMS_A_STEP,
    )
    items = [item for _, item in rows if item.status_id == _status(job)]
    return Rows(items, next_key=(job.created_time, str(rows[-1][0])) if len(rows) == ITEMS_A_STEP else None)


def _status(job: Batch) -> PublicItem:
    return PublicItem.FAILED if job.action == "repeat" else PublicItem.PENDING


async def _repeatable(db: Database, *, job: Batch, items: Sequence[ListedItem | QueueItem]) -> list[str]:
    """The items that ended before the act began and were not sent again by themselves."""
    found = [
        item.item_id
        for item in items
        if item.created_time <= job.created_time and (item.reason != UNKNOWN or job.reason == UNKNOWN)
    ]
    repeated = await store.list_repeated(db, organization_id=job.organization_id, item_ids=found)
    return [item_id for item_id in found if item_id not in repeated]


async def _act(db: Database, *, job: Batch, caller: Caller, item_id: str, secret: bytes, now: datetime) -> str:
    if job.action == "repeat":
        try:
            await traces.repeat(db, caller=caller, item_id=item_id, secret=secret, now=now)
        except errors.Refusal:  # such as of an application that is not active
            return "refused"
        return "changed"
    if job.send_time is None:
        change = QueueItemUpdate(status_id=STATUS_ABORTED)
    else:
        change = QueueItemUpdate(send_time=Moment(job.send_time, job.send_offset_minutes or 0))
    try:
        await queue.change(db, caller=caller, item_id=item_id, change=change, secret=secret)
    except errors.Refusal:  # it is being sent, or came to its end meanwhile
        return "refused"
    return "changed"


async def _foreseen(db: Database, *, job: Batch, item_ids: Sequence[str], now: datetime) -> Counter[str]:
    """Count the items that would be sent, held or skipped by a rule."""
    target = job.send_time
    if target is None or not item_ids:
        return Counter(changed=len(item_ids))
    items = await store.list_whole_items(db, organization_id=job.organization_id, item_ids=item_ids)
    moved = [_moved(item, target, is_new=job.action == "repeat") for item in items]
    found = await lanes_store.list_settings(db, lanes=sorted({(one.organization_id, one.pipeline_id) for one in moved}))
    settings = {each.key: each for each in found}
    blocks = {lane: block for lane in settings if (block := await lanes.block_of(db, lane=lane)) is not None}
    forecasts = await deciding.foresee_items(
        db, items=[(one, max(one.due_time, now)) for one in moved], settings=settings, now=now, blocks=blocks
    )
    names = {"go": "changed", "hold": "held", "skip": "skipped"}
    return Counter(names[each.decision.verdict] for each in forecasts.values())


def _moved(item: QueueItem, target: datetime, *, is_new: bool) -> QueueItem:
    later = max(target - item.send_time, timedelta())
    moved = msgspec.structs.replace(
        item, send_time=target, due_time=target, not_after=item.not_after + later, status=int(Item.SCHEDULED)
    )
    return (
        msgspec.structs.replace(moved, previous_item_id=item.item_id, source="repetition", reason=None)
        if is_new
        else moved
    )
