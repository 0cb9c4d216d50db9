"""Files that are there whole or not at all, whenever the machine stops."""

import os
from contextlib import suppress
from pathlib import Path


def part_of(path: Path) -> Path:
    """The place of a file that is being written; one that was killed leaves it to the next."""
    return path.with_name(f".{path.name}.part")


def write_whole(path: Path, content: bytes) -> None:
    """Put the new content in place of the old, readable by its owner alone. Raises OSError, and leaves no part."""
    part = part_of(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        part.unlink(missing_ok=True)  # it could be another's, or readable by others
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
    with suppress(OSError):  # some network file systems know no such thing
        sync(path.parent)


def sync(folder: Path) -> None:
    """A new or renamed entry of the folder is on the disk under its name."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
