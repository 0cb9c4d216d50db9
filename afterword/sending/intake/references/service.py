"""Items by the client's own key: the one live item that has it is read, made or changed, cancelled."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.sending.intake.batches import store
from afterword.sending.pipelines import service as pipelines
from afterword.sending.queue import service as queue
from afterword.sending.queue.resources import QueueItemRequest
from afterword.sending.queue.service import NewItem, ReferenceTaken
from afterword.sending.queue.store import QueueItem

NO_ITEM: Final = "No item of this pipeline that is not aborted has this external reference."
TRIES_MAX: Final = 3  # an item that comes, and goes again before we hold it


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    caller: Caller
    questionnaire_id: str
    pipeline_id: str
    external_reference: str

    @property
    def key(self) -> dict[str, Any]:
        return {
            "organization_id": self.caller.organization_id,
            "place": (self.questionnaire_id, self.pipeline_id, self.caller.test),
            "external_references": [self.external_reference],
        }


async def get(db: Database, *, reference: Reference) -> QueueItem:
    await _require_pipeline(db, reference)
    return _require(await store.list_items_by_reference(db, **reference.key), reference)


async def put(
    db: Database,
    *,
    reference: Reference,
    request: QueueItemRequest,
    expect: errors.Expect = errors.ANY,
    is_expected: bool,
    secret: bytes,
) -> tuple[QueueItem, bool]:
    """Make the item as the request says, and say whether it is new; of two at once one makes it, the other changes it.

    `is_expected`: the request holds only for an item that is there. Raises NotFound, Stale, Invalid, NotPublished,
    InDispatch, ItemClosed, ReferenceTaken.
    """
    await _require_pipeline(db, reference)
    new = NewItem(
        caller=reference.caller,
        questionnaire_id=reference.questionnaire_id,
        pipeline_id=reference.pipeline_id,
        request=msgspec.structs.replace(request, external_reference=reference.external_reference),
    )
    for _ in range(TRIES_MAX):
        found = await store.list_items_by_reference_locked(db, **reference.key)
        for item in found.values():
            expect(item.version)
            changed = await queue.replace(db, caller=reference.caller, item=item, request=request, secret=secret)
            return changed, False
        if is_expected:
            raise errors.Stale("There is no item with this reference.")
        try:
            return await queue.schedule(db, new=new, secret=secret), True
        except ReferenceTaken:  # somebody was faster; what they made is committed and to be found now
            continue
    raise ReferenceTaken


async def cancel(db: Database, *, reference: Reference, expect: errors.Expect = errors.ANY) -> None:
    """Cancel the live item, which frees its reference; raises NotFound, Stale, InDispatch, ItemClosed."""
    await _require_pipeline(db, reference)
    item = _require(await store.list_items_by_reference_locked(db, **reference.key), reference)
    expect(item.version)
    await queue.cancel(db, caller=reference.caller, item=item)


def _require(found: Mapping[str, QueueItem], reference: Reference) -> QueueItem:
    item = found.get(reference.external_reference)
    if item is None:
        raise errors.NotFound(NO_ITEM)
    return item


async def _require_pipeline(db: Database, reference: Reference) -> None:
    key: dict[str, Any] = {"questionnaire_id": reference.questionnaire_id, "pipeline_id": reference.pipeline_id}
    await pipelines.get(db, caller=reference.caller, **key)
