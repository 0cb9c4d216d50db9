"""The recovery to a point in time as docs/backup.md describes it: base backup, archive, a moment between two rows."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from afterword.kit import db
from afterword.run import embedded, migrations
from afterword.run.embedded import Server
from tests.conftest import build_house
from tests.run.embedded.servers import execute, value

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

PAUSE_SECONDS: Final = 1.5  # between the moment and what comes after it


@pytest.fixture
def disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="afterword-t"))
    folder.chmod(0o711)
    yield folder
    embedded.clear_leftovers(folder / "data/postgresql/cluster")
    shutil.rmtree(folder)


async def test_a_moment(disk: Path) -> None:
    """The row from before the moment is there, the one from after it is not, and the schema serves this release."""
    archive = disk / "archive"
    archive.mkdir(mode=0o777)
    archive.chmod(0o777)
    settings = {
        "archive_mode": "on",
        "archive_command": f"test ! -f {archive}/%f && cp %p {archive}/%f",
        "archive_timeout": "60",
    }
    async with await embedded.start(disk / "data", settings=settings) as server:
        await migrations.migrate(server.url)
        await asyncio.to_thread(_base_backup, server, disk / "base")
        await _found(server.url, "early")
        moment = await value(server.url, "select clock_timestamp()::text")
        await asyncio.sleep(PAUSE_SECONDS)
        await _found(server.url, "late")
        await execute(server.superuser_url, "select pg_switch_wal()")
    cluster = server.home / "cluster"
    cluster.rename(server.home / "cluster-lost")
    (disk / "base").rename(cluster)
    with (cluster / "postgresql.conf").open("a") as file:
        file.write(f"restore_command = 'cp {archive}/%f %p'\n")
        file.write(f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n")
    (cluster / "recovery.signal").touch()
    server.user.own(cluster / "recovery.signal")
    async with await embedded.start(disk / "data") as server:
        while await value(server.url, "select pg_is_in_recovery()"):
            await asyncio.sleep(0.05)
        assert "early" == await value(server.url, "select string_agg(domain, ',') from organization")
        async with await db.open_pool(server.url, size_max=1) as pool, db.connection(pool) as database:
            assert await migrations.is_usable(database)


def _base_backup(server: Server, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    server.user.own(folder)
    command = [str(server.binaries.folder / "pg_basebackup"), f"--pgdata={folder}", "--checkpoint=fast"]
    server.user.run([*command, f"--dbname={server.superuser_url}"], failure="no base backup", folder=folder)


async def _found(url: str, domain: str) -> None:
    async with await db.open_pool(url, size_max=1) as pool:
        await build_house(pool, domain=domain)
