"""Records `questionnaire_instance.expired` once, after an instance expires without completion.

Expiry changes no row, so a job searches: per value of `valid_days` in use, it reads the instances sent that long ago,
at most one hour of them at a time. It reads each instance about once and needs no index on the expiry time.
Cursor and events commit together, so a crash neither loses nor repeats an event.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from afterword.asking.instances.expiry import store
from afterword.asking.instances.expiry.store import Cursor
from afterword.events import service as events
from afterword.kit.db import Database

BEHIND_SECONDS: Final = 60  # delay after expiry, so that transactions of that moment are committed
EVERY_SECONDS: Final = 30  # shortest interval between two searches with one cursor
EVENTS_MAX: Final = 500  # in one transaction
SPANS: Final = (timedelta(hours=1), timedelta(minutes=1))  # tried in order, until one has at most EVENTS_MAX
DISCOVERY: Final = 0  # `valid_days` of the cursor that finds new values of `valid_days`
LAST_ID: Final = "~"  # sorts after every id


async def record_next(db: Database, *, now: datetime) -> int:
    """Advance the cursor that is furthest behind; returns 0 if all are up to date."""
    until = now - timedelta(seconds=BEHIND_SECONDS)
    cursor = await store.claim_cursor(db, before=until - timedelta(seconds=EVERY_SECONDS))
    if cursor is None:
        return 0
    if cursor.valid_days == DISCOVERY:
        end = min(until, cursor.expired_until + SPANS[0])
        await store.insert_cursors(db, after=cursor.expired_until, until=end)
        await store.settle_cursor(db, cursor=replace(cursor, expired_until=end))
        return 1
    await _record(db, cursor=cursor, until=until, now=now)
    return 1


async def _record(db: Database, *, cursor: Cursor, until: datetime, now: datetime) -> None:
    lifetime = timedelta(hours=24 * cursor.valid_days)
    end = until
    for span in SPANS:
        end = min(until, cursor.expired_until + span)
        count = await store.count_ended(
            db,
            valid_days=cursor.valid_days,
            after=cursor.expired_until - lifetime,
            until=end - lifetime,
            limit=EVENTS_MAX + 1,
        )
        if count <= EVENTS_MAX:
            break
    ended = await store.list_ended(
        db,
        valid_days=cursor.valid_days,
        after=(cursor.expired_until - lifetime, cursor.expired_id),
        until=end - lifetime,
        limit=EVENTS_MAX,
    )
    recorded = [one.event("expired", now=now) for one in ended]
    await events.record(db, events=[replace(one, actor_kind="worker", actor_id=None) for one in recorded])
    after = replace(cursor, expired_until=end, expired_id=LAST_ID)
    if len(ended) == EVENTS_MAX:
        last = ended[-1]
        after = replace(
            cursor, expired_until=(last.sent_time or last.created_time) + lifetime, expired_id=last.instance_id
        )
    await store.settle_cursor(db, cursor=after)
