"""A span and a duration for each request, outside of everything else; only where telemetry is on."""

import time
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterword.telemetry import Telemetry
from afterword.web.middleware import METHODS, PROBES

PARENTS: Final = frozenset({b"traceparent", b"tracestate"})
SERVER_ERROR: Final = 500


class Tracing:
    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        parent = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name in PARENTS
        }
        attributes: dict[str, Any] = {"http.request.method": method}
        start = time.perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                attributes["http.response.status_code"] = message["status"]
            await send(message)

        with self._telemetry.span(method, kind="SERVER", parent=parent) as span:
            try:
                await self._app(scope, receive, noted)
            finally:
                attributes["http.route"] = route = scope.get("path_template") or "unknown"
                span.update_name(f"{method} {route}")
                span.set_attributes(attributes)
                if attributes.get("http.response.status_code", SERVER_ERROR) >= SERVER_ERROR:
                    self._telemetry.fail(span)
                self._telemetry.observe_request(time.perf_counter() - start, attributes)
