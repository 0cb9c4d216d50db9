"""`afterword backup` and `afterword restore`: the same rows come back, and nobody who was erased since."""

import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from afterword.events import log
from afterword.kit import db
from afterword.privacy import erasure_replay
from afterword.run import migrations
from afterword.run.backups.manifests import location_of
from afterword.run.cli import backups
from tests.bar import Tell
from tests.conftest import FIGURE
from tests.privacy.conftest import CANARY, Desk, desk_on
from tests.privacy.test_retention import figures_as_of, keep, left, stop_waiting
from tests.run.backups.conftest import Original, contents, differing, done, refused, run, shape
from tests.run.backups.test_manifests import (
    bucket as bucket,  # noqa: PLC0414  a fixture
    identity_in,
    s3 as s3,  # noqa: PLC0414  a fixture
)
from tests.run.cli.shell import MORE

OLD = ("20200101T000000Z", "20200102T000000Z", "20200103T000000.500000Z", "20200104T000000.000001Z")


class TestRefusals:
    async def test_restore_into_a_place_in_use(self, original: Original, tmp_path: Path) -> None:
        await done(original.url, tmp_path, "backup")
        before = await contents(original.url)
        assert "A restore needs an empty one" in await refused(original.url, tmp_path, "restore")
        assert {} == differing(before, await contents(original.url))

    async def test_no_backup(self, empty_database_url: str, tmp_path: Path) -> None:
        for words in (("--from", str(tmp_path / "typo")), ("--from", str(tmp_path / "typo"), "--list"), ()):
            told = await refused(empty_database_url, tmp_path, "restore", *words)
            assert f"The folder {tmp_path / ('typo' if words else 'data/backups')} does not exist" in told
        (tmp_path / "data/backups").mkdir(parents=True)
        assert "no finished backup" in await refused(empty_database_url, tmp_path, "restore")
        assert "no finished backup" in await refused(empty_database_url, tmp_path, "restore", "20260101T000000Z")

    async def test_another_secret(
        self, original: Original, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await done(original.url, tmp_path, "backup")
        monkeypatch.setitem(MORE, "AFTERWORD_SECRET", "x" * 32)
        assert "another secret" in await refused(empty_database_url, tmp_path, "restore")

    async def test_damaged(self, original: Original, empty_database_url: str, tmp_path: Path) -> None:
        """Nothing is kept of a backup of which one part was changed."""
        await done(original.url, tmp_path, "backup")
        (part,) = (tmp_path / "data/backups").glob("*/*-queue_item.gz")
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)
        assert "checksum differs" in await refused(empty_database_url, tmp_path, "restore")
        assert (0, None) == (await contents(empty_database_url))["organization"]

    async def test_newer_release(
        self, original: Original, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await done(original.url, tmp_path, "backup")
        monkeypatch.setattr(migrations, "head", lambda: "0109")
        assert "made by a newer release" in await refused(empty_database_url, tmp_path, "restore")


class TestRoundTrip:
    async def test_every_table(self, original: Original, empty_database_url: str, tmp_path: Path) -> None:
        before = await contents(original.url)
        assert "secret of the installation and all data\n" in await done(original.url, tmp_path, "backup")
        text = await done(empty_database_url, tmp_path, "restore")
        assert text.index("Sending is paused") < text.index("afterword doctor --confirm-sending")
        assert {} == differing(before, await contents(empty_database_url))
        assert await shape(original.url) == await shape(empty_database_url)
        async with await db.open_pool(empty_database_url, size_max=1) as pool, db.connection(pool) as database:
            assert await migrations.is_usable(database)
            assert await database.fetch_value(
                "select paused_reason like '%restored from the backup%' from sending_guard"
            )

    async def test_encrypted_and_listed(
        self, original: Original, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "elsewhere"
        (tmp_path / "other").mkdir()
        key, recipient = identity_in(tmp_path)
        other, _ = identity_in(tmp_path / "other")
        monkeypatch.setitem(MORE, "AFTERWORD_BACKUP_RECIPIENTS", recipient)
        text = await done(original.url, tmp_path, "backup", "--to", str(folder))
        name = text.partition(":")[0]
        assert "not encrypted" not in text
        for file in folder.rglob("*"):
            assert file.is_dir() or b"age-encryption.org" == file.read_bytes()[:18]
            assert 0 == file.stat().st_mode & 0o077
        words = ("restore", name, "--from", str(folder))
        assert f"{name}\n" == await done(empty_database_url, tmp_path, *words, "--list")
        assert "AFTERWORD_BACKUP_PASSPHRASE" in await refused(empty_database_url, tmp_path, *words)
        assert "does not open" in await refused(empty_database_url, tmp_path, *words, "--identity", str(other))
        await done(empty_database_url, tmp_path, *words, "--identity", str(key))
        assert (await contents(original.url))["answer"] == (await contents(empty_database_url))["answer"]

    async def test_one_organization(self, original: Original, empty_database_url: str, tmp_path: Path) -> None:
        """Nothing of another organization is in the backup, and nothing of this one is missing."""
        words = ("organization", "create", "acme", "--name", "Acme", "--owner", "zqann@acme.example")
        made = dict(line.split("=", 1) for line in (await done(original.url, tmp_path, *words)).splitlines())
        text = await done(original.url, tmp_path, "backup", "--organization", "demo")
        assert "secret of the installation and all data of demo\n" in text
        await done(empty_database_url, tmp_path, "restore")
        async with desk_on(empty_database_url, original.house) as desk:
            assert [] == await desk.traces("zqann")
            assert [] == await desk.traces(made["ORGANIZATION_ID"])
            counts = "select count(*) from queue_item"
            items = await desk.value(counts)
            assert 200 == (await desk.http.get(desk.items, headers=desk.house.headers)).status_code
        async with desk_on(original.url, original.house) as desk:
            assert items == await desk.value(counts)


class TestBucket:
    async def test_every_table(
        self,
        original: Original,
        empty_database_url: str,
        tmp_path: Path,
        bucket: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """There and back through a store that speaks S3, with files and ledgers, and without the oldest backups."""
        monkeypatch.setitem(MORE, "AFTERWORD_BACKUP_TO", bucket)
        monkeypatch.setitem(MORE, "AFTERWORD_FILE_FOLDER", str(tmp_path / "files"))
        assert "must be encrypted" in await refused(original.url, tmp_path, "backup")
        key, recipient = identity_in(tmp_path)
        monkeypatch.setitem(MORE, "AFTERWORD_BACKUP_RECIPIENTS", recipient)
        kept = tmp_path / "files" / original.house.organization_id / "file"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(b"a picture")
        async with desk_on(original.url, original.house) as desk:
            await desk.erase(original.known.responder_id)
        before = await contents(original.url)
        store = location_of(bucket)
        for name in (*OLD, "20200105T000000Z"):
            store.put(f"{name}/00001-secret.gz.age", b"")
        for name in OLD:
            store.put(f"{name}/manifest.json.age", b"")
        made = (await done(original.url, tmp_path, "backup")).partition(":")[0]
        assert f"{OLD[-2]}\n{OLD[-1]}\n{made}\n" == await done(original.url, tmp_path, "restore", "--list")
        assert {*OLD[-2:], made, "erasures"} == {name.partition("/")[0] for name in store.list_names()}
        monkeypatch.setitem(MORE, "AFTERWORD_FILE_FOLDER", str(tmp_path / "again"))
        await done(empty_database_url, tmp_path, "restore", "--identity", str(key))
        assert {} == differing(before, await contents(empty_database_url))
        assert await shape(original.url) == await shape(empty_database_url)
        assert b"a picture" == (tmp_path / "again" / original.house.organization_id / "file").read_bytes()


class TestDamaged:
    @pytest.mark.parametrize("damage", [lambda part: part.write_bytes(b"x"), Path.unlink], ids=["changed", "missing"])
    async def test_another_one_is_taken(
        self, original: Original, empty_database_url: str, tmp_path: Path, damage: Callable[[Path], object]
    ) -> None:
        """Until then nobody uses the empty database."""
        folder = tmp_path / "data/backups"
        good, bad = [(await done(original.url, tmp_path, "backup")).partition(":")[0] for _ in range(2)]
        [part] = (folder / bad).glob("*-organization.gz")
        damage(part)
        words = ("restore", "--from", str(folder))
        assert part.name in await refused(empty_database_url, tmp_path, *words)
        assert f"The restore of the backup {bad} is unfinished." in await refused(
            empty_database_url, tmp_path, "organization", "list"
        )
        await done(empty_database_url, tmp_path, "restore", good, "--from", str(folder))
        assert "demo" in await done(empty_database_url, tmp_path, "organization", "list")


class TestInterrupted:
    @pytest.mark.parametrize("step", ["write_files", "pause"])
    async def test_goes_on(
        self, original: Original, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        """Between its steps the database is refused to everybody but the same restore."""
        monkeypatch.setitem(MORE, "AFTERWORD_FILE_FOLDER", str(tmp_path / "files"))
        kept = tmp_path / "files" / original.house.organization_id / "file"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(b"a picture")
        await done(original.url, tmp_path, "backup")
        monkeypatch.setitem(MORE, "AFTERWORD_FILE_FOLDER", str(tmp_path / "again"))
        with monkeypatch.context() as patch:

            def fail(*_: object) -> None:
                raise OSError("the power failed")

            patch.setattr(backups.backups, step, fail)
            with pytest.raises(OSError, match="the power failed"):
                await run(empty_database_url, tmp_path, "restore")
        assert "unfinished. Run `afterword restore" in await refused(
            empty_database_url, tmp_path, "organization", "list"
        )
        ended = await run(empty_database_url, tmp_path, "doctor")
        assert "unfinished" in ended.stdout
        for _ in range(2):  # again, as if it had been killed while it printed the findings
            await done(empty_database_url, tmp_path, "restore")
        assert b"a picture" == (tmp_path / "again" / original.house.organization_id / "file").read_bytes()
        assert "demo" in await done(empty_database_url, tmp_path, "organization", "list")


class TestErased:
    async def test_nobody_comes_back(
        self,
        original: Original,
        empty_database_url: str,
        tmp_path: Path,
        record_property: Callable[[str, object], None],
    ) -> None:
        """The ledger beside the backups is newer than they are, and the backup comes from another server."""
        await make_foreign(original)
        await done(original.url, tmp_path, "backup")
        (old,) = (await done(original.url, tmp_path, "restore", "--list")).split()
        async with desk_on(original.url, original.house) as desk:
            await adopted(desk)
            await desk.erase(original.known.responder_id)
        await done(original.url, tmp_path, "backup", "--organization", "demo")
        back = await run(empty_database_url, tmp_path, "restore", old)
        assert "1 of 1 people of the ledger erased again" in back.stderr, back
        async with desk_on(empty_database_url, original.house) as desk:
            assert [] == await desk.traces(CANARY)
            assert [] != await desk.traces("zqhelen")
        record_property(FIGURE, "T41 backup from before, restored: canaries left in tables 0")

    async def test_ledger_of_ones_own(self, original: Original, empty_database_url: str, tmp_path: Path) -> None:
        await done(original.url, tmp_path, "backup")
        async with desk_on(original.url, original.house) as desk:
            await desk.erase(original.known.responder_id)
        file = tmp_path / "ledger.jsonl"
        file.write_text(await done(original.url, tmp_path, "erasure", "export"))
        await done(empty_database_url, tmp_path, "restore", "--ledger", str(file))
        async with desk_on(empty_database_url, original.house) as desk:
            assert [] == await desk.traces(CANARY)


class TestForgotten:
    @pytest.mark.parametrize("period", ["anonymize_after_days", "delete_after_days"])
    async def test_runs_are_repeated(
        self,
        original: Original,
        empty_database_url: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        tell: Tell,
        period: str,
    ) -> None:
        """The backup is older than the period and its runs, and comes from another server."""
        days = later(monkeypatch)
        async with desk_on(original.url, original.house) as desk:
            await stop_waiting(desk)
        await make_foreign(original)
        await done(original.url, tmp_path, "backup")
        (old,) = (await done(original.url, tmp_path, "restore", "--list")).split()
        async with desk_on(original.url, original.house) as desk:
            await adopted(desk)
            await keep(desk, **{period: days - 10})
            await erasure_replay.forget(desk.pool, kept=[])
            wanted = await left(desk, CANARY), await counted(desk)
        await done(original.url, tmp_path, "backup", "--organization", "demo")
        back = await run(empty_database_url, tmp_path, "restore", old)
        assert re.search(r"[1-4] of ([1-4]) retention runs of the ledger repeated", back.stderr), back
        async with desk_on(empty_database_url, original.house) as desk:
            assert wanted == (await left(desk, CANARY), await counted(desk))
            assert "answer" not in wanted[0]
            assert 0 == await desk.value("select count(*) from retention_run where state = 'running'")
            assert await desk.value(f"select {period} is null from organization")
        tell(f"T41 backup from before {period}: tables with more than was left {{more}}", more=0)

    async def test_the_period_of_the_backup(
        self, original: Original, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a ledger a restore removes what became too old while the backup lay there."""
        async with desk_on(original.url, original.house) as desk:
            await stop_waiting(desk)
            await keep(desk, anonymize_after_days=60)
        await done(original.url, tmp_path, "backup")
        shutil.rmtree(tmp_path / "data/backups/retention", ignore_errors=True)
        later(monkeypatch)
        await done(empty_database_url, tmp_path, "restore")
        async with desk_on(empty_database_url, original.house) as desk:
            assert "answer" not in await left(desk, CANARY)


def later(monkeypatch: pytest.MonkeyPatch) -> int:
    """From now on all clocks of the database are ahead by so many days."""
    now, days = db.Clock.now, 70
    monkeypatch.setattr(db.Clock, "now", lambda clock: now(clock) + timedelta(days=days))
    return days


async def make_foreign(original: Original) -> None:
    """Give the log of events the order of another server."""
    async with desk_on(original.url, original.house) as desk:
        await desk.execute("update event_cluster set system_identifier = 1")


async def adopted(desk: Desk) -> None:
    async with db.transaction(desk.pool) as database:
        assert await log.adopt(database) is not None


async def counted(desk: Desk) -> object:
    """The responses in kept counts, whether they are still there or not; and those that are."""
    counts = await figures_as_of(desk)
    return counts, await desk.value("select count(*) from questionnaire_instance")


async def test_if_due(original: Original, tmp_path: Path) -> None:
    assert re.match(r"\d{8}T\d{6}\.\d{6}Z: [\d,]+ bytes", await done(original.url, tmp_path, "backup", "--if-due"))
    assert "" == await done(original.url, tmp_path, "backup", "--if-due")
