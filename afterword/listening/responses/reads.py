"""Notes the responses that a user has read, of which only the newest are kept one by one."""

from datetime import datetime, timedelta
from typing import Final

from afterword.core.organizations.access import Caller
from afterword.kit.db import Database


async def _insert_read(
    db: Database, *, organization_id: str, user_id: str, instance_id: str, seen_time: datetime
) -> bool:
    """Whether the response was unread. `seen_time`: for a user who has read none before."""
    return await db.touches(
        """with reader as (
             insert into response_reader (organization_id, user_id, seen_time) values ($1, $2, $4)
             on conflict do nothing)
           insert into response_read (organization_id, user_id, instance_id)
           select r.organization_id, $2, r.instance_id from response r
           where r.organization_id = $1 and r.instance_id = $3 and r.submitted_time > coalesce((
             select p.seen_time from response_reader p where p.organization_id = $1 and p.user_id = $2), $4)
           on conflict do nothing""",
        *(organization_id, user_id, instance_id, seen_time),
    )


async def _count_read(db: Database, *, organization_id: str, user_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from response_read where organization_id = $1 and user_id = $2", organization_id, user_id
    )


async def _update_seen_time(db: Database, *, organization_id: str, user_id: str, seen_time: datetime) -> None:
    """All before this is read; responses that were read one by one before it need no rows."""
    await db.execute(
        """with reader as (
             insert into response_reader (organization_id, user_id, seen_time) values ($1, $2, $3)
             on conflict (organization_id, user_id) do update set seen_time = excluded.seen_time)
           delete from response_read s using response r
           where s.organization_id = $1 and s.user_id = $2 and r.organization_id = s.organization_id
             and r.instance_id = s.instance_id and r.submitted_time <= $3""",
        *(organization_id, user_id, seen_time),
    )


async def _get_read_time(db: Database, *, organization_id: str, user_id: str, offset: int) -> datetime | None:
    """The time of the response at this position, from 0 the newest, among those read one by one."""
    return await db.fetch_value(
        """select r.submitted_time from response_read s
           join response r on r.organization_id = s.organization_id and r.instance_id = s.instance_id
           where s.organization_id = $1 and s.user_id = $2 order by r.submitted_time desc offset $3 limit 1""",
        *(organization_id, user_id, offset),
    )


NEW_DAYS: Final = 30  # for whom reads for the first time: older responses are read
READ_MAX: Final = 2_000  # of a user that are kept one by one


def unread_since(now: datetime) -> datetime:
    """For a user who has read none yet: older responses count as read."""
    return now - timedelta(days=NEW_DAYS)


async def read(db: Database, *, caller: Caller, instance_id: str, now: datetime) -> None:
    """Note that the user has read this response. Of very many, the older half is forgotten: they count as read."""
    if not caller.user_id:
        return
    key = {"organization_id": caller.organization_id, "user_id": caller.user_id}
    begin = unread_since(now)
    was_unread = await _insert_read(db, **key, instance_id=instance_id, seen_time=begin)
    if was_unread and await _count_read(db, **key) > READ_MAX:
        middle = await _get_read_time(db, **key, offset=READ_MAX // 2)
        await _update_seen_time(db, **key, seen_time=middle or begin)


async def read_all(db: Database, *, caller: Caller, now: datetime) -> None:
    if caller.user_id:
        await _update_seen_time(db, organization_id=caller.organization_id, user_id=caller.user_id, seen_time=now)
