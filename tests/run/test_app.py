"""The whole application while the database is away, when a client goes away, and with many at once."""

import asyncio
import time
from typing import Any

import asyncpg
import httpx2
import pytest
from structlog.testing import capture_logs

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.run import app
from tests import machine
from tests.conftest import POOL_SIZE

SITE = Site("http://testserver", b"s" * 32)


def client_of(pool: db.Pool, *, source: str = "192.0.2.1", site: Site = SITE, **options: Any) -> httpx2.AsyncClient:
    asgi: Any = app.create_app(pool=pool, site=site, **options)
    transport = httpx2.ASGITransport(app=asgi, client=(source, 1), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://testserver")


@pytest.fixture
async def lost(pool: db.Pool, database_url: str) -> db.Pool:
    """A pool whose database was there, and takes nobody any more."""
    async with db.connection(pool) as database:
        name = await database.fetch_value("select current_database()")
    admin: Any = await asyncpg.connect(database_url.replace(f"/{name}?", "/postgres?"))
    try:
        await admin.execute(f'alter database "{name}" with allow_connections false')
        await admin.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
               where usename = current_user and datname = $1""",
            name,
        )
    finally:
        await admin.close()
    return pool


class TestDatabaseAway:
    async def test_api(self, lost: db.Pool) -> None:
        token = "afw_0000000000000000_00000000000000000000000000000000"
        async with client_of(lost) as client:
            start = time.monotonic()
            signed = token + app.access.checksum(token)
            found = await client.get("/v3.2/q/questionnaire", headers={"Authorization": f"Bearer {signed}"})
            assert not machine.is_over(time.monotonic() - start, limit=1)
            assert (503, "unavailable", "2") == (
                found.status_code,
                found.json()["code"],
                found.headers["retry-after"],
            )
            assert 401 == (await client.get("/v3.2/q/questionnaire")).status_code

    async def test_probes(self, lost: db.Pool) -> None:
        async with client_of(lost, metrics_access="all") as client:
            assert 200 == (await client.get("/healthz")).status_code
            found = await client.get("/readyz")
            assert (503, "The database cannot be reached.") == (found.status_code, found.json()["reason"])
            figures = await client.get("/metrics")
        assert 200 == figures.status_code
        assert "afterword_metrics_failures_total 1.0" in figures.text

    async def test_page(self, lost: db.Pool) -> None:
        async with client_of(lost) as client:
            found = await client.get(f"/a/{'z' * 22}", headers={"Accept": "text/html"})
        assert (503, "text/html; charset=utf-8") == (found.status_code, found.headers["content-type"])


async def test_a_client_that_goes_away_is_no_fault_of_ours(pool: db.Pool) -> None:
    sent: list[Any] = []
    messages = iter([{"type": "http.request", "body": b"token=", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-length", b"100"), (b"content-type", b"application/x-www-form-urlencoded")]
    path = f"/u/{'0' * 22}"
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "headers": headers}
    asgi: Any = app.create_app(pool=pool, site=SITE)
    with capture_logs() as lines:
        await asgi({**scope, "query_string": b"", "client": None, "server": None, "scheme": "http"}, receive, send)
    assert 500 > sent[0]["status"]
    assert [] == lines


async def test_many_at_once_share_the_pool(pool: db.Pool) -> None:
    async with client_of(pool) as client:
        answers = await asyncio.gather(*(client.get("/readyz") for _ in range(4 * POOL_SIZE)))
    assert {200} == {answer.status_code for answer in answers}
