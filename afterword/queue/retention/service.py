"""Retention: walks all organizations, some items at a time, and removes what ended long enough ago."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from afterword import ids
from afterword.core.scheduling.statuses import Item
from afterword.db import Database
from afterword.queue.retention import store

DAYS_DEFAULT: Final = 400  # a year and what one looks back for
FAILED_DAYS_MIN: Final = 30  # what failed may still be sent again by hand

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RetentionCursor:
    """The position of a walk: after this item of this organization."""

    organization_id: str = ""
    item_id: str = ""

    @property
    def is_inside(self) -> bool:
        return self.item_id != ""


async def prune(
    db: Database, *, mark: RetentionCursor, days: int, now: datetime, limit: int
) -> tuple[int, RetentionCursor]:
    """One step of the walk: how many items were passed, at most `limit`, and the new mark. 0 days keep everything.

    A walk that came to its end begins anew.
    """
    if not days:
        return 0, mark
    before = now - timedelta(days=days)
    before_id = ids.ordered_first(before)
    organization_id, last = mark.organization_id, None
    if not mark.is_inside:
        found, last = await store.get_next_organization(db, after=mark.organization_id, before_id=before_id)
        if found is None:
            return 0, RetentionCursor(last or "")
        organization_id = found
    passed = await store.prune_items(
        db,
        organization_id=organization_id,
        after_id=mark.item_id,
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
