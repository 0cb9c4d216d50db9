"""The cluster of an embedded PostgreSQL: made whole or not at all, its secrets, its role and database."""

import os
import re
import stat
from pathlib import Path

import asyncpg
import pytest

from afterword.run import embedded
from tests.run.embedded.servers import execute, program, running, start, value

pytestmark = pytest.mark.costly


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
