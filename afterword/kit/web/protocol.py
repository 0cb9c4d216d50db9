"""uvicorn's HTTP protocol with limits on a request's head, a graceful stop, and head and body in one segment.

uvicorn accepts heads of any length and duration. When it stops, it closes idle connections at once, and the kernel
resets those that uvicorn has not accepted. A request on one of them is lost, and its client cannot know whether it was
executed.
"""

import asyncio
import math
import socket
from contextlib import suppress
from typing import Any, Final, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

CONNECTIONS_MAX: Final = 800  # of the 1,024 files that a process may commonly open
HEAD_BYTES_MAX: Final = 65_536
HEAD_SECONDS_MAX: Final = 20.0  # from the first byte, or from the connection, until the head is complete
HEADERS_MAX: Final = 100
LINGER_SECONDS: Final = 30.0  # for the rest of a refused request, which a client may send before it reads the answer
DRAIN_SECONDS: Final = 1.0  # after the stop began, idle connections may still send a request


class Protocol(HttpToolsProtocol):
    waiting_since: float | None = None  # for a head, in seconds of the loop's clock; None: a request is being answered
    _head_timer: asyncio.TimerHandle | None = None
    head_bytes = 0.0  # received of a head that may be incomplete; -inf in a body
    is_too_large = False
    _is_draining = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # it serves TCP alone
        """Start the client's timeout; with too many connections, close the one idle for longest."""
        super().connection_made(cast("asyncio.Transport", _Joining(transport, self)))
        self.waiting_since = self.loop.time()
        self._head_timer = self.loop.call_later(HEAD_SECONDS_MAX, self.transport.close)
        if len(self.connections) > CONNECTIONS_MAX:
            connections = [each for each in self.connections if isinstance(each, Protocol)]
            longest = min(connections, key=lambda each: each.waiting_since or math.inf)
            longest.waiting_since = None
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timer, which references this connection."""
        super().connection_lost(exc)
        self._unset_head_timer()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self.head_bytes += len(data)
        super().data_received(data)
        if self.head_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
            self._refuse_large()
        elif self.head_bytes > 0 and self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS_MAX, self.transport.close)

    def on_headers_complete(self) -> None:
        """Answer the request unless its head breaks a limit; an exception here becomes 400 or 431."""
        self._unset_head_timer()
        received, self.head_bytes, self.waiting_since = self.head_bytes, -math.inf, None
        if len(self.headers) > HEADERS_MAX or (
            received > HEAD_BYTES_MAX
            and len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES_MAX
        ):
            self.is_too_large = True
            raise ValueError("The head is too large.")
        parser: Any = self.parser
        hosts = [name for name, _ in self.headers].count(b"host")
        if hosts > 1 or (hosts == 0 and parser.get_http_version() != "1.0"):
            raise ValueError("One header Host is expected.")
        super().on_headers_complete()
        if self._is_draining or parser.should_upgrade():  # what follows an upgrade is no HTTP to the parser
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.head_bytes = 0.0

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:
            self.waiting_since = self.loop.time()

    def send_400_response(self, msg: str) -> None:
        if self.is_too_large:
            self._refuse_large()
        else:
            super().send_400_response(msg)

    def shutdown(self) -> None:
        """Answer requests in progress and those that still arrive, each with `Connection: close`; then close."""
        self._is_draining = True
        if self.cycle:
            self.cycle.keep_alive = False
        self.loop.call_later(DRAIN_SECONDS, super().shutdown)

    def _refuse_large(self) -> None:
        self.is_too_large = True
        self.transport.write(STATUS_LINE[431] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()

    def _unset_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class _Joining:
    """A transport that sends the first two writes of a turn of the loop as one.

    uvicorn writes the head and the body of a response apart, and uvloop makes a system call and a segment of each.
    """

    def __init__(self, transport: asyncio.Transport, protocol: Protocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._held = b""
        self._lingers = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held + data)
        else:
            self._held = data
            self._protocol.loop.call_soon(self._flush)

    def is_closing(self) -> bool:
        return self._lingers or self._transport.is_closing()

    def close(self) -> None:
        """Close, but only for writing while the client still sends: bytes that nobody reads would reset the answer."""
        self._flush()
        if self.is_closing() or not (self._protocol.is_too_large or self._protocol.head_bytes == -math.inf):
            self._transport.close()
            return
        self._lingers, self._protocol.waiting_since = True, self._protocol.loop.time()
        self._transport.write_eof()
        self._protocol.flow.resume_reading()
        self._protocol.loop.call_later(LINGER_SECONDS, self._transport.close)

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)


class Server(uvicorn.Server):
    """Before it closes its listening sockets, it accepts the connections that wait there."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        waiting = [connection for server in self.servers for connection in _close(server)]
        for connection in waiting:
            await asyncio.get_running_loop().connect_accepted_socket(self._make_protocol, connection)
        await super().shutdown(sockets)

    def _make_protocol(self) -> Protocol:
        protocol = Protocol(self.config, self.server_state, self.lifespan.state)
        protocol.shutdown()  # or its first response would not say `Connection: close`
        return protocol


def _close(server: asyncio.Server) -> list[socket.socket]:
    """Close its listening sockets; the connections that waited there."""
    waiting: list[socket.socket] = []
    for each in server.sockets:
        listening = socket.socket(fileno=each.fileno())
        listening.setblocking(False)
        with suppress(OSError):  # none waits any more, or this process has no file left
            while True:
                waiting.append(listening.accept()[0])
        listening.detach()  # the server closes it
    server.close()
    for connection in waiting:
        connection.setblocking(False)
    return waiting
