"""Acts on many waiting items: a worker goes through them in steps, each one transaction with its progress.

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
from afterword.core.wire.times import Moment
from afterword.db import Database
from afterword.db.leases import LeaseLost
from afterword.queue import service as queue
from afterword.queue.batches import store
from afterword.queue.batches.store import Batch
from afterword.queue.deciding import service as deciding
from afterword.queue.lanes import service as lanes
from afterword.queue.lanes import store as lanes_store
from afterword.queue.lists import service as lists
from afterword.queue.lists.service import Choice
from afterword.queue.resources import STATUS_ABORTED, QueueItemUpdate
from afterword.queue.service import ItemScope
from afterword.queue.store import QueueItem

ITEMS_A_STEP: Final = 100
KEEP_DAYS: Final = 30
ERROR_CHARACTERS_MAX: Final = 500

Action = Literal["cancel", "move", "send_now"]


@dataclass(frozen=True, slots=True)
class NewBatch:
    """The waiting items that are meant, and what happens to them; `moment` is for `move` alone."""

    choice: Choice
    action: Action
    moment: Moment | None = None
    dry_run: bool = False


class CannotResume(errors.Conflict):
    """Only what was stopped or failed can go on."""

    code_default = "not_ready"


async def create(db: Database, *, caller: Caller, new: NewBatch, now: datetime) -> Batch:
    """Queue the act. Raises Invalid for ids that are unknown or a missing time, and TooMany."""
    if (new.moment is None) == (new.action == "move"):
        message = "A time is needed." if new.action == "move" else "Only `move` has a time."
        raise errors.Invalid.at("/send_time", "required" if new.action == "move" else "exclusive", message)
    unknown = await lists.unknown_of(db, caller=caller, choice=new.choice)
    if unknown is not None:
        raise errors.Invalid.at(f"/filter/{unknown}", "unknown_id", "There is nothing with this id.")
    await store.BATCHES.require_capacity(db, organization_id=caller.organization_id, noun="acts on many items")
    moment = new.moment
    if new.action == "send_now":
        instant = now.replace(microsecond=0)
        moment = Moment(instant, times.offset_minutes_at(instant, times.zone_of(caller.time_zone)))
    choice = new.choice
    return await store.insert_batch(
        db,
        organization_id=caller.organization_id,
        columns={
            "batch_id": ids.ordered(now),
            "action": new.action,
            "send_time": moment and moment.instant,
            "send_offset_minutes": moment and moment.offset_minutes,
            "dry_run": new.dry_run,
            **{name: getattr(choice, name) for name in ("reason", "application_id", "questionnaire_id", "pipeline_id")},
            "from_time": choice.from_time,
            "to_time": choice.to_time,
            "application_ids": list(caller.application_ids),
            "test": caller.test,
            "created_time": now,
            "created_by": caller.actor_id or None,
            "actor_kind": caller.actor_kind,
        },
    )


async def get(db: Database, *, caller: Caller, batch_id: str) -> Batch:
    """Raises NotFound."""
    found = await store.get_batch(db, **caller.reach, batch_id=batch_id)
    if found is None:
        raise errors.NotFound("There is no such act.")
    return found


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


# Work of an act ------------------------------------------------------------------------------------------------------


async def work(db: Database, *, job: Batch, owner: UUID, secret: bytes, now: datetime) -> Batch:
    """Work off the next items; the act after it, done with the last ones. Raises LeaseLost, Invalid `unknown_id`."""
    caller = _caller(job)
    page = await lists.list_items(
        db,
        caller=caller,
        choice=Choice(
            statuses=[PublicItem.PENDING],
            reason=job.reason,
            application_id=job.application_id,
            questionnaire_id=job.questionnaire_id,
            pipeline_id=job.pipeline_id,
            from_time=job.from_time,
            to_time=job.to_time,
        ),
        after=(job.after_time, job.after_id) if job.after_time and job.after_id else None,
        limit=ITEMS_A_STEP,
    )
    meant = [
        item.item_id
        for item in page.items
        if item.created_time <= job.created_time and (job.send_time is None or item.send_time != job.send_time)
    ]
    if job.dry_run:
        counts = await _foreseen(db, job=job, item_ids=meant, now=now)
    else:
        counts = Counter([await _act(db, job=job, caller=caller, item_id=one, secret=secret) for one in meant])
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


async def prune(db: Database, *, now: datetime, limit: int) -> int:
    return await store.prune_batches(db, before=now - timedelta(days=KEEP_DAYS), limit=limit)


# Below: how, in the order of their use -------------------------------------------------------------------------------


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


async def _act(db: Database, *, job: Batch, caller: Caller, item_id: str, secret: bytes) -> str:
    if job.send_time is None:
        change = QueueItemUpdate(status_id=STATUS_ABORTED)
    else:
        change = QueueItemUpdate(send_time=Moment(job.send_time, job.send_offset_minutes or 0))
    try:
        await queue.change(
            db,
            caller=caller,
            place=ItemScope(item_id=item_id),
            change=change,
            check_version=lambda _: None,
            secret=secret,
        )
    except errors.Refusal:  # it is being sent, or came to its end meanwhile
        return "refused"
    return "changed"


async def _foreseen(db: Database, *, job: Batch, item_ids: Sequence[str], now: datetime) -> Counter[str]:
    """Count the items that would be sent, held or skipped by a rule."""
    target = job.send_time
    if target is None or not item_ids:
        return Counter(changed=len(item_ids))
    items = await store.list_whole_items(db, organization_id=job.organization_id, item_ids=item_ids)
    moved = [_moved(item, target) for item in items]
    found = await lanes_store.list_settings(db, lanes=sorted({(one.organization_id, one.pipeline_id) for one in moved}))
    settings = {each.key: each for each in found}
    blocks = {lane: block for lane in settings if (block := await lanes.block_of(db, lane=lane)) is not None}
    forecasts = await deciding.foresee_items(
        db, items=[(one, max(one.due_time, now)) for one in moved], settings=settings, now=now, blocks=blocks
    )
    names = {"go": "changed", "hold": "held", "skip": "skipped"}
    return Counter(names[each.decision.verdict] for each in forecasts.values())


def _moved(item: QueueItem, target: datetime) -> QueueItem:
    later = max(target - item.send_time, timedelta())
    return msgspec.structs.replace(
        item, send_time=target, due_time=target, not_after=item.not_after + later, status=int(Item.SCHEDULED)
    )
