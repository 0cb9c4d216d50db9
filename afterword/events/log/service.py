"""How long the log is kept, and what a cursor that is too old is told."""

from datetime import datetime, timedelta
from typing import Final

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.errors import FieldError
from afterword.events.log import store
from afterword.events.log.store import Entry

KEPT_DAYS: Final = 90
RESTORED: Final = "The event log was restored from another cluster; a worker puts it in order first."
RESTORED_SECONDS: Final = 10


async def get(db: Database, *, caller: Caller, event_id: str) -> Entry:
    """The event as far as the caller may see it. Raises NotFound."""
    found = await store.get_entry(
        db,
        organization_id=caller.organization_id,
        event_id=event_id,
        application_ids=caller.application_ids,
        test_only=caller.test,
    )
    if found is None:
        raise errors.NotFound("There is no such event.")
    return found


async def place_of(
    db: Database, *, organization_id: str, event_id: str | None, wrong: FieldError
) -> tuple[int, int] | None:
    """Where an event stands in the log now, as (xid, seq); None for the log's beginning.

    Raises Invalid with `wrong` where the event is unknown, or events behind it are gone: its reader missed them.
    Raises Unavailable while the log has the order of another cluster.
    """
    found = await store.get_position(db, organization_id=organization_id, event_id=event_id)
    if not found.is_native:
        raise errors.Unavailable(RESTORED, headers={"Retry-After": str(RESTORED_SECONDS)})
    if event_id is None:
        return None
    if found.place is None or found.is_pruned:
        raise errors.Invalid.of(wrong)
    return found.place


async def prune(db: Database, *, now: datetime, limit: int) -> int:
    """Forget events of 90 days ago that every reader has read and no delivery refers to; how many."""
    return await store.prune_events(db, before=now - timedelta(days=KEPT_DAYS), limit=limit)


async def adopt(db: Database) -> int | None:
    """Where the log was restored from a dump of another cluster, make its order this one's; how many events it has.

    Readers go by the numbers of transactions, and a dump brings those of the cluster that it was taken from: events of
    the future, and places that nothing new would ever come after. Afterwards every reader has read what it had read.
    """
    if not await store.get_is_foreign(db):
        return None
    count = await store.update_to_native(db)
    await store.update_cluster(db)
    return count
