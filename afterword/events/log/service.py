"""The event log for clients: reading, expired cursors, retention, and a restore from another cluster."""

from datetime import datetime, timedelta
from typing import Final

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.errors import FieldError
from afterword.events.log import store
from afterword.events.log.store import Entry
from afterword.kit.db import Database

KEPT_DAYS: Final = 90
RESTORED: Final = "The event log was restored from another cluster; a worker renumbers it first."
RESTORED_SECONDS: Final = 10


async def get(db: Database, *, caller: Caller, event_id: str) -> Entry:
    return errors.found(await store.get_entry(db, **caller.reach, event_id=event_id), "There is no such event.")


async def position_of(
    db: Database, *, organization_id: str, event_id: str | None, wrong: FieldError
) -> tuple[int, int] | None:
    """The position of an event in the log as (xid, seq); None for the log's beginning.

    Raises Invalid with `wrong` if the event is unknown, or events behind it were removed, which the reader missed.
    Raises Unavailable while the log has the order of another cluster.
    """
    found = await store.get_position(db, organization_id=organization_id, event_id=event_id)
    if not found.is_native:
        raise errors.Unavailable(RESTORED, headers={"Retry-After": str(RESTORED_SECONDS)})
    if event_id is None:
        return None
    if found.position is None or found.is_pruned:
        raise errors.Invalid.of(wrong)
    return found.position


async def prune(db: Database, *, now: datetime, limit: int) -> int:
    """Remove events older than 90 days that every reader has read and no delivery refers to; return the count."""
    return await store.prune_events(db, before=now - timedelta(days=KEPT_DAYS), limit=limit)


async def prune_of(db: Database, *, organization_id: str, before: datetime, limit: int) -> int:
    return await store.prune_events_of(db, organization_id=organization_id, before=before, limit=limit)


async def adopt(db: Database) -> int | None:
    """Renumber a log that was restored from another cluster; return its count of events, or None if it is native.

    Readers order by transaction numbers, and a dump has those of its own cluster: numbers that this one reaches later
    or never. Each reader keeps what it has read.
    """
    if not await store.get_is_foreign(db):
        return None
    count = await store.update_to_native(db)
    await store.update_cluster(db)
    return count
