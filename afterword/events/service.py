"""The event log: what a transaction changed is recorded in it, and readers follow with a cursor that misses nothing."""

from collections.abc import Awaitable, Callable, Collection, Sequence

import structlog

from afterword import errors
from afterword.db import Database, savepoint
from afterword.events import store
from afterword.events.store import Actor, Event, NewEvent

__all__ = ["Actor", "Event", "NewEvent", "handle_next", "hold_reader", "read_next", "record"]

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def record(db: Database, *, events: Sequence[NewEvent]) -> None:
    """Append the events of a change, in their order; a second terminal event of one item is refused by the database."""
    if events:
        await store.insert_events(db, events=events)


async def read_next(db: Database, *, reader: str, types: Collection[str], limit: int) -> tuple[list[Event], int]:
    """The next events of these types behind the reader's cursor, oldest first, and how many rows were passed.

    The cursor moves in this transaction, and others wait no longer than it lasts: what the caller does with the events
    commits together with the cursor, so each is handled exactly once. Another process at the same reader: nothing, 0.
    As many rows passed as `limit` means that there may be more.
    """
    if not await store.claim_reader(db, reader=reader):
        return [], 0
    found, passed = await store.list_unread_events(db, reader=reader, types=list(types), limit=limit)
    if found:
        await store.settle_reader(db, reader=reader, last=found[-1])
    wanted = frozenset(types)
    return [event for event in found if event.type in wanted], passed


async def hold_reader(db: Database, *, reader: str) -> bool:
    """Hold the reader's cursor until we commit, for those who move it themselves; False: another process has it."""
    return await store.claim_reader(db, reader=reader)


async def handle_next(
    db: Database,
    *,
    reader: str,
    types: Collection[str],
    limit: int,
    handle: Callable[[Sequence[Event]], Awaitable[None]],
) -> int:
    """Give the next events to `handle`, all at once, as `read_next` reads them; how many rows were passed.

    Where it fails, the events are tried one by one, and those that it cannot take are logged and passed over: one bad
    event must not keep every organization's reader from going on. A database that is away fails all of it, for later.
    """
    events, passed = await read_next(db, reader=reader, types=types, limit=limit)
    if events and await _failure(db, events, handle):
        for event in events:
            error = await _failure(db, [event], handle)
            if error is not None:
                logger.error("an event was passed over", reader=reader, event_id=event.event_id, exc_info=error)
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
