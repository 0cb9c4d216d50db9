"""A provider or a mail host confirms that the message with an instance's link arrived; the first time counts."""

from collections.abc import Mapping
from datetime import datetime

from afterword.db import Database
from afterword.instances.deliveries import store


async def mark_delivered(
    db: Database, *, organization_id: str, delivered: Mapping[str, datetime], now: datetime
) -> int:
    """Instance to the time at which its message arrived; a second confirmation changes nothing. How many were new."""
    return await store.settle_delivered(db, organization_id=organization_id, delivered=delivered, now=now)
