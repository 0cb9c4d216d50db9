"""A backup refuses some places, sees one moment alone, and removes old ones."""

import asyncio
import io
import os
import tarfile
import tempfile
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import locker, open_session
from afterword.run import migrations
from afterword.run.backups import manifests, service
from afterword.run.backups.manifests import Folder, Manifest, Sealer, Writer, open_backup
from afterword.run.backups.service import Incomplete, NotEmpty
from afterword.run.backups.store import Table
from tests.conftest import House
from tests.run.backups.conftest import contents, shape
from tests.run.backups.test_manifests import ID, NOW, saved
from tests.run.test_app import client_of

TODAY = datetime(2026, 11, 26, tzinfo=UTC)


async def save(
    url: str, location: Folder, organization_id: str | None = None, *, file_folder: Path | None = None
) -> service.Writer:
    return await service.save(
        url=url, location=location, sealer=Sealer(), backup_id="20261126T000000Z", kind="whole", secret=b"s" * 32,
        file_folder=file_folder, now=TODAY, organization_id=organization_id,
    )  # fmt: skip


class Elsewhere(Folder):
    is_remote = True


class TestRefusals:
    async def test_plain_elsewhere(self, tmp_path: Path, database_url: str) -> None:
        with pytest.raises(errors.Invalid, match="must be encrypted"):
            await save(database_url, Elsewhere(tmp_path))
        assert [] == Folder(tmp_path).list_names()

    async def test_another_is_under_way(self, tmp_path: Path, database_url: str) -> None:
        async with open_session(database_url) as session, locker(session, database_url) as take:
            assert await take(service.store.LOCK_KEY)
            with pytest.raises(service.UnderWay):
                await save(database_url, Folder(tmp_path))

    async def test_empty_database(self, tmp_path: Path, empty_database_url: str) -> None:
        with pytest.raises(errors.NotFound, match="nothing to back up"):
            await save(empty_database_url, Folder(tmp_path))


@pytest.mark.usefixtures("house")
async def test_a_file_that_cannot_be_read(tmp_path: Path, database_url: str) -> None:
    """Neither left out nor a traceback: the backup is not listed."""
    (tmp_path / "files/org").mkdir(parents=True)
    (tmp_path / "files/org/file").symlink_to("/proc/self/mem")  # a read fails, whoever asks
    location = Folder(tmp_path / "backups")
    with pytest.raises(manifests.CannotUse, match=r"The folder of files .*/files cannot be used: Input/output error"):
        await save(database_url, location, file_folder=tmp_path / "files")
    assert [] == manifests.list_backups(location)


def test_a_folder_that_cannot_be_read() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        Path(place, "org").mkdir(mode=0)
        before = os.geteuid()
        os.seteuid(before or 65_534)
        try:
            with pytest.raises(PermissionError):
                list(service.list_files(Path(place)))
        finally:
            os.seteuid(before)


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
    names = [manifests.backup_id_of(TODAY - timedelta(days=days)) for days in (50, 40, 31, 29, 1)]
    for name in names:
        await saved(tmp_path, backup_id=name)
    for killed in ("20261001T000000Z", "20261126T000001Z"):
        Folder(tmp_path).put(f"{killed}/00001-secret.gz", b"")
    Folder(tmp_path).put("erasures/20260101T000000Z/ledger.jsonl.gz", b"")
    assert sorted([*names[:2], "20261001T000000Z"]) == service.rotate(Folder(tmp_path), keep_days=30, now=TODAY)
    assert names[2:] == manifests.list_backups(Folder(tmp_path))
    assert [] == service.rotate(Folder(tmp_path), keep_days=1, now=TODAY)
    assert [] == service.rotate(Folder(tmp_path), keep_days=0, now=TODAY + timedelta(days=999))


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


EMPTY = Table("pruned_total", ["status", "total"])


async def load(url: str, *, table: Table = EMPTY, count: int = 2) -> None:
    async def rows(_: Table) -> AsyncGenerator[bytes]:
        yield b"4\t1\n"
        yield b"5\t2\n"

    await service.load(
        url,
        revision=migrations.head(),
        tables=[table],
        rows_of=rows,
        counts=lambda: {table.name: count},
        sequences=lambda: {"rollup_generation": 77},
        reason="A test is unfinished.",
        report=lambda _: None,
    )


class TestLoadRefusals:
    async def test_rows_are_missing(self, database_url: str) -> None:
        before, standing = await contents(database_url), await shape(database_url)
        with pytest.raises(Incomplete, match="Of 3 rows of pruned_total 2 came in"):
            await load(database_url, count=3)
        with pytest.raises(migrations.DatabaseIsClosed, match="A test is unfinished"):
            await migrations.migrate(database_url)
        await service.reopen(database_url)
        assert (before, standing) == (await contents(database_url), await shape(database_url))

    async def test_unknown_column(self, database_url: str) -> None:
        with pytest.raises(Incomplete, match="no later in pruned_total"):
            await load(database_url, table=Table("pruned_total", ["status", "later"]))
        await service.reopen(database_url)


async def test_closed_until_it_is_opened(database_url: str) -> None:
    """No release may use it meanwhile, not even one that knows nothing of this."""
    standing = await shape(database_url)
    await load(database_url)
    assert standing == await shape(database_url)
    with pytest.raises(migrations.DatabaseIsClosed, match="A test is unfinished"):
        await migrations.migrate(database_url)
    async with await db.open_pool(database_url, size_max=1) as pool, db.connection(pool) as database:
        assert not await migrations.is_usable(database)
        assert "needs 9999" == await database.fetch_value("select obj_description('alembic_version'::regclass)")
        await service.reopen(database_url)
        assert await migrations.is_usable(database)
        assert 78 == await database.fetch_value("select nextval('rollup_generation')")
        assert [(4, 1), (5, 2)] == [
            tuple(row.values()) for row in await database.fetch("select status, total from pruned_total order by 1")
        ]


def manifest_of(folder: Path, *files: str) -> Manifest:
    """A backup with an archive of these files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in files:
            entry = tarfile.TarInfo(name)
            entry.size = 5
            archive.addfile(entry, io.BytesIO(b"bytes"))
    writer = Writer(Folder(folder), ID, Sealer())
    manifest = Manifest(
        format=1, backup_id=ID, version="1", revision="0110", started_time=NOW, organization_id=None, tables=[],
        sequences={}, secret=writer.put("secret", b"s" * 32), files=[writer.put("files.tar", made.getvalue())],
    )  # fmt: skip
    writer.put_manifest(manifest)
    return manifest


class TestRestoreRefusals:
    async def test_database_in_use(self, tmp_path: Path, database_url: str, house: House) -> None:
        with pytest.raises(NotEmpty, match="needs an empty one"):
            await service.state_of(database_url, manifest_of(tmp_path), file_folder=None)

    async def test_another_programs_database(self, tmp_path: Path, empty_database_url: str) -> None:
        async with open_session(empty_database_url) as session:
            await session.execute("create table customer (name text)")
        with pytest.raises(NotEmpty, match="needs an empty one"):
            await service.state_of(empty_database_url, manifest_of(tmp_path), file_folder=None)

    async def test_folder_in_use(self, tmp_path: Path, database_url: str) -> None:
        (tmp_path / "files").mkdir()
        (tmp_path / "files/one").touch()
        with pytest.raises(NotEmpty, match="has files"):
            await service.state_of(database_url, manifest_of(tmp_path), file_folder=tmp_path / "files")

    @pytest.mark.parametrize("name", ["../outside", "org/../../outside"])
    def test_file_outside(self, tmp_path: Path, name: str) -> None:
        manifest_of(tmp_path / "backups", name)
        manifest, reader = open_backup(Folder(tmp_path / "backups"), ID, passphrase=None, identity=None)
        with pytest.raises(tarfile.FilterError):
            service.write_files(manifest, reader, tmp_path / "files")
        assert not list(tmp_path.rglob("outside"))


@pytest.mark.parametrize("revision", ["0001", "0110"])
async def test_schema_without_rows(tmp_path: Path, empty_database_url: str, revision: str) -> None:
    """A restore that was killed among the migrations left some of them."""
    await migrations.migrate(empty_database_url, to=revision)
    assert "empty" == await service.state_of(empty_database_url, manifest_of(tmp_path), file_folder=None)


def test_files(tmp_path: Path) -> None:
    manifest_of(tmp_path / "backups", "org/one", "org/two")
    manifest, reader = open_backup(Folder(tmp_path / "backups"), ID, passphrase=None, identity=None)
    assert [2, 2] == [service.write_files(manifest, reader, tmp_path / "files") for _ in range(2)]
    assert b"bytes" == (tmp_path / "files/org/two").read_bytes()


AGE, LATE = "afterword_backup_age_seconds", "afterword_backup_late_seconds"


async def figure(client: httpx2.AsyncClient, name: str) -> float | None:
    lines = (await client.get("/metrics", headers={"Host": "localhost"})).text.splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), None)


async def test_nothing_to_back_up(client: httpx2.AsyncClient) -> None:
    assert await figure(client, AGE) is None


async def test_age(client: httpx2.AsyncClient, house: House, pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute(
            """insert into backup (backup_id, kind, started_time, finished_time, bytes)
               values ('a', 'whole', now() - interval '2 days', now(), 1), ('b', 'organization', now(), now(), 1)"""
        )
        await database.execute("insert into backup (backup_id, kind) values ('c', 'whole')")
    found = await figure(client, AGE)
    assert found is not None
    assert 172_800 <= found < 172_900


@pytest.mark.parametrize(("every", "expected"), [(None, None), (7 * 24, 0.0), (24, 3_600.0)])
async def test_late(house: House, pool: db.Pool, every: int | None, expected: float | None) -> None:
    """Without a place nothing is late, and a backup a week is not late after a day."""
    async with db.transaction(pool) as database:
        await database.execute("update organization set created_time = now() - interval '27 hours'")
    options = {"metrics_access": "all", "backup_every": None if every is None else timedelta(hours=every)}
    async with client_of(pool, **options) as client:
        found = await figure(client, LATE)
    assert expected == (found if found is None else round(found, -2))
