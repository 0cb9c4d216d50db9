"""Files in a folder: whole or absent."""

from pathlib import Path

import pytest

from afterword.asking.instances import files


def test_written_read_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, key = tmp_path / "files", {"organization_id": "a" * 22, "file_id": "f" * 22}
    assert files.read(root, **key) is None
    files.delete(root, **key)
    files.write(root, **key, content=b"one")
    assert b"one" == files.read(root, **key)
    assert [root / key["organization_id"] / key["file_id"]] == [one for one in root.rglob("*") if one.is_file()]
    assert 0 == (root / key["organization_id"]).stat().st_mode & 0o077

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        files.write(root, **{**key, "file_id": "g" * 22}, content=b"two")
    assert files.read(root, organization_id=key["organization_id"], file_id="g" * 22) is None
    files.delete(root, **key)
    assert files.read(root, **key) is None
