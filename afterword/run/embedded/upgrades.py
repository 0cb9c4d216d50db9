"""A new major version of PostgreSQL under a data folder: a cluster beside the old one takes its place once it is ready.

The steps are folders and one file, so that a killed upgrade is seen and finished: `upgrade/` holds the new cluster,
`upgrade/ready` says that it has all rows, and `postgresql-15/` is the old one, kept until somebody removes it.
"""

import os
import shutil
from pathlib import Path

from afterword.run.embedded.faults import disk_faults

FOLDER = "upgrade"
READY = "ready"
KEPT_MAX = 100


def folder_of(data_folder: Path) -> Path:
    """The data folder of the new cluster until it takes the old one's place."""
    return data_folder.absolute() / FOLDER


def is_ready(data_folder: Path) -> bool:
    """True while a new cluster has all rows and waits to take the old one's place."""
    return (folder_of(data_folder) / READY).exists()


def major_of(data_folder: Path) -> int:
    return int((data_folder / "postgresql/cluster/PG_VERSION").read_text())


def set_ready(data_folder: Path) -> None:
    """Say that the new cluster has all rows, and is stopped."""
    with disk_faults(data_folder):
        (folder_of(data_folder) / READY).touch()
        _sync(folder_of(data_folder))


def swap(data_folder: Path) -> Path:
    """Put the new cluster in the place of the old one, of which the new path is returned. Can be repeated."""
    home, new = data_folder.absolute() / "postgresql", folder_of(data_folder) / "postgresql"
    with disk_faults(data_folder):
        if new.exists():
            if home.exists():
                home.rename(_kept(data_folder, major_of(data_folder)))
                _sync(home.parent)
            new.rename(home)
            _sync(home.parent)
        shutil.rmtree(folder_of(data_folder))
    return max(data_folder.absolute().glob("postgresql-*"), key=lambda path: path.stat().st_ctime_ns)


def _kept(data_folder: Path, major: int) -> Path:
    names = [f"postgresql-{major}", *(f"postgresql-{major}-{number}" for number in range(2, KEPT_MAX))]
    return next(path for name in names if not (path := data_folder.absolute() / name).exists())


def _sync(folder: Path) -> None:
    """A renamed folder is on the disk under its new name."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
