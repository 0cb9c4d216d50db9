"""The gateway to PostgreSQL: whose turn it is, and what happens while the server hangs and answers nothing."""

import asyncio
import time
from typing import Any, LiteralString

import pytest

from afterword import errors
from afterword.kit import db
from tests import machine
from tests.kit.db.conftest import Freezer, one_of

SECONDS_MAX = 4  # for what may wait for a connection and give one back, each a second
DEADLINE_SECONDS = 60


class TestSchemaChanges:
    """While statements are prepared that a process asks again and again, in transactions."""

    @pytest.fixture
    async def table(self, pool: db.Pool) -> None:
        async with db.transaction(pool) as database:
            await database.execute("create table thing (name text, size integer)")
            await database.execute("insert into thing values ('one', 1)")

    async def test_column_of_another_type(self, pool: db.Pool, table: None) -> None:
        """The first one is asked to come again, and the next time it is right."""
        await self._change(pool, "alter table thing alter column size type bigint", query="select size from thing")
        async with db.transaction(pool) as database:
            assert 1 == await database.fetch_value("select size from thing")

    async def test_all_columns_while_one_is_added(self, pool: db.Pool, table: None) -> None:
        """Why queries name their columns."""
        await self._change(pool, "alter table thing add column more text", query="select * from thing")

    async def _change(self, pool: db.Pool, change: str, *, query: LiteralString) -> None:
        async with db.transaction(pool) as database:
            await database.fetch(query)
        await alter(pool, change)
        with pytest.raises(errors.Unavailable, match="was changed") as refused:
            async with db.transaction(pool) as database:
                await database.fetch(query)
        assert "Retry-After" in refused.value.headers

    async def test_named_columns_while_others_come_and_go(self, pool: db.Pool, table: None) -> None:
        for change in ("add column more text", "drop column more", "add column more integer not null default 7"):
            for query in ("select name, size from thing", "update thing set size = size returning name, size"):
                async with db.transaction(pool) as database:
                    assert [("one", 1)] == [tuple(row) for row in await database.fetch(query)]
            await alter(pool, f"alter table thing {change}")


async def alter(pool: db.Pool, change: Any) -> None:
    """Change the schema, on another connection than the one that was used last."""
    async with db.connection(pool), db.transaction(pool) as database:
        await database.execute(change)


class TestTurns:
    async def test_nobody_waits_for_ever(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1, acquire_seconds=2.0) as pool, db.connection(pool):
            with pytest.raises(errors.Unavailable):
                await one_of(pool)

    async def test_whoever_comes_when_too_many_wait_is_refused_at_once(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1, waiting_max=1) as pool:
            async with db.connection(pool):
                waiting = asyncio.create_task(one_of(pool))
                while not pool.waiting:
                    await asyncio.sleep(0)
                with pytest.raises(errors.Unavailable, match="Too many requests wait"):
                    await one_of(pool)
            assert 1 == await waiting
            assert 0 == pool.waiting

    async def test_a_turn_that_was_given_up_is_free_again(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1) as pool:
            async with db.connection(pool):
                waiting = asyncio.create_task(one_of(pool))
                await asyncio.sleep(0)
                waiting.cancel()
            assert 1 == await one_of(pool)

    async def test_an_end_waits_for_those_in_use(self, database_url: str) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS), await db.open_pool(database_url, size_max=2) as pool:
            async with db.transaction(pool) as database:
                await database.fetch_value("select 1")
                closing = asyncio.create_task(pool.close())
                await asyncio.sleep(0)
                assert 1 == await database.fetch_value("select 1")
            await closing

    async def test_one_that_broke_while_nobody_used_it(self, database_url: str) -> None:
        """The driver has let go of it by itself; the next one gets another, and no turn is lost."""
        async with await db.open_pool(database_url, size_max=1, acquire_seconds=5) as pool:
            for _ in range(3):
                async with db.connection(pool) as database:
                    pid = await database.fetch_value("select pg_backend_pid()")
                async with await db.open_pool(database_url, size_max=1) as other, db.connection(other) as database:
                    await database.fetch_value("select pg_terminate_backend($1, 5000)", pid)
                async with asyncio.timeout(DEADLINE_SECONDS):
                    while pool.idle[0]._con is not None:
                        await asyncio.sleep(0.005)
            async with db.transaction(pool) as database:
                assert 1 == await database.fetch_value("select 1")

    async def test_first_come_first_served(self, database_url: str) -> None:
        served: list[int] = []

        async def stay(number: int) -> None:
            for _ in range(3):  # whoever gives a connection back asks again at once, before the next in turn wakes up
                async with db.connection(pool):
                    served.append(number)

        async with await db.open_pool(database_url, size_max=1) as pool:
            await asyncio.gather(*(stay(number) for number in range(4)))
        assert [0, 1, 2, 3] * 3 == served


class TestHangingServer:
    async def test_each_use_ends_in_a_refusal(
        self, freezer: tuple[Freezer, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(db, "COMMAND_TIMEOUT_SECONDS", 1)
        cold, url = freezer
        async with await db.open_pool(url, size_max=2, acquire_seconds=1) as pool:
            assert 1 == await one_of(pool)
            pool.clock.set(pool.clock.now(), monotonic=time.monotonic() - 2 * db.CLOCK_AGE_SECONDS_MAX)
            cold.freeze()
            for _ in range(2):  # on the connection that is there, then on a new one
                start = time.monotonic()
                with pytest.raises(errors.Unavailable):
                    await one_of(pool)
                assert not machine.is_over(time.monotonic() - start, limit=SECONDS_MAX)
            cold.thaw()
            assert 1 == await one_of(pool)

    async def test_a_busy_server_is_waited_for(self, freezer: tuple[Freezer, str]) -> None:
        """Also by the first use after a while, which asks for the time; a rough answer is asked for again."""
        cold, url = freezer
        async with await db.open_pool(url, size_max=1) as pool:
            assert 1 == await one_of(pool)
            pool.clock.set(pool.clock.now(), monotonic=time.monotonic() - 2 * db.CLOCK_AGE_SECONDS_MAX)
            cold.freeze()
            asyncio.get_running_loop().call_later(1.3 * db.CLOCK_ROUND_TRIP_SECONDS_MAX, cold.thaw)
            assert 1 == await one_of(pool)
            assert pool.clock.is_stale
            assert 1 == await one_of(pool)
            assert not pool.clock.is_stale

    async def test_a_stuck_statement_ends_in_a_refusal(
        self, freezer: tuple[Freezer, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(db, "COMMAND_TIMEOUT_SECONDS", 1)
        cold, url = freezer
        async with await db.open_pool(url, size_max=2, acquire_seconds=1) as pool:
            start = time.monotonic()
            with pytest.raises(errors.Unavailable):
                await one_of(pool, before=cold.freeze)
            assert not machine.is_over(time.monotonic() - start, limit=SECONDS_MAX)
            cold.thaw()
            assert 1 == await one_of(pool)
