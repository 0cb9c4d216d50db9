"""The guard against calls into our own house: 90 ways to name it, and not one byte arrives.

Canaries listen on 127.0.0.1, on ::1, on a unix socket; the database's own port is watched too.
"""

import asyncio
import gzip
import ipaddress
import os
import socket
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from afterword.kit import db
from afterword.kit.transport import http
from afterword.kit.transport.http import ANSWER_BYTES_MAX, SECONDS_DEFAULT, Blocked, Caller, NoAnswer, NotSent
from afterword.sending.channels.calling import Terms, outcome_of
from tests.bar import Tell
from tests.sending.channels.receiver import Receiver, Reply

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
SECONDS: Final = 3.0
HEARING_SECONDS_MAX: Final = 30.0
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

FORMS: Final = (
    # the plain ones, and every way to write the same number
    "http://127.0.0.1:{port}/", "https://127.0.0.1:{port}/", "http://127.1:{port}/", "http://127.0.1:{port}/",
    "http://127.0.0.2:{port}/", "http://127.255.255.254:{port}/", "http://0:{port}/", "http://0.0.0.0:{port}/",
    "http://2130706433:{port}/", "http://0x7f000001:{port}/", "http://0x7f.0.0.1:{port}/", "http://0x7f.1:{port}/",
    "http://017700000001:{port}/", "http://0177.0.0.1:{port}/", "http://0177.0.0.01:{port}/",
    "http://0177.0x0.0.1:{port}/", "http://127.0.0.1.:{port}/", "http://127.00.00.01:{port}/",
    "http://4294967295:{port}/", "http://127.0.0.1%00.example.com:{port}/", "http://6425673729:{port}/",
    # IPv6: itself, and IPv4 in its clothes
    "http://[::1]:{port}/", "https://[::1]:{port}/", "http://[::]:{port}/", "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[0000::0001]:{port}/", "http://[::ffff:127.0.0.1]:{port}/", "http://[::ffff:7f00:1]:{port}/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/", "http://[::127.0.0.1]:{port}/", "http://[::ffff:0:127.0.0.1]:{port}/",
    "http://[64:ff9b::127.0.0.1]:{port}/", "http://[64:ff9b::7f00:1]:{port}/", "http://[64:ff9b:1::127.0.0.1]:{port}/",
    "http://[2002:7f00:1::]:{port}/", "http://[2002:7f00:0001::1]:{port}/", "http://[2001:0:7f00:1::]:{port}/",
    "http://[::1%25lo]:{port}/", "http://[::1%lo]:{port}/", "http://[fe80::1%25lo]:{port}/", "http://[fe80::1]:{port}/",
    "http://[fc00::1]:{port}/", "http://[fd00:ec2::254]:{port}/", "http://[fec0::1]:{port}/", "http://[ff02::1]:{port}/",
    # private and special networks
    "http://10.0.0.1:{port}/", "http://172.16.0.1:{port}/", "http://172.31.255.254:{port}/",
    "http://192.168.0.1:{port}/", "http://100.64.0.1:{port}/", "http://169.254.169.254:{port}/latest/meta-data/",
    "http://169.254.170.2:{port}/", "http://2852039166:{port}/", "http://0xa9fea9fe:{port}/",
    "http://[::ffff:169.254.169.254]:{port}/", "http://192.0.0.192:{port}/", "http://168.63.129.16:{port}/",
    "http://198.18.0.1:{port}/", "http://224.0.0.1:{port}/", "http://240.0.0.1:{port}/",
    "http://255.255.255.255:{port}/", "http://192.0.2.1:{port}/", "http://192.88.99.1:{port}/",
    # names of ourselves, and names that mean us
    "http://localhost:{port}/", "https://localhost:{port}/", "http://LOCALHOST:{port}/", "http://localhost.:{port}/",
    "http://localhost.localdomain:{port}/", "http://ip6-localhost:{port}/", "http://ip6-loopback:{port}/",
    "http://a.localhost:{port}/", "https://inside.example:{port}/", "https://metadata.google.internal:{port}/",
    "https://mixed.example:{port}/", "https://mixed6.example:{port}/",
    # what parsers disagree about
    "http://user@127.0.0.1:{port}/", "http://example.com@127.0.0.1:{port}/", "http://user:pass@localhost:{port}/",
    "http://127.0.0.1:{port}@example.com/", "http://example.com#@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@example.com/", "http://example.com\\@127.0.0.1:{port}/",
    "http://127.0.0.1\\.example.com:{port}/", "http:\\\\127.0.0.1:{port}/", "http:/127.0.0.1:{port}/",
    "http:127.0.0.1:{port}/", "//127.0.0.1:{port}/", "http:///127.0.0.1:{port}/", "http://127.0.0.1\t:{port}/",
    "http://127.0.0.1\r\nHost: a:{port}/", "http://127\u30020\u30020\u30021:{port}/",
    "http://127\uff0e0\uff0e0\uff0e1:{port}/", "http://\u2460\u2461\u2466.0.0.1:{port}/",
    "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54:{port}/", "http://127.0.0.1%2f@example.com:{port}/",
    "http://%31%32%37.0.0.1:{port}/", "http://loc%61lhost:{port}/",
    # other ways in
    "unix:///{socket}", "http+unix://{socket}/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/_x",
    "ftp://127.0.0.1:{port}/", "ws://127.0.0.1:{port}/", "javascript:alert(1)", "data:text/plain,x",
)  # fmt: skip
NAMES: Final[dict[str, tuple[str, ...]]] = {
    "inside.example": ("127.0.0.1",),
    "metadata.google.internal": ("169.254.169.254",),
    "mixed.example": ("93.184.215.14", "127.0.0.1"),
    "mixed6.example": ("93.184.215.14", "::1"),
}


@dataclass
class Canaries:
    """Listeners that must hear nothing: what they are told is kept, `name` by `name`."""

    port: int
    socket: Path
    heard: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    own: bytes = field(default_factory=lambda: b"own " + os.urandom(8))
    ways: list[Callable[[], Awaitable[Streams]]] = field(default_factory=list[Callable[[], Awaitable[Streams]]])
    open: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])

    async def silence(self) -> tuple[int, int]:
        """Connections and bytes received, once all that came before our own have been read."""
        async with asyncio.timeout(HEARING_SECONDS_MAX):
            before = sum(said == self.own for _, said in self.heard)
            for way in self.ways:
                _, writer = await way()
                writer.write(self.own)
                writer.close()
                await writer.wait_closed()
            while sum(said == self.own for _, said in self.heard) < before + len(self.ways):
                await asyncio.sleep(0)
            await asyncio.gather(*self.open)
        others = [said for _, said in self.heard if said != self.own]
        return len(others), sum(map(len, others))

    def listener(self, name: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self.open.add(task)
            said = b""
            with suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(SECONDS):
                    while part := await reader.read(2**16):
                        said += part
            self.heard.append((name, said))
            self.open.discard(task)
            writer.close()

        return serve


@pytest.fixture
async def canaries(tmp_path: Path) -> AsyncGenerator[Canaries]:
    found = Canaries(0, tmp_path / "canary")
    servers = [await asyncio.start_server(found.listener("127.0.0.1"), "127.0.0.1", 0)]
    found.port = servers[0].sockets[0].getsockname()[1]
    found.ways.append(partial(asyncio.open_connection, "127.0.0.1", found.port))
    with suppress(OSError):  # a machine without IPv6
        servers.append(await asyncio.start_server(found.listener("::1"), "::1", found.port))
        found.ways.append(partial(asyncio.open_connection, "::1", found.port))
    servers.append(await asyncio.start_unix_server(found.listener("unix"), found.socket))
    found.ways.append(partial(asyncio.open_unix_connection, found.socket))
    yield found
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver that knows our names; others it asks the system's for, which reads odd numbers as addresses too."""
    system = socket.getaddrinfo

    def look_up(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name in NAMES:
            return [
                (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
                for one in NAMES[name]
            ]
        if name.endswith(("example.com", ".internal")):
            raise socket.gaierror("not here")
        return system(host, port, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


async def refused(url: str) -> bool:
    """Whether the call was not made."""
    caller = Caller()
    try:
        await caller.request("POST", url, headers={}, content=b"canary", seconds=SECONDS)
    except NotSent:
        return True
    except NoAnswer:
        return False
    finally:
        await caller.close()
    return False


def test_there_are_enough() -> None:
    assert 90 <= len(set(FORMS)) == len(FORMS)


@pytest.mark.parametrize("form", FORMS)
async def test_no_form_reaches_the_house(canaries: Canaries, form: str, tell: Tell) -> None:
    url = form.replace("{port}", str(canaries.port)).replace("{socket}", str(canaries.socket))
    is_refused = await refused(url)
    connections, heard = await canaries.silence()
    tell(
        "{forms} forms tried: refused {refused}, connections {connections} and bytes {heard} at the canaries",
        forms=1, refused=is_refused, connections=connections, heard=heard, whole=len(FORMS),
    )  # fmt: skip
    assert is_refused
    assert (0, 0) == (connections, heard)


async def test_the_canaries_hear(canaries: Canaries) -> None:
    """With the guard open they do: so silence means something."""
    caller = Caller(allowed=LOOPBACK)
    with suppress(NotSent, NoAnswer):
        await caller.request(
            "POST", f"http://127.0.0.1:{canaries.port}/", headers={}, content=b"canary", seconds=SECONDS
        )
    await caller.close()
    connections, heard = await canaries.silence()
    assert 1 == connections
    assert heard > len(b"canary")


async def test_the_database_is_not_called(pool: db.Pool, server_url: str, tell: Tell) -> None:
    async with db.connection(pool) as database:
        port = urlsplit(server_url).port or int(await database.fetch_value("show port"))
        hosts = ("127.0.0.1", "[::1]", "localhost", "2130706433")
        calls = [await refused(f"https://{host}:{port}/") for host in hosts]
        # We ourselves and other tests come by its socket, and have no address.
        statement = "select count(*) from pg_stat_activity where client_addr is not null"
        connections = await database.fetch_value(statement)
    tell(f"the database's port: {len(calls)} calls, refused {sum(calls)}, connections {connections}")
    assert all(calls)
    assert 0 == connections


async def test_a_name_that_changes_its_mind(canaries: Canaries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebinding: what was judged is what is called; the name is asked once a call."""
    asked: list[str] = []
    answers = iter(("192.0.2.9", "127.0.0.1", "127.0.0.1"))

    def look_up(host: str, port: int, **_: Any) -> Any:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    connected: list[str] = []

    async def connect(transport: Any, request: Any) -> Any:
        connected.append(request.url.host)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(http, "is_open", lambda address, _: str(address) == "192.0.2.9")  # as if it were public
    monkeypatch.setattr(http, "_exchange", connect)
    url = f"https://rebind.example:{canaries.port}/"
    assert await refused(url)  # the connection fails; the second answer of the resolver is never asked for
    assert (["rebind.example"], ["192.0.2.9"]) == (asked, connected)
    assert await refused(url)
    assert ["192.0.2.9"] == connected  # judged anew: now it points at us
    assert (0, 0) == await canaries.silence()


@asynccontextmanager
async def talking(talk: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> AsyncGenerator[str]:
    """The address of a server that says whatever `talk` writes to each request."""
    tasks: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await reader.readuntil(b"\r\n\r\n")
            await talk(writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


LARGEST: Final = "{answers} answers without end: largest body read {most_bytes} bytes"
ENDLESS: Final[dict[str, tuple[bytes, bytes]]] = {  # a header, and what comes again and again
    "in chunks": (b"transfer-encoding: chunked\r\n", b"1000\r\n" + b"x" * 4096 + b"\r\n"),
    "of no length": (b"connection: close\r\n", b"x" * 4096),
    "of ten gigabytes": (b"content-length: 10000000000\r\n", b"x" * 4096),
}
ENCODINGS: Final[dict[str, Callable[[bytes, int], bytes]]] = {"gzip": gzip.compress, "deflate": zlib.compress}


class TestAnswers:
    """Of targets that are allowed: loopback stands for the open internet here."""

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_redirect(self, canaries: Canaries, status: int) -> None:
        location = f"http://localhost:{canaries.port}/"
        async with Receiver(reply=Reply(status, headers={"location": location})) as receiver:
            answer = await self._ask(receiver.url)
        assert status == answer.status
        assert (0, 0) == await canaries.silence()

    @pytest.mark.parametrize("answer", ENDLESS)
    async def test_endless(self, answer: str, tell: Tell) -> None:
        async def talk(writer: asyncio.StreamWriter) -> None:
            head, part = ENDLESS[answer]
            writer.write(b"HTTP/1.1 200 ok\r\n" + head + b"\r\n")
            while True:
                writer.write(part)
                await writer.drain()

        async with talking(talk) as url:
            body = (await self._ask(url)).body
        tell(LARGEST, answers=1, most_bytes=len(body), whole=len(ENDLESS))
        assert 65_536 == ANSWER_BYTES_MAX == len(body)

    async def test_drop_by_drop(self) -> None:
        """One byte at a time, for ever: the time ends it."""

        async def talk(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 ok\r\ncontent-length: 100000\r\n\r\n")
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.05)

        async with talking(talk) as url:
            with pytest.raises(NoAnswer, match="within 1 second"):
                await self._ask(url, seconds=1.0)

    async def test_endless_header(self) -> None:
        async def talk(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 ok\r\n")
            while True:
                writer.write(b"x-more: " + b"x" * 4096 + b"\r\n")
                await writer.drain()

        async with talking(talk) as url:
            with pytest.raises(NoAnswer):
                await self._ask(url)

    @pytest.mark.parametrize("encoding", ENCODINGS)
    async def test_bomb(self, encoding: str, tell: Tell) -> None:
        """A hundred megabytes in a hundred kilobytes stay packed."""
        packed = ENCODINGS[encoding](bytes(100_000_000), 1)
        async with Receiver(reply=Reply(200, packed, {"content-encoding": encoding})) as receiver:
            body = (await self._ask(receiver.url)).body
        tell(
            "{answers} packed bombs: largest body read {most_bytes} bytes",
            answers=1,
            most_bytes=len(body),
            whole=len(ENCODINGS),
        )
        assert packed[:ANSWER_BYTES_MAX] == body

    async def _ask(self, url: str, *, seconds: float = SECONDS * 3) -> http.Answer:
        caller = Caller(allowed=LOOPBACK)
        try:
            return await caller.request("POST", url, headers={}, content=b"x", seconds=seconds)
        finally:
            await caller.close()


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_body_is_never_shown(*, is_ours: bool) -> None:
    """The item keeps the status of an answer and nothing that was in it."""
    terms = Terms(is_ours=is_ours, may_repeat=True, seconds=1.0)
    for status in range(200, 600):
        answer = http.Answer(status, {"x-inside": "inner text", "retry-after": "inner text"}, b"inner text")
        assert "inner" not in repr(outcome_of(answer, terms))


def test_a_call_has_fifteen_seconds() -> None:
    assert 15 == SECONDS_DEFAULT


@pytest.mark.parametrize("port", [0, 65_536, -1])
async def test_no_such_port(port: int) -> None:
    caller = Caller()
    with pytest.raises(Blocked):
        await caller.request("GET", f"https://example.com:{port}/", headers={}, content=b"")
