"""Notes the responses that a user has read, of which only the newest are kept one by one."""

from datetime import datetime, timedelta
from typing import Final

from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.listening.responses.reads import store

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
    was_unread = await store.insert_read(db, **key, instance_id=instance_id, seen_time=begin)
    if was_unread and await store.count_read(db, **key) > READ_MAX:
        middle = await store.get_read_time(db, **key, offset=READ_MAX // 2)
        await store.update_seen_time(db, **key, seen_time=middle or begin)


async def read_all(db: Database, *, caller: Caller, now: datetime) -> None:
    if caller.user_id:
        await store.update_seen_time(db, organization_id=caller.organization_id, user_id=caller.user_id, seen_time=now)
