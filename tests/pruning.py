"""The jobs of retention, each in a test's own transaction."""

from datetime import datetime

from afterword.kit.db import Database, retention
from afterword.run.worker.retention import RETENTION


async def prune(db: Database, *names: str, now: datetime | None = None, limit: int = 10) -> int:
    """One part of each of these, in their order; the count of all."""
    return sum([await retention.prune(db, RETENTION[name], now=now or db.clock.now(), limit=limit) for name in names])
