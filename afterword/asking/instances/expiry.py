"""Records `questionnaire_instance.expired` once, after an instance expires without completion.

Expiry changes no row, so a job searches: per value of `valid_days` in use, it reads the instances sent that long ago,
at most one hour of them at a time. It reads each instance about once and needs no index on the expiry time.
Cursor and events commit together, so a crash neither loses nor repeats an event.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword.asking.instances.store import INSTANCE_COLUMNS_I, Instance
from afterword.events import service as events
from afterword.kit.db import Database


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """The position of the search: instances with `valid_days` are done up to this time and id."""

    valid_days: int
    expired_until: datetime
    expired_id: str


async def _claim_cursor(db: Database, *, before: datetime) -> Cursor | None:
    """The cursor that is furthest behind, locked; other workers skip it."""
    return await db.records(Cursor).fetch_row(
        """select valid_days, expired_until, expired_id from expiry_cursor where expired_until < $1
           order by expired_until limit 1 for update skip locked""",
        before,
    )


async def _settle_cursor(db: Database, *, cursor: Cursor) -> None:
    await db.execute(
        "update expiry_cursor set expired_until = $2, expired_id = $3 where valid_days = $1",
        *(cursor.valid_days, cursor.expired_until, cursor.expired_id),
    )


async def insert_cursors(  # any tenant: the job is the installation's
    db: Database, *, after: datetime, until: datetime
) -> None:
    """Insert missing cursors of the `valid_days` of instances sent in this period; they start at `after`."""
    await db.execute(
        """insert into expiry_cursor (valid_days, expired_until)
           select distinct valid_days, $1::timestamptz from questionnaire_instance
           where coalesce(sent_time, created_time) > $1 and coalesce(sent_time, created_time) <= $2 and valid_days > 0
           on conflict do nothing""",
        *(after, until),
    )


async def _count_ended(  # any tenant: the job is the installation's
    db: Database, *, valid_days: int, after: datetime, until: datetime, limit: int
) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from questionnaire_instance
             where coalesce(sent_time, created_time) >= $2 and coalesce(sent_time, created_time) <= $3
               and valid_days = $1 and not finalized and deleted_time is null limit $4) found""",
        *(valid_days, after, until, limit),
    )


async def list_ended(  # any tenant: the job is the installation's
    db: Database, *, valid_days: int, after: tuple[datetime, str], until: datetime, limit: int
) -> list[Instance]:
    return await db.records(Instance.of).fetch(
        f"""select {INSTANCE_COLUMNS_I} from questionnaire_instance i
           where coalesce(i.sent_time, i.created_time) >= $2 and coalesce(i.sent_time, i.created_time) <= $4
             and (coalesce(i.sent_time, i.created_time), i.instance_id) > ($2, $3)
             and i.valid_days = $1 and not i.finalized and i.full_quota_id is null and i.deleted_time is null
             and i.response_import_id is null
           order by coalesce(i.sent_time, i.created_time), i.instance_id limit $5""",
        *(valid_days, *after, until, limit),
    )


async def count_open_by_version(
    db: Database, *, organization_id: str, questionnaire_id: str, now: datetime, limit: int
) -> dict[str, int]:
    """The instances by version that can still be answered to the end, of the newest `limit`, without tests."""
    return await db.fetch_pairs(
        """select version_id, count(*) from (
             select version_id, valid_days, finalized, deleted_time, test,
               coalesce(sent_time, created_time) as begin_time
             from questionnaire_instance where organization_id = $1 and questionnaire_id = $2
             order by created_time desc, instance_id limit $4) i
           where not finalized and deleted_time is null and not test
             and (valid_days = 0 or begin_time + make_interval(days => valid_days) > $3)
           group by version_id""",
        *(organization_id, questionnaire_id, now, limit),
    )


BEHIND_SECONDS: Final = 60  # delay after expiry, so that transactions of that moment are committed
EVERY_SECONDS: Final = 30  # shortest interval between two searches with one cursor
EVENTS_MAX: Final = 500  # in one transaction
SPANS: Final = (timedelta(hours=1), timedelta(minutes=1))  # tried in order, until one has at most EVENTS_MAX
DISCOVERY: Final = 0  # `valid_days` of the cursor that finds new values of `valid_days`
LAST_ID: Final = "~"  # sorts after every id


async def record_next(db: Database, *, now: datetime) -> int:
    """Advance the cursor that is furthest behind; returns 0 if all are up to date."""
    until = now - timedelta(seconds=BEHIND_SECONDS)
    cursor = await _claim_cursor(db, before=until - timedelta(seconds=EVERY_SECONDS))
    if cursor is None:
        return 0
    if cursor.valid_days == DISCOVERY:
        end = min(until, cursor.expired_until + SPANS[0])
        await insert_cursors(db, after=cursor.expired_until, until=end)
        await _settle_cursor(db, cursor=replace(cursor, expired_until=end))
    else:
        await _record(db, cursor=cursor, until=until, now=now)
    return 1


async def _record(db: Database, *, cursor: Cursor, until: datetime, now: datetime) -> None:
    days, lifetime, end = cursor.valid_days, timedelta(hours=24 * cursor.valid_days), until
    begin = cursor.expired_until - lifetime
    for span in SPANS:
        end = min(until, cursor.expired_until + span)
        count = await _count_ended(db, valid_days=days, after=begin, until=end - lifetime, limit=EVENTS_MAX + 1)
        if count <= EVENTS_MAX:
            break
    ended = await list_ended(
        db, valid_days=days, after=(begin, cursor.expired_id), until=end - lifetime, limit=EVENTS_MAX
    )
    recorded = [one.event("expired", now=now) for one in ended]
    await events.record(db, events=[replace(one, actor_kind="worker", actor_id=None) for one in recorded])
    last_id = LAST_ID
    if len(ended) == EVENTS_MAX:
        end, last_id = (ended[-1].sent_time or ended[-1].created_time) + lifetime, ended[-1].instance_id
    await _settle_cursor(db, cursor=replace(cursor, expired_until=end, expired_id=last_id))
