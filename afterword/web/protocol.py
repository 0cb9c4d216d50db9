"""uvicorn's HTTP protocol with one change: the head and the body of an answer leave together, in one write."""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Protocol(HttpToolsProtocol):
    """uvicorn's, on a transport that joins the writes of one turn of the event loop."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Put the joining transport between."""
        super().connection_made(cast("asyncio.Transport", Joined(transport, self.loop)))


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
