"""Metrics in Prometheus' text format: requests of this process, and the samples of the collectors."""

import functools
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4"
BUCKETS_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
disable_created_metrics()


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure read on request: `afterword_queue_items{status="pending"} 12`."""

    name: str
    text: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()
    only_grows: bool = False  # a counter, not a gauge


Collect = Callable[[], Awaitable[Iterable[Sample]]]


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        requests = Histogram(
            "afterword_http_request_seconds",
            "Time to answer a request, by the route's template.",
            ("method", "route", "status"),
            buckets=BUCKETS_SECONDS,
            registry=self._registry,
        )
        self._series_of = functools.cache(requests.labels)  # looking a series up costs more than counting
        self._failures = Counter(
            "afterword_metrics_failures", "Collectors that could not be read.", registry=self._registry
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._series_of(method, route, status).observe(seconds)

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
        momentary = CollectorRegistry(auto_describe=False)
        momentary.register(_Momentary(families.values()))
        return generate_latest(self._registry) + generate_latest(momentary)


class _Momentary(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families
