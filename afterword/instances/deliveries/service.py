"""Records that the message with an instance's link was delivered; the first confirmation counts."""

from collections.abc import Mapping
from datetime import datetime

from afterword.db import Database
from afterword.instances.deliveries import store


async def mark_delivered(
    db: Database, *, organization_id: str, delivered: Mapping[str, datetime], now: datetime
) -> int:
    """Record delivery times by instance; returns the number of first confirmations."""
    return await store.settle_delivered(db, organization_id=organization_id, delivered=delivered, now=now)
