"""Copies killed at random moments: repeated, each comes to its end, and nothing in between is taken for one."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from afterword.run import embedded
from afterword.run.backups import manifests, service
from afterword.run.backups.manifests import Folder
from tests.bar import Tell
from tests.run.backups.conftest import Original, contents, differing, old_postgresql
from tests.run.backups.faults.killing import Command, copy_of
from tests.sizes import size

pytestmark = pytest.mark.faults

KILLS: Final = size(2, 20)
SETTINGS: Final = {"shared_buffers": "16MB", "max_connections": "20"}


@pytest.fixture
def place(scratch: Path) -> Iterator[Path]:
    """A folder with a short path that every user can pass."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t", dir=scratch))
    folder.chmod(0o711)
    yield folder
    embedded.clear_leftovers(folder / "data/postgresql/cluster")
    embedded.clear_leftovers(folder / "data/upgrade/postgresql/cluster")
    shutil.rmtree(folder)


async def test_backup(original: Original, place: Path, tell: Tell) -> None:
    """Every backup that is listed can be read whole."""
    command = Command(place, original.url, "backup")
    seconds = command.done()
    location = Folder(place / "data/backups")
    while command.kills < KILLS:
        command.killed(seconds)
        for name in manifests.list_backups(location):
            manifest, reader = manifests.open_backup(location, name, passphrase=None, identity=None)
            parts = [part for table in manifest.tables for part in table.parts]
            assert all(reader.get(part) for part in (*parts, manifest.secret, *manifest.files))
    command.done()
    finished = set(manifests.list_backups(location))
    assert finished == {name.partition("/")[0] for name in location.list_names()}
    tell("T50 backup: {kills} kills, unfinished ones listed {listed}", kills=command.kills, listed=0)


async def test_restore(original: Original, place: Path, tell: Tell) -> None:
    Command(place, original.url, "backup").done()
    before = await contents(original.url)
    (place / "data").rename(place / "old")
    words = ("restore", "--from", str(place / "old/backups"))
    command = Command(place, "", *words)
    seconds = command.done()

    async def again() -> None:
        shutil.rmtree(place / "data")

    await _killed(command, seconds, again)
    await _compare(place, before, but={"event_cluster", "event_cursor"})  # of another server
    tell("T50 restore: {kills} kills, tables that differ {differing}", kills=command.kills, differing=0)


async def test_move(original: Original, empty_database_url: str, place: Path, tell: Tell) -> None:
    """From a server of one's own into the embedded one."""
    before = await contents(original.url)
    command = Command(place, original.url, "database", "move", "embedded")
    seconds = command.done()

    async def again() -> None:
        shutil.rmtree(place / "data")
        await service.reopen(original.url)

    await _killed(command, seconds, again)
    await _compare(place, before)
    tell("T50 move: {kills} kills, tables that differ {differing}", kills=command.kills, differing=0)


async def test_upgrade(original: Original, place: Path, tell: Tell) -> None:
    before = await contents(original.url)
    moving = Command(place, original.url, "database", "move", "embedded")
    moving.environment["AFTERWORD_POSTGRES_BIN"] = str(old_postgresql())
    moving.done()
    copy_of(place / "data", place / "old")
    command = Command(place, "", "database", "upgrade")
    seconds = command.done()

    async def again() -> None:
        shutil.rmtree(place / "data")
        copy_of(place / "old", place / "data")

    await _killed(command, seconds, again)
    await _compare(place, before)
    tell("T50 upgrade: {kills} kills, tables that differ {differing}", kills=command.kills, differing=0)


async def _killed(command: Command, seconds: float, again: Callable[[], Awaitable[None]]) -> None:
    """Kill it KILLS times, from the beginning `again` whenever it was quicker; then let it come to its end."""
    await again()
    while command.kills < KILLS:
        ends = command.ends
        command.killed(seconds)
        if command.ends > ends:
            await again()
    command.done()


async def _compare(place: Path, before: Mapping[str, Any], but: Collection[str] = ()) -> None:
    """Every table of the embedded database is as it was, under the programs that an ordinary start chooses."""
    async with await embedded.start(place / "data", settings=SETTINGS) as server:
        assert {} == differing(dict(before), await contents(server.url), but)
