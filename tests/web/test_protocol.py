"""The server's protocol: what a client reads is what it would read of uvicorn's own."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from afterword.web.protocol import Joined, Protocol

CONTENT = b"x" * 300_000
SECONDS_MAX = 10


async def app(scope: Any, receive: Any, send: Any) -> None:
    content = CONTENT if scope["path"] == "/large" else scope["path"].encode()
    headers = [(b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})


@asynccontextmanager
async def serving(
    made: list[Protocol] | None = None,
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    config = uvicorn.Config(app, port=0, http=Protocol, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    config.load()
    loop = asyncio.get_running_loop()

    def make() -> Protocol:
        protocol = Protocol(config=config, server_state=server.server_state, app_state={})
        if made is not None:
            made.append(protocol)
        return protocol

    listening = await loop.create_server(make, "127.0.0.1")
    port = listening.sockets[0].getsockname()[1]
    async with asyncio.timeout(SECONDS_MAX):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()
            listening.close()


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return await reader.readexactly(length)


async def test_a_connection_that_the_client_closes_is_closed_after_the_answer() -> None:
    async with serving() as (reader, writer):
        writer.write(b"GET /last HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"\r\n\r\n/last")


async def test_a_client_that_left_hurts_nobody() -> None:
    async with serving() as (reader, writer):
        writer.write(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n")
        writer.transport.abort()
        assert b"" == await reader.read()


async def test_requests_sent_at_once_are_answered_in_their_order() -> None:
    async with serving() as (reader, writer):
        writer.write(b"".join(b"GET /%d HTTP/1.1\r\nHost: here\r\n\r\n" % number for number in range(20)))
        assert [b"/%d" % number for number in range(20)] == [await read_answer(reader) for _ in range(20)]


async def test_a_large_answer_is_whole() -> None:
    async with serving() as (reader, writer):
        writer.write(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n")
        assert CONTENT == await read_answer(reader)


class Wire(asyncio.Transport):
    """Writes down what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


async def test_what_is_written_at_once_leaves_in_one_write() -> None:
    wire = Wire()
    joined = Joined(wire, asyncio.get_running_loop())
    joined.write(b"head")
    joined.write(b"body")
    await asyncio.sleep(0)
    assert [b"headbody"] == wire.written


async def test_closing_writes_what_is_kept() -> None:
    wire = Wire()
    joined = Joined(wire, asyncio.get_running_loop())
    joined.write(b"last")
    joined.close()
    await asyncio.sleep(0)
    assert [b"last"] == wire.written
    assert joined.is_closing()


class TestShutdown:
    async def test_a_request_that_was_on_its_way_is_answered(self) -> None:
        made: list[Protocol] = []
        async with serving(made) as (reader, writer):
            writer.write(b"GET /first HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b"/first" == await read_answer(reader)
            made[0].shutdown()
            writer.write(b"GET /second HTTP/1.1\r\nHost: here\r\n\r\n")
            rest = await reader.read()
        assert b"connection: close" in rest.lower()
        assert rest.endswith(b"\r\n\r\n/second")

    async def test_an_idle_connection_ends(self) -> None:
        made: list[Protocol] = []
        async with serving(made) as (reader, writer):
            writer.write(b"GET /only HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b"/only" == await read_answer(reader)
            made[0].shutdown()
            assert b"" == await reader.read()
