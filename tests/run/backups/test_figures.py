"""The age of the last backup among the metrics, and how late the next one is."""

from datetime import timedelta

import httpx2
import pytest

from afterword.kit import db
from tests.conftest import House
from tests.run.test_app import client_of

AGE, LATE = "afterword_backup_age_seconds", "afterword_backup_late_seconds"


async def figure(client: httpx2.AsyncClient, name: str) -> float | None:
    lines = (await client.get("/metrics", headers={"Host": "localhost"})).text.splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), None)


async def test_nothing_to_back_up(client: httpx2.AsyncClient) -> None:
    assert await figure(client, AGE) is None


async def test_age(client: httpx2.AsyncClient, house: House, pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute(
            """insert into backup (backup_id, kind, started_time, finished_time, bytes)
               values ('a', 'whole', now() - interval '2 days', now(), 1), ('b', 'organization', now(), now(), 1)"""
        )
        await database.execute("insert into backup (backup_id, kind) values ('c', 'whole')")
    found = await figure(client, AGE)
    assert found is not None
    assert 172_800 <= found < 172_900


@pytest.mark.parametrize(("every", "expected"), [(None, None), (7 * 24, 0.0), (24, 3_600.0)])
async def test_late(house: House, pool: db.Pool, every: int | None, expected: float | None) -> None:
    """Without a place nothing is late, and a backup a week is not late after a day."""
    async with db.transaction(pool) as database:
        await database.execute("update organization set created_time = now() - interval '27 hours'")
    options = {"metrics_access": "all", "backup_every": None if every is None else timedelta(hours=every)}
    async with client_of(pool, **options) as client:
        found = await figure(client, LATE)
    assert expected == (found if found is None else round(found, -2))
