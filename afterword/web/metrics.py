"""Metrics in Prometheus' text format: requests of this process, and the samples of the collectors."""

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4"
BUCKETS_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SERIES_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure read on request: `afterword_queue_items{status="pending"} 12`."""

    name: str
    text: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()
    only_grows: bool = False  # a counter, not a gauge


Collect = Callable[[], Awaitable[Iterable[Sample]]]


@dataclass(slots=True)
class _Series:
    """Counts by duration; one bucket more than bounds, for longer durations."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_SECONDS) + 1))
    seconds: float = 0.0


class _Requests(Collector):
    """A histogram whose counting costs less than the library's, since every request pays for it."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str, int], _Series] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        series = self._series.get(key)
        if series is None:
            if len(self._series) >= SERIES_MAX:
                return
            series = self._series[key] = _Series()
        series.counts[bisect_left(BUCKETS_SECONDS, seconds)] += 1
        series.seconds += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        family = HistogramMetricFamily(
            "afterword_http_request_seconds",
            "Time to answer a request, by the route's template.",
            labels=("method", "route", "status"),
        )
        for (method, route, status), series in self._series.items():
            total = 0
            buckets: list[tuple[str, float]] = []
            for bound, count in zip([*map(str, BUCKETS_SECONDS), "+Inf"], series.counts, strict=True):
                total += count
                buckets.append((bound, total))
            family.add_metric((method, route, str(status)), buckets, series.seconds)
        yield family


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = _Requests()
        self._registry.register(self._requests)
        self._failures = Counter(
            "afterword_metrics_failures", "Collectors that could not be read.", registry=self._registry
        )
        self.count_request = self._requests.count

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
    """Exposes samples that were read just now."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families
