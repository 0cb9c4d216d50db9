"""Stores of files outside: a folder of this machine, a bucket of S3, a folder of an SFTP server.

A file appears whole or not at all, and replaces one of the same name. Servers are connected to at their judged
addresses alone. An SFTP server is known by its pinned key: no other key is ever given a password.
"""

import asyncio
import base64
import errno
import hashlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from posixpath import dirname, join, split
from typing import Any, Final, Literal

from afterword.core.messaging import s3
from afterword.core.messaging.networks import Network
from afterword.kit.texts import Marked, tables_of
from afterword.kit.transport import http
from afterword.kit.transport.mime import one_line

Kind = Literal["folder", "s3", "sftp"]
PROBLEMS: Final[Mapping[str, Marked]] = tables_of(__name__)["problems"]
CONNECT_SECONDS: Final = 5.0  # an address
LOGIN_SECONDS: Final = 15.0
FILE_SECONDS: Final = 120.0
KEEP_ALIVE_SECONDS: Final = 15.0
OBJECT_BYTES_MAX: Final = 256 << 20  # of S3: such a file is in memory as a whole
REPLY_CHARACTERS_MAX: Final = 300
CHECK_NAME: Final = ".afterword-check"
SFTP_PORT: Final = 22
REGION_DEFAULT: Final = "us-east-1"  # of stores that have no regions
_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_OF_STATUS: Final[Mapping[int, str]] = {401: "login_refused", 403: "login_refused", 404: "no_bucket"}


class Failed(Exception):
    """A file cannot be put there; `problem`: of PROBLEMS, `reply`: the other side's own words."""

    def __init__(self, problem: str, reply: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.reply = one_line(reply)[:REPLY_CHARACTERS_MAX]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A store, and the path in it. `folder`: the one of this machine that all paths are below."""

    destination: Kind
    path: str
    folder: str
    endpoint: str | None
    bucket: str | None
    region: str | None
    access_key: str | None
    host: str | None
    port: int | None
    username: str | None
    host_key: str | None
    secret: str = field(repr=False)


def has_sftp() -> bool:
    return find_spec("asyncssh") is not None


class _Folder:
    def __init__(self, base: Path, path: str) -> None:
        self._base, self._root = base, base / path

    async def put(self, name: str, content: Path) -> None:
        await asyncio.to_thread(self._put, self._root / name, content)

    async def delete(self, name: str) -> None:
        with _of_disk():
            path = self._checked(self._root / name)
            await asyncio.to_thread(path.unlink, missing_ok=True)

    async def has(self, name: str) -> bool:
        return await asyncio.to_thread((self._root / name).exists)

    def _put(self, path: Path, content: Path) -> None:
        part = path.with_name(f".{path.name}.part")
        with _of_disk():
            if not self._base.parent.is_dir():  # such as a disk that is not mounted: nothing may be made in its place
                raise Failed("no_folder")
            self._checked(path).parent.mkdir(parents=True, exist_ok=True, mode=0o750)
            with content.open("rb") as source, part.open("wb") as file:
                shutil.copyfileobj(source, file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)

    def _checked(self, path: Path) -> Path:
        """Raises Failed for a path that a link leads elsewhere."""
        if not path.parent.resolve().is_relative_to(self._base.resolve()):
            raise Failed("not_allowed")
        return path


@contextmanager
def _of_disk() -> Generator[None]:
    try:
        yield
    except OSError as error:
        problem = "no_space" if error.errno in _NO_SPACE else "no_folder"
        raise Failed(problem, error.strerror or "") from error


class _Bucket:
    def __init__(self, target: Target, caller: http.Caller, now: datetime) -> None:
        self._target, self._caller = target, caller
        self._now, self._since = now, time.monotonic()

    async def put(self, name: str, content: Path) -> None:
        await self._call("PUT", name, await asyncio.to_thread(_bytes_of, content))

    async def delete(self, name: str) -> None:
        await self._call("DELETE", name, b"")

    async def has(self, name: str) -> bool:
        """False for what is not there for sure: a key may be without the right to see that."""
        try:
            await self._call("HEAD", name, b"")
        except Failed as failed:
            return failed.problem != _OF_STATUS[404]
        return True

    async def _call(self, method: str, name: str, content: bytes) -> None:
        target, now = self._target, self._now + timedelta(seconds=time.monotonic() - self._since)
        url = s3.object_url(target.endpoint or "", target.bucket or "", f"{target.path}/{name}")
        key = {"access_key": target.access_key or "", "secret": target.secret}
        region = target.region or REGION_DEFAULT
        headers = await asyncio.to_thread(s3.signed, method, url, content=content, now=now, region=region, **key)
        with _of_network():
            answer = await self._caller.request(method, url, headers=headers, content=content, seconds=FILE_SECONDS)
        if not 200 <= answer.status < 300:  # noqa: PLR2004
            problem = _OF_STATUS.get(answer.status, "refused")
            raise Failed(problem, s3.reply_of(answer.body) or str(answer.status))


def _bytes_of(content: Path) -> bytes:
    if content.stat().st_size > OBJECT_BYTES_MAX:
        raise Failed("too_large")
    return content.read_bytes()


@contextmanager
def _of_network() -> Generator[None]:
    try:
        yield
    except http.Blocked as error:
        raise Failed("blocked") from error
    except http.Untrusted as error:
        raise Failed("not_trusted", error.reason) from error
    except http.NotSent as error:
        raise Failed("not_reached", error.reason) from error
    except http.CallFailed as error:
        raise Failed("no_answer", error.reason) from error


def fingerprint_of(host_key: str) -> str:
    """The fingerprint of a public key as OpenSSH shows it. Raises ValueError for what is no key."""
    kind, _, rest = host_key.strip().partition(" ")
    content = base64.b64decode(rest.partition(" ")[0], validate=True)
    if not content.startswith(len(kind).to_bytes(4, "big") + kind.encode()):
        raise ValueError(host_key)
    return "SHA256:" + base64.b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


async def host_key_of(target: Target, *, allowed: tuple[Network, ...]) -> str:
    """The key that the server shows; nothing else is said to it. Raises Failed."""
    asyncssh = _asyncssh()
    async with _answering(asyncssh, LOGIN_SECONDS):
        key = await asyncssh.get_server_host_key(target.host, sock=await _connected(target, allowed), config=None)
    if key is None:
        raise Failed("no_answer")
    return " ".join(key.export_public_key().decode().split()[:2])


async def _connected(target: Target, allowed: tuple[Network, ...]) -> socket.socket:
    host, port = target.host or "", target.port or SFTP_PORT
    with _of_network():
        return await http.connect(host, port, allowed=allowed, seconds=CONNECT_SECONDS)


class _Sftp:
    def __init__(self, asyncssh: Any, client: Any, path: str) -> None:
        self._asyncssh, self._client, self._path = asyncssh, client, path

    async def put(self, name: str, content: Path) -> None:
        path = join(self._path, name)
        part = join(dirname(path), f".{split(path)[1]}.part")
        async with _answering(self._asyncssh, FILE_SECONDS):
            await self._client.makedirs(dirname(path), exist_ok=True)
            await self._client.put(str(content), part)
            try:
                await self._client.posix_rename(part, path)
            except self._asyncssh.SFTPOpUnsupported:  # then the name is free for a moment
                await self.delete(name)
                await self._client.rename(part, path)

    async def has(self, name: str) -> bool:
        async with _answering(self._asyncssh, FILE_SECONDS):
            return await self._client.exists(join(self._path, name))

    async def delete(self, name: str) -> None:
        async with _answering(self._asyncssh, FILE_SECONDS):
            try:
                await self._client.remove(join(self._path, name))
            except self._asyncssh.SFTPNoSuchFile:
                return


@asynccontextmanager
async def _answering(asyncssh: Any, seconds: float | None) -> AsyncGenerator[None]:
    """Tells what an error of the library means, and limits the time. Raises Failed."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except asyncssh.HostKeyNotVerifiable as error:
        raise Failed("wrong_host_key") from error
    except asyncssh.PermissionDenied as error:
        raise Failed("login_refused", error.reason) from error
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise Failed("key_unreadable") from error
    except (asyncssh.SFTPNoSpaceOnFilesystem, asyncssh.SFTPQuotaExceeded) as error:
        raise Failed("no_space", error.reason) from error
    except (asyncssh.SFTPPermissionDenied, asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath) as error:
        raise Failed("no_folder", error.reason) from error
    except asyncssh.SFTPError as error:
        raise Failed("refused", error.reason) from error
    except (asyncssh.Error, OSError) as error:  # TimeoutError is one
        raise Failed("no_answer", str(error)) from error


def _asyncssh() -> Any:
    try:
        import asyncssh  # noqa: PLC0415  an extra
    except ImportError as error:
        raise Failed("no_extra") from error
    return asyncssh


Store = _Folder | _Bucket | _Sftp


@asynccontextmanager
async def opened(target: Target, *, allowed: tuple[Network, ...], now: datetime) -> AsyncGenerator[Store]:
    """Raises Failed, as putting and deleting do; to delete what is not there is no failure."""
    if target.destination == "folder":
        yield _Folder(Path(target.folder), target.path)
    elif target.destination == "s3":
        async with http.Caller(allowed=allowed) as caller:
            yield _Bucket(target, caller, now)
    else:
        async with _sftp(target, allowed=allowed) as store:
            yield store


async def check(target: Target, *, allowed: tuple[Network, ...], now: datetime) -> None:
    """Write a small file and remove it. Raises Failed."""
    async with opened(target, allowed=allowed, now=now) as store:
        await put_bytes(store, CHECK_NAME, b"Afterword wrote this file to see whether it can.\n")
        await store.delete(CHECK_NAME)


async def put_bytes(store: Store, name: str, content: bytes) -> None:
    """Raises Failed."""
    with tempfile.NamedTemporaryFile(prefix="afterword-export-") as file:
        file.write(content)
        file.flush()
        await store.put(name, Path(file.name))


@asynccontextmanager
async def _sftp(target: Target, *, allowed: tuple[Network, ...]) -> AsyncGenerator[Store]:
    asyncssh = _asyncssh()
    if target.host_key is None:
        raise Failed("unknown_host_key")
    has_key = target.secret.startswith("-----BEGIN")
    async with AsyncExitStack() as stack:
        async with _answering(asyncssh, None):
            options = {
                "known_hosts": ([asyncssh.import_public_key(target.host_key)], [], []),
                "username": target.username,
                "password": None if has_key else target.secret,
                "client_keys": [asyncssh.import_private_key(target.secret)] if has_key else None,
                "agent_path": None,
                "x509_trusted_certs": None,
                "login_timeout": LOGIN_SECONDS,
                "keepalive_interval": KEEP_ALIVE_SECONDS,
            }
            plain = await _connected(target, allowed)
            stack.callback(plain.close)
            connection = await stack.enter_async_context(
                asyncssh.connect(target.host, sock=plain, config=None, **options)
            )
            client = await stack.enter_async_context(connection.start_sftp_client())
        yield _Sftp(asyncssh, client, target.path)
