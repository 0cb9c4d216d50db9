"""A server between the tests and theirs that hangs: it takes whatever comes and passes nothing on."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from afterword.kit import db


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
