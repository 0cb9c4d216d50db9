"""Reads a mailbox by IMAP. Its server is not trusted: its address is judged, and time, lines and bytes are limited.

imapclient blocks, so that its calls run in threads of their own, over a connection that was made here.
"""

import asyncio
import imaplib
import socket
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import imapclient
from imapclient.exceptions import CapabilityError
from imapclient.tls import IMAP4_TLS

from afterword.core.messaging.networks import Network
from afterword.kit.transport.http import Blocked, NotSent, connect, verification_error
from afterword.kit.transport.mime import one_line

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

CONNECT_SECONDS: Final = 5.0  # an address
STEP_SECONDS: Final = 10.0  # without a byte
LINE_BYTES_MAX: Final = 1 << 20
CALL_BYTES_MAX: Final = 12 << 20  # of the answers to one command: a mail and what stands around it
READ_BYTES: Final = 1 << 16
REPLY_CHARACTERS_MAX: Final = 300
NUMBERS_MAX: Final = 1 << 32  # of mails, as the protocol has them
PORT_TLS: Final = 993
_THREADS: Final = ThreadPoolExecutor(8, thread_name_prefix="imap")

Problem = Literal[
    "blocked",
    "not_reached",
    "not_trusted",
    "no_tls",
    "login_refused",
    "no_folder",
    "too_large",
    "no_answer",
    "password_lost",
]
Security = Literal["tls", "starttls"]
Found = TypeVar("Found")


class Failed(Exception):
    """The mailbox cannot be read; `reply`: the server's own words."""

    def __init__(self, problem: Problem, reply: str = "") -> None:
        super().__init__(problem)
        self.problem: Problem = problem
        self.reply = one_line(reply)[:REPLY_CHARACTERS_MAX]


class _TooLargeError(Exception):
    """The server sends more than was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    host: str
    port: int
    security: Security
    username: str
    password: str = field(default="", repr=False)
    folder: str


class _Connection(IMAP4_TLS):
    """The documented hooks of imaplib over a socket that is there already, with limits."""

    def __init__(self, login: Login, plain: socket.socket, trust: ssl.SSLContext, deadline: float) -> None:
        self._login, self._plain, self._trust, self._deadline = login, plain, trust, deadline
        self._buffer, self._source = bytearray(), plain
        self._taken = 0
        super().__init__(login.host, login.port)

    def open(self, host: str = "", port: int = PORT_TLS, timeout: float | None = None) -> None:  # noqa: ARG002
        self.host, self.port, self.sock = host, port, self._plain
        self._wait()
        if self._login.security == "tls":
            self.sock = self._trust.wrap_socket(self._plain, server_hostname=host)
        self._source = self.sock

    def begin(self) -> None:
        """Begin a command. What the server sent before and nobody read is forgotten."""
        self._taken = 0
        self.untagged_responses.clear()

    def read(self, size: int) -> bytes:
        if size > CALL_BYTES_MAX:
            raise _TooLargeError
        self._check_source()
        while len(self._buffer) < size:
            self._fill()
        return self._cut(size)

    def readline(self) -> bytes:
        self._check_source()
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > LINE_BYTES_MAX:
                raise _TooLargeError
            self._fill()
        return self._cut(end + 1)

    def send(self, data: "Buffer") -> None:
        self._wait()
        self.sock.sendall(data)

    def shutdown(self) -> None:
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)  # wakes a thread that reads
        self.sock.close()
        if (file := getattr(self, "file", None)) is not None:  # of STARTTLS
            file.close()

    def _check_source(self) -> None:
        """Refuse what came in the clear behind the answer to STARTTLS: it would be read as if it had come by TLS."""
        if self._source is not self.sock and self._buffer:
            raise self.abort("The server sent data before TLS began.")
        self._source = self.sock

    def _fill(self) -> None:
        self._wait()
        data = self.sock.recv(READ_BYTES)
        if not data:
            raise self.abort("The server hung up.")
        self._taken += len(data)
        if self._taken > CALL_BYTES_MAX:
            raise _TooLargeError
        self._buffer += data

    def _cut(self, size: int) -> bytes:
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found

    def _wait(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.sock.settimeout(min(STEP_SECONDS, left))


class _Client(imapclient.IMAPClient):
    """imapclient over a connection that is there already."""

    def __init__(self, connection: Callable[[], _Connection], login: Login) -> None:
        self._connect = connection
        super().__init__(login.host, login.port, ssl=login.security == "tls")

    def _create_IMAP4(self) -> _Connection:  # noqa: N802  its name
        return self._connect()

    def _set_read_timeout(self) -> None:
        """Each step of the connection sets its own."""


class Session:
    """A folder that is open. `uid_validity`: the UIDs of another one are of other mails; `count`: its mails."""

    def __init__(self, login: Login, plain: socket.socket, deadline: float) -> None:
        self._login, self._plain, self._deadline = login, plain, deadline
        self._connection: _Connection | None = None
        self._client: Any = None  # imapclient has no types
        self._is_closed = False
        self.uid_validity = 0
        self.count = 0

    async def start(self) -> None:
        """Log in and open the folder. Raises Failed."""
        await self._run(self._greet, "no_answer")
        if self._login.security == "starttls":
            await self._run(lambda: self._client.starttls(self._trust()), "no_tls")
        await self._run(self._log_in, "login_refused")
        await self._run(self._select, "no_folder")

    async def uids(self, *, after: int, since: date) -> list[int]:
        """The UIDs of mails above `after` that arrived since this day, in their order."""

        def search() -> list[int]:
            found = self._client.search(["UID", f"{after + 1}:*", "SINCE", since])
            return sorted({uid for uid in found if after < uid < NUMBERS_MAX})  # `n:*` has the last mail in any case

        return await self._run(search, "no_answer")

    async def sizes(self, uids: Sequence[int]) -> dict[int, int]:
        def fetch() -> dict[int, int]:
            found = self._client.fetch(messages=uids, data=[b"RFC822.SIZE"])
            return {uid: int(one[b"RFC822.SIZE"]) for uid, one in found.items()}

        return await self._run(fetch, "no_answer")

    async def mail(self, uid: int, *, most: int) -> bytes:
        """At most so many bytes of the mail, which stays unseen; none where it is gone."""

        def fetch() -> bytes:
            parts = self._client.fetch(messages=[uid], data=[f"BODY.PEEK[]<0.{most}>"]).get(uid, {})
            found = (value for key, value in parts.items() if key.startswith(b"BODY["))
            return next((one for one in found if isinstance(one, bytes)), b"")[:most]

        return await self._run(fetch, "no_answer")

    async def mark_seen(self, uid: int) -> None:
        await self._run(lambda: self._client.add_flags([uid], [imapclient.SEEN], silent=True), "no_answer")

    async def end(self) -> None:
        with suppress(Failed):
            await self._run(self._client.logout, "no_answer")

    def close(self) -> None:
        self._is_closed = True
        if self._connection is None:
            self._plain.close()
        else:
            self._connection.shutdown()

    def _greet(self) -> None:
        self._plain.setblocking(True)
        self._client = _Client(self._connect, self._login)
        if self._is_closed and self._connection is not None:  # nobody waits for it any more
            self._connection.shutdown()

    def _connect(self) -> _Connection:
        self._connection = _Connection(self._login, self._plain, self._trust(), self._deadline)
        return self._connection

    def _log_in(self) -> None:
        name, password = self._login.username, self._login.password
        if self._client.has_capability("AUTH=PLAIN"):
            self._client.plain_login(name, password)
        else:  # imaplib quotes the password alone
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            self._client.login(f'"{quoted}"', password)

    def _select(self) -> None:
        found = self._client.select_folder(self._login.folder)
        numbers = (int(found[name]) % NUMBERS_MAX for name in (b"UIDVALIDITY", b"EXISTS"))
        self.uid_validity, self.count = numbers

    @staticmethod
    def _trust() -> ssl.SSLContext:
        return ssl.create_default_context(ssl.Purpose.SERVER_AUTH)

    async def _run(self, work: Callable[[], Found], refused: Problem) -> Found:
        """Raises Failed: `refused` where the server says no."""
        if self._connection is not None:
            self._connection.begin()
        try:
            return await asyncio.get_running_loop().run_in_executor(_THREADS, work)
        except Exception as error:
            raise _meaning(error, refused) from error


def _meaning(error: Exception, refused: Problem) -> Failed:
    """A server may send anything, over which the library stumbles in ways of its own."""
    if (untrusted := verification_error(error)) is not None:
        return Failed("not_trusted", str(untrusted.verify_message))
    cut = error if isinstance(error, imaplib.IMAP4.abort) else error.__context__
    match error:
        case _TooLargeError():
            return Failed("too_large")
        case CapabilityError():
            return Failed("no_tls")
        case imaplib.IMAP4.error() if not isinstance(cut, imaplib.IMAP4.abort):
            return Failed(refused, str(error).removeprefix("b'").removesuffix("'"))  # imaplib quotes some as bytes
        case imaplib.IMAP4.error():
            return Failed("no_answer", str(error))
        case _:
            return Failed("no_answer")


@asynccontextmanager
async def opened(login: Login, *, allowed: Sequence[Network], seconds: float) -> AsyncGenerator[Session]:
    """The folder, open for at most so many seconds. `allowed`: private networks that it may be in. Raises Failed."""
    deadline = time.monotonic() + seconds
    try:
        async with asyncio.timeout(seconds):
            plain = await connect(login.host, login.port, allowed=allowed, seconds=CONNECT_SECONDS)
    except Blocked as error:
        raise Failed("blocked") from error
    except (NotSent, TimeoutError) as error:
        raise Failed("not_reached") from error
    session = Session(login, plain, deadline)
    try:
        await session.start()
        yield session
        await session.end()
    finally:
        session.close()
