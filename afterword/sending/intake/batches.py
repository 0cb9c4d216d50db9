"""Puts thousands of items of one pipeline into the queue: each checked alone, all written with few statements."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal, LiteralString, Unpack

import msgspec

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.statuses import Item
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.web import problems
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.queue import service as queue, store as queue_store
from afterword.sending.queue.api import declared_of
from afterword.sending.queue.records import (
    ITEM_COLUMNS,
    BatchQuery,
    BatchResult,
    BatchRow,
    QueueItemRecord,
    QueueItemRequest,
)
from afterword.sending.queue.scheduler import Schedule, Scheduler, changed, checked_rows, editable, replaced
from afterword.sending.queue.service import ReferenceTaken, release_contacts, require_open, require_pending
from afterword.sending.queue.store import INSERTED_ITEMS
from afterword.tenants.organizations.retention import STAYS, Held, list_held_people

_LIVE: Final[LiteralString] = f"""select {ITEM_COLUMNS} from queue_item
  where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3 and (test or not $4)
    and external_reference = any($5::text[]) and external_reference is not null and status <> 7
    and deleted_time is null"""

ReadRow = QueueItemRequest | errors.Invalid  # a row of a batch or a file, or what is wrong with it
ReferencePlace = tuple[str, str, bool]  # questionnaire_id, pipeline_id, whether only test items count


async def _insert_items(  # any tenant: the documents name it
    db: Database, *, documents: Sequence[Mapping[str, object]]
) -> set[str]:
    """As `insert_items` of `sending/queue/store.py`; the ids of those whose `external_reference` was free."""
    rows = await db.fetch(f"{INSERTED_ITEMS} select item_id from item", documents)
    return {row["item_id"] for row in rows}


async def list_items_by_reference(
    db: Database,
    *,
    organization_id: str,
    place: ReferencePlace,
    external_references: Sequence[str],
    is_locked: bool = False,
    waiting_only: bool = False,
) -> dict[str, QueueItemRecord]:
    """The live items of a pipeline under these references: not cancelled, not deleted.

    `is_locked`: in their order until the transaction ends. `waiting_only`: items that a worker holds are left alone, so
    that no batch and no worker ever wait for each other.
    """
    waiting: LiteralString = "and status = 1" if waiting_only else ""
    lock: LiteralString = "order by external_reference for update" if is_locked else ""
    rows = await db.fetch(f"{_LIVE} {waiting} {lock}", organization_id, *place, external_references)
    return {row["external_reference"]: QueueItemRecord.of(row) for row in rows}


ROWS_MAX: Final = 10_000
ROWS_A_STATEMENT: Final = 1_000
ROWS_A_TURN: Final = 250  # then others get the event loop: some 5 ms

Policy = Literal["error", "update", "skip"]


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of one row: 201 created, 200 changed or left as it was, or refused. `schedule`: only of a dry run."""

    status: int
    item_id: str | None = None
    refusal: errors.Refusal | None = None
    is_changed: bool = False
    schedule: Schedule | None = None


class _Batch(msgspec.Struct):
    db: Database
    caller: Caller
    scheduler: Scheduler
    rows: Sequence[ReadRow]
    outcomes: list[Outcome | None]
    is_dry: bool = False
    taken: list[int] = msgspec.field(default_factory=list[int])  # rows whose reference somebody has
    first: dict[str, QueueItemRequest] = msgspec.field(default_factory=dict[str, QueueItemRequest])
    """The rows that make items, by their references; of a dry run as later rows would change them."""

    @property
    def key(self) -> dict[str, Any]:
        intake = self.scheduler.intake
        place = intake.questionnaire_id, intake.pipeline_id, self.caller.test
        return {"organization_id": self.caller.organization_id, "place": place}


async def scheduler_of(db: Database, *, caller: Caller, secret: bytes, **path: Unpack[PipelinePath]) -> Scheduler:
    """The rules of a pipeline that the caller may send through; raises NotFound, NotPublished, ApplicationInactive."""
    wanted = [(caller.organization_id, path["questionnaire_id"], path["pipeline_id"])]
    found = await queue_store.list_intakes(db, wanted=wanted)
    return Scheduler(require_open(found[0] if found else None, caller=caller), secret)


async def schedule_requests(
    db: Database,
    *,
    caller: Caller,
    scheduler: Scheduler,
    rows: Sequence[ReadRow],
    on_conflict: Policy,
    atomic: bool,
    is_dry: bool = False,
) -> list[Outcome]:
    """Put the rows into the queue; what became of each, in their order.

    A reference that a live item has, also of an earlier row, is refused, changes that item or is left alone, by
    `on_conflict`. `is_dry` inserts nothing; changes of items are the caller's to roll back. With `atomic` raises
    Invalid when any row is refused.
    """
    is_refused = atomic and any(isinstance(row, errors.Invalid) for row in rows)  # so that nothing need be inserted
    batch = _Batch(db, caller, scheduler, rows, [None] * len(rows), is_dry=is_dry or is_refused)
    await _insert(batch)
    if batch.taken:
        await _meet(batch, on_conflict)
    outcomes = [outcome for outcome in batch.outcomes if outcome is not None]
    assert len(outcomes) == len(rows), "a row without an outcome"  # noqa: S101
    if atomic:
        _require_all(outcomes)
    return outcomes


async def _insert(batch: _Batch) -> None:
    """Insert what is new, in the order of the references, so that two batches with the same ones never lock crosswise.

    While the database writes one part, the next is made ready.
    """
    order = sorted(range(len(batch.rows)), key=lambda place: _reference_of(batch.rows[place]))
    flight: asyncio.Task[None] | None = None
    try:
        for start in range(0, len(order), ROWS_A_STATEMENT):
            places, documents = await _prepared(batch, order[start : start + ROWS_A_STATEMENT])
            if flight is not None:
                await flight
            flight = asyncio.create_task(_write(batch, places, documents))
        if flight is not None:
            await flight
    finally:
        if flight is not None and not flight.done():
            flight.cancel()
            await asyncio.gather(flight, return_exceptions=True)


def _reference_of(row: ReadRow) -> str:
    return "" if isinstance(row, errors.Invalid) else row.external_reference or ""


async def _prepared(batch: _Batch, places: Sequence[int]) -> tuple[list[int], list[Mapping[str, object]]]:
    now, scheduler = batch.scheduler.intake.now, batch.scheduler
    item_ids, event_ids = ids.ordered_many(now, len(places)), ids.ordered_many(now, len(places))
    good: list[int] = []
    documents: list[Mapping[str, object]] = []
    for turn, (place, item_id, event_id) in enumerate(zip(places, item_ids, event_ids, strict=True)):
        if turn % ROWS_A_TURN == 0:
            await asyncio.sleep(0)
        row = batch.rows[place]
        if isinstance(row, errors.Invalid):
            batch.outcomes[place] = Outcome(row.status, refusal=batch.scheduler.completed(row))
            continue
        reference = row.external_reference
        if reference is not None and reference in batch.first:
            batch.taken.append(place)
            continue
        try:
            if batch.is_dry:
                schedule = scheduler.schedule(row, item_id=item_id, created_time=now)
                document: Mapping[str, object] = {"item_id": item_id, "schedule": schedule}
            else:
                document = scheduler.document(
                    row, item_id=item_id, event_id=event_id, caller=batch.caller, source="bulk"
                )
        except errors.Refusal as refusal:
            batch.outcomes[place] = Outcome(refusal.status, refusal=refusal)
            continue
        if reference is not None:
            batch.first[reference] = row
        good.append(place)
        documents.append(document)
    return good, documents


async def _write(batch: _Batch, places: Sequence[int], documents: Sequence[Mapping[str, object]]) -> None:
    if not places:
        return
    if batch.is_dry:
        references = sorted(filter(None, (_reference_of(batch.rows[place]) for place in places)))
        live = await list_items_by_reference(batch.db, **batch.key, external_references=references)
        inserted = {
            document["item_id"]
            for place, document in zip(places, documents, strict=True)
            if _reference_of(batch.rows[place]) not in live
        }
    else:
        inserted = await _insert_items(batch.db, documents=documents)
    for place, document in zip(places, documents, strict=True):
        item_id, schedule = str(document["item_id"]), document.get("schedule")
        if item_id in inserted:
            batch.outcomes[place] = Outcome(201, item_id, schedule=schedule if isinstance(schedule, Schedule) else None)
        else:
            batch.taken.append(place)


async def _meet(batch: _Batch, on_conflict: Policy) -> None:
    found = await _find(batch, is_locking=on_conflict == "update")
    held = await _held(batch, list(found.values())) if on_conflict == "update" else set[str]()
    edits: dict[str, dict[str, object]] = {}
    moved: list[tuple[str, str]] = []
    for turn, place in enumerate(sorted(batch.taken)):
        if turn % ROWS_A_TURN == 0:
            await asyncio.sleep(0)
        row = batch.rows[place]
        item = found.get(_reference_of(row))
        if item is None and batch.is_dry and isinstance(row, QueueItemRequest) and on_conflict != "error":
            batch.outcomes[place] = _after_earlier(batch, row, is_update=on_conflict == "update")
            continue
        if item is None or on_conflict == "error" or isinstance(row, errors.Invalid):
            taken = ReferenceTaken()
            batch.outcomes[place] = Outcome(taken.status, item and item.item_id, taken)
            continue
        batch.outcomes[place] = Outcome(200, item.item_id)
        if on_conflict == "update":
            try:
                edited = _edited(batch, item, row, edits, held)
            except errors.Refusal as refusal:
                batch.outcomes[place] = Outcome(refusal.status, item.item_id, refusal)
                continue
            batch.outcomes[place] = Outcome(200, item.item_id, is_changed=edited is not item)
            if edited.address_key != item.address_key:
                moved.append((item.organization_id, item.item_id))
            found[_reference_of(row)] = edited
    await release_contacts(batch.db, items=sorted(set(moved)))  # places in the caps were the old addresses'
    await _update(batch, list(edits.values()))


def _after_earlier(batch: _Batch, row: QueueItemRequest, *, is_update: bool) -> Outcome:
    """Of a dry run, where an earlier row would have made the item."""
    earlier = batch.first[_reference_of(row)]
    row = msgspec.structs.replace(row, send_time=row.send_time or earlier.send_time)
    if not is_update or earlier == row:
        return Outcome(200)
    try:
        batch.scheduler.schedule(row, item_id="", created_time=batch.scheduler.intake.now)
    except errors.Refusal as refusal:
        return Outcome(refusal.status, refusal=refusal)
    batch.first[_reference_of(row)] = row
    return Outcome(200, is_changed=True)


async def _find(batch: _Batch, *, is_locking: bool) -> dict[str, QueueItemRecord]:
    """The live items by the references that are taken; `is_locking`: those that wait are held until the end."""
    wanted, held = sorted({_reference_of(batch.rows[place]) for place in batch.taken}), dict[str, QueueItemRecord]()
    if is_locking:
        held = await list_items_by_reference(
            batch.db, **batch.key, external_references=wanted, is_locked=True, waiting_only=True
        )
    rest = [reference for reference in wanted if reference not in held]
    others = await list_items_by_reference(batch.db, **batch.key, external_references=rest) if rest else {}
    if is_locking:  # what a worker gives back just now was in its hands when we asked
        others = {
            reference: msgspec.structs.replace(item, status=Item.CLAIMED) if item.status == Item.SCHEDULED else item
            for reference, item in others.items()
        }
    return held | others


async def _held(batch: _Batch, items: Sequence[QueueItemRecord]) -> set[str]:
    """The ids of those items whose address stays, as a legal hold keeps the data of the person."""
    people = [(item.responder_id, item.address_key) for item in items]
    held = await list_held_people(batch.db, organization_id=batch.caller.organization_id, people=people)
    return {items[place].item_id for place in held}


def _edited(
    batch: _Batch,
    item: QueueItemRecord,
    row: QueueItemRequest,
    edits: dict[str, dict[str, object]],
    held: Collection[str],
) -> QueueItemRecord:
    """The item after this row; its document stands in `edits`, which are written once for all rows of an item."""
    require_pending(item)
    wanted = replaced(item, row)
    if wanted == editable(item):
        return item
    document, key = changed(item, wanted, batch.scheduler)
    if key != item.address_key and item.item_id in held:
        raise Held(STAYS)
    edits[item.item_id] = document
    return msgspec.structs.replace(item, **{**document, "address_key": key})


async def _update(batch: _Batch, documents: Sequence[dict[str, object]]) -> None:
    now = batch.scheduler.intake.now
    for start in range(0, len(documents), ROWS_A_STATEMENT):
        part = documents[start : start + ROWS_A_STATEMENT]
        written = await queue.write(batch.db, caller=batch.caller, documents=part, now=now)
        assert len(written) == len(part), "a locked item changed under us"  # noqa: S101


def _require_all(outcomes: Sequence[Outcome]) -> None:
    wrong: list[FieldError] = []
    for place, outcome in enumerate(outcomes):
        refusal = outcome.refusal
        if refusal is None:
            continue
        if isinstance(refusal, errors.Invalid):
            wrong += [FieldError(e.code, e.message, pointer=f"/{place}{e.pointer or ''}") for e in refusal.errors]
        else:
            wrong.append(FieldError(refusal.code, refusal.detail, pointer=f"/{place}/external_reference"))
    errors.check(wrong)


ITEMS: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item"

routes = Routes(tag="Queue")


@routes.post(
    f"{ITEMS}/batch",
    scope="Queue.Create",
    body=QueueItemRequest,
    query=BatchQuery,
    answer=BatchResult,
    rows_max=ROWS_MAX,
    summary="Create queue items",
    description=(
        "A JSON array or lines of JSON; each row is checked alone, and a bad one spoils no other. A row whose "
        "`external_reference` a live item has is refused, or with `on_conflict` changes that item (which also needs "
        "`Queue.Update`) or is skipped. `atomic=1`: any refusal creates nothing."
    ),
    refusals=("application_inactive", "questionnaire_not_published"),
)
async def schedule_batch(call: Call[list[ReadRow]], db: Database) -> Answer:
    if call.query.on_conflict == "update":
        call.caller.require("Queue.Update")
    declared = await declared_of(call, db)
    scheduler = await scheduler_of(db, caller=call.caller, **call.ids, secret=call.site.secret)
    rows = checked_rows(call.body, declared)
    outcomes = await schedule_requests(db, caller=call.caller, scheduler=scheduler, rows=rows, **call.query.named())
    return Answer(
        BatchResult(
            results=[_row(call, place, outcome) for place, outcome in enumerate(outcomes)],
            created=sum(outcome.status == 201 for outcome in outcomes),  # noqa: PLR2004
            updated=sum(outcome.is_changed for outcome in outcomes),
            failed=sum(outcome.refusal is not None for outcome in outcomes),
        )
    )


def _row(call: Call[list[ReadRow]], place: int, outcome: Outcome) -> BatchRow:
    body, refusal = call.body[place], outcome.refusal
    reference = None if isinstance(body, errors.Invalid) else body.external_reference
    problem = problems.document_of(refusal, site=call.site, request_id=call.request_id) if refusal else None
    return BatchRow(place, outcome.status, outcome.item_id, reference, problem)
