"""Errors of an embedded PostgreSQL that have a known cause: the sentence names it, and what to do."""
# ruff: noqa: ASYNC221, ASYNC240  these tests are about processes and files, one at a time

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from afterword.run import embedded
from tests.run.embedded.servers import needs_root, running, small_disk, start, value

pytestmark = pytest.mark.costly


class TestFullDisk:
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
