"""A cluster: its making, its passwords, its role and database, its address."""

import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import asyncpg

from afterword.run.embedded.binaries import Binaries
from afterword.run.embedded.processes import EmbeddedError, User, disk_faults

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


ROLE = "afterword"  # of the product's processes
SUPERUSER = "postgres"
PASSWORD_BYTES = 24
BUILTIN_LOCALE_VERSION_MIN = 17
CONNECT_SECONDS_MAX = 30


def make_cluster(home: Path, binaries: Binaries, user: User) -> None:
    """Make `home/cluster` and its passwords; a killed attempt is thrown away. Raises EmbeddedError."""
    new, handed = home / "cluster-new", home / "initdb.password"
    shutil.rmtree(new, ignore_errors=True)
    for role in (ROLE, SUPERUSER):
        _write_secret(home / f"{role}.password", secrets.token_urlsafe(PASSWORD_BYTES))
    _write_secret(handed, _password(SUPERUSER, home))
    new.mkdir(mode=0o700)
    user.own(new)
    user.own(handed)
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    locale = builtin if binaries.major >= BUILTIN_LOCALE_VERSION_MIN else ["--locale=C.UTF-8"]
    arguments = [f"--pgdata={new}", f"--pwfile={handed}", f"--username={SUPERUSER}", "--auth=scram-sha-256"]
    command = [str(binaries.folder / "initdb"), *arguments, "--encoding=UTF8", "--data-checksums", *locale]
    try:
        user.run(command, failure=f"The database in {home} could not be made", folder=home)
        new.rename(home / "cluster")
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    finally:
        handed.unlink()


async def make_database(superuser_url: str, home: Path) -> None:
    """Make the role and its database, or finish making them after a crash."""
    try:
        connection: Any = await asyncpg.connect(superuser_url, timeout=CONNECT_SECONDS_MAX)
    except asyncpg.InvalidAuthorizationSpecificationError as error:
        raise EmbeddedError(
            f"The passwords beside {home / 'cluster'} do not open it. Restore the files *.password that belong to it."
        ) from error
    try:
        with suppress(asyncpg.DuplicateObjectError):
            await connection.execute(f"create role {ROLE} login createdb")
        await connection.execute(f"alter role {ROLE} password '{_password(ROLE, home)}'")
        with suppress(asyncpg.DuplicateDatabaseError):
            await connection.execute(f"create database {ROLE} owner {ROLE}")
    finally:
        await connection.close()


def address(role: str, home: Path, socket_folder: Path) -> str:
    database = "postgres" if role == SUPERUSER else ROLE
    return f"postgresql://{role}:{_password(role, home)}@/{database}?host={quote(str(socket_folder))}"


@contextmanager
def private_file(path: Path, mode: str) -> Generator[IO[bytes], None, None]:
    """Replace a file by a new one that only its owner may read."""
    path.unlink(missing_ok=True)
    with open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        yield file


def _write_secret(path: Path, text: str) -> None:
    with private_file(path, "wb") as file:
        file.write(text.encode())


def _password(role: str, home: Path) -> str:
    return (home / f"{role}.password").read_text().strip()
