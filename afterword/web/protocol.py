"""uvicorn's HTTP protocol, with what each request costs cut down, and a stop that cuts nobody off.

uvicorn closes idle connections at once when it stops. A request that is on its way just then is lost, and the client
cannot know whether it was carried out.

What differs for the wire is that the head of an answer leaves with the first piece of its body, in one write: each
write is a call of the kernel. The rest is the same behaviour with less work: one timer a connection instead of one a
request, one look at the head instead of two at each header.
"""

import asyncio
from typing import Any, Final, cast
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from afterword.web.cycle import Cycle

DRAIN_SECONDS: Final = 1.0  # how long an idle connection may still bring a request after the stop began
_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}


class Protocol(HttpToolsProtocol):
    """One connection."""

    _is_draining = False
    _idle_since: float | None = None  # None: a request arrives or is being answered
    _sweep: asyncio.TimerHandle | None = None

    def shutdown(self) -> None:
        """Answer what is under way and what arrives yet, each time with `Connection: close`; then close."""
        self._is_draining = True
        if (latest := self._latest()) is not None:
            latest.keep_alive = False
        self.loop.call_later(DRAIN_SECONDS, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self.cycle = cast("Any", None)  # which knows this protocol: neither would be freed before the next collection
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None

    # What the parser calls --------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        self.url = b""
        self.expect_100_continue = False
        self.headers = []

    def on_headers_complete(self) -> None:
        """Its head is here: answer it, or let it wait for its turn where the client did not wait for an answer."""
        parser: Any = self.parser
        version = parser.get_http_version()
        path, query = self._target()
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": parser.get_method().decode("ascii"),
            "root_path": self.root_path,
            "path": unquote(path.decode("ascii")) if b"%" in path else path.decode("ascii"),
            "raw_path": path,
            "query_string": query,
            "headers": self.headers,
            "state": self.app_state.copy(),
        }
        before = self._latest()
        keep_alive = version != "1.0" and not self._is_draining and parser.should_keep_alive()
        cycle = Cycle(self, scope, keep_alive=keep_alive, expects_continue=self.expect_100_continue)
        self.cycle = cast("Any", cycle)
        if before is None or before.response_complete:
            cycle.begin(self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, cast("Any", self.app)))

    def on_response_complete(self) -> None:
        """An answer is written: on to the next request, if it is here already."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            cast("Cycle", cycle).begin(app)
            return
        self._idle_since = self.loop.time()
        if self._sweep is None:
            self._sweep = self.loop.call_later(self.timeout_keep_alive, self._close_if_forgotten)

    # ------------------------------------------------------------------------------------------------------------------

    def _target(self) -> tuple[bytes, bytes]:
        url = self.url
        if url[:1] == b"/" and url[:2] != b"//" and b"#" not in url:
            path, _, query = url.partition(b"?")
            return path, query
        parsed = httptools.parse_url(url)  # an absolute address, or what is none
        return parsed.path, parsed.query or b""

    def _unset_keepalive_if_required(self) -> None:
        """Something arrives; the timer looks for itself."""
        self._idle_since = None

    def _close_if_forgotten(self) -> None:
        """Close a connection that nobody has used for long, else look again when that may be so."""
        since = self._idle_since
        idle = 0.0 if since is None else self.loop.time() - since
        if idle < self.timeout_keep_alive:
            self._sweep = self.loop.call_later(self.timeout_keep_alive - idle, self._close_if_forgotten)
        elif not self.transport.is_closing():
            self.transport.close()

    def _close_if_idle(self) -> None:
        latest = self._latest()
        if latest is None or latest.response_complete:
            self.transport.close()

    def _latest(self) -> Cycle | None:
        return cast("Cycle | None", self.cycle)  # which is None before the first request
