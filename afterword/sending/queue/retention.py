"""Retention: walks all organizations, some items at a time, and removes items that ended long enough ago."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

import msgspec
import structlog

from afterword import ids
from afterword.core.scheduling.statuses import Item
from afterword.kit.db import Database
from afterword.kit.db.walks import get_next

ORGANIZATIONS_MAX = 2_000  # looked through in one statement


async def _get_next_organization(  # any tenant: retention is the installation's
    db: Database, *, after: str, before_id: str
) -> str | None:
    """The first of the next organizations with an old item."""
    return await db.fetch_value(
        """select l.organization_id from (
             select organization_id from organization where organization_id > $1 order by organization_id limit $3) l
           where exists (select from queue_item i where i.organization_id = l.organization_id and i.item_id < $2
                         offset 0) -- else all old items might be read first
             and not exists (select from legal_hold h
               where h.organization_id = l.organization_id and h.responder_id is null)
           order by l.organization_id limit 1""",
        *(after, before_id, ORGANIZATIONS_MAX),
    )


async def _prune_items(
    db: Database,
    *,
    organization_id: str,
    after_id: str,
    before_id: str,
    before: datetime,
    failed_before: datetime,
    limit: int,
) -> list[tuple[str, int | None]]:
    """Pass the next items with ids between the two, and remove those that ended long enough ago.

    Returns the id of each, and the status of one that was removed.

    Failed items stay until `failed_before`, if that is earlier. Items with an open attempt, with an event that some
    reader has not seen, or of people under a legal hold stay as well. Attempts go with their item; events have a
    retention of their own.
    """
    return await db.fetch_tuples(
        """with passed as materialized (
             select i.item_id, i.status, i.updated_time from queue_item i
             where i.organization_id = $1 and i.item_id > $2 and i.item_id < $3
             order by i.item_id limit $6),
           old as materialized (
             select i.item_id from passed p cross join lateral (
               select item_id, responder_id, address_key from queue_item
               where organization_id = $1 and item_id = p.item_id for update skip locked) i
             where p.status >= 4 and p.updated_time < $4 and (p.status not in (5, 6) or p.updated_time < $5)
               and not exists (select from attempt a
                 where a.organization_id = $1 and a.item_id = p.item_id and a.outcome is null)
               and not exists (select from legal_hold h left join responder_address r
                   on r.organization_id = h.organization_id and r.responder_id = h.responder_id
                 where h.organization_id = $1 and (h.responder_id is null or h.responder_id = i.responder_id
                   or r.address_key = i.address_key))
               and not exists (select from event e
                 where e.organization_id = $1 and e.subject_id = p.item_id
                   and e.xid >= (select min(c.xid) from event_cursor c))),
           removed as (
             delete from queue_item i using old where i.organization_id = $1 and i.item_id = old.item_id
             returning i.item_id, i.status),
           counted as (
             insert into pruned_total (status, total)
             select status, count(*) from removed group by status order by status
             on conflict (status) do update set total = pruned_total.total + excluded.total)
           select p.item_id, r.status from passed p left join removed r on r.item_id = p.item_id order by p.item_id""",
        *(organization_id, after_id, before_id, before, failed_before, limit),
    )


async def count_pruned(db: Database) -> dict[int, int]:  # any tenant: the metrics of a whole installation
    """Removed items by status, since the installation."""
    return await db.fetch_pairs("select status, total from pruned_total order by status")


DAYS_DEFAULT: Final = 400  # a year and a month
FAILED_DAYS_MIN: Final = 30  # failed items may still be sent again by hand

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class RetentionCursor(msgspec.Struct, frozen=True):
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
    organization_id = cursor.organization_id
    if not cursor.item_id:
        found = await _get_next_organization(db, after=organization_id, before_id=before_id)
        if found is None:
            end = await get_next(
                db, "organization", "organization_id", after=(organization_id,), limit=ORGANIZATIONS_MAX
            )
            return 0, RetentionCursor(*end or ("",))
        organization_id = found
    passed = await _prune_items(
        db,
        organization_id=organization_id,
        after_id=cursor.item_id,
        before_id=before_id,
        before=before,
        failed_before=min(before, now - timedelta(days=FAILED_DAYS_MIN)),
        limit=limit,
    )
    removed = Counter(Item(status).name.lower() for _, status in passed if status is not None)
    if removed:
        logger.info("old items removed", organization_id=organization_id, **dict(sorted(removed.items())))
    return len(passed), RetentionCursor(organization_id, "" if len(passed) < limit else passed[-1][0])
