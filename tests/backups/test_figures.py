"""The age of the last backup among the metrics."""

import httpx2

from afterword import db
from tests.conftest import House

NAME = "afterword_backup_age_seconds"


async def age(client: httpx2.AsyncClient) -> float | None:
    lines = (await client.get("/metrics", headers={"Host": "localhost"})).text.splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(f"{NAME} ")), None)


async def test_nothing_to_back_up(client: httpx2.AsyncClient) -> None:
    assert await age(client) is None


async def test_age(client: httpx2.AsyncClient, house: House, pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute(
            """insert into backup (backup_id, kind, started_time, finished_time, bytes)
               values ('a', 'whole', now() - interval '2 days', now(), 1), ('b', 'organization', now(), now(), 1)"""
        )
        await database.execute("insert into backup (backup_id, kind) values ('c', 'whole')")
    found = await age(client)
    assert found is not None
    assert 172_800 <= found < 172_900
