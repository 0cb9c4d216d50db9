"""The server's protocol: limits on the head of a request, on connections and on the log, and how a stop ends."""

import asyncio
import resource
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
import uvloop

from afterword.kit.web import protocol
from afterword.kit.web.protocol import HEAD_BYTES_MAX, HEADERS_MAX, Protocol, Server

CONTENT = b"x" * 300_000
CLIENTS = 20
SECONDS_MAX = 60  # a machine under load; none of the tests waits for it


async def app(scope: Any, receive: Any, send: Any) -> None:
    content = CONTENT if scope["path"] == "/large" else scope["path"].encode()
    headers = [(b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def config_of(served: Any) -> uvicorn.Config:
    config = uvicorn.Config(served, port=0, http=Protocol, ws="none", lifespan="off", log_config=None)
    config.load()
    return config


@asynccontextmanager
async def serving(
    made: list[Protocol] | None = None, *, by: Any = None
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    config = config_of(by or app)
    server = uvicorn.Server(config)
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


@pytest.mark.parametrize("size", [HEAD_BYTES_MAX - 1, HEAD_BYTES_MAX + 1, 1_000_000])
async def test_a_large_body_is_no_head(size: int) -> None:
    """Its last bytes come in one read, and are followed by another request."""
    async with serving() as (reader, writer):
        for _ in range(2):
            writer.write(b"POST /body HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % size)
            await writer.drain()
            writer.write(b"x" * size)
            assert b"/body" == await read_answer(reader)


async def test_a_large_answer_is_whole() -> None:
    async with serving() as (reader, writer):
        writer.write(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n")
        assert CONTENT == await read_answer(reader)


async def test_head_and_body_are_sent_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Protocol] = []
    async with serving(made) as (reader, writer):
        sent: list[bytes] = []
        written = asyncio.Event()

        def write(data: bytes) -> None:
            sent.append(data)
            written.set()

        writer.write(b"GET /first HTTP/1.1\r\nHost: here\r\n\r\n")
        await read_answer(reader)
        transport: Any = made[0].transport
        monkeypatch.setattr(transport, "_transport", SimpleNamespace(write=write, is_closing=lambda: False))
        made[0].data_received(b"GET /second HTTP/1.1\r\nHost: here\r\n\r\n")
        async with asyncio.timeout(SECONDS_MAX):
            await written.wait()
        monkeypatch.undo()
    assert [(b"HTTP/1.1 200 OK", b"/second")] == [(each[:15], each[-7:]) for each in sent]


async def answer_of(request: bytes, by: Any = None) -> bytes:
    """All that comes back for a request, until the connection is closed."""
    async with serving(by=by) as (reader, writer):
        writer.write(request)
        return await reader.read()


FIRST = b"GET / HTTP/1.1\r\nHost: here\r\n"
LAST = FIRST + b"Connection: close\r\n\r\n"


class TestRefused:
    @pytest.mark.parametrize(
        "request_",
        [
            b"nothing\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: here\r\nhost: here\r\n\r\n",
            b"GET / HTTP/1.0\r\nHost: here\r\nHost: there\r\n\r\n",
            b"CONNECT here:443 HTTP/1.1\r\nHost: here\r\n\r\n",
        ],
    )
    async def test_unreadable(self, request_: bytes) -> None:
        assert (await answer_of(request_)).startswith(b"HTTP/1.1 400 ")

    @pytest.mark.parametrize(
        "more",
        [
            b"A: " + b"x" * HEAD_BYTES_MAX + b"\r\n\r\n",
            b"A: " + b"x" * (HEAD_BYTES_MAX - len(FIRST) - 2),  # one byte too many, and no end
            b"A: x\r\n" * HEADERS_MAX + b"\r\n",
        ],
    )
    async def test_a_large_head(self, more: bytes) -> None:
        assert (await answer_of(FIRST + more)).startswith(b"HTTP/1.1 431 ")

    async def test_a_long_target(self) -> None:
        assert (await answer_of(FIRST.replace(b"/", b"/" + b"x" * HEAD_BYTES_MAX, 1) + b"\r\n")).startswith(
            b"HTTP/1.1 431 "
        )

    async def test_a_large_head_in_pieces(self) -> None:
        async with serving() as (reader, writer):
            start = b"GET / HTTP/1.1\r\nA: "
            writer.write(start + b"x" * (1_022 - len(start)) + b"\r\n")
            for _ in range(63):
                writer.write(b"A: " + b"x" * 1_019 + b"\r\n")
                await writer.drain()
            writer.write(b"A")
            assert (await reader.read()).startswith(b"HTTP/1.1 431 ")

    async def test_what_follows_an_upgrade(self) -> None:
        upgrade = b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        answer = await answer_of(FIRST + upgrade + FIRST.replace(b"/", b"/smuggled", 1) + b"\r\n")
        assert b"connection: close\r\n" in answer
        assert answer.endswith(b"\r\n\r\n/")


class TestLargest:
    async def test_head(self) -> None:
        assert (await answer_of(FIRST + b"A: " + b"x" * 65_000 + b"\r\nConnection: close\r\n\r\n")).endswith(
            b"\r\n\r\n/"
        )

    async def test_headers(self) -> None:
        assert (await answer_of(FIRST + b"A: x\r\n" * (HEADERS_MAX - 2) + b"Connection: close\r\n\r\n")).endswith(b"/")

    async def test_a_body_is_not_the_head(self) -> None:
        post = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT
        assert (await answer_of(post + post + LAST)).endswith(b"\r\n\r\n/")

    async def test_an_old_client_needs_no_host(self) -> None:
        assert (await answer_of(b"GET /old HTTP/1.0\r\n\r\n")).endswith(b"/old")


class TestUnread:
    """The end of a request that is refused early: were it not read, the kernel would reset the answer."""

    @pytest.mark.parametrize("head", [b"", b"Expect: 100-continue\r\n"])
    async def test_the_answer_arrives_before_the_end_of_the_body(self, head: bytes) -> None:
        length = 40 * len(CONTENT)
        async with serving() as (reader, writer):
            writer.write(FIRST.replace(b"GET", b"POST") + head + b"Connection: close\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n" % length)
            for _ in range(40):
                writer.write(CONTENT)
                await writer.drain()
            assert (await reader.read()).endswith(b"\r\n\r\n/")

    async def test_a_head_that_is_too_large(self) -> None:
        async with serving() as (reader, writer):
            writer.write(FIRST)
            for _ in range(40):
                writer.write(b"A: " + CONTENT + b"\r\n")
                await writer.drain()
            assert (await reader.read()).startswith(b"HTTP/1.1 431 ")

    async def test_it_is_not_read_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol, "LINGER_SECONDS", 0.05)
        async with serving() as (reader, writer):
            writer.write(FIRST.replace(b"GET", b"POST") + b"Connection: close\r\nContent-Length: 9\r\n\r\n")
            assert (await reader.read()).endswith(b"\r\n\r\n/")
            with suppress(ConnectionError):
                while True:  # until the server resets it
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(0.01)


class TestSlow:
    @pytest.mark.parametrize("sent", [b"", b"G", FIRST])
    async def test_a_head_that_does_not_come_to_its_end(self, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
        monkeypatch.setattr(protocol, "HEAD_SECONDS_MAX", 0.05)
        async with serving() as (reader, writer):
            writer.write(sent)
            assert b"" == await reader.read()

    async def test_a_drip(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol, "HEAD_SECONDS_MAX", 0.2)
        async with serving() as (reader, writer):
            ended = asyncio.create_task(is_cut_off(reader))  # also by a reset, where bytes came after the end
            writer.write(FIRST)
            while not ended.done():
                writer.write(b"A: x\r\n")
                await asyncio.sleep(0.01)
            assert await ended

    async def test_an_answer_may_take_longer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol, "HEAD_SECONDS_MAX", 0.05)

        async def by(scope: Any, receive: Any, send: Any) -> None:
            await asyncio.sleep(0.2)
            await app(scope, receive, send)

        assert (await answer_of(LAST, by)).endswith(b"\r\n\r\n/")


class TestManyConnections:
    async def test_the_one_that_waits_longest_makes_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol, "CONNECTIONS_MAX", 3)
        async with serving() as (reader, writer), beside(writer) as second, beside(writer) as third:
            for reader_, writer_ in ((reader, writer), third):
                writer_.write(FIRST + b"\r\n")
                assert b"/" == await read_answer(reader_)
            async with beside(writer) as fourth:
                assert await is_cut_off(second[0])
                for reader_, writer_ in ((reader, writer), third, fourth):
                    writer_.write(LAST)
                    assert b"/" == await read_answer(reader_)

    async def test_all_are_being_answered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol, "CONNECTIONS_MAX", 1)
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def by(scope: Any, receive: Any, send: Any) -> None:
            begun.set()
            await go_on.wait()
            await app(scope, receive, send)

        async with serving(by=by) as (reader, writer):
            writer.write(LAST)
            await begun.wait()
            async with beside(writer) as other:
                assert await is_cut_off(other[0])
            go_on.set()
            assert b"/" == await read_answer(reader)


@asynccontextmanager
async def beside(
    writer: asyncio.StreamWriter,
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Another connection to the same server."""
    connection = await asyncio.open_connection(*writer.get_extra_info("peername"))
    try:
        yield connection
    finally:
        connection[1].close()
        with suppress(ConnectionResetError):
            await connection[1].wait_closed()


async def is_cut_off(reader: asyncio.StreamReader) -> bool:
    try:
        return b"" == await reader.read()
    except ConnectionResetError:
        return True


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

    @pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
    def test_connections_that_nobody_accepted_yet_are_answered(self, new_loop: Any) -> None:
        async def stop() -> list[bytes]:
            server = Server(config_of(app))
            server.lifespan = server.config.lifespan_class(server.config)
            await server.startup()
            address = server.servers[0].sockets[0].getsockname()
            with socket.create_connection(address) as gone:
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close with a reset
            clients = [socket.create_connection(address, timeout=SECONDS_MAX) for _ in range(CLIENTS)]
            for client in clients:  # the loop does not turn meanwhile
                client.sendall(FIRST + b"\r\n")
            await server.shutdown()
            answers = []
            for client in clients:
                with client, client.makefile("rb") as stream:
                    answers.append(stream.read())
            return answers

        with asyncio.Runner(loop_factory=new_loop) as runner:
            answers = runner.run(stop())
        for answer in answers:
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert b"\r\nconnection: close\r\n" in answer
            assert answer.endswith(b"\r\n\r\n/")

    async def test_a_process_without_a_file_left_answers_what_it_holds(self) -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def by(scope: Any, receive: Any, send: Any) -> None:
            begun.set()
            await go_on.wait()
            await app(scope, receive, send)

        server = Server(config_of(by))
        server.lifespan = server.config.lifespan_class(server.config)
        await server.startup()
        reader, writer = await asyncio.open_connection(*server.servers[0].sockets[0].getsockname())
        writer.write(FIRST + b"\r\n")
        await begun.wait()
        few, many = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, many))
            stopping = asyncio.create_task(server.shutdown())
            go_on.set()
            assert b"/" == await read_answer(reader)
            writer.close()
            await stopping
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (few, many))
