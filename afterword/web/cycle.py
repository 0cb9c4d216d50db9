"""One request and its answer on a connection: what uvicorn's own does, with less work for each."""

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

if TYPE_CHECKING:
    from afterword.web.protocol import Protocol

Header = tuple[bytes, bytes]
Message = MutableMapping[str, Any]
App = Callable[..., Awaitable[Any]]

NO_BODY: Final = frozenset({204, 304})
LINES_MAX: Final = 512
_REPEATED: Final = frozenset(
    {b"cache-control", b"content-type", b"strict-transport-security", b"vary", b"x-content-type-options"}
)
_NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+\Z")
_NO_VALUE: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_PLAIN: Final = b"text/plain; charset=utf-8"

_lines: dict[Header, bytes] = {}  # of headers that come with one answer after the other
_names: dict[bytes, bytes] = {}  # sound ones, with the colon that follows
_defaults: tuple[Sequence[Header], bytes] = ((), b"")  # the server's own headers of this second, and their lines


class Cycle:
    """Reads the body for the application and writes its answer."""

    __slots__ = (
        "_app", "_expects_continue", "_head", "_is_chunked", "_is_given", "_missing", "_protocol", "_scope", "_task",
        "_waiter", "body", "disconnected", "keep_alive", "more_body", "response_complete", "response_started",
    )  # fmt: skip

    def __init__(
        self, protocol: "Protocol", scope: dict[str, Any], *, keep_alive: bool, expects_continue: bool
    ) -> None:
        self._protocol = protocol
        self._scope = scope
        self._expects_continue = expects_continue
        self._waiter: asyncio.Future[None] | None = None  # of an application that waits for more of the body
        self._head = b""  # until it leaves with the body's first piece
        self._is_chunked = False
        self._is_given = False  # the whole body, to the application: what it waits for now is that the client leaves
        self._missing = 0  # bytes of the body that the length in the head has promised
        self.body = bytearray()
        self.disconnected = False
        self.keep_alive = keep_alive
        self.more_body = True
        self.response_complete = False
        self.response_started = False

    @property
    def message_event(self) -> "Cycle":
        """What uvicorn's protocol sets when something happened."""
        return self

    def set(self) -> None:
        """Something happened: more of the body, its end, or the client left."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def begin(self, app: App) -> None:
        """Let the application answer, in a task that a stop waits for."""
        self._app = app
        self._task = self._protocol.loop.create_task(self._run())
        self._protocol.tasks.add(self._task)

    async def _run(self) -> None:
        try:
            await self._app(self._scope, self.receive, self.send)
            problem = None if self.response_complete or self.disconnected else "The application gave no whole answer."
            error = None
        except BaseException as raised:  # noqa: BLE001  nobody else would tell
            problem, error = "The application failed.", raised
        finally:
            self._protocol.tasks.discard(self._task)
            del self._task
        if problem is not None:
            await self._fail(problem, error)

    async def _fail(self, problem: str, error: BaseException | None) -> None:
        self._protocol.logger.error(problem, exc_info=error)
        if self.response_started and not self._head:
            self._protocol.transport.close()
            return
        self.response_started, self._head = False, b""  # a head that has not left yet is none
        content = b"Internal Server Error"
        head = [(b"content-type", _PLAIN), (b"content-length", b"%d" % len(content)), (b"connection", b"close")]
        await self.send({"type": "http.response.start", "status": 500, "headers": head})
        await self.send({"type": "http.response.body", "body": content})

    async def receive(self) -> Message:
        """The body as far as it is here (ASGI); waits for some."""
        protocol = self._protocol
        if self._expects_continue and not protocol.transport.is_closing():
            protocol.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._expects_continue = False
        if not self.disconnected and not self.response_complete:
            protocol.flow.resume_reading()
            if self._is_given or (self.more_body and not self.body):
                await self._something()
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        content, self.body = bytes(self.body), bytearray()
        self._is_given = not self.more_body
        return {"type": "http.request", "body": content, "more_body": self.more_body}

    async def _something(self) -> None:
        self._waiter = self._protocol.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    async def send(self, message: Message) -> None:
        """Write a part of the answer (ASGI)."""
        protocol = self._protocol
        if protocol.flow.write_paused and not self.disconnected:
            await protocol.flow.drain()
        if self.disconnected:
            return
        if not self.response_started:
            self._check_type(message, "http.response.start")
            self._expects_continue = False
            self._head = self._head_of(message["status"], message.get("headers", ()))
            self.response_started = True
            return
        self._check_type(message, "http.response.body")
        if self.response_complete:
            raise RuntimeError("The answer is complete already.")
        more = message.get("more_body", False)
        content = self._piece(message.get("body", b""), is_last=not more)
        if self._head:
            content, self._head = self._head + content, b""
        if content:
            protocol.transport.write(content)
        if not more:
            if self._missing:
                raise RuntimeError("The body is shorter than its length in the head.")
            self.response_complete = True
            self.set()
            if not self.keep_alive:
                protocol.transport.close()
            protocol.on_response_complete()

    def _piece(self, body: bytes, *, is_last: bool) -> bytes:
        """What is written for this piece of the body."""
        if self._scope["method"] == "HEAD":
            self._missing = 0
            return b""
        if self._is_chunked:
            piece = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            return piece + b"0\r\n\r\n" if is_last else piece
        self._missing -= len(body)
        if self._missing < 0:
            raise RuntimeError("The body is longer than its length in the head.")
        return body

    def _head_of(self, status: int, headers: Sequence[Header]) -> bytes:
        """Status line and headers; notes how the body's end will be known."""
        lines = [STATUS_LINE[status], _default_lines(self._protocol.server_state.default_headers)]
        length = None
        is_closing = self._is_chunked = False
        for header in headers:
            line = _lines.get(header)
            if line is None:
                name, value = header[0].lower(), header[1]
                line = _line(name, value)
                if name == b"content-length":
                    length = int(value)
                elif name == b"transfer-encoding":
                    self._is_chunked = value.lower() == b"chunked"
                elif name == b"connection":
                    is_closing = b"close" in value.lower()
            lines.append(line)
        self.keep_alive = self.keep_alive and not is_closing
        if not self.keep_alive and not is_closing:
            lines.append(b"connection: close\r\n")
        if length is not None and not self._is_chunked:
            self._missing = length
        elif not self._is_chunked and self._scope["method"] != "HEAD" and status not in NO_BODY:
            self._is_chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        lines.append(b"\r\n")
        return b"".join(lines)

    def _check_type(self, message: Message, wanted: str) -> None:
        if message["type"] != wanted:
            raise RuntimeError(f"{wanted} was due, not {message['type']}.")


def _line(name: bytes, value: bytes) -> bytes:
    """A header as it is written; raises RuntimeError for one that would end its line, or say something else."""
    start = _names.get(name)
    if start is None:
        if _NAME.match(name) is None:
            raise RuntimeError("This is no name of a header.")
        start = name + b": "
        if len(_names) < LINES_MAX:
            _names[name] = start
    if _NO_VALUE.search(value):
        raise RuntimeError("This is no value of a header.")
    line = start + value + b"\r\n"
    if name in _REPEATED and len(_lines) < LINES_MAX:
        _lines[name, value] = line
    return line


def _default_lines(headers: Sequence[Header]) -> bytes:
    global _defaults  # noqa: PLW0603  a cache of one entry
    if headers is not _defaults[0]:
        _defaults = headers, b"".join(_line(name, value) for name, value in headers)
    return _defaults[1]
