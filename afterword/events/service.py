"""The event log's one way in: what a transaction changed is recorded in that transaction."""

from collections.abc import Sequence

from afterword.db import Database
from afterword.events import store
from afterword.events.store import Actor, NewEvent

__all__ = ["Actor", "NewEvent", "record"]


async def record(db: Database, *, events: Sequence[NewEvent]) -> None:
    """Append the events of a change, in their order; a second terminal event of one item is refused by the database."""
    if events:
        await store.insert_events(db, events=events)
