"""Retention: walks all organizations, some items at a time, and removes items that ended long enough ago."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from afterword import ids
from afterword.core.scheduling.statuses import Item
from afterword.kit.db import Database
from afterword.sending.queue.retention import store

DAYS_DEFAULT: Final = 400  # a year and a month
FAILED_DAYS_MIN: Final = 30  # failed items may still be sent again by hand

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RetentionCursor:
    """The position of a walk: after this item of this organization; without an item, after the organization."""

    organization_id: str = ""
    item_id: str = ""


async def prune(
    db: Database, *, cursor: RetentionCursor, days: int, now: datetime, limit: int
) -> tuple[int, RetentionCursor]:
    """One step of the walk: the number of items seen, at most `limit`, and the new cursor. 0 days keep everything.

    A walk that came to its end begins anew.
    """
    if not days:
        return 0, cursor
    before = now - timedelta(days=days)
    before_id = ids.ordered_first(before)
    organization_id, last = cursor.organization_id, None
    if not cursor.item_id:
        found, last = await store.get_next_organization(db, after=cursor.organization_id, before_id=before_id)
        if found is None:
            return 0, RetentionCursor(last or "")
        organization_id = found
    passed = await store.prune_items(
        db,
        organization_id=organization_id,
        after_id=cursor.item_id,
        before_id=before_id,
        before=before,
        failed_before=min(before, now - timedelta(days=FAILED_DAYS_MIN)),
        limit=limit,
    )
    if passed.removed:
        names = {Item(status).name.lower(): count for status, count in passed.removed.items()}
        logger.info("old items removed", organization_id=organization_id, **names)
    is_finished = passed.count < limit or passed.last is None
    return passed.count, RetentionCursor(organization_id, "" if is_finished else passed.last or "")
