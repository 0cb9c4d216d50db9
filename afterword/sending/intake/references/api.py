"""HTTP handlers of business keys: queue items under the client's own names for them."""

import re
from typing import Any, Final

from afterword import errors
from afterword.kit.db import Database
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.intake.references import service
from afterword.sending.intake.references.service import Reference
from afterword.sending.queue import store
from afterword.sending.queue.resources import REFERENCE_PATTERN, QueueItem, QueueItemRequest
from afterword.sending.queue.scheduler import checked
from afterword.sending.queue.service import declared_for, visible

REFERENCE: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/reference/{external_reference}"
TEXTS: Final = ("external_reference",)
_SHAPE: Final = re.compile(REFERENCE_PATTERN)
BROKEN: Final = "\ufffd"  # what a server makes of bytes that are no UTF-8
_CHARACTERS_MAX: Final = 100

routes = Routes(tag="Queue")


@routes.get(REFERENCE, scope="Queue.Read", answer=QueueItem, texts=TEXTS, summary="Get the queue item with a reference")
async def get_item_by_reference(call: Call[None], db: Database) -> store.QueueItem:
    return visible(await service.get(db, reference=_reference(call)), call.caller)


@routes.put(
    REFERENCE,
    scope="Queue.Update",
    more_scopes=("Queue.Create",),
    body=QueueItemRequest,
    answer=QueueItem,
    texts=TEXTS,
    summary="Create or change the queue item with a reference",
    description=(
        "201 when no live item of the pipeline has the reference, else 200 and the item is as the body says, while it "
        "is Pending; without `send_time` an item keeps the one it has. An `external_reference` in the body is ignored."
    ),
    refusals=(
        "application_inactive",
        "questionnaire_not_published",
        "on_hold",
        "item_in_dispatch",
        "item_closed",
        "invalid_address",
        "already_exists",
    ),
)
async def put_item_by_reference(call: Call[QueueItemRequest], db: Database) -> Answer | store.QueueItem:
    declared = await declared_for(
        db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"], is_strict=call.strict
    )
    item, is_new = await service.put(
        db,
        reference=_reference(call),
        request=checked(call.body, declared),
        expect=call.expect,
        is_expected=call.if_match is not None,
        secret=call.site.secret,
    )
    shown = visible(item, call.caller)
    return Answer(record=shown, location=f"/q/queue/item/{item.item_id}", status=201) if is_new else shown


@routes.delete(
    REFERENCE,
    scope="Queue.Delete",
    texts=TEXTS,
    summary="Cancel the queue item with a reference",
    description="As `status_id` 5: nothing will be sent, and the reference is free again.",
    refusals=("item_in_dispatch", "item_closed"),
)
async def cancel_item_by_reference(call: Call[None], db: Database) -> None:
    await service.cancel(db, reference=_reference(call), expect=call.expect)


def _reference(call: Call[Any]) -> Reference:
    """The path's; raises NotFound for a text that no item can have."""
    text = call.ids["external_reference"]
    if len(text) > _CHARACTERS_MAX or _SHAPE.match(text) is None or BROKEN in text:
        raise errors.NotFound("No item can have this external_reference.")
    return Reference(
        caller=call.caller,
        questionnaire_id=call.ids["questionnaire_id"],
        pipeline_id=call.ids["pipeline_id"],
        external_reference=text,
    )
