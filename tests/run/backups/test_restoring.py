"""The locations that a restore refuses, and files that it writes."""

import io
import tarfile
from pathlib import Path

import pytest

from afterword.kit.db.hosts import open_session
from afterword.run import migrations
from afterword.run.backups import service
from afterword.run.backups.manifests import Folder, Manifest, Sealer, Writer, open_backup
from afterword.run.backups.service import NotEmpty
from tests.conftest import House
from tests.run.backups.test_manifests import ID, NOW


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


class TestRefusals:
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
