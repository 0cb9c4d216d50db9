"""Backups as objects: finished ones are listed, changed ones are refused, rows come back as they went."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from afterword import errors
from afterword.run.backups import manifests
from afterword.run.backups.manifests import (
    Damaged,
    Folder,
    Manifest,
    Sealer,
    TableParts,
    TableWriter,
    Writer,
    open_backup,
)

NOW = datetime(2026, 11, 26, 17, 52, 3, tzinfo=UTC)
ID = "20261126T175203Z"
PRECISE = "20261126T175203.000070Z"


async def saved(folder: Path, *, backup_id: str = ID, rows: int = 0) -> TableParts:
    writer = Writer(Folder(folder), backup_id, Sealer())
    table = TableWriter(writer, "answer")
    for number in range(rows):
        await table.take(f"{number}\tan answer\n".encode())
    table.flush()
    parts = TableParts("answer", ["n", "value"], table.rows, table.parts)
    writer.put_manifest(
        Manifest(
            format=manifests.FORMAT,
            backup_id=backup_id,
            version="1",
            revision="0110",
            started_time=NOW,
            organization_id=None,
            tables=[parts],
            sequences={},
            secret=writer.put("secret", b"s" * 32),
            files=[],
        )
    )
    assert writer.size == sum(path.stat().st_size for path in (folder / backup_id).iterdir())
    return parts


def opened(folder: Path, backup_id: str = ID) -> tuple[Manifest, manifests.Reader]:
    return open_backup(Folder(folder), backup_id, passphrase=None, identity=None)


class TestRefusals:
    @pytest.mark.parametrize("name", ["", "..", "20261126T175203Z-", "20261126T175204Z", "../20261126T175203Z"])
    async def test_no_such_backup(self, tmp_path: Path, name: str) -> None:
        await saved(tmp_path / "backups")
        with pytest.raises(errors.NotFound):
            opened(tmp_path / "backups", name)

    async def test_under_another_name(self, tmp_path: Path) -> None:
        await saved(tmp_path)
        (tmp_path / ID).rename(tmp_path / "20261126T175204Z")
        with pytest.raises(Damaged, match="another backup"):
            opened(tmp_path, "20261126T175204Z")

    async def test_manifest_cut_off(self, tmp_path: Path) -> None:
        await saved(tmp_path)
        file = tmp_path / ID / "manifest.json"
        file.write_bytes(file.read_bytes()[:-1])
        with pytest.raises(Damaged, match="cannot be read"):
            opened(tmp_path)

    async def test_part_exchanged(self, tmp_path: Path) -> None:
        await saved(tmp_path, rows=10)
        manifest, reader = opened(tmp_path)
        file = tmp_path / ID / manifest.secret.name
        file.write_bytes((tmp_path / ID / manifest.tables[0].parts[0].name).read_bytes())
        with pytest.raises(Damaged, match=re.escape(manifest.secret.name)):
            reader.get(manifest.secret)

    async def test_part_missing(self, tmp_path: Path) -> None:
        await saved(tmp_path)
        manifest, reader = opened(tmp_path)
        (tmp_path / ID / manifest.secret.name).unlink()
        with pytest.raises(errors.Unavailable, match="cannot be used"):
            reader.get(manifest.secret)


async def test_rows_are_cut_between_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "PART_BYTES", 1_000)
    parts = await saved(tmp_path, rows=500)
    assert (500, True) == (parts.rows, len(parts.parts) > 5)
    manifest, reader = opened(tmp_path)
    pieces = [piece async for piece in reader.rows(manifest.tables[0])]
    assert all(piece.endswith(b"\n") for piece in pieces)
    assert [f"{n}\tan answer" for n in range(500)] == b"".join(pieces).decode().splitlines()


async def test_list(tmp_path: Path) -> None:
    """In order of time, the unfinished ones left out."""
    for name in (f"{PRECISE}-demo", "20261126T175203.000069Z", "20261125T000000Z", "20261127T000000Z-migration"):
        await saved(tmp_path, backup_id=name)
    (tmp_path / "20261128T000000Z").mkdir()
    (tmp_path / "20261128T000000Z/00001-secret.gz").touch()
    await saved(tmp_path, backup_id="erasures")
    assert [
        "20261125T000000Z", "20261126T175203.000069Z", f"{PRECISE}-demo", "20261127T000000Z-migration"
    ] == manifests.list_backups(Folder(tmp_path))  # fmt: skip


def test_ids() -> None:
    """Two backups of one second differ; names of older releases, with seconds alone, are read too."""
    now = NOW.replace(microsecond=70)
    assert (PRECISE, f"{PRECISE}-demo") == (manifests.backup_id_of(now), manifests.backup_id_of(now, suffix="demo"))
    assert (now, NOW) == (manifests.time_of(f"{PRECISE}-demo"), manifests.time_of(f"{ID}-demo"))
    with pytest.raises(ValueError, match="erasures"):
        manifests.time_of("erasures")
