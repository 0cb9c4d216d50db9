"""The end of an embedded PostgreSQL, and who sees that one runs."""

import asyncio
import os
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from afterword import embedded
from afterword.embedded import processes
from tests.embedded.servers import DEADLINE_SECONDS, kill_postgres, running, start, until, value


class TestStop:
    async def test_twice(self, folder: Path) -> None:
        server = await start(folder)
        await server.stop()
        await server.stop()
        assert not server.is_running()

    async def test_with_a_transaction_under_way(self, folder: Path) -> None:
        server = await start(folder)
        connection: Any = await asyncpg.connect(server.url)
        await connection.execute("begin; create table lost ()")
        await asyncio.wait_for(server.stop(), DEADLINE_SECONDS)
        connection.terminate()
        assert not (folder / "postgresql/cluster/postmaster.pid").exists()

    async def test_after_postgres_died(self, folder: Path) -> None:
        server = await start(folder)
        kill_postgres(server)
        await server.stop()
        async with running(folder) as again:
            assert 1 == await value(again.url, "select 1")

    async def test_cancelled_start_leaves_nothing(self, folder: Path) -> None:
        task = asyncio.create_task(start(folder))
        await asyncio.to_thread(until, (folder / "postgresql/cluster/postmaster.pid").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [] == processes.working_in(folder / "postgresql/cluster")
        async with running(folder) as server:
            assert 1 == await value(server.url, "select 1")

    async def test_interrupt_of_the_terminal_does_not_reach_it(self, folder: Path) -> None:
        async with running(folder) as server:
            assert server.process is not None
            assert os.getsid(0) != os.getsid(server.process.pid)


class TestRunningUrl:
    def test_no_folder(self, new_folder: Path) -> None:
        assert embedded.running_url(new_folder / "absent") is None

    def test_no_server(self, folder: Path) -> None:
        assert embedded.running_url(folder) is None

    async def test_ok(self, folder: Path) -> None:
        async with running(folder) as server:
            assert server.url == embedded.running_url(folder)
        assert embedded.running_url(folder) is None

    async def test_looking_does_not_disturb_a_start(self, folder: Path) -> None:
        stop = asyncio.Event()

        async def look() -> None:
            while not stop.is_set():
                await asyncio.to_thread(embedded.running_url, folder)

        looking = asyncio.create_task(look())
        try:
            async with running(folder) as server:
                assert 1 == await value(server.url, "select 1")
        finally:
            stop.set()
            await looking
