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
from afterword.run.embedded.faults import EmbeddedError
from afterword.run.embedded.processes import User

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
