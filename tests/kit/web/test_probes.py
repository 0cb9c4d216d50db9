"""The doors of operators: whether the process can work, and who sees its figures."""

import pytest

from afterword.kit import db
from tests.run.test_app import client_of


class TestProbes:
    async def test_ready(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            found = await client.get("/readyz")
        assert (200, {"status": "ready"}) == (found.status_code, found.json())

    async def test_not_migrated(self, empty_database_url: str) -> None:
        async with await db.open_pool(empty_database_url, size_max=1) as pool, client_of(pool) as client:
            found = await client.get("/readyz")
        assert 503 == found.status_code
        assert "migrate" in found.json()["reason"]

    @pytest.mark.parametrize(("access", "status"), [("loopback", 404), ("off", 404), ("all", 200)])
    async def test_metrics_access(self, pool: db.Pool, access: str, status: int) -> None:
        async with client_of(pool, metrics_access=access) as client:
            assert status == (await client.get("/metrics")).status_code
