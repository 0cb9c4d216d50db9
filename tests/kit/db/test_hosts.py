"""The servers that a URL names: one that is cut off leaves time for the others."""

import asyncio
from pathlib import Path

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import open_session
from tests.kit.db.conftest import Freezer, one_of


class TestSeveralServers:
    async def test_one_that_is_cut_off_leaves_time_for_the_other(self, freezer: tuple[Freezer, str]) -> None:
        _, url = freezer
        login, at, rest = url.rpartition("@")
        async with await asyncio.start_server(_say_nothing, "127.0.0.1") as silent:
            port = silent.sockets[0].getsockname()[1]
            both = f"{login}{at}127.0.0.1:{port},{rest}&target_session_attrs=read-write"
            async with await db.open_pool(both, size_max=1) as pool:
                assert 1 == await one_of(pool)

    async def test_none_is_there(self) -> None:
        async with await db.open_pool("postgresql://nobody@127.0.0.1:1,127.0.0.1:1/nothing", size_max=1) as pool:
            with pytest.raises(errors.Unavailable):
                await one_of(pool)


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def test_away(scratch: Path) -> None:
    with pytest.raises(errors.Unavailable, match="cannot be used"):
        async with open_session(f"postgresql://nobody@/none?host={scratch}/absent"):
            raise AssertionError("there is none")


async def test_limits(pool_url: str) -> None:
    async with open_session(pool_url) as session:
        names = ("statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout", "datestyle")
        assert ["0", "0", "0", "ISO, MDY"] == [await session.fetchval(f"show {name}") for name in names]


async def test_refused_within(pool_url: str) -> None:
    """A refusal of a standby is a sentence, as a refusal at the beginning is."""
    with pytest.raises(errors.Unavailable, match="cannot execute CREATE TABLE in a read-only transaction"):
        async with open_session(f"{pool_url}&default_transaction_read_only=on") as session:
            await session.execute("create table none_such ()")
    with pytest.raises(ZeroDivisionError):
        async with open_session(pool_url):
            _ = 1 / 0
    with pytest.raises(BrokenPipeError):
        async with open_session(pool_url):
            raise BrokenPipeError
    async with await db.open_pool(f"{pool_url}&default_transaction_read_only=on", size_max=1) as pool:
        with pytest.raises(db.TakesNoWrites, match="takes no writes"):
            async with db.transaction(pool) as database:
                await database.execute("create table none_such ()")
