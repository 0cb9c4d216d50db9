"""What operators ask: /healthz (the process lives), /readyz (it can work), /metrics (figures)."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler

from afterword import db, errors
from afterword.web import loopback
from afterword.web.metrics import CONTENT_TYPE, Collect, Metrics

READY_SECONDS_MAX = 1.0
NO_STORE: Final = {"Cache-Control": "no-store"}


class Probes:
    """The three routes, over one pool."""

    def __init__(
        self,
        *,
        pool: db.Pool,
        is_migrated: Callable[[db.Database], Awaitable[bool]],
        metrics: Metrics,
        collectors: Sequence[Collect],
        access: str,
    ) -> None:
        self._pool = pool
        self._is_migrated = is_migrated
        self._metrics = metrics
        self._collectors = collectors
        self._access = access

    @functools.cached_property
    def routes(self) -> list[HTTPRouteHandler]:
        """As litestar's router takes them."""

        @get("/healthz")
        async def healthz() -> Response[dict[str, str]]:
            return Response({"status": "alive"}, headers=NO_STORE)

        @get("/readyz")
        async def readyz() -> Response[dict[str, str]]:
            reason = await self._what_is_missing()
            if reason is None:
                return Response({"status": "ready"}, headers=NO_STORE)
            more = {**NO_STORE, "Retry-After": str(db.RETRY_AFTER_SECONDS)}
            return Response({"status": "not ready", "reason": reason}, status_code=503, headers=more)

        @get("/metrics")
        async def figures(request: Request[Any, Any, Any]) -> Response[bytes]:
            if self._access == "off" or (self._access == "loopback" and not loopback.is_admitted(request, "metrics")):
                raise errors.NotFound("There is no operation at this address.", "unknown_route")
            return Response(await self._metrics.text(self._collectors), media_type=CONTENT_TYPE, headers=NO_STORE)

        return [healthz, readyz, figures]

    async def _what_is_missing(self) -> str | None:
        try:
            async with asyncio.timeout(READY_SECONDS_MAX), db.connection(self._pool) as database:
                is_migrated = await self._is_migrated(database)
        except (errors.Refusal, TimeoutError):
            return "The database cannot be reached."
        return None if is_migrated else "The database is not at this release's revision: run afterword migrate."
