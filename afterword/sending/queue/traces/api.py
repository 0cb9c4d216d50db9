"""Routes of an item's past: the decision about it, its attempts, sending it again."""

from typing import Final

from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue import service as queue
from afterword.sending.queue.resources import ATTEMPTS, Attempt, QueueItem, Trace
from afterword.sending.queue.traces import service, store

ITEM: Final = "/q/queue/item/{item_id}"

routes = Routes(tag="Queue")


@routes.get(
    f"{ITEM}/trace",
    scope="Queue.Read",
    answer=Trace,
    summary="Say why an item goes, waits or went nowhere",
    description="Every rule in the order in which they decide: as it stands now, or as it was when the item ended.",
)
async def explain_item(call: Call[None], db: Database) -> Answer:
    item = await queue.get(db, caller=call.caller, **call.ids)
    return Answer(await service.explain(db, item=item, now=call.now, zone=call.zone))


@routes.list(
    f"{ITEM}/attempt",
    scope="Queue.Read",
    answer=Attempt,
    shape="array",
    listing=ATTEMPTS,
    summary="Get the attempts to send an item",
)
async def list_attempts(call: Call[None], db: Database) -> Rows[store.Attempt]:
    item = await queue.get(db, caller=call.caller, **call.ids)
    return await store.list_attempts(db, organization_id=item.organization_id, item_id=item.item_id, page=call.page)


@routes.post(
    f"{ITEM}/repetition",
    scope="Queue.Create",
    answer=QueueItem,
    summary="Send a Failed or Ignored item again",
    description="Makes a new item, due now, whose `previous_item_id` is this one; this one stays as it is.",
    refusals=("item_not_repeatable", "application_inactive", "questionnaire_not_published"),
)
async def repeat_item(call: Call[None], db: Database) -> Answer:
    item = await service.repeat(db, caller=call.caller, **call.ids, secret=call.site.secret, now=call.now)
    return Answer(record=queue.visible(item, call.caller), location=f"/q/queue/item/{item.item_id}")
