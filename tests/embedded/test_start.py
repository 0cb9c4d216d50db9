"""Starts of an embedded PostgreSQL: the first one, later ones, long paths, rights, users."""
# ruff: noqa: ASYNC240  these tests are about processes and files, one at a time

import asyncio
import json
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path
from typing import NoReturn

import asyncpg
import pytest

from afterword import embedded
from tests.embedded.servers import execute, needs_root, owner, row, running, value


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
        assert 1 == await value(server.url, "select 1")


def _rights(folder: Path, *, without: Path) -> str:
    found = [folder.parent, folder, *(path for path in folder.rglob("*") if without not in (path, *path.parents))]
    return json.dumps({str(path): (path.stat().st_mode, path.stat().st_uid) for path in found})
