"""uvicorn's HTTP protocol with two changes: head and body of an answer leave in one write, and a stop cuts nobody off.

uvicorn closes idle connections at once when it stops. A request that is on its way just then is lost, and the client
cannot know whether it was carried out.
"""

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

DRAIN_SECONDS: Final = 1.0  # how long an idle connection may still bring a request after the stop began


class Protocol(HttpToolsProtocol):
    """uvicorn's, on a transport that joins the writes of one turn of the event loop."""

    _is_draining = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Put the joining transport between."""
        super().connection_made(cast("asyncio.Transport", Joined(transport, self.loop)))

    def shutdown(self) -> None:
        """Answer what is under way and what arrives yet, each time with `Connection: close`; then close."""
        self._is_draining = True
        if (latest := self._latest()) is not None:
            latest.keep_alive = False
        self.loop.call_later(DRAIN_SECONDS, self._close_if_idle)

    def on_headers_complete(self) -> None:
        """While draining, let the answer to this request be the last."""
        super().on_headers_complete()
        if self._is_draining and (latest := self._latest()) is not None:
            latest.keep_alive = False

    def _close_if_idle(self) -> None:
        latest = self._latest()
        if latest is None or latest.response_complete:
            self.transport.close()

    def _latest(self) -> RequestResponseCycle | None:
        return cast("RequestResponseCycle | None", self.cycle)  # which is None before the first request


class Joined:
    """A transport that keeps what is written until the event loop's next turn: each write is a call of the kernel.

    An answer comes as two writes that follow each other at once, so nothing waits that could have left.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._kept: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Write it with whatever else is written in this turn."""
        if not self._kept:
            self._loop.call_soon(self._flush)
        self._kept.append(data)

    def close(self) -> None:
        """Close it when everything is written."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        kept, self._kept = self._kept, []
        if kept and not self._transport.is_closing():  # the other side may have left meanwhile
            self._transport.write(b"".join(kept))
