"""What an embedded PostgreSQL refuses: second owners, other versions, full disks, folders that it cannot use."""
# ruff: noqa: ASYNC221, ASYNC240  these tests are about processes and files, one at a time

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from afterword import embedded
from tests.embedded.servers import needs_root, owner, running, start, value


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

    async def test_disk_fills_up_while_the_cluster_is_made(self, new_folder: Path) -> None:
        programs = new_folder / "bin"
        programs.mkdir()
        program(programs / "postgres", 'echo "postgres (PostgreSQL) 18.6"')
        program(programs / "initdb", 'echo "could not write: No space left on device"; exit 1')
        with pytest.raises(embedded.EmbeddedError, match=r"could not be made: the disk of .* is full"):
            await start(new_folder, bin_folder=programs)
        assert not list((new_folder / "postgresql").glob("cluster*"))
        assert not (new_folder / "postgresql/initdb.password").exists()

    async def test_bad_setting_names_itself(self, folder: Path) -> None:
        with pytest.raises(embedded.EmbeddedError, match=r"did not start in .*no_such_setting"):
            await start(folder, settings={"no_such_setting": "1"})
        async with running(folder) as server:  # and the folder is free again
            assert 1 == await value(server.url, "select 1")

    async def test_lost_passwords(self, folder: Path) -> None:
        for path in (folder / "postgresql").glob("*.password"):
            path.write_text("wrong")
        with pytest.raises(embedded.EmbeddedError, match=r"passwords beside .* do not open it"):
            await start(folder)

    async def test_a_file_in_the_place_of_the_folder(self, new_folder: Path) -> None:
        (new_folder / "postgresql").write_text("")
        with pytest.raises(embedded.EmbeddedError, match="cannot be used"):
            await start(new_folder)

    @needs_root
    async def test_full_disk(self, new_folder: Path) -> None:
        with (
            small_disk(new_folder, megabytes=20),
            pytest.raises(embedded.EmbeddedError, match=r"the disk of .* is full"),
        ):
            await start(new_folder)

    @needs_root
    async def test_disk_that_holds_the_programs_alone(self, new_folder: Path) -> None:
        with (
            small_disk(new_folder, megabytes=60),
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

    @needs_root
    async def test_parent_that_the_server_cannot_pass(self, new_folder: Path) -> None:
        new_folder.chmod(0o755)
        closed = new_folder / "closed"
        closed.mkdir(mode=0o700)
        with pytest.raises(embedded.EmbeddedError, match=rf"who cannot pass {closed}\. .*chmod o\+x {closed}"):
            await start(closed / "data")
        assert 0o700 == stat.S_IMODE(closed.stat().st_mode)


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
        # Lazily: a process that was just ended may hold it a moment longer.
        subprocess.run(["/bin/umount", "--lazy", os.fspath(self.folder)], check=True)


def program(path: Path, script: str) -> None:
    path.parent.chmod(0o755)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
