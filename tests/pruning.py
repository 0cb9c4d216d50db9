"""The jobs of retention, each in a test's own transaction."""

from datetime import datetime

from afterword.kit.db import Database
from afterword.kit.db.retention import Retention, prune_next
from afterword.run.worker.retention import RETENTION


async def prune(db: Database, *names: str, now: datetime | None = None, limit: int = 10) -> int:
    """One part of each of these, in their order; the count of all."""
    return sum([await prune_of(db, RETENTION[name], now=now or db.clock.now(), limit=limit) for name in names])


async def prune_of(db: Database, old: Retention, *, now: datetime, limit: int | None = None) -> int:
    """The next rows of one table, from its first one on."""
    return (await prune_next(db, old=old, after=old.start, now=now, limit=limit))[0]
