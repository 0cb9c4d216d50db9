"""Mails with notices between two workers: one mail a user and time, one holder, and an end."""

from datetime import datetime, timedelta

from afterword.kit import db
from afterword.tenants import mails
from afterword.tenants.mails import ATTEMPTS_MAX, LEASE_SECONDS
from tests.cases.conftest import Desk


async def scheduled(desk: Desk, database: db.Database, now: datetime) -> set[str]:
    key = (desk.house.organization_id, desk.house.user_id, now)
    return set((await mails.schedule(database, keys=[key, key], now=now)).values())


async def test_one_mail_for_a_user_and_a_time(desk: Desk) -> None:
    async with db.transaction(desk.pool) as database:
        now = database.clock.now()
        assert {} == await mails.schedule(database, keys=[], now=now)
        first = await scheduled(desk, database, now)
        assert 1 == len(first)
        assert first == await scheduled(desk, database, now)
        assert first != await scheduled(desk, database, now + timedelta(hours=1))


async def test_it_has_one_holder_and_is_given_up(desk: Desk) -> None:
    async with db.transaction(desk.pool) as database:
        now = database.clock.now()
        await scheduled(desk, database, now)
        for attempt in range(1, ATTEMPTS_MAX + 1):
            [mail] = await mails.claim(database, now=now, limit=9)
            assert attempt == mail.attempts
            assert [] == await mails.claim(database, now=now, limit=9)
            now += timedelta(seconds=LEASE_SECONDS + 1)
            await mails.settle(database, mail=mail, outcome="retry", reason="later", now=now, jitter=1.0)
            now += timedelta(days=1)
        assert [] == await mails.claim(database, now=now, limit=9)
        assert "failed" == await database.fetch_value("select state from notice_mail")
