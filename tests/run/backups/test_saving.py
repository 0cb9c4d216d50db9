"""A backup refuses some places, sees one moment alone, and removes old ones."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import open_session
from afterword.run.backups import manifests, service
from afterword.run.backups.manifests import Folder, Sealer, open_backup
from afterword.run.backups.store import Table
from tests.conftest import House
from tests.run.backups.test_manifests import saved

NOW = datetime(2026, 11, 26, tzinfo=UTC)


async def save(url: str, location: Folder, organization_id: str | None = None) -> service.Writer:
    return await service.save(
        url=url, location=location, sealer=Sealer(), backup_id="20261126T000000Z", kind="whole", secret=b"s" * 32,
        file_folder=None, now=NOW, organization_id=organization_id,
    )  # fmt: skip


class Elsewhere(Folder):
    is_remote = True


class TestRefusals:
    async def test_plain_elsewhere(self, tmp_path: Path, database_url: str) -> None:
        with pytest.raises(errors.Invalid, match="must be encrypted"):
            await save(database_url, Elsewhere(tmp_path))
        assert [] == Folder(tmp_path).list_names()

    async def test_another_is_under_way(self, tmp_path: Path, database_url: str) -> None:
        async with open_session(database_url) as session:
            assert await service.store.get_lock(session)
            with pytest.raises(service.UnderWay):
                await save(database_url, Folder(tmp_path))

    async def test_empty_database(self, tmp_path: Path, empty_database_url: str) -> None:
        with pytest.raises(errors.NotFound, match="nothing to back up"):
            await save(empty_database_url, Folder(tmp_path))


async def test_one_moment(
    tmp_path: Path, house: House, pool: db.Pool, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are committed while it works are in none of its tables, or they would be in some of them alone."""
    reading = service.store.list_rows

    async def slowly(connection: object, *, table: Table, **more: object) -> None:
        if table.name == "application":  # among the first
            async with db.transaction(pool) as database:
                await database.execute("update organization set display_name = 'Later'")
        await reading(connection, table=table, **more)  # pyrefly: ignore[bad-argument-type]

    monkeypatch.setattr(service.store, "list_rows", slowly)
    await save(database_url, Folder(tmp_path))
    manifest, reader = open_backup(Folder(tmp_path), "20261126T000000Z", passphrase=None, identity=None)
    (table,) = [table for table in manifest.tables if table.name == "organization"]
    rows = b"".join([piece async for piece in reader.rows(table)])
    assert (True, False) == (b"Demo" in rows, b"Later" in rows)


async def test_it_is_told(tmp_path: Path, house: House, pool: db.Pool, database_url: str) -> None:
    async with db.connection(pool) as database:
        assert await service.store.get_last_time(database) is None
        assert (await service.store.get_age_seconds(database) or 0) > 0
        await save(database_url, Folder(tmp_path))
        assert await service.store.get_last_time(database) is not None
        assert (await service.store.get_age_seconds(database) or 99) < 60


async def test_rotate(tmp_path: Path) -> None:
    """Old ones go but for the newest three, and so do those that were killed; ledgers stay."""
    names = [manifests.backup_id_of(NOW - timedelta(days=days)) for days in (50, 40, 31, 29, 1)]
    for name in names:
        await saved(tmp_path, backup_id=name)
    for killed in ("20261001T000000Z", "20261126T000001Z"):
        Folder(tmp_path).put(f"{killed}/00001-secret.gz", b"")
    Folder(tmp_path).put("erasures/20260101T000000Z/ledger.jsonl.gz", b"")
    assert sorted([*names[:2], "20261001T000000Z"]) == service.rotate(Folder(tmp_path), keep_days=30, now=NOW)
    assert names[2:] == manifests.list_backups(Folder(tmp_path))
    assert [] == service.rotate(Folder(tmp_path), keep_days=1, now=NOW)
    assert [] == service.rotate(Folder(tmp_path), keep_days=0, now=NOW + timedelta(days=999))


async def test_while_a_table_is_changed(tmp_path: Path, house: House, database_url: str) -> None:
    """It waits for a change of the schema instead of reading half of it."""
    async with open_session(database_url) as session:
        change = session.transaction()
        await change.start()
        await session.execute("alter table organization add column more text")
        saving_it = asyncio.create_task(save(database_url, Folder(tmp_path)))
        while not await session.fetchval("select count(*) from pg_locks where not granted"):
            await asyncio.sleep(0.01)
        await session.execute("update organization set more = 'of it'")
        await getattr(change, "commit")()  # noqa: B009
        await saving_it
    manifest, _ = open_backup(Folder(tmp_path), "20261126T000000Z", passphrase=None, identity=None)
    (table,) = [table for table in manifest.tables if table.name == "organization"]
    assert "more" in table.columns
