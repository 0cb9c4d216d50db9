"""Moves the clock of an organization's test items forward, so that reminders and windows can be tried at once."""

from datetime import datetime, timedelta
from typing import Final

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.sending.queue.clock import store

AHEAD_HOURS_MAX: Final = 9_600  # 400 days
ITEMS_MAX: Final = 10_000  # moved at once


class TooManyItems(errors.Conflict):
    """So many test items wait that moving them would hold up others."""

    code_default = "too_many_items"


async def get(db: Database, *, caller: Caller, now: datetime) -> datetime:
    seconds = await store.get_seconds(db, organization_id=caller.organization_id)
    return now + timedelta(seconds=seconds)


async def move(db: Database, *, caller: Caller, hours: int, now: datetime) -> datetime:
    """Move the clock forward; its time. Raises Forbidden, Invalid `out_of_range`, TooManyItems."""
    caller.require_whole()
    organization_id = caller.organization_id
    ahead = await store.get_seconds_locked(db, organization_id=organization_id) + hours * 3600
    if ahead > AHEAD_HOURS_MAX * 3600:
        message = f"The clock may be {AHEAD_HOURS_MAX // 24} days ahead; set it back first."
        raise errors.Invalid.at("/hours", "out_of_range", message)
    if await store.count_waiting(db, organization_id=organization_id, limit=ITEMS_MAX + 1) > ITEMS_MAX:
        raise TooManyItems(f"More than {ITEMS_MAX:,} test items wait; cancel some of them first.")
    await store.update_seconds(db, organization_id=organization_id, seconds=ahead)
    await store.update_due_times(db, organization_id=organization_id, seconds=hours * 3600)
    await store.update_sent_times(db, organization_id=organization_id, seconds=hours * 3600)
    return now + timedelta(seconds=ahead)


async def reset(db: Database, *, caller: Caller) -> None:
    """Set the clock back to now; what waits for a later time waits for the whole of it again. Raises Forbidden."""
    caller.require_whole()
    organization_id = caller.organization_id
    ahead = await store.get_seconds_locked(db, organization_id=organization_id)
    await store.update_seconds(db, organization_id=organization_id, seconds=0)
    await store.update_due_times(db, organization_id=organization_id, seconds=-ahead)
