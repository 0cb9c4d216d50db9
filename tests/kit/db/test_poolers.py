"""Behind a pooler: recognised whatever it passes on, no foreign answers, all limits in force, no endless wait."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
import structlog

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import Starved, locker, open_session
from afterword.run import migrations
from tests.journeys import processes
from tests.poolers import pgbouncer
from tests.run.embedded.servers import value

LIMITS = {
    "statement_timeout": "5s",
    "lock_timeout": "1s",
    "idle_in_transaction_session_timeout": "10s",
    "jit": "off",
    "timezone": "UTC",
}
IGNORED = "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,tcp_user_timeout,tcp_keepalives_idle,jit"
KEY = 17
READERS = 12
READS = 40


@pytest.fixture(params=["refuses settings", "ignores settings"])
def transactions(request: pytest.FixtureRequest, database_url: str) -> Iterator[str]:
    """A pooler that gives out servers by the transaction: with its defaults, or as its manual says."""
    more: dict[str, Any] = {"ignore_startup_parameters": IGNORED} if request.param == "ignores settings" else {}
    with pgbouncer(database_url, pool_mode="transaction", default_pool_size=3, **more) as url:
        yield url


@pytest.fixture
def sessions(database_url: str) -> Iterator[str]:
    with pgbouncer(database_url, pool_mode="session", default_pool_size=6) as url:
        yield url


@pytest.fixture
def single(database_url: str) -> Iterator[str]:
    """A pooler with one server connection."""
    with pgbouncer(database_url, pool_mode="session", default_pool_size=1) as url:
        yield url


@asynccontextmanager
async def used_up(url: str) -> AsyncGenerator[None]:
    """Somebody has the only server connection."""
    raw = await asyncpg.connect(url, statement_cache_size=0)
    try:
        await raw.execute("select 1")
        yield
    finally:
        raw.terminate()


class TestNothingLeft:
    async def test_pool(self, single: str) -> None:
        async with used_up(single), await db.open_pool(single) as pool:
            with pytest.raises(Starved, match="default_pool_size"):
                await _show(pool, "jit")

    async def test_migration(self, single: str) -> None:
        async with used_up(single):
            with pytest.raises(migrations.MigrationError, match=r"no answer .* \(PgBouncer: default_pool_size\)"):
                await migrations.migrate(single)

    async def test_migration_that_has_its_lock(self, single: str) -> None:
        """The lock takes the only connection."""
        async with open_session(single) as session:
            await session.execute("update alembic_version set version_num = '0000'")
        with pytest.raises(migrations.MigrationError, match=r"\(PgBouncer: default_pool_size\)"):
            await migrations.migrate(single)


class TestTransactions:
    async def test_recognised(self, transactions: str) -> None:
        with structlog.testing.capture_logs() as logs:
            async with await db.open_pool(transactions) as pool:
                assert not pool.pooler
                assert "off" == await _show(pool, "jit")
                assert "No statements are prepared" in pool.pooler
        assert [("a pooler stands before the database", 0)] == [(one["event"], one["statement_cache"]) for one in logs]

    async def test_a_number_is_overruled(self, transactions: str) -> None:
        with structlog.testing.capture_logs() as logs:
            async with await db.open_pool(transactions, statement_cache_size=50) as pool:
                await _show(pool, "jit")
                assert pool.hosts.is_overruled
        assert ["warning"] == [one["log_level"] for one in logs]

    async def test_limits(self, transactions: str) -> None:
        """In reads and in transactions; others of the same server do not get them."""
        async with await db.open_pool(transactions, server_settings={"random_page_cost": "1.25"}) as pool:
            for opened in (db.connection, db.transaction):
                async with opened(pool) as database:
                    found = {name: await database.fetch_value("select current_setting($1)", name) for name in LIMITS}
                    assert found == LIMITS
                    assert "1.25" == await database.fetch_value("show random_page_cost")
            other = await asyncpg.connect(transactions, statement_cache_size=0)
            assert "0" == await other.fetchval("show statement_timeout")
            other.terminate()

    async def test_each_gets_its_own_answer(self, transactions: str) -> None:
        """Two processes with more connections than there are servers."""

        async def read(pool: db.Pool, reader: int) -> list[tuple[str, int, list[str]]]:
            found: list[tuple[str, int, list[str]]] = []
            for number in range(READS):
                async with db.connection(pool) as database:
                    text = await database.fetch_value("select 'text ' || $1::int", number)
                    count = await database.fetch_value("select $1::int + $2::int", number, reader)
                    names = await database.fetch_value("select array[$1::text, 'x']", f"{reader}/{number}")
                found.append((text, count, names))
            return found

        async with await db.open_pool(transactions) as one, await db.open_pool(transactions) as two:
            found = await asyncio.gather(*(read((one, two)[reader % 2], reader) for reader in range(READERS)))
        for reader, rows in enumerate(found):
            expected = [(f"text {number}", number + reader, [f"{reader}/{number}", "x"]) for number in range(READS)]
            assert expected == rows

    async def test_an_error_ends_the_read(self, transactions: str) -> None:
        async with await db.open_pool(transactions, size_max=1) as pool:
            with pytest.raises(asyncpg.DivisionByZeroError):
                async with db.connection(pool) as database:
                    await database.fetch_value("select 1 / 0")
            assert "off" == await _show(pool, "jit")
            assert 1 == pool.turns.free

    async def test_locks_go_with_their_holder(self, transactions: str, database_url: str) -> None:
        held = "select count(*) from pg_locks where locktype = 'advisory'"
        async with open_session(transactions) as session, locker(session, transactions) as take:
            assert await take(KEY)
            assert 1 == await value(database_url, held)
            async with open_session(database_url) as other, locker(other, database_url) as take_too:
                assert not await take_too(KEY)
        assert 0 == await value(database_url, held)

    async def test_many_migrate(self, empty_database_url: str) -> None:
        """Among the changes are indexes that are built beside the transaction which holds the lock."""
        with pgbouncer(empty_database_url, pool_mode="transaction", default_pool_size=4) as url:
            reached = await asyncio.gather(*(migrations.migrate(url) for _ in range(2)))
        assert [migrations.head()] * 2 == reached

    async def test_one_that_comes_later(self, database_url: str) -> None:
        """Nothing listened when the process started."""
        port = processes.free_port()
        with pgbouncer(database_url, port=port, pool_mode="transaction") as url:
            pass
        async with await db.open_pool(url) as pool:
            with pytest.raises(errors.Unavailable):
                await _show(pool, "jit")
            with pgbouncer(database_url, port=port, pool_mode="transaction"):
                assert "off" == await _show(pool, "jit")
                assert pool.pooler


class TestSessions:
    async def test_in_doubt_nothing_is_prepared(self, sessions: str) -> None:
        async with await db.open_pool(sessions) as pool:
            assert "5s" == await _show(pool, "statement_timeout")
            assert pool.hosts.is_shared

    async def test_a_number_is_taken(self, sessions: str) -> None:
        async with await db.open_pool(sessions, statement_cache_size=50) as pool:
            assert "5s" == await _show(pool, "statement_timeout")
            assert "It gives out sessions" in pool.pooler
            async with db.connection(pool) as database:
                assert 0 < await database.fetch_value("select count(*) from pg_prepared_statements")


async def test_no_pooler(database_url: str) -> None:
    for size in (None, 0, 50):
        async with await db.open_pool(database_url, statement_cache_size=size) as pool:
            assert "5s" == await _show(pool, "statement_timeout")
            assert not pool.pooler


async def _show(pool: db.Pool, name: str) -> str:
    async with db.connection(pool) as database:
        return await database.fetch_value("select current_setting($1)", name)
