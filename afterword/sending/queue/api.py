"""Routes of queue items."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from afterword import errors
from afterword.asking.questionnaires import metadata as metadata_service
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import Declared
from afterword.errors import FieldError
from afterword.kit import db
from afterword.kit.db import Batcher, Database, Pool
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines import service as pipelines, store as pipelines_store
from afterword.sending.queue import service, store
from afterword.sending.queue.records import (
    QUEUE_ITEMS,
    STATUS_ABORTED,
    QueueItem,
    QueueItemRequest,
    QueueItemUpdate,
    shown_of,
)
from afterword.sending.queue.scheduler import address_errors, checked
from afterword.sending.queue.service import RESULT_CHARACTERS_MAX, NewItem

FLUSH_ITEMS_MAX: Final = 200
FLUSHES_MAX: Final = 2
WAITING_ITEMS_MAX: Final = 1_000  # what a database takes in a fifth of a second; more are refused with Retry-After
WAITING_SECONDS_MAX: Final = 0.5  # where the database is slower than that
ITEMS: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item"
ITEM: Final = f"{ITEMS}/{{item_id}}"
CHANGE: Final = (
    "Only what the body names, while the item is Pending; a value equal to the stored one is no change. "
    "`status_id` 5 cancels, then nothing else of the body acts."
)
DELETE: Final = "Cancels the item where that is needed and possible."

Entry = tuple[Pool, NewItem, bytes]
Scheduled = store.QueueItemRecord | errors.Refusal

routes = Routes(tag="Queue", scope="Queue")


@routes.list(ITEMS, answer=QueueItem, shape="array", listing=QUEUE_ITEMS, summary="Queue Item List")
async def list_items(call: Call[None], db: Database) -> Answer:
    rows = await store.list_items(db, **call.caller.reach, **call.ids, page=call.page)
    if not rows.items:
        await pipelines.get(db, caller=call.caller, **call.ids)
    return Answer(rows.map_all(lambda items: shown_of(items, call.caller, call.zone)))


async def schedule_at_once(call: Call[QueueItemRequest], pool: Pool) -> Answer:
    """Schedule together with other requests that wait at this moment; the answer follows their shared commit."""
    new = _new(call, await declared_of(call, db.on_demand(pool)))
    outcome = await _batcher_of(pool).submit((pool, new, call.site.secret))
    if isinstance(outcome, errors.Refusal):
        raise outcome
    return _created(call, outcome)


async def _address_errors(
    db: Database, caller: Caller, path: Mapping[str, Any], document: Mapping[str, object]
) -> list[FieldError]:
    """The error of an address, whose form depends on the pipeline's channel, in a request with other errors."""
    locale: str | None = None
    if "item_id" in path:
        item = await store.get_item(db, **caller.reach, only=caller.only, query=store.RECORD, **path)
        if item is None:
            return []
        path, locale = {name: item[name] for name in ("questionnaire_id", "pipeline_id")}, item["locale"]
    pipeline = await pipelines_store.get_pipeline(db, **caller.part, **path)
    return address_errors(pipeline.channel_id, document, locale=locale or pipeline.locale) if pipeline else []


@routes.post(
    ITEMS,
    answer=QueueItem,
    for_limited="part",
    summary="Create new queue item",
    description=(
        "Without `send_time`: the pipeline's delay from now, or from the date of its `delay_from`. A time in the past "
        "means due at once. A caller with a limit gives one of its values of questionnaire metadata."
    ),
    refusals=("application_inactive", "questionnaire_not_published", "already_exists", "invalid_address"),
    shared=schedule_at_once,
    also_wrong=_address_errors,
)
async def schedule_item(call: Call[QueueItemRequest], db: Database) -> Answer:
    new = _new(call, await declared_of(call, db))
    return _created(call, await service.schedule(db, new=new, secret=call.site.secret))


@routes.get(ITEM, answer=QueueItem, for_limited="part", gathers=True, summary="Get Queue Item")
async def get_item(call: Call[None], db: Database) -> Answer:
    row = errors.found(
        await store.get_item(db, **call.caller.reach, only=call.caller.only, **call.ids), service.NO_ITEM
    )
    [shown] = shown_of([row], call.caller, call.zone)
    return Answer(shown, version=row["version"])


@routes.patch(
    ITEM,
    answer=QueueItem,
    for_limited="part",
    summary="Update Queue Item",
    description=CHANGE,
    refusals=("on_hold", "item_in_dispatch", "item_closed", "invalid_address"),
    also_wrong=_address_errors,
)
async def change_item(call: Call[QueueItemUpdate], db: Database) -> store.QueueItemRecord:
    item = await service.change(
        db,
        caller=call.caller,
        **call.ids,
        change=_change_of(call, await declared_of(call, db)),
        expect=call.expect,
        secret=call.site.secret,
    )
    return service.visible(item, call.caller)


@routes.delete(
    ITEM,
    for_limited="part",
    summary="Delete Queue Item",
    description=DELETE,
    refusals=("on_hold", "item_in_dispatch", "item_closed", "outcome_unknown"),
)
async def delete_item(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.expect)


routes.all += [
    replace(
        route,
        path="/q/queue/item/{item_id}",
        tag="Queue - Simplified",
        name=route.operation_id.replace("_item", "_simplified_item"),
    )
    for route in routes.all
    if route.path == ITEM
]


def _batcher_of(pool: Pool) -> Batcher[Entry, Scheduled]:
    return pool.batchers.get(_flush) or pool.keep_batcher(
        _flush,
        Batcher(
            _flush,
            batch_max=FLUSH_ITEMS_MAX,
            flights_max=FLUSHES_MAX,
            waiting_max=WAITING_ITEMS_MAX,
            waiting_seconds_max=WAITING_SECONDS_MAX,
        ),
    )


async def _flush(entries: Sequence[Entry]) -> list[Scheduled]:
    pool, _, secret = entries[0]
    return await db.change(pool, service.schedule_all, wanted=[new for _, new, _ in entries], secret=secret)


def _new(call: Call[QueueItemRequest], declared: Declared | None) -> NewItem:
    return NewItem(caller=call.caller, **call.ids, request=checked(call.body, declared))


def _change_of(call: Call[QueueItemUpdate], declared: Declared | None) -> QueueItemUpdate:
    body = call.body
    if body.status_id != STATUS_ABORTED:
        return checked(body, declared)
    if body.result and len(body.result) > RESULT_CHARACTERS_MAX:
        raise errors.Invalid.at("/result", "too_long", f"At most {RESULT_CHARACTERS_MAX} characters are possible.")
    return body


async def declared_of(call: Call[Any], db: Database) -> Declared | None:
    """The metadata names that the questionnaire's application knows, which strict handling demands; None if lax."""
    if not call.strict:
        return None
    questionnaire_id = call.ids.get("questionnaire_id")
    if questionnaire_id is None:
        questionnaire_id = (await service.get(db, caller=call.caller, **call.ids)).questionnaire_id
    return await metadata_service.declared_of(db, **call.caller.part, questionnaire_id=questionnaire_id)


def _created(call: Call[Any], item: store.QueueItemRecord) -> Answer:
    return Answer(record=service.visible(item, call.caller), location=f"/q/queue/item/{item.item_id}")
