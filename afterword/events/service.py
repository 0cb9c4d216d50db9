"""The event log: each transaction records its changes in it; a reader follows with a cursor and misses nothing."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Protocol

import structlog

from afterword import errors
from afterword.core.wire.site import Site
from afterword.events import store
from afterword.events.store import Actor, Event, NewEvent
from afterword.kit.db import Database, savepoint

__all__ = ["Actor", "Event", "NewEvent", "Render", "claim_reader", "handle_next", "read_next", "record"]

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Render(Protocol):
    """The function that renders `data` of events as the GET of their subject shows it; `zones` by organization_id."""

    async def __call__(
        self, db: Database, /, *, events: Sequence[Event], site: Site, zones: Mapping[str, tzinfo]
    ) -> list[dict[str, Any]]:
        """One object per event, in order."""
        ...


async def record(db: Database, *, events: Sequence[NewEvent]) -> None:
    """Append the events of a change in order; the database refuses a second terminal event of one item."""
    if events:
        await store.insert_events(db, events=events)


async def read_next(db: Database, *, reader: str, types: Collection[str], limit: int) -> tuple[list[Event], int]:
    """Return the next events of these types behind the reader's cursor, oldest first, and the count of rows passed.

    The cursor moves in this transaction, so each event is handled exactly once. Returns ([], 0) while another process
    has the cursor. A count of `limit` means that there may be more.
    """
    if not await store.claim_reader(db, reader=reader):
        return [], 0
    found, passed = await store.list_unread_events(db, reader=reader, types=list(types), limit=limit)
    if found:
        await store.settle_reader(db, reader=reader, last=found[-1])
    return [event for event in found if event.type in types], passed


async def claim_reader(db: Database, *, reader: str) -> bool:
    """Lock the reader's cursor until we commit, for callers that move it themselves. False: another process has it."""
    return await store.claim_reader(db, reader=reader)


async def handle_next(
    db: Database,
    *,
    reader: str,
    types: Collection[str],
    limit: int,
    handle: Callable[[Sequence[Event]], Awaitable[None]],
) -> int:
    """Pass the next events to `handle`, all at once, as `read_next` reads them; return the count of rows passed.

    If it fails, it gets the events one by one; those that fail again are logged and skipped, because one bad event
    must not stop the reader of every organization. Raises Unavailable if the database is unavailable.
    """
    events, passed = await read_next(db, reader=reader, types=types, limit=limit)
    if events and await _failure(db, events, handle):
        for event in events:
            error = await _failure(db, [event], handle)
            if error is not None:
                logger.error("an event was skipped", reader=reader, event_id=event.event_id, exc_info=error)
    return passed


async def _failure(
    db: Database, events: Sequence[Event], handle: Callable[[Sequence[Event]], Awaitable[None]]
) -> Exception | None:
    try:
        async with savepoint(db):
            await handle(events)
    except errors.Unavailable:
        raise
    except Exception as error:  # noqa: BLE001  it is told by the caller
        return error
    return None
