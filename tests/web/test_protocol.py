"""The server's protocol: what a client reads is what it would read of uvicorn's own."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import uvicorn

from afterword.web.protocol import Protocol

CONTENT = b"x" * 300_000
SECONDS_MAX = 10


async def app(scope: Any, receive: Any, send: Any) -> None:
    content = CONTENT if scope["path"] == "/large" else scope["path"].encode()
    headers = [(b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})


@asynccontextmanager
async def serving(
    made: list[Protocol] | None = None, *, by: Any = None, keep_alive: int = 5
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    config = uvicorn.Config(
        by or app, timeout_keep_alive=keep_alive, port=0, http=Protocol, ws="none", lifespan="off", log_config=None
    )
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


async def answer_of(request: bytes, by: Any) -> bytes:
    """All that comes back for a request, until the connection is closed."""
    async with serving(by=by) as (reader, writer):
        writer.write(request)
        return await reader.read()


LAST = b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"


def app_of(*messages: dict[str, Any]) -> Any:
    async def by(_: Any, __: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    return by


def start(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def piece(content: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


class TestRefused:
    @pytest.mark.parametrize(
        "messages",
        [
            (),
            (piece(b"early"),),
            (start((b"x-name", b"two\r\nlines")), piece(b"")),
            (start((b"no name", b"value")), piece(b"")),
            (start((b"transfer-encoding", b"chunked"), (b"no name", b"value")),),
            (start((b"content-length", b"9")),),
            (start(), start()),
        ],
    )
    async def test_an_application_that_is_wrong_before_it_began(self, messages: tuple[dict[str, Any], ...]) -> None:
        answer = await answer_of(LAST, app_of(*messages))
        assert answer.startswith(b"HTTP/1.1 500 ")
        assert answer.endswith(b"\r\n\r\nInternal Server Error")

    @pytest.mark.parametrize("content", [b"", b"short", b"longer than it"])
    async def test_another_length_than_was_told(self, content: bytes) -> None:
        answer = await answer_of(LAST, app_of(start((b"content-length", b"9")), piece(content)))
        assert content[:5] + b" than it" not in answer

    async def test_what_cannot_be_read(self) -> None:
        assert (await answer_of(b"nothing\r\n\r\n", app)).startswith(b"HTTP/1.1 400 ")


class TestAnswers:
    async def test_pieces_without_a_length(self) -> None:
        answer = await answer_of(LAST, app_of(start(), piece(b"one", more=True), piece(b"", more=True), piece(b"two")))
        assert b"\r\ntransfer-encoding: chunked\r\n" in answer
        assert answer.endswith(b"\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")

    async def test_a_length_in_whatever_spelling(self) -> None:
        answer = await answer_of(LAST, app_of(start((b"Content-Length", b"3")), piece(b"one")))
        assert b"chunked" not in answer
        assert answer.endswith(b"\r\n\r\none")

    async def test_head_has_none_of_the_body(self) -> None:
        answer = await answer_of(LAST.replace(b"GET", b"HEAD"), app)
        assert b"\r\ncontent-length: 1\r\n" in answer
        assert answer.endswith(b"\r\n\r\n")

    async def test_nothing_follows_a_204(self) -> None:
        answer = await answer_of(LAST, app_of(start(status=204), piece(b"")))
        assert b"chunked" not in answer
        assert answer.endswith(b"\r\n\r\n")

    async def test_the_application_closes(self) -> None:
        request = LAST.replace(b"Connection: close\r\n", b"")
        answer = await answer_of(
            request, app_of(start((b"connection", b"close"), (b"content-length", b"0")), piece(b""))
        )
        assert 1 == answer.count(b"connection: close")

    async def test_an_old_client(self) -> None:
        assert (await answer_of(LAST.replace(b"1.1", b"1.0").replace(b"Connection: close\r\n", b""), app)).endswith(
            b"/"
        )

    @pytest.mark.parametrize(
        ("target", "path", "query"),
        [
            (b"/a%20b?c=%20d?e", "/a b", b"c=%20d?e"),
            (b"http://elsewhere/a?b", "/a", b"b"),
            (b"/a#b", "/a", b""),
            (b"/?", "/", b""),
        ],
    )
    async def test_the_address(self, target: bytes, path: str, query: bytes) -> None:
        seen: list[Any] = []

        async def by(scope: Any, receive: Any, send: Any) -> None:
            seen.extend((scope["path"], scope["query_string"]))
            await app(scope, receive, send)

        await answer_of(LAST.replace(b"/", target, 1), by)
        assert [path, query] == seen


class TestBody:
    async def test_it_is_read_whole_and_then_the_end_is_awaited(self) -> None:
        got: list[Any] = []

        async def by(scope: Any, receive: Any, send: Any) -> None:
            while not got or got[-1]["more_body"]:
                got.append(await receive())
            leaving = asyncio.ensure_future(receive())
            await asyncio.sleep(0)
            got.append(leaving.done())
            await app(scope, receive, send)
            got.append((await leaving)["type"])

        async with serving(by=by) as (reader, writer):
            writer.write(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n")
            assert b"HTTP/1.1 100 Continue\r\n\r\n" == await reader.readuntil(b"\r\n\r\n")
            writer.write(b"abc")
            await writer.drain()
            writer.write(b"def")
            assert b"/" == await read_answer(reader)
        assert b"abcdef" == b"".join(each["body"] for each in got if isinstance(each, dict))
        assert [False, "http.disconnect"] == got[-2:]


async def test_head_and_body_leave_in_one_write() -> None:
    made: list[Protocol] = []
    async with serving(made) as (reader, writer):
        writer.write(b"GET /one HTTP/1.1\r\nHost: here\r\n\r\n")
        await read_answer(reader)
        written: list[bytes] = []
        made[0].transport = cast("Any", Wire(written))
        made[0].data_received(b"GET /two HTTP/1.1\r\nHost: here\r\n\r\n")
        while not written:
            await asyncio.sleep(0)
        assert 1 == len(written)
        assert written[0].endswith(b"\r\n\r\n/two")


class Wire(asyncio.Transport):
    """Writes down what is written."""

    def __init__(self, written: list[bytes]) -> None:
        super().__init__()
        self._written = written

    def write(self, data: Any) -> None:
        self._written.append(data)

    def is_closing(self) -> bool:
        return False


class Watch:
    """A loop whose time goes on only when the test says so."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._now = 0.0
        self._later: list[tuple[float, Callable[[], None]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable[[], None]) -> asyncio.Handle:
        self._later.append((self._now + delay, callback))
        return asyncio.Handle(callback, (), self._loop)

    def go_on(self, seconds: float) -> None:
        self._now += seconds
        later, self._later = self._later, []
        for due, callback in later:
            if due <= self._now:
                callback()
            else:
                self._later.append((due, callback))


async def test_a_connection_that_nobody_uses_is_closed() -> None:
    made: list[Protocol] = []
    async with serving(made, keep_alive=5) as (reader, writer):
        while not made:
            await asyncio.sleep(0)
        made[0].loop = watch = cast("Any", Watch())
        for _ in range(3):
            writer.write(b"GET /one HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b"/one" == await read_answer(reader)
            watch.go_on(4)
        assert not made[0].transport.is_closing()
        watch.go_on(1)
        assert b"" == await reader.read()


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
