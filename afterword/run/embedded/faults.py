"""Errors of an embedded PostgreSQL, each with its remedy."""

import errno
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

OUTPUT_CHARACTERS_MAX = 2000
FREE_BYTES_MIN = 16 * 1024 * 1024  # one segment of the write-ahead log


class EmbeddedError(Exception):
    """PostgreSQL could not be started here; the sentence says why and what to do."""


class AlreadyRunning(EmbeddedError):
    """Another process owns this data folder."""


class WrongVersion(EmbeddedError):
    """The data folder belongs to another major version than the binaries at hand."""


@contextmanager
def disk_faults(folder: Path) -> Generator[None, None, None]:
    """Turn errors of the file system into a sentence."""
    try:
        yield
    except OSError as error:  # shutil.Error is one
        raise EmbeddedError(why(f"The data folder {folder} cannot be used", str(error), folder)) from error


def why(what: str, output: str, folder: Path) -> str:
    """The known causes in a sentence, else the end of the program's output."""
    # A full disk takes no log lines either, so the words may be missing.
    if os.strerror(errno.ENOSPC) in output or _is_full(folder):
        return f"{what}: the disk of {folder} is full. Make room there, or choose another data folder."
    return f"{what}: {output.strip()[-OUTPUT_CHARACTERS_MAX:] or 'it said nothing.'}"


def _is_full(folder: Path) -> bool:
    disk = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists()))
    return disk.total > 0 and disk.free < FREE_BYTES_MIN  # /proc and its like have no room at all
