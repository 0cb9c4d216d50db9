"""A client that is stopped between two messages of one statement: PostgreSQL waits for it, and it holds its locks.

The driver prepares a statement with Parse, Describe and Flush, and sends Bind later. In between, the session is active
and reads from its client: neither statement_timeout nor idle_in_transaction_session_timeout ends it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from afterword.kit import db
from afterword.kit.db import hosts
from afterword.run.worker import jobs
from afterword.sending.queue import restores
from tests.conftest import House
from tests.journeys.processes import until
from tests.run.worker.conftest import Bench
from tests.sending.queue.conftest import Queue

LIMIT_SECONDS = 0.5
TIMEOUTS = {"statement_timeout": "200ms", "idle_in_transaction_session_timeout": "200ms"}


@pytest.fixture
def queue(pool: db.Pool, house: House) -> Queue:
    return Queue(pool, house, house.pipeline_id)


@asynccontextmanager
async def locking(url: str, *, name: str = "afterword worker", **settings: str) -> AsyncGenerator[Any]:
    """A client with all items locked."""
    client: Any = await asyncpg.connect(
        url, connection_class=hosts.Connection, server_settings={"application_name": name, **settings}
    )
    try:
        await client.execute("begin")
        await client.execute("select from queue_item for update")
        yield client
    finally:
        client.terminate()


async def prune(queue: Queue) -> int:
    async with db.transaction(queue.pool) as database:
        return await restores.prune_stalled_sessions(database, seconds=LIMIT_SECONDS)


async def has_stood(queue: Queue, client: Any) -> None:
    """Wait until the session has been in its state for longer than the limit."""

    async def stood() -> bool:
        return await queue.value(
            """select state_change < clock_timestamp() - make_interval(secs => $1::float8) from pg_stat_activity
               where pid = $2""",
            2 * LIMIT_SECONDS,
            client.get_server_pid(),
        )

    await until(stood, seconds=30, what="the session has stood still")


async def is_locked(queue: Queue) -> bool:
    return not await queue.fetch("select from queue_item for update skip locked")


class TestStays:
    async def test_another_program(self, queue: Queue, database_url: str) -> None:
        await queue.schedule()
        async with locking(database_url, name="psql") as client:
            await client.prepare("select $1::int")
            await has_stood(queue, client)
            assert 0 == await prune(queue)
            assert await is_locked(queue)

    async def test_a_long_statement(self, queue: Queue, database_url: str) -> None:
        await queue.schedule()
        async with locking(database_url) as client:
            running = asyncio.create_task(client.fetch("select pg_sleep($1)", 60.0))
            await has_stood(queue, client)
            assert 0 == await prune(queue)
            assert await is_locked(queue)
            running.cancel()
            await asyncio.wait([running])

    async def test_an_idle_transaction(self, queue: Queue, database_url: str) -> None:
        """The server's own limit ends it."""
        await queue.schedule()
        async with locking(database_url) as client:
            await has_stood(queue, client)
            assert 0 == await prune(queue)


async def test_a_stopped_client_loses_its_locks(queue: Queue, database_url: str) -> None:
    await queue.schedule()
    async with locking(database_url, **TIMEOUTS) as client:
        await client.prepare("select $1::int")
        await has_stood(queue, client)
        assert await is_locked(queue), "its other limits end it"
        assert 1 == await prune(queue)

        async def is_free() -> bool:
            return not await is_locked(queue)

        await until(is_free, seconds=30, what="the item is free")
        assert 0 == await prune(queue)


async def test_the_server_ends_it_where_it_can(queue: Queue, database_url: str) -> None:
    """From PostgreSQL 17 on also while no worker is left."""
    await queue.schedule()
    async with locking(database_url, **TIMEOUTS) as client:
        await client.execute("rollback")
        await hosts.limit_transactions(client, seconds=1)
        await client.execute("begin")
        await client.execute("select from queue_item for update")
        await client.prepare("select $1::int")

        async def is_free() -> bool:
            return not await is_locked(queue)

        await until(is_free, seconds=30, what="the item is free")


async def test_the_pool_has_the_limit(queue: Queue, database_url: str) -> None:
    async with await db.open_pool(database_url, transaction_seconds=7) as pool, db.connection(pool) as database:
        assert "7s" == await database.fetch_value("show transaction_timeout")


async def test_a_worker_sends_what_a_stopped_client_held(
    bench: Bench, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restores, "IDLE_TRANSACTION_TIMEOUT_SECONDS", LIMIT_SECONDS)
    monkeypatch.setattr(jobs, "STALLED_SECONDS", LIMIT_SECONDS)
    item = await bench.queue.schedule()
    async with locking(database_url, **TIMEOUTS) as client:
        await client.prepare("select $1::int")
        async with bench.worker():
            await bench.until_done()
    assert {item.item_id: 1} == bench.channel.accepted
