"""`afterword database`: from the embedded server to one's own and back, and from an old PostgreSQL to a new one."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterword.run import embedded
from afterword.run.cli import setup
from tests.run.backups.conftest import contents, differing, done, old_postgresql, refused
from tests.run.cli.shell import MORE, found
from tests.run.embedded.servers import running, value

pytestmark = pytest.mark.costly


@pytest.fixture
def place(scratch: Path) -> Iterator[Path]:
    """A folder with a short path that every user can pass; its folder `data` is the data folder."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t", dir=scratch))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


class TestRefusals:
    async def test_embedded_already(self, place: Path) -> None:
        assert "AFTERWORD_DATABASE_URL to yours" in await refused("", place, "database", "move", "embedded")

    @pytest.mark.parametrize("address", ["mysql://a/b", "http://[", "elsewhere"])
    async def test_no_address(self, place: Path, address: str) -> None:
        assert "ddress" in await refused("", place, "database", "move", address)

    async def test_nothing_here(self, place: Path) -> None:
        assert "nothing to move" in await refused("", place, "database", "move", "postgresql://a@localhost/b")
        assert "no installation here" in await refused("", place, "database", "upgrade")

    async def test_ones_own_server(self, database_url: str, place: Path) -> None:
        assert "yours to change" in await refused(database_url, place, "database", "upgrade")


async def test_there_and_back(empty_database_url: str, place: Path) -> None:
    """Each place refuses to be used once another one has the data."""
    await done("", place, "migrate")
    found("", place)
    async with running(place / "data") as server:
        before = await contents(server.url)
    text = await done("", place, "database", "move", empty_database_url)
    assert re.search(r"Moved to the database test_\w+ at the socket of this machine\.", text)
    assert text == await done("", place, "database", "move", empty_database_url)
    assert {} == differing(before, await contents(empty_database_url))
    assert "acme" in await done(empty_database_url, place, "organization", "list")
    assert "There is no installation here" in await refused("", place, "organization", "list")

    before = await contents(empty_database_url)
    assert "Unset AFTERWORD_DATABASE_URL" in await done(empty_database_url, place, "database", "move", "embedded")
    assert "acme" in await done("", place, "organization", "list")
    assert "has the data now" in await refused(empty_database_url, place, "organization", "list")
    async with running(place / "data") as server:
        assert {} == differing(before, await contents(server.url))


async def test_no_newer_one(place: Path) -> None:
    await done("", place, "migrate")
    assert "is the newest that is here" in await done("", place, "database", "upgrade")


class TestUpgrade:
    async def test_rows_and_versions(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = await old_cluster(place, monkeypatch)
        text = await done("", place, "database", "upgrade")
        assert f"Remove {place / 'data/postgresql-15'} once all is well." in text
        async with running(place / "data") as server:
            assert server.binaries.major > 15
            assert {} == differing(before, await contents(server.url))
        assert "acme" in await done("", place, "organization", "list")
        assert "is the newest that is here" in await done("", place, "database", "upgrade")

    @pytest.mark.parametrize("step", ["set_ready", "swap"])
    async def test_killed(self, place: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        before = await old_cluster(place, monkeypatch)
        with monkeypatch.context() as patch:

            def kill(_: Path) -> None:
                raise OSError("the power failed")

            patch.setattr(setup.embedded, step, kill)
            with pytest.raises(OSError, match="the power failed"):
                await done("", place, "database", "upgrade")
        assert "afterword database upgrade" in await refused("", place, "organization", "list")
        await done("", place, "database", "upgrade")
        async with running(place / "data") as server:
            assert {} == differing(before, await contents(server.url))


async def old_cluster(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """An installation under PostgreSQL 15; its contents."""
    folder = old_postgresql()
    with monkeypatch.context() as patch:
        patch.setitem(MORE, "AFTERWORD_POSTGRES_BIN", str(folder))
        await done("", place, "migrate")
        found("", place)
    assert 15 == int((place / "data/postgresql/cluster/PG_VERSION").read_text())
    async with await embedded.start(place / "data", bin_folder=folder) as server:
        assert 15 == int(await value(server.url, "show server_version_num")) // 10_000
        return await contents(server.url)
