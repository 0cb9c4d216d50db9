"""Files of responses in a folder: named by organization and file, written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path


def write(folder: Path, *, organization_id: str, file_id: str, content: bytes) -> None:
    path = _path(folder, organization_id, file_id)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync(path.parent)


def read(folder: Path, *, organization_id: str, file_id: str) -> bytes | None:
    with suppress(FileNotFoundError):
        return _path(folder, organization_id, file_id).read_bytes()
    return None


def delete(folder: Path, *, organization_id: str, file_id: str) -> None:
    path = _path(folder, organization_id, file_id)
    path.unlink(missing_ok=True)
    path.with_suffix(".part").unlink(missing_ok=True)


def _path(folder: Path, organization_id: str, file_id: str) -> Path:
    return folder / organization_id / file_id


def _sync(folder: Path) -> None:
    """The name of a new file is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
