"""Times of use of tokens: noted in memory, written at most once a minute, never by a request."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2

from afterword.core.organizations.access import Caller
from afterword.kit import db
from afterword.run.app import create_app
from afterword.tenants.organizations.tokens import service as tokens
from afterword.tenants.organizations.tokens import store
from afterword.tenants.organizations.tokens.access import TICKS_MAX, TokenUses
from tests.conftest import SITE, House
from tests.tenants.organizations.conftest import Desk


class TestTicks:
    async def test_requests_write_nothing(self, desk: Desk) -> None:
        ticks = TokenUses()
        app: Any = create_app(pool=desk.pool, site=SITE, ticks=ticks)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE.public_url) as http:
            for _ in range(3):
                await http.get("/v3.2/organization", headers=desk.house.headers)
                await http.get("/v3.2/organization", headers={"Authorization": "Bearer nobody"})
        assert await last_used(desk) is None
        used = ticks.take()
        assert [(desk.house.organization_id, desk.house.token_id)] == list(used)
        assert {} == ticks.take()
        await write(desk, used)
        assert next(iter(used.values())) == await last_used(desk)
        shown = (await desk.ask("GET", f"/token/{desk.house.token_id}")).json()
        assert shown["last_used_time"] is not None

    async def test_at_most_once_a_minute(self, desk: Desk) -> None:
        now = desk.pool.clock.now()
        key = (desk.house.organization_id, desk.house.token_id)
        for seconds, expected in ((0, 0), (59, 0), (60, 60), (30, 60), (119, 60), (120, 120)):
            await write(desk, {key: now + timedelta(seconds=seconds)})
            assert now + timedelta(seconds=expected) == await last_used(desk)

    async def test_strangers_are_nobody(self, desk: Desk, neighbour: House) -> None:
        await write(
            desk,
            {
                (neighbour.organization_id, desk.house.token_id): desk.pool.clock.now(),
                ("o", "t"): desk.pool.clock.now(),
            },
        )
        assert await last_used(desk) is None

    def test_bounded(self, house: House) -> None:
        ticks = TokenUses()
        for number in range(TICKS_MAX + 5):
            ticks.note(caller_of(house, str(number)), now=datetime(2026, 1, 1, tzinfo=UTC))
        assert TICKS_MAX == len(ticks.take())


def caller_of(house: House, token_id: str) -> Caller:
    return Caller(house.organization_id, token_id, None, frozenset(), (), "demo", "UTC", "en")


async def write(desk: Desk, used: dict[tuple[str, str], datetime]) -> None:
    async with db.transaction(desk.pool) as database:
        await tokens.note_use(database, used=used)


async def last_used(desk: Desk) -> datetime | None:
    async with db.connection(desk.pool) as database:
        found = await store.get_token(
            database, organization_id=desk.house.organization_id, token_id=desk.house.token_id
        )
    assert found is not None
    return found.last_used_time
