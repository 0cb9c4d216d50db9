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


async def require_kept(db: Database, *, organization_id: str, place: tuple[int, int], wrong: FieldError) -> None:
    """Raise Invalid with `wrong` where events behind this place (xid, seq) are gone: its reader missed them."""
    xid, seq = place
    if await store.get_is_pruned(db, organization_id=organization_id, xid=xid, seq=seq):
        raise errors.Invalid.of(wrong)


async def prune(db: Database, *, now: datetime, limit: int) -> int:
    """Forget events of 90 days ago that every reader has read and no delivery refers to; how many."""
    return await store.prune_events(db, before=now - timedelta(days=KEPT_DAYS), limit=limit)


async def adopt(db: Database) -> int | None:
    """Where the log was restored from a dump of another cluster, make its order this one's; how many events it has.

    Readers go by the numbers of transactions, and a dump brings those of the cluster that it was taken from: events of
    the future, and places that nothing new would ever come after. Afterwards every reader has read what it had read.
    """
    return await store.update_to_native(db) if await store.get_is_foreign(db) else None
