"""Routes for operators: /healthz (the process lives), /readyz (it can work), /metrics in Prometheus' text format."""

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import accumulate
from types import SimpleNamespace
from typing import Final, cast

from prometheus_client import CollectorRegistry, Counter, Metric, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from afterword import errors
from afterword.kit import db
from afterword.kit.db.replicas import Replica
from afterword.kit.telemetry import Sample
from afterword.kit.web import loopback
from afterword.kit.web.routing import Pages

BUCKETS_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
READY_SECONDS_MAX = 1.0
FORWARDED_FOR: Final = "Afterword-Forwarded-For"  # on /healthz, for the doctor; it names no address
NO_STORE: Final = {"Cache-Control": "no-store"}
disable_created_metrics()


Collect = Callable[[], Awaitable[Iterable[Sample]]]


class Metrics(Collector):
    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        self._requests: dict[tuple[str, str, int], list[float]] = {}  # counts by bucket, beyond all, and the seconds
        self._failures = Counter(
            "afterword_metrics_failures", "Collectors that could not be read.", registry=self._registry
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        counts = self._requests.get((method, route, status))
        if counts is None:
            counts = self._requests[method, route, status] = [0.0] * (len(BUCKETS_SECONDS) + 2)
        counts[bisect_left(BUCKETS_SECONDS, seconds)] += 1
        counts[-1] += seconds

    def collect(self) -> Iterable[Metric]:
        """The requests, as the library asks for them; its own histogram takes locks that one loop does not need."""
        text = "Time to answer a request, by the route's template."
        found = HistogramMetricFamily("afterword_http_request_seconds", text, labels=("method", "route", "status"))
        for (method, route, status), (*counts, total) in self._requests.items():
            bounds = [*map(floatToGoString, BUCKETS_SECONDS), "+Inf"]
            found.add_metric((method, route, str(status)), list(zip(bounds, accumulate(counts), strict=True)), total)
        yield found

    async def text(self, collectors: Iterable[Collect] = ()) -> bytes:
        """A collector that fails is counted and left out."""
        families: dict[str, GaugeMetricFamily | CounterMetricFamily] = {}
        for collect in collectors:
            try:
                samples = list(await collect())
            except Exception:  # noqa: BLE001  figures must not fail with the database; the failure is a figure itself
                self._failures.inc()
                continue
            for sample in samples:
                names = [name for name, _ in sample.labels]
                kind = CounterMetricFamily if sample.only_grows else GaugeMetricFamily
                family = families.setdefault(sample.name, kind(sample.name, sample.text, labels=names))
                family.add_metric([value for _, value in sample.labels], sample.value)
        momentary = SimpleNamespace(collect=families.values)
        return generate_latest(self._registry) + generate_latest(cast("Collector", momentary))


class Probes:
    def __init__(
        self,
        *,
        pool: db.Pool,
        is_migrated: Callable[[db.Database], Awaitable[bool]],
        metrics: Metrics,
        collectors: Sequence[Collect],
        access: str,
        copy: Replica | None = None,
    ) -> None:
        self._pool = pool
        self._copy = copy
        self._is_migrated = is_migrated
        self._metrics = metrics
        self._collectors = collectors
        self._access = access
        self.pages = Pages()
        self.pages.get("/healthz")(self._get_health)
        self.pages.get("/readyz")(self._get_readiness)
        self.pages.get("/metrics")(self._get_metrics)

    async def _get_health(self, request: Request) -> Response:
        fate = loopback.fate_of_forwarded(request.scope, request.headers)
        return JSONResponse({"status": "alive"}, headers={**NO_STORE, **({FORWARDED_FOR: fate} if fate else {})})

    async def _get_readiness(self, _request: Request) -> Response:
        told: dict[str, object] = {"server": "primary" if self._copy is None else "copy"}
        try:
            async with asyncio.timeout(READY_SECONDS_MAX):
                reason = await self._what_is_missing()
                if self._copy is not None:
                    told["lag_seconds"] = lag = await self._copy.lag()
                    reason = reason or self._copy.what_is_wrong(lag)
        except (errors.Refusal, TimeoutError):
            reason = "The database cannot be reached."
        if reason is None:
            told |= {"pooler": self._pool.pooler} if self._pool.pooler else {}
            return JSONResponse({"status": "ready", **told}, headers=NO_STORE)
        later = {**NO_STORE, "Retry-After": str(db.RETRY_AFTER_SECONDS)}
        return JSONResponse({"status": "not ready", "reason": reason, **told}, status_code=503, headers=later)

    async def _get_metrics(self, request: Request) -> Response:
        if self._access == "off" or (self._access == "loopback" and not loopback.is_admitted(request, "metrics")):
            raise errors.NotFound("There is no operation at this address.", "unknown_route")
        return Response(
            await self._metrics.text(self._collectors), media_type="text/plain; version=0.0.4", headers=NO_STORE
        )

    async def _what_is_missing(self) -> str | None:
        async with db.connection(self._pool) as database:
            if not await self._is_migrated(database):
                return "The database is not at this release's revision: run afterword migrate."
            if self._copy is not None or await db.takes_writes(database):
                return None
        return "The database takes no writes: it is a standby. Name the primary, or run afterword web --read-only."
