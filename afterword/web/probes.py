"""Routes for operators: /healthz (the process lives), /readyz (it can work), /metrics."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from afterword import db, errors
from afterword.web import loopback
from afterword.web.metrics import CONTENT_TYPE, Collect, Metrics
from afterword.web.routing import Pages

READY_SECONDS_MAX = 1.0
NO_STORE: Final = {"Cache-Control": "no-store"}


class Probes:
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
        self.pages = Pages()
        self.pages.get("/healthz")(self._get_health)
        self.pages.get("/readyz")(self._get_readiness)
        self.pages.get("/metrics")(self._get_metrics)

    async def _get_health(self, _request: Request) -> Response:
        return JSONResponse({"status": "alive"}, headers=NO_STORE)

    async def _get_readiness(self, _request: Request) -> Response:
        reason = await self._what_is_missing()
        if reason is None:
            return JSONResponse({"status": "ready"}, headers=NO_STORE)
        later = {**NO_STORE, "Retry-After": str(db.RETRY_AFTER_SECONDS)}
        return JSONResponse({"status": "not ready", "reason": reason}, status_code=503, headers=later)

    async def _get_metrics(self, request: Request) -> Response:
        if self._access == "off" or (self._access == "loopback" and not loopback.is_admitted(request, "metrics")):
            raise errors.NotFound("There is no operation at this address.", "unknown_route")
        return Response(await self._metrics.text(self._collectors), media_type=CONTENT_TYPE, headers=NO_STORE)

    async def _what_is_missing(self) -> str | None:
        try:
            async with asyncio.timeout(READY_SECONDS_MAX), db.connection(self._pool) as database:
                is_migrated = await self._is_migrated(database)
        except (errors.Refusal, TimeoutError):
            return "The database cannot be reached."
        return None if is_migrated else "The database is not at this release's revision: run afterword migrate."
