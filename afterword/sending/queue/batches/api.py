"""Routes of acts on many items."""

from typing import Final, Literal

import msgspec

from afterword import errors
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue.batches import service, store
from afterword.sending.queue.batches.service import NewBatch
from afterword.sending.queue.lists.api import WaitingFilter
from afterword.sending.queue.lists.service import ItemFilter

BATCHES: Final = "/q/queue/batch"
BATCH: Final = f"{BATCHES}/{{batch_id}}"

routes = Routes(tag="Queue")


class BatchFilter(WaitingFilter):
    """A filter of items. A missing member filters nothing. The times are those of `send_time`, the end open."""

    import_id: fields.Id | None = None


class QueueBatchRequest(fields.Request):
    """The items that are meant, and the act: cancel, move or send now those that wait, or repeat those that failed."""

    action: service.Action
    filter: BatchFilter = msgspec.field(default_factory=BatchFilter)
    send_time: fields.Moment | None = None
    dry_run: bool = False


class QueueBatch(fields.Resource):
    """An act on many items, and how far it has come."""

    batch_id: fields.Id
    action: Literal["cancel", "move", "send_now", "repeat"]
    dry_run: bool
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    send_time: fields.DateTime | None
    reason: str | None
    application_id: fields.Id | None
    questionnaire_id: fields.Id | None
    pipeline_id: fields.Id | None
    import_id: fields.Id | None
    from_time: fields.DateTime | None
    to_time: fields.DateTime | None
    items_changed: int
    items_held: int
    items_skipped: int
    items_refused: int
    error: str | None
    created_time: fields.DateTime
    finished_time: fields.DateTime | None
    created_by: fields.Id | None


@routes.list(BATCHES, scope="Queue.Read", answer=QueueBatch, summary="Get all acts on many items")
async def list_batches(call: Call[None], db: Database) -> Rows[store.Batch]:
    return await store.list_batches(db, **call.caller.reach, page=call.page)


@routes.post(
    BATCHES,
    scope="Queue.Update",
    body=QueueBatchRequest,
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
    if import_id is not None and wanted != ItemFilter():
        raise errors.Invalid.at("/filter/import_id", "exclusive", "Nothing else can be in the filter beside an import.")
    new = NewBatch(wanted, body.action, body.send_time, import_id, body.dry_run)
    return _answer(await service.create(db, caller=call.caller, new=new, now=call.now))


@routes.get(BATCH, scope="Queue.Read", answer=QueueBatch, summary="Get an act on many items")
async def get_batch(call: Call[None], db: Database) -> store.Batch:
    return await service.get(db, caller=call.caller, **call.ids)


@routes.delete(
    BATCH,
    scope="Queue.Delete",
    summary="Stop an act on many items",
    description="What is done stays, and it can go on later. One that has ended is forgotten, not its effect.",
)
async def stop_batch(call: Call[None], db: Database) -> None:
    job = await service.get(db, caller=call.caller, **call.ids)
    call.expect(job.version)
    await service.stop(db, job=job, now=call.now)


@routes.post(
    f"{BATCH}/resumption",
    scope="Queue.Update",
    answer=QueueBatch,
    status=200,
    summary="Let an act on many items go on",
    description="One that was stopped or failed goes on behind its last step.",
    refusals=("not_ready",),
)
async def resume_batch(call: Call[None], db: Database) -> store.Batch:
    return await service.resume(db, caller=call.caller, **call.ids, now=call.now)


def _answer(batch: store.Batch) -> Answer:
    return Answer(record=batch, location=f"{BATCHES}/{batch.batch_id}")
