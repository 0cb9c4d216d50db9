"""`questionnaire_instance.expired`: told once, when the time of an instance ends that was not completed.

Nobody is there when that happens, so a job looks: for each number of days in use, at the instances that went out as
long ago, a minute's worth at a time. It reads each instance about once in its life and needs no index on its end, which
every sent item would pay for. Cursor and events commit together, so each is told of once, whatever dies in between.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from afterword.db import Database
from afterword.events import service as events
from afterword.instances import events as news
from afterword.instances.expiry import store
from afterword.instances.expiry.store import Cursor

BEHIND_SECONDS: Final = 60  # so long after its end an instance may be told of, and what was written is there to be seen
EVERY_SECONDS: Final = 30  # the same days are looked at so often at most
TOLD_MAX: Final = 500  # in one transaction
SPANS: Final = (timedelta(hours=1), timedelta(minutes=1))  # the longest in which there are not too many
NOTICE: Final = 0  # the days of the cursor that looks for days that are new
LAST_ID: Final = "~"  # behind every id: all of that moment were told of


async def tell_next(db: Database, *, now: datetime) -> int:
    """Go on with the days that are furthest behind; 0 where all of them have come to the present."""
    until = now - timedelta(seconds=BEHIND_SECONDS)
    cursor = await store.claim_cursor(db, before=until - timedelta(seconds=EVERY_SECONDS))
    if cursor is None:
        return 0
    if cursor.valid_days == NOTICE:
        end = min(until, cursor.expired_until + SPANS[0])
        days = await store.list_days(db, after=cursor.expired_until, until=end)
        await store.insert_cursors(db, valid_days=days, since=cursor.expired_until)  # they went out after it
        await store.settle_cursor(db, cursor=replace(cursor, expired_until=end))
        return 1
    await _tell(db, cursor=cursor, until=until, now=now)
    return 1


async def notice(db: Database, *, valid_days: int, now: datetime) -> None:
    """Look out for instances with these days, which one of them was given by hand."""
    if valid_days:
        await store.insert_cursors(db, valid_days=[valid_days], since=now)


async def _tell(db: Database, *, cursor: Cursor, until: datetime, now: datetime) -> None:
    lived = timedelta(hours=24 * cursor.valid_days)
    end = until
    for span in SPANS:
        end = min(until, cursor.expired_until + span)
        count = await store.count_ended(
            db,
            valid_days=cursor.valid_days,
            after=cursor.expired_until - lived,
            until=end - lived,
            limit=TOLD_MAX + 1,
        )
        if count <= TOLD_MAX:
            break
    ended = await store.list_ended(
        db,
        valid_days=cursor.valid_days,
        after=(cursor.expired_until - lived, cursor.expired_id),
        until=end - lived,
        limit=TOLD_MAX,
    )
    told = [replace(news.event(one, "expired", now=now), actor_kind="worker", actor_id=None) for one in ended]
    await events.record(db, events=told)
    after = replace(cursor, expired_until=end, expired_id=LAST_ID)
    if len(ended) == TOLD_MAX:
        last = ended[-1]
        after = replace(
            cursor, expired_until=(last.sent_time or last.created_time) + lived, expired_id=last.instance_id
        )
    await store.settle_cursor(db, cursor=after)
