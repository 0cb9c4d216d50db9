"""Acts on many items that wait or failed: a worker goes through them in steps, each a transaction with its progress.

Items are taken from the latest `send_time` to the earliest, behind the key of the last one. An item that was moved
ahead of that key is met again, and passed over because it is where it should be.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString
from uuid import UUID

import msgspec

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.statuses import Item, PublicItem
from afterword.core.wire import times
from afterword.core.wire.lists import Page, Rows
from afterword.core.wire.times import Moment
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.db.leases import LeaseLost, Leases
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue import deciding, lanes, lists, service as queue, traces
from afterword.sending.queue.lists import Count, Key, ListedItem, RequestedItems, WaitingFilter
from afterword.sending.queue.records import ITEM_COLUMNS, QueueItemRecord


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """An act on many items, and how far it has come."""

    organization_id: Annotated[str, Hidden()]
    batch_id: fields.Id
    action: Literal["cancel", "move", "send_now", "repeat"]
    dry_run: bool
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    send_time: datetime | None
    send_offset_minutes: Annotated[int | None, Hidden()]
    reason: str | None
    application_id: fields.Id | None
    questionnaire_id: fields.Id | None
    pipeline_id: fields.Id | None
    import_id: fields.Id | None
    from_time: datetime | None
    to_time: datetime | None
    application_ids: Annotated[Sequence[str], Hidden()]
    test: Annotated[bool, Hidden()]
    after_time: Annotated[datetime | None, Hidden()]
    after_id: Annotated[str | None, Hidden()]
    items_changed: int
    items_held: int
    items_skipped: int
    items_refused: int
    error: str | None
    attempts: Annotated[int, Hidden()]
    version: Annotated[int, Hidden()]
    created_time: datetime
    finished_time: datetime | None
    created_by: fields.Id | None
    actor_kind: Annotated[str, Hidden()]

    @property
    def has_ended(self) -> bool:
        return self.finished_time is not None

    @property
    def items_done(self) -> int:
        return self.items_changed + self.items_held + self.items_skipped + self.items_refused


_GIVEN: Final[LiteralString] = """batch_id, action, send_time, send_offset_minutes, dry_run, reason, application_id,
  questionnaire_id, pipeline_id, import_id, from_time, to_time, application_ids, test, created_by, actor_kind"""
_COLUMNS: Final = columns_of(Batch)
LEASES: Final = Leases(
    record=Batch,
    table="queue_batch",
    id="batch_id",
    columns=_COLUMNS,
    resumable="state in ('failed', 'cancelled')",
    on_release=", turn_time = now()",
)


async def _insert_batch(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> Batch:
    """Made at the time of the transaction, as items are: it acts on those that were there."""
    return await db.records(Batch).fetch_one(
        f"""insert into queue_batch (organization_id, {_GIVEN}, created_time, turn_time)
           select $1, {_GIVEN}, now(), now() from jsonb_populate_record(null::queue_batch, $2::jsonb)
           returning {_COLUMNS}""",
        *(organization_id, dict(columns)),
    )


async def _get_batch(
    db: Database, *, organization_id: str, batch_id: str, application_ids: Sequence[str], test_only: bool
) -> Batch | None:
    """The act, unless it reaches further than these applications (none: all)."""
    return await db.records(Batch).fetch_row(
        f"""select {_COLUMNS} from queue_batch
           where organization_id = $1 and batch_id = $2 and (test or not $4)
             and (cardinality($3::text[]) = 0 or (cardinality(application_ids) > 0 and application_ids <@ $3))""",
        *(organization_id, batch_id, list(application_ids), test_only),
    )


async def list_batche_records(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[Batch]:
    return await db.records(Batch).fetch_list(
        f"""select {_COLUMNS} from queue_batch
           where organization_id = $1 and (test or not $3)
             and (cardinality($2::text[]) = 0 or (cardinality(application_ids) > 0 and application_ids <@ $2))""",
        *(organization_id, list(application_ids), test_only),
        page=page,
    )


async def list_whole_items(db: Database, *, organization_id: str, item_ids: Sequence[str]) -> list[QueueItemRecord]:
    return await db.records(QueueItemRecord.of).fetch(
        f"select {ITEM_COLUMNS} from queue_item where organization_id = $1 and item_id = any($2::text[])",
        *(organization_id, list(item_ids)),
    )


async def _get_pipeline_of_import(db: Database, *, organization_id: str, import_id: str, test_only: bool) -> str | None:
    return await db.fetch_value(
        """select pipeline_id from queue_import
           where organization_id = $1 and import_id = $2 and not dry_run and (test or not $3)""",
        *(organization_id, import_id, test_only),
    )


async def _list_items_of_import(
    db: Database, *, organization_id: str, import_id: str, test_only: bool, after: int
) -> list[tuple[int, QueueItemRecord]]:
    """The items that rows behind this number made, each with its number."""
    rows = await db.fetch(
        f"""select r.row as row_number, {qualified(ITEM_COLUMNS, "i")} from queue_import_row r
           join queue_item i on i.organization_id = r.organization_id and i.item_id = r.item_id
           where r.organization_id = $1 and r.import_id = $2 and r.row > $4 and r.state = 'created'
             and i.deleted_time is null and (i.test or not $3)
           order by r.row limit $5""",
        *(organization_id, import_id, test_only, after, ITEMS_A_STEP),
    )
    return [(row["row_number"], QueueItemRecord.of(row)) for row in rows]


async def _count_items_of_import(db: Database, *, organization_id: str, import_id: str) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from queue_import_row r
             join queue_item i on i.organization_id = r.organization_id and i.item_id = r.item_id
             where r.organization_id = $1 and r.import_id = $2 and r.state = 'created' and i.status = 1
               and i.deleted_time is null limit $3) waiting""",
        *(organization_id, import_id, lists.COUNT_MAX + 1),
    )


async def _list_repeated(db: Database, *, organization_id: str, item_ids: Sequence[str]) -> set[str]:
    """Those of the items in whose place another one was sent or will be."""
    rows = await db.fetch(
        """select distinct previous_item_id from queue_item
           where organization_id = $1 and previous_item_id = any($2::text[]) and source = 'repetition'""",
        *(organization_id, list(item_ids)),
    )
    return {row["previous_item_id"] for row in rows}


async def _settle_step(
    db: Database, *, job: Batch, owner: UUID, counts: Mapping[str, int], after: Key | None
) -> Batch | None:  # any tenant: the act names its own
    """Count a step as done; None: the lease is lost."""
    return await db.records(Batch).fetch_row(
        f"""update queue_batch set items_changed = items_changed + $4, items_held = items_held + $5,
             items_skipped = items_skipped + $6, items_refused = items_refused + $7,
             after_time = coalesce($8, after_time), after_id = coalesce($9, after_id), attempts = 1,
             version = version + 1
           where {LEASES.is_held} returning {_COLUMNS}""",
        job.organization_id,
        job.batch_id,
        owner,
        *(counts.get(name, 0) for name in ("changed", "held", "skipped", "refused")),
        *(after or (None, None)),
    )


ITEMS_A_STEP: Final = 250
KEEP_DAYS: Final = 30
ERROR_CHARACTERS_MAX: Final = 500

Action = Literal["cancel", "move", "send_now", "repeat"]
UNKNOWN: Final = "outcome_unknown"  # repeated by those alone who chose this reason: a second message may arrive
FILTER: Final = ("reason", "application_id", "questionnaire_id", "pipeline_id", "from_time", "to_time")


class NewBatch(msgspec.Struct, frozen=True):
    """The items that are meant, and what happens to them; `moment` is for `move` alone.

    `repeat` means those that failed and were not sent again yet, all others those that wait. `import_id`: those alone
    that this import made.
    """

    wanted: RequestedItems
    action: Action
    moment: Moment | None = None
    import_id: str | None = None
    dry_run: bool = False


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
    await LEASES.require_capacity(db, organization_id=caller.organization_id, noun="acts on many items")
    moment = new.moment
    if new.action in {"send_now", "repeat"}:
        instant = now.replace(microsecond=0)
        moment = Moment(instant, times.offset_minutes_at(instant, times.zone_of(caller.time_zone)))
    wanted = new.wanted
    return await _insert_batch(
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
    count = await _count_items_of_import(db, organization_id=caller.organization_id, import_id=import_id)
    return Count(PublicItem.PENDING, None, min(count, lists.COUNT_MAX), count > lists.COUNT_MAX)


async def get(db: Database, *, caller: Caller, batch_id: str) -> Batch:
    return errors.found(await _get_batch(db, **caller.reach, batch_id=batch_id), "There is no such act.")


async def stop(db: Database, *, job: Batch, now: datetime) -> None:
    """Stop what waits or runs; what is done stays. One that has ended is forgotten."""
    if not await LEASES.end(db, job=job, owner=None, state="cancelled", now=now):
        await LEASES.delete(db, job=job)


async def resume(db: Database, *, caller: Caller, batch_id: str, now: datetime) -> Batch:
    """Let one that failed or was stopped go on behind its last step. Raises NotFound, Conflict."""
    job = await get(db, caller=caller, batch_id=batch_id)
    return await LEASES.resume(db, job=job, now=now, refusal="It is done; start another one.")


async def _require_import(db: Database, *, caller: Caller, import_id: str) -> None:
    """Raise Invalid `unknown_id` for one that is not there, or whose pipeline the caller does not reach."""
    pipeline_id = await _get_pipeline_of_import(
        db, organization_id=caller.organization_id, import_id=import_id, test_only=caller.test
    )
    if pipeline_id is None or await lists.unknown_of(db, caller=caller, wanted=RequestedItems(pipeline_id=pipeline_id)):
        raise errors.Invalid.at("/filter/import_id", "unknown_id", "There is nothing with this id.")


async def work(db: Database, *, job: Batch, owner: UUID, secret: bytes, now: datetime) -> Batch:
    """Work off the next items; the act after it, done with the last ones. Raises LeaseLost, Invalid `unknown_id`."""
    caller = queue.caller_of(job, application_ids=job.application_ids)
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
        changed = await _act(db, job=job, caller=caller, item_ids=meant, secret=secret, now=now)
        counts = Counter(changed=changed, refused=len(meant) - changed)
    after: Any = page.next_key
    settled = await _settle_step(db, job=job, owner=owner, counts=counts, after=after)
    if settled is None:
        raise LeaseLost
    if after is not None:
        return settled
    return await LEASES.end(db, job=settled, owner=owner, state="done", now=now) or settled


async def fail(db: Database, *, job: Batch, owner: UUID, error: str | None, now: datetime) -> None:
    """It cannot go on, if it is still this worker's. No `error`: it was tried too often."""
    error = error or f"Something went wrong on our side, after {job.items_done:,} items."
    await LEASES.end(db, job=job, owner=owner, state="failed", now=now, error=error[:ERROR_CHARACTERS_MAX])


async def _items(db: Database, *, job: Batch, caller: Caller) -> Rows[ListedItem]:
    wanted = RequestedItems(statuses=[_status(job)], **{name: getattr(job, name) for name in FILTER})
    after = (job.after_time, job.after_id) if job.after_time and job.after_id else None
    return await lists.list_items(db, caller=caller, wanted=wanted, after=after, limit=ITEMS_A_STEP)


async def _items_of_import(db: Database, *, job: Batch) -> Rows[QueueItemRecord]:
    """The items of the next rows; the key is the number of the row, with the time of the act."""
    key = {"organization_id": job.organization_id, "import_id": job.import_id or ""}
    rows = await _list_items_of_import(db, **key, test_only=job.test, after=int(job.after_id or 0))
    items = [item for _, item in rows if item.status_id == _status(job)]
    return Rows(items, next_key=(job.created_time, str(rows[-1][0])) if len(rows) == ITEMS_A_STEP else None)


def _status(job: Batch) -> PublicItem:
    return PublicItem.FAILED if job.action == "repeat" else PublicItem.PENDING


async def _repeatable(db: Database, *, job: Batch, items: Sequence[ListedItem | QueueItemRecord]) -> list[str]:
    """The items that ended before the act began and were not sent again by themselves."""
    found = [
        item.item_id
        for item in items
        if item.created_time <= job.created_time and (item.reason != UNKNOWN or job.reason == UNKNOWN)
    ]
    repeated = await _list_repeated(db, organization_id=job.organization_id, item_ids=found)
    return [item_id for item_id in found if item_id not in repeated]


async def _act(
    db: Database, *, job: Batch, caller: Caller, item_ids: Sequence[str], secret: bytes, now: datetime
) -> int:
    """Act on those that are not being sent and have not come to their end meanwhile; how many."""
    if job.action == "repeat":
        return sum([await _is_repeated(db, caller=caller, item_id=one, secret=secret, now=now) for one in item_ids])
    if job.send_time is None:
        return len(await queue.cancel_all(db, caller=caller, item_ids=item_ids))
    moment = Moment(job.send_time, job.send_offset_minutes or 0)
    return len(await queue.move_all(db, caller=caller, item_ids=item_ids, moment=moment, secret=secret))


async def _is_repeated(db: Database, *, caller: Caller, item_id: str, secret: bytes, now: datetime) -> bool:
    with suppress(errors.Refusal):  # its application is not active, say
        await traces.repeat(db, caller=caller, item_id=item_id, secret=secret, now=now)
        return True
    return False


async def _foreseen(db: Database, *, job: Batch, item_ids: Sequence[str], now: datetime) -> Counter[str]:
    """Count the items that would be sent, held or skipped by a rule."""
    target = job.send_time
    if target is None or not item_ids:
        return Counter(changed=len(item_ids))
    items = await list_whole_items(db, organization_id=job.organization_id, item_ids=item_ids)
    moved = [_moved(item, target, is_new=job.action == "repeat") for item in items]
    found = await lanes.list_settings(db, lanes=sorted({(one.organization_id, one.pipeline_id) for one in moved}))
    settings = {each.key: each for each in found}
    blocks = {lane: block for lane in settings if (block := await lanes.block_of(db, lane=lane)) is not None}
    forecasts = await deciding.foresee_items(
        db, items=[(one, max(one.due_time, now)) for one in moved], settings=settings, now=now, blocks=blocks
    )
    names = {"go": "changed", "hold": "held", "skip": "skipped"}
    return Counter(names[each.decision.verdict] for each in forecasts.values())


def _moved(item: QueueItemRecord, target: datetime, *, is_new: bool) -> QueueItemRecord:
    later = max(target - item.send_time, timedelta())
    moved = msgspec.structs.replace(
        item, send_time=target, due_time=target, not_after=item.not_after + later, status=int(Item.SCHEDULED)
    )
    if is_new:
        return msgspec.structs.replace(moved, previous_item_id=item.item_id, source="repetition", reason=None)
    return moved


PATH: Final = "/q/queue/batch"
BATCH: Final = f"{PATH}/{{batch_id}}"

routes = Routes(tag="Queue", scope="Queue")


class BatchFilter(WaitingFilter, forbid_unknown_fields=True):
    """A filter of items by their `send_time` and more. A missing member filters nothing, an unknown one is refused."""

    import_id: fields.Id | None = None


class QueueBatchRequest(fields.Request, forbid_unknown_fields=True):
    """The items that are meant, and the act: cancel, move or send now those that wait, or repeat those that failed."""

    action: Action
    filter: BatchFilter = msgspec.field(default_factory=BatchFilter)
    send_time: fields.Moment | None = None
    dry_run: bool = False


QueueBatch: Final = shown_as("QueueBatch", Batch)


@routes.list(PATH, answer=QueueBatch, summary="Get all acts on many items")
async def list_batches(call: Call[None], db: Database) -> Rows[Batch]:
    return await list_batche_records(db, **call.caller.reach, page=call.page)


@routes.post(
    PATH,
    scope="Queue.Update",
    answer=QueueBatch,
    summary="Act on many items",
    description="Cancels the Pending items of the filter, moves them to `send_time`, or to now; their rules still "
    "decide. `repeat` makes a new item, due now, for each Failed one that was not sent again yet, and needs "
    "`Queue.Create` too; those whose outcome is unknown are left out unless `reason` names `outcome_unknown`. A worker "
    "does it in steps. `dry_run` counts what would become of them and changes none: `items_changed` would be sent "
    "then, `items_held` wait, `items_skipped` not be asked. `items_refused` were being sent, or cannot be sent again. "
    "With `import_id` the act means the items alone that this import made; nothing else can be in the filter.",
    refusals=("unknown_id", "required", "exclusive"),
)
async def create_batch(call: Call[QueueBatchRequest], db: Database) -> Answer:
    body = call.body
    if body.action == "repeat":
        call.caller.require("Queue.Create")
    wanted, import_id = body.filter.wanted, body.filter.import_id
    if import_id is not None and wanted != RequestedItems():
        raise errors.Invalid.at("/filter/import_id", "exclusive", "Nothing else can be in the filter beside an import.")
    new = NewBatch(wanted, body.action, body.send_time, import_id, body.dry_run)
    batch = await create(db, caller=call.caller, new=new, now=call.now)
    return Answer(record=batch, location=f"{PATH}/{batch.batch_id}")


@routes.get(BATCH, answer=QueueBatch, summary="Get an act on many items")
async def get_batch(call: Call[None], db: Database) -> Batch:
    return await get(db, caller=call.caller, **call.ids)


@routes.delete(
    BATCH,
    summary="Stop an act on many items",
    description="What is done stays, and it can go on later. One that has ended is forgotten, not its effect.",
)
async def stop_batch(call: Call[None], db: Database) -> None:
    job = await get(db, caller=call.caller, **call.ids)
    call.expect(job.version)
    await stop(db, job=job, now=call.now)


@routes.post(
    f"{BATCH}/resumption",
    scope="Queue.Update",
    answer=QueueBatch,
    status=200,
    summary="Let an act on many items go on",
    description="One that was stopped or failed goes on behind its last step.",
    refusals=("not_ready",),
)
async def resume_batch(call: Call[None], db: Database) -> Batch:
    return await resume(db, caller=call.caller, **call.ids, now=call.now)
