"""A scripted HTTP server for tests: keeps what it was sent, answers as told, or fails at a chosen point."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

Way = Literal["drop", "reset", "silence", "half", "garbage"]
HEAD_BYTES_MAX = 2**16


@contextmanager
def closed_port() -> Generator[int]:
    """A port of this machine at which nobody listens, and which nobody else is given meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@dataclass(frozen=True)
class Given:
    """One request."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """An answer of the receiver; `way` breaks it after the whole request was read and kept."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    way: Way | None = None


@dataclass
class Receiver:
    """`async with Receiver() as receiver: … receiver.url`. `reply` may also be a function of the request."""

    reply: "Reply | Callable[[Given], Reply]" = field(default_factory=Reply)
    tls: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    port: int = 0
    given: list[Given] = field(default_factory=list[Given])
    connections: int = 0

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self.tls, limit=HEAD_BYTES_MAX)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:]) if name}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        given = Given(method, target, headers, body)
        self.given.append(given)
        reply = self.reply(given) if callable(self.reply) else self.reply
        await _say(reply, writer)


async def _say(reply: Reply, writer: asyncio.StreamWriter) -> None:
    names = {"content-length": str(len(reply.body)), **reply.headers}
    text = f"HTTP/1.1 {reply.status} x\r\n" + "".join(f"{name}: {value}\r\n" for name, value in names.items()) + "\r\n"
    match reply.way:
        case "drop":
            return
        case "silence":
            await asyncio.Event().wait()
        case "reset":
            raw: socket.socket = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        case "half":
            writer.write(text.encode()[: len(text) // 2])
            await writer.drain()
        case "garbage":
            writer.write(b"220 sink ESMTP\r\n")
            await writer.drain()
        case None:
            writer.write(text.encode("latin-1") + reply.body)
            await writer.drain()
