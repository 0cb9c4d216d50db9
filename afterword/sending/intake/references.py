"""Items by the client's own key: the one live item that has it is read, made or changed, cancelled."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.intake import batches
from afterword.sending.pipelines import service as pipelines
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.queue import service as queue, store as queue_store
from afterword.sending.queue.api import declared_of
from afterword.sending.queue.records import REFERENCE_PATTERN, QueueItem, QueueItemRecord, QueueItemRequest
from afterword.sending.queue.scheduler import checked
from afterword.sending.queue.service import NewItem, ReferenceTaken, visible

NO_ITEM: Final = "No item of this pipeline that is not aborted has this external reference."
TRIES_MAX: Final = 3  # an item that comes, and goes again before we hold it


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    caller: Caller
    path: PipelinePath
    external_reference: str

    @property
    def key(self) -> dict[str, Any]:
        return {
            "organization_id": self.caller.organization_id,
            "place": (self.path["questionnaire_id"], self.path["pipeline_id"], self.caller.test),
            "external_references": [self.external_reference],
        }

    def reaches(self, item: QueueItemRecord) -> bool:
        limit = self.caller.limit
        return limit is None or item.metadata.get("questionnaire", {}).get(limit.name) in limit.values


async def get(db: Database, *, reference: Reference) -> QueueItemRecord:
    await pipelines.get(db, caller=reference.caller, **reference.path)
    return _require(await batches.list_items_by_reference(db, **reference.key), reference)


async def put(
    db: Database,
    *,
    reference: Reference,
    request: QueueItemRequest,
    expect: errors.Expect = errors.ANY,
    secret: bytes,
) -> tuple[QueueItemRecord, bool]:
    """Make the item as the request says, and say whether it is new; of two at once one makes it, the other changes it.

    Raises NotFound, Stale, Invalid, NotPublished, InDispatch, ItemClosed, ReferenceTaken.
    """
    await pipelines.get(db, caller=reference.caller, **reference.path)
    named = msgspec.structs.replace(request, external_reference=reference.external_reference)
    new = NewItem(caller=reference.caller, **reference.path, request=named)
    for _ in range(TRIES_MAX):
        found = await batches.list_items_by_reference(db, **reference.key, is_locked=True)
        for item in found.values():
            if not reference.reaches(item):
                raise ReferenceTaken
            expect(item.version)
            changed = await queue.replace(db, caller=reference.caller, item=item, request=request, secret=secret)
            return changed, False
        expect(errors.ABSENT)
        try:
            return await queue.schedule(db, new=new, secret=secret), True
        except ReferenceTaken:  # somebody was faster; what they made is committed and to be found now
            continue
    raise ReferenceTaken


async def cancel(db: Database, *, reference: Reference, expect: errors.Expect = errors.ANY) -> None:
    """Cancel the live item, which frees its reference; raises NotFound, Stale, InDispatch, ItemClosed."""
    await pipelines.get(db, caller=reference.caller, **reference.path)
    item = _require(await batches.list_items_by_reference(db, **reference.key, is_locked=True), reference)
    expect(item.version)
    await queue.cancel(db, caller=reference.caller, item=item)


def _require(found: Mapping[str, QueueItemRecord], reference: Reference) -> QueueItemRecord:
    item = found.get(reference.external_reference)
    if item is None or not reference.reaches(item):
        raise errors.NotFound(NO_ITEM)
    return item


REFERENCE: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/reference/{external_reference}"
TEXTS: Final = ("external_reference",)
_SHAPE: Final = re.compile(REFERENCE_PATTERN)
BROKEN: Final = "\ufffd"  # what a server makes of bytes that are no UTF-8
_CHARACTERS_MAX: Final = 100

routes = Routes(tag="Queue")


@routes.get(
    REFERENCE,
    scope="Queue.Read",
    answer=QueueItem,
    for_limited="part",
    texts=TEXTS,
    summary="Get the queue item with a reference",
)
async def get_item_by_reference(call: Call[None], db: Database) -> queue_store.QueueItemRecord:
    return visible(await get(db, reference=_reference(call)), call.caller)


@routes.put(
    REFERENCE,
    scope="Queue.Update",
    more_scopes=("Queue.Create",),
    body=QueueItemRequest,
    answer=QueueItem,
    for_limited="part",
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
async def put_item_by_reference(call: Call[QueueItemRequest], db: Database) -> Answer | queue_store.QueueItemRecord:
    declared = await declared_of(call, db)
    item, is_new = await put(
        db,
        reference=_reference(call),
        request=checked(call.body, declared),
        expect=call.expect,
        secret=call.site.secret,
    )
    shown = visible(item, call.caller)
    return Answer(record=shown, location=f"/q/queue/item/{item.item_id}", status=201) if is_new else shown


@routes.delete(
    REFERENCE,
    scope="Queue.Delete",
    for_limited="part",
    texts=TEXTS,
    summary="Cancel the queue item with a reference",
    description="As `status_id` 5: nothing will be sent, and the reference is free again.",
    refusals=("item_in_dispatch", "item_closed"),
)
async def cancel_item_by_reference(call: Call[None], db: Database) -> None:
    await cancel(db, reference=_reference(call), expect=call.expect)


def _reference(call: Call[Any]) -> Reference:
    """The path's; raises NotFound for a text that no item can have."""
    text = call.ids["external_reference"]
    if len(text) > _CHARACTERS_MAX or _SHAPE.match(text) is None or BROKEN in text:
        raise errors.NotFound("No item can have this external_reference.")
    path = PipelinePath(questionnaire_id=call.ids["questionnaire_id"], pipeline_id=call.ids["pipeline_id"])
    return Reference(caller=call.caller, path=path, external_reference=text)
