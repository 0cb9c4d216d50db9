"""Figures for operators, in Prometheus' text format: requests here, whatever the collectors of the slices add."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4"
BUCKETS_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SERIES_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure that is read when it is asked for: `afterword_queue_items{status="pending"} 12`."""

    name: str
    text: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()


Collect = Callable[[], Awaitable[Iterable[Sample]]]


class Metrics:
    """The registry of one web process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = Histogram(
            "afterword_http_request_seconds",
            "Time to answer a request, by the route's template.",
            ("method", "route", "status"),
            registry=self._registry,
            buckets=BUCKETS_SECONDS,
        )
        self._collector_failures = Counter(
            "afterword_metrics_failures", "Collectors that could not be read.", registry=self._registry
        )
        self._children: dict[tuple[str, str, int], Histogram] = {}

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One more answer."""
        key = (method, route, status)
        child = self._children.get(key)
        if child is None:
            if len(self._children) >= SERIES_MAX:
                return
            child = self._children[key] = self._requests.labels(method, route, str(status))
        child.observe(seconds)

    async def text(self, collectors: Iterable[Collect] = ()) -> bytes:
        """Everything, as Prometheus reads it; a collector that fails is counted and left out."""
        momentary = CollectorRegistry(auto_describe=False)
        gauges: dict[str, Gauge] = {}
        for collect in collectors:
            try:
                samples = list(await collect())
            except Exception:  # noqa: BLE001  figures must not fail with the database; the failure is a figure itself
                self._collector_failures.inc()
                continue
            for sample in samples:
                names = [name for name, _ in sample.labels]
                gauge = gauges.get(sample.name)
                if gauge is None:
                    gauge = gauges[sample.name] = Gauge(sample.name, sample.text, names, registry=momentary)
                (gauge.labels(*(value for _, value in sample.labels)) if names else gauge).set(sample.value)
        return generate_latest(self._registry) + generate_latest(momentary)
