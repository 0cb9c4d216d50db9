"""The embedded PostgreSQL: starts and what they refuse, its end, who sees that it runs, kept running when it dies."""
# ruff: noqa: ASYNC240  these tests are about processes and files, one at a time

import asyncio
import json
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import asyncpg
import pytest

from afterword.run import embedded
from afterword.run import embedded as processes
from tests.run.embedded.servers import (
    DEADLINE_SECONDS,
    answers,
    eventually,
    execute,
    kill_postgres,
    needs_root,
    owner,
    row,
    running,
    start,
    until,
    value,
)

pytestmark = pytest.mark.costly


class TestStart:
    async def test_first(self, new_folder: Path) -> None:
        async with running(new_folder) as server:
            assert 15 * 10_000 <= int(await value(server.url, "show server_version_num"))
            assert "" == await value(server.url, "show listen_addresses")
            assert "off" == await value(server.url, "show jit")
            assert "on" == await value(server.url, "show data_checksums")
            assert "UTF8" == await value(server.url, "show server_encoding")
            assert "scram-sha-256" == await value(server.url, "show password_encryption")
            assert ["scram-sha-256"] == await value(
                server.superuser_url, "select array_agg(distinct auth_method) from pg_hba_file_rules"
            )
            assert (False, True) == tuple(
                await row(server.url, "select rolsuper, rolcreatedb from pg_roles where rolname = current_user")
            )

    async def test_defaults_for_real_use(self, folder: Path) -> None:
        async with await embedded.start(folder) as server:
            assert "256MB" == await value(server.url, "show shared_buffers")
            assert "on" == await value(server.url, "show fsync")

    async def test_again_makes_nothing_anew(self, folder: Path) -> None:
        async with running(folder) as server:
            await execute(server.url, "create table kept (word text); insert into kept values ('there')")
        made = [path for pattern in ("cluster", "binaries-*", "*.password") for path in server.home.glob(pattern)]
        before = {path: path.stat().st_ino for path in made}
        async with running(folder) as server:
            assert "there" == await value(server.url, "select word from kept")
            assert before == {path: path.stat().st_ino for path in made}

    async def test_address_is_the_same_each_time(self, folder: Path) -> None:
        async with running(folder) as server:
            first = server.url
        async with running(folder) as server:
            assert first == server.url

    async def test_programs_of_an_older_wheel_are_replaced(self, folder: Path) -> None:
        home = folder / "postgresql"
        (target,) = home.glob("binaries-*")
        target.rename(home / "binaries-17.0.0")
        async with running(folder):
            assert [target] == list(home.glob("binaries-*"))

    async def test_long_path_gets_a_short_socket(self, new_folder: Path) -> None:
        deep = new_folder / ("d" * 60) / ("e" * 60)
        new_folder.chmod(0o755)
        deep.parent.mkdir()
        async with running(deep) as server:
            assert 1 == await value(server.url, "select 1")
            assert 0o700 == stat.S_IMODE(server.socket_folder.stat().st_mode)
            assert new_folder not in server.socket_folder.parents
            assert server.url == embedded.running_url(deep)
        assert not server.socket_folder.exists()

    async def test_short_socket_of_a_killed_run_is_removed(self, new_folder: Path) -> None:
        deep = new_folder / ("d" * 60) / ("e" * 60)
        new_folder.chmod(0o755)
        deep.parent.mkdir()
        async with owner(deep) as (process, _):
            leftover = Path(tempfile.gettempdir()) / (deep / "postgresql/socket-folder").read_text()
            process.kill()
            process.wait()
        assert leftover.is_dir()
        async with running(deep) as server:
            assert 1 == await value(server.url, "select 1")
            assert not leftover.exists()

    async def test_debian_programs(self, new_folder: Path) -> None:
        if not (found := [each for each in embedded.find_binaries() if each.wheel is None]):
            pytest.skip("PostgreSQL is not installed on this system")
        async with running(new_folder, bin_folder=found[0].folder) as server:
            assert found[0].major == int(await value(server.url, "show server_version_num")) // 10_000
            assert not list((new_folder / "postgresql").glob("binaries-*"))
        async with running(new_folder) as server:  # the data decides, though the wheel is newer
            assert found[0] == server.binaries

    async def test_nothing_outside_is_touched(self, new_folder: Path) -> None:
        data, beside = new_folder / "data", new_folder / "beside"
        beside.write_text("")
        new_folder.chmod(0o711)
        before = _rights(new_folder, without=data)
        async with running(data):
            assert not list(Path(tempfile.gettempdir()).glob(f"afterword-*{data.name}*"))
        assert before == _rights(new_folder, without=data)

    @needs_root
    async def test_root_lends_the_server_to_somebody_else(self, folder: Path) -> None:
        async with running(folder) as server:
            assert server.process is not None
            assert 0 != Path(f"/proc/{server.process.pid}").stat().st_uid
            assert b"PASSWORD" not in Path(f"/proc/{server.process.pid}/environ").read_bytes()

    @needs_root
    async def test_ordinary_user(self, new_folder: Path) -> None:
        shutil.chown(new_folder, 65534, 65534)
        child = os.fork()  # not a new interpreter, which that user might not be able to read
        if child == 0:
            _start_as(65534, new_folder / "data")
        assert (child, 0) == await asyncio.to_thread(os.waitpid, child, 0)
        assert 65534 == (new_folder / "data/postgresql/cluster").stat().st_uid
        async with running(new_folder / "data") as server:  # and root finds the right user in its turn
            assert 65534 == server.user.uid


def _start_as(uid: int, folder: Path) -> NoReturn:  # pyrefly: ignore[bad-return]
    """In a forked child: become that user, start and stop a server, end with 0 if that went well."""
    code = 1
    try:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        asyncio.events._set_running_loop(None)  # the parent's, which the fork brought along
        asyncio.run(_start_and_stop(folder))
        code = 0
    finally:
        os._exit(code)


async def _start_and_stop(folder: Path) -> None:
    async with running(folder) as server:
        assert 1 == await value(server.url, "select 1")


def _rights(folder: Path, *, without: Path) -> str:
    found = [folder.parent, folder, *(path for path in folder.rglob("*") if without not in (path, *path.parents))]
    return json.dumps({str(path): (path.stat().st_mode, path.stat().st_uid) for path in found})


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


class TestKeptRunning:
    async def test_postgres_is_killed(self, folder: Path) -> None:
        async with running(folder) as server:
            await execute(server.url, "create table kept (word text); insert into kept values ('there')")
            url = server.url
            kill_postgres(server)
            await asyncio.wait_for(server.ended(), DEADLINE_SECONDS)
            assert not server.is_running()
            await server.launch()
            assert server.is_running()
            assert url == server.url
            assert "there" == await value(server.url, "select word from kept")

    async def test_kept_running(self, folder: Path) -> None:
        said: list[str] = []
        server = await start(folder)
        keeper = asyncio.create_task(server.keep_running(report=said.append))
        for count in (1, 2):
            kill_postgres(server)
            await eventually(lambda count=count: len(said) >= count and server.is_running())
            await answers(server.url)
        await server.stop()
        await asyncio.wait_for(keeper, DEADLINE_SECONDS)
        assert "PostgreSQL died; it is started again." == said[0]
        assert not server.is_running()

    async def test_stopped_while_it_is_started_again(self, folder: Path) -> None:
        server = await start(folder)
        keeper = asyncio.create_task(server.keep_running(report=lambda _: None))
        kill_postgres(server)
        await eventually(lambda: server.is_running() and not server.stopping.is_set())
        await server.stop()
        await asyncio.wait_for(keeper, DEADLINE_SECONDS)
        assert [] == processes.working_in(folder / "postgresql/cluster")

    async def test_kept_running_once_there_is_room_again(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("afterword.run.embedded.RESTART_SECONDS", 0.01)
        said: list[str] = []
        async with running(folder) as server:
            hidden = (folder / "postgresql/cluster/PG_VERSION").rename(folder / "PG_VERSION")
            keeper = asyncio.create_task(server.keep_running(report=said.append))
            kill_postgres(server)
            await eventually(lambda: any("did not start" in sentence for sentence in said))
            hidden.rename(folder / "postgresql/cluster/PG_VERSION")
            await answers(server.url)
        await asyncio.wait_for(keeper, DEADLINE_SECONDS)


class TestRefusals:
    async def test_second_owner(self, folder: Path) -> None:
        async with running(folder) as server:
            with pytest.raises(embedded.AlreadyRunning, match=rf"in use by process {os.getpid()} on "):
                await start(folder)
            assert server.is_running()
            assert 1 == await value(server.url, "select 1")

    async def test_second_owner_in_another_process(self, folder: Path) -> None:
        async with owner(folder) as (process, _):
            with pytest.raises(embedded.AlreadyRunning, match=rf"in use by process {process.pid} on "):
                await start(folder)

    async def test_newer_data_folder(self, folder: Path) -> None:
        (folder / "postgresql/cluster/PG_VERSION").write_text("99\n")
        with pytest.raises(embedded.WrongVersion, match=r"belongs to PostgreSQL 99; .*Start the newer release"):
            await start(folder)

    async def test_older_data_folder(self, folder: Path) -> None:
        (folder / "postgresql/cluster/PG_VERSION").write_text("14\n")
        with pytest.raises(embedded.WrongVersion, match=r"belongs to PostgreSQL 14; .*Install PostgreSQL 14"):
            await start(folder)

    async def test_bad_setting_names_itself(self, folder: Path) -> None:
        with pytest.raises(embedded.EmbeddedError, match=r"did not start in .*no_such_setting"):
            await start(folder, settings={"no_such_setting": "1"})
        async with running(folder) as server:  # and the folder is free again
            assert 1 == await value(server.url, "select 1")
