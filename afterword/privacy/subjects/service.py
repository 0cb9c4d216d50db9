"""Finding what is a person's, and ending what is still on its way to the person."""

from typing import Final

from afterword.core.organizations.access import installation
from afterword.core.scheduling.statuses import Item
from afterword.kit.db import Database
from afterword.privacy.subjects import store
from afterword.privacy.subjects.store import Person
from afterword.sending.queue import service as queue
from afterword.sending.queue import store as queue_store

SCAN_ITEMS_MAX: Final = 5_000  # of the queue, in one transaction
INDEX_ROUNDS_MAX: Final = 10  # items that repeat one that repeats one …
OPEN_ITEMS_MAX: Final = 100


async def find_by_indexes(db: Database, *, organization_id: str, erasure_id: str, person: Person) -> int:
    """Note what indexes lead to; how many are new."""
    found = 0
    for _ in range(INDEX_ROUNDS_MAX):
        new = await store.insert_indexed_subjects(
            db, organization_id=organization_id, erasure_id=erasure_id, person=person
        )
        found += new
        if not new:
            break
    return found


async def find_by_scan(
    db: Database, *, organization_id: str, erasure_id: str, person: Person, after: str
) -> store.ScanResult:
    return await store.insert_scanned_subjects(
        db, organization_id=organization_id, erasure_id=erasure_id, person=person, after=after, limit=SCAN_ITEMS_MAX
    )


async def cancel_open_items(db: Database, *, organization_id: str, erasure_id: str) -> tuple[int, bool]:
    """Cancel items of the person that nobody has begun to send; how many, and whether all have come to their end."""
    items = await store.list_open_items(
        db, organization_id=organization_id, erasure_id=erasure_id, limit=OPEN_ITEMS_MAX
    )
    caller = installation(organization_id)
    cancelled = 0
    for item_id in items:
        item = await queue_store.get_item_locked(db, organization_id=organization_id, item_id=item_id)
        if item is not None and item.status in {Item.SCHEDULED, Item.CLAIMED}:
            await queue.cancel(db, caller=caller, item=item)
            cancelled += 1
    return cancelled, not items
