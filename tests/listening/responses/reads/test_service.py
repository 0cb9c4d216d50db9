"""Unread responses: those of the last days, without the ones that a user has read."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from afterword.kit import db
from afterword.listening.responses import reads
from tests.listening.reports.conftest import NPS, House, now_of
from tests.listening.responses.test_service import ids_of, listed


class TestRead:
    async def test_unread(self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
        user_id = await house.add_user()
        reader = replace(house.caller, user_id=user_id)
        made = [
            (await house.respond({NPS: 9}, now=now - timedelta(hours=hours))).instance_id
            for hours in (1, 2, 3, 24 * 31)
        ]
        await house.follow()

        async def unread() -> list[str]:
            seen = reads.unread_since(now)
            return ids_of(await listed(house, tab="unread", user_id=user_id, seen_time=seen))

        async def read(instance_id: str) -> None:
            async with db.transaction(house.pool) as database:
                await reads.read(database, caller=reader, instance_id=instance_id, now=now)

        assert made[:3] == await unread()
        await read(made[1])
        await read(made[1])
        assert [made[0], made[2]] == await unread()
        monkeypatch.setattr(reads, "READ_MAX", 1)
        await read(made[0])  # the older one of two is kept no longer, and all before it counts as read
        assert [] == await unread()
        await house.respond({NPS: 9}, now=now)
        await house.follow()
        assert 1 == len(await unread())
        async with db.transaction(house.pool) as database:
            await reads.read_all(database, caller=reader, now=await now_of(house))
        assert [] == await unread()
