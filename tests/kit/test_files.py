"""Files that are whole: a failure leaves the old content, and nothing beside it."""

from pathlib import Path

import pytest

from afterword.kit.files import part_of, write_whole


def test_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(path, b"new")
    assert [path] == list(tmp_path.iterdir())


def test_ok(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "kept"
    for content in (b"", b"old", b"new"):
        write_whole(path, content)
        assert content == path.read_bytes()
    assert [path] == list(path.parent.iterdir())
    assert (0o700, 0o600) == (path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777)


def test_of_one_that_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    part_of(path).write_bytes(b"a longer part of it")
    write_whole(path, b"new")
    assert (b"new", [path]) == (path.read_bytes(), list(tmp_path.iterdir()))
