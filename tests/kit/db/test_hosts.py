"""The servers that a URL names: one that is cut off leaves time for the others."""

import asyncio

import pytest

from afterword import errors
from afterword.kit import db
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
