"""The backup before each migration, and its refusals."""

import asyncio
from pathlib import Path

import pytest

from afterword.kit.db.hosts import locker, open_session
from afterword.run import migrations
from afterword.run.backups import service
from afterword.run.backups.manifests import Folder, list_backups
from afterword.run.cli import copies
from tests import newer
from tests.run.backups.conftest import done, refused
from tests.run.cli.shell import MORE, Operator


@pytest.fixture
def behind(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with an organization, which a newer release is about to change."""
    Operator(database_url, tmp_path).found()
    monkeypatch.setitem(MORE, "AFTERWORD_BACKUP_TO", str(tmp_path / "backups"))
    return database_url


class TestBeforeMigration:
    async def test_failed(self, behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The schema stays as it is."""
        (tmp_path / "backups").write_text("not a folder")
        before = migrations.head()
        with newer.release(tmp_path) as release:
            release.add("more", "alter table organization add column more text;")
            assert "The schema is not changed, as the backup" in await refused(behind, tmp_path, "migrate")
        async with open_session(behind) as session:
            assert before == await migrations.current(session.fetchval)

    async def test_made_once(self, behind: str, tmp_path: Path) -> None:
        with newer.release(tmp_path) as release:
            number = release.add("more", "alter table organization add column more text;")
            for _ in range(2):
                assert (await done(behind, tmp_path, "migrate")).endswith(f"The schema is at {number}.\n")
        (made,) = list_backups(Folder(tmp_path / "backups"))
        assert made.endswith("-migration")

    async def test_another_node_makes_it(self, behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """This one waits for it, and goes on when it is given up."""
        monkeypatch.setattr(copies, "POLL_SECONDS", 0.01)
        with newer.release(tmp_path) as release:
            release.add("more", "alter table organization add column more text;")
            async with open_session(behind) as session, locker(session, behind) as take:
                assert await take(service.store.LOCK_KEY)
                migrating = asyncio.create_task(done(behind, tmp_path, "migrate"))
                await asyncio.wait([migrating], timeout=0.5)
                assert not migrating.done()
            assert "The schema is at" in await migrating

    async def test_ones_own_server_without_a_place(
        self, behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delitem(MORE, "AFTERWORD_BACKUP_TO")
        with newer.release(tmp_path) as release:
            release.add("more", "alter table organization add column more text;")
            await done(behind, tmp_path, "migrate")
        assert not (tmp_path / "data/backups").exists()
