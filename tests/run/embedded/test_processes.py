"""Processes that a killed PostgreSQL, or a killed owner of it, left: ended at the next start, and no others."""
# ruff: noqa: ASYNC220  these tests are about processes and files, one at a time

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from afterword.run import embedded
from tests.run.embedded.servers import busy, execute, is_alive, owner, running, until, url_of, value

pytestmark = pytest.mark.costly


class TestCrash:
    async def test_our_process_is_killed(self, folder: Path) -> None:
        async with owner(folder) as (process, orphan):
            await execute(url_of(folder), "create table kept (word text); insert into kept values ('there')")
            process.kill()
            process.wait()
            assert is_alive(orphan)
            assert embedded.running_url(folder) is None
            async with running(folder) as server:
                assert not is_alive(orphan)
                assert "there" == await value(server.url, "select word from kept")

    async def test_our_process_is_killed_with_a_statement_under_way(self, folder: Path) -> None:
        async with owner(folder) as (process, orphan):
            connection: Any = await asyncpg.connect(url_of(folder))
            statement = asyncio.create_task(connection.execute("select pg_sleep(600)"))
            await asyncio.to_thread(until, lambda: busy(orphan))
            process.kill()
            process.wait()
            async with running(folder) as server:
                assert 1 == await value(server.url, "select 1")
            with pytest.raises((asyncpg.PostgresError, OSError)):
                await statement
            connection.terminate()

    async def test_both_are_killed(self, folder: Path) -> None:
        async with owner(folder) as (process, orphan):
            os.kill(orphan, signal.SIGKILL)
            process.kill()
            process.wait()
            assert (folder / "postgresql/cluster/postmaster.pid").exists()
            async with running(folder) as server:
                assert 1 == await value(server.url, "select 1")

    async def test_number_of_the_old_server_belongs_to_another_process_now(self, folder: Path) -> None:
        bystander = subprocess.Popen(["/bin/sleep", "600"], cwd=folder / "postgresql/cluster")
        try:
            lines = [
                str(bystander.pid),
                str(folder / "postgresql/cluster"),
                "1",
                "5432",
                "/nowhere",
                "",
                "1 1",
                "ready",
            ]
            (folder / "postgresql/cluster/postmaster.pid").write_text("\n".join(lines))
            async with running(folder) as server:
                assert 1 == await value(server.url, "select 1")
                assert bystander.poll() is None
        finally:
            bystander.kill()
            bystander.wait()

    @pytest.mark.parametrize("text", ["", "nonsense", "-7\n", "\0\0\0"])
    async def test_damaged_note(self, folder: Path, text: str) -> None:
        (folder / "postgresql/cluster/postmaster.pid").write_text(text)
        async with running(folder) as server:
            assert 1 == await value(server.url, "select 1")

    async def test_killed_again_and_again(self, folder: Path) -> None:
        for count in range(3):
            async with owner(folder) as (process, _):
                await execute(
                    url_of(folder), "create table if not exists kept (word text); insert into kept values ('x')"
                )
                process.kill()
                process.wait()
            async with running(folder) as server:
                assert count + 1 == await value(server.url, "select count(*) from kept")
