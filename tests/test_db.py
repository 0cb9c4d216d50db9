"""The gateway to PostgreSQL: whose turn it is, and what happens while the server hangs and answers nothing."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from afterword import db, errors

SECONDS_MAX = 4  # for what may wait for a connection and give one back, each a second


class Freezer:
    """Stands between a pool and the server; frozen, it takes whatever comes and passes nothing on."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._thawed = asyncio.Event()
        self._thawed.set()

    def freeze(self) -> None:
        self._thawed.clear()

    def thaw(self) -> None:
        self._thawed.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        there, back = await asyncio.open_unix_connection(self._address)
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer), return_exceptions=True)

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while content := await source.read(65_536):
                await self._thawed.wait()
                target.write(content)
                await target.drain()
        finally:
            target.close()


@pytest.fixture
async def freezer(database_url: str) -> AsyncGenerator[tuple[Freezer, str]]:
    """The freezer of the test's database, and the address behind it."""
    parts = urlsplit(database_url)
    query = parse_qs(parts.query)
    freezer = Freezer(str(Path(query["host"][0]) / f".s.PGSQL.{query.get('port', ['5432'])[0]}"))
    server = await asyncio.start_server(freezer.serve, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    name = parts.path.removeprefix("/")
    user, password = parts.username or query["user"][0], parts.password or query.get("password", [""])[0]
    async with server:
        yield freezer, f"postgresql://{user}:{password}@127.0.0.1:{port}/{name}?sslmode=disable"
        freezer.thaw()


async def one_of(pool: db.Pool, *, before: Callable[[], None] = lambda: None) -> int:
    """The smallest use of the database, `before` it something that happens in its transaction."""
    async with db.transaction(pool) as database:
        before()
        return await database.fetch_value("select 1")


class TestTurns:
    async def test_nobody_waits_for_ever(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1, acquire_seconds=0.1) as pool, db.connection(pool):
            with pytest.raises(errors.Unavailable):
                await one_of(pool)

    async def test_a_turn_that_was_given_up_is_free_again(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1) as pool:
            async with db.connection(pool):
                waiting = asyncio.create_task(one_of(pool))
                await asyncio.sleep(0)
                waiting.cancel()
            assert 1 == await one_of(pool)

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
    async def test_each_use_ends_in_a_refusal(self, freezer: tuple[Freezer, str]) -> None:
        cold, url = freezer
        async with await db.open_pool(url, size_max=2, acquire_seconds=1) as pool:
            assert 1 == await one_of(pool)
            pool.clock.set(pool.clock.now(), monotonic=time.monotonic() - 2 * db.CLOCK_AGE_SECONDS_MAX)
            cold.freeze()
            for _ in range(2):  # on the connection that is there, then on a new one
                start = time.monotonic()
                with pytest.raises(errors.Unavailable):
                    await one_of(pool)
                assert SECONDS_MAX > time.monotonic() - start
            cold.thaw()
            assert 1 == await one_of(pool)

    async def test_a_stuck_statement_ends_in_a_refusal(
        self, freezer: tuple[Freezer, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(db, "COMMAND_TIMEOUT_SECONDS", 1)
        cold, url = freezer
        async with await db.open_pool(url, size_max=2, acquire_seconds=1) as pool:
            start = time.monotonic()
            with pytest.raises(errors.Unavailable):
                await one_of(pool, before=cold.freeze)
            assert SECONDS_MAX > time.monotonic() - start
            cold.thaw()
            assert 1 == await one_of(pool)
