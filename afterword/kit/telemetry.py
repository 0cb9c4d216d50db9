"""Traces and metrics by OpenTelemetry's own library, for which the extra `otel` is needed. Off, it costs nothing.

As with logs, there is one for each process. No span and no metric has an address, a token, an answer or a link: routes
are templates, and statements come without their values.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import Any, Final

import msgspec
import structlog

ENDPOINTS: Final = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
FIGURES_SECONDS: Final = 30.0
SCOPE: Final = "afterword"
STATEMENTS_MAX: Final = 2_000  # whose names are remembered
_CHANGE: Final = re.compile(r"(?<!for )(?<!do )(?<!key )\b(insert|update|delete)(?: into| from)? ([a-z_]+)")
_READ: Final = re.compile(r"\b(select)\b.*? from ([a-z_]+)")

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class MissingExtra(Exception):
    """An endpoint is set, and the library is not installed."""


class Sample(msgspec.Struct, frozen=True):
    """One figure read on request: `afterword_queue_items{status="pending"} 12`."""

    name: str
    text: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()
    only_grows: bool = False  # a counter, not a gauge


class Telemetry:
    """The providers of this process, made from the variables of OpenTelemetry (`OTEL_…`)."""

    def __init__(self, role: str, *, version: str) -> None:
        try:
            from opentelemetry import context, propagate, trace  # noqa: PLC0415  an extra
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
            from opentelemetry.metrics import Observation  # noqa: PLC0415
            from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
            from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra("OTEL_EXPORTER_OTLP_ENDPOINT needs the extra: pip install 'afterword[otel]'") from error
        about = {"service.namespace": "afterword", "service.name": f"afterword-{role}", "service.version": version}
        resource = Resource.create(about)  # over which OTEL_RESOURCE_ATTRIBUTES goes
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        self._metrics = MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)
        self._tracer = self._traces.get_tracer(SCOPE, version)
        self._meter = self._metrics.get_meter(SCOPE, version)
        self._durations = self._meter.create_histogram(
            "http.server.request.duration", unit="s", description="Duration of HTTP server requests."
        )
        self._observation, self._propagate, self._trace, self._context = Observation, propagate, trace, context
        self.figures: dict[str, list[Sample]] = {}

    @contextmanager
    def span(
        self, name: str, *, kind: str = "INTERNAL", parent: Mapping[str, str] | None = None, **attributes: Any
    ) -> Generator[Any]:
        """A span around the body. `parent`: headers with the `traceparent` of a caller."""
        under = self._propagate.extract(parent) if parent else None
        with self._tracer.start_as_current_span(
            name,
            context=under,
            kind=self._trace.SpanKind[kind],
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as opened:
            try:
                yield opened
            except Exception:
                self.fail(opened)
                raise

    def statement(self, query: str) -> AbstractContextManager[Any]:
        """A span around a statement of the database, below the span that is open; without one there is none."""
        if not self._trace.get_current_span().is_recording():
            return nullcontext()
        name, text = _named(query)
        return self.span(name, kind="CLIENT", **{"db.system.name": "postgresql", "db.query.text": text})

    def fail(self, span: Any) -> None:
        """Mark a span as failed; its exception may quote values, and stays in the log."""
        span.set_status(self._trace.StatusCode.ERROR)

    def observe_request(self, seconds: float, attributes: Mapping[str, Any]) -> None:
        self._durations.record(seconds, attributes)

    def publish(self, figures: Iterable[Sample]) -> None:
        """Make these the values of the figures, each a gauge by its name."""
        found: dict[str, list[Sample]] = {}
        for figure in figures:
            found.setdefault(figure.name, []).append(figure)
        for name, same in found.items():
            if name not in self.figures:
                self._meter.create_observable_gauge(name, [self._reader_of(name)], description=same[0].text)
        self.figures = found

    def _reader_of(self, name: str) -> Callable[[Any], Iterable[Any]]:
        def read(_options: Any) -> Iterable[Any]:
            return [self._observation(one.value, dict(one.labels)) for one in self.figures.get(name, [])]

        return read

    async def keep_published(self, collect: Callable[[], Awaitable[Iterable[Sample]]]) -> None:
        """Publish what `collect` gives, again and again. Figures that cannot be read keep their values."""
        while True:
            try:
                self.publish(await collect())
            except Exception as error:  # noqa: BLE001  figures must not end the process
                logger.warning("figures could not be read", cause=type(error).__name__)
            await asyncio.sleep(FIGURES_SECONDS)

    def stop(self) -> None:
        """Send what is collected; blocks for as long as the exporter's own limit."""
        self._traces.shutdown()
        with suppress(Exception):  # a receiver that is away
            self._metrics.shutdown()


@lru_cache(STATEMENTS_MAX)
def _named(query: str) -> tuple[str, str]:
    """A short name for a statement, as `insert queue_item`, and all of it on one line."""
    text = " ".join(query.split())
    found = _CHANGE.search(text) or _READ.search(text)
    return f"{found[1]} {found[2]}" if found else text.partition(" ")[0], text


active: Telemetry | None = None  # of this process; None where it is off


@contextmanager
def started(role: str, environment: Mapping[str, str], *, version: str) -> Generator[Telemetry | None]:
    """Collect for the process while the body runs, if one of OpenTelemetry's endpoints is set. Raises MissingExtra."""
    global active  # noqa: PLW0603  as logs
    if not any(environment.get(name) for name in ENDPOINTS) or environment.get("OTEL_SDK_DISABLED") == "true":
        yield None
        return
    active = telemetry = Telemetry(role, version=version)
    try:
        yield telemetry
    finally:
        active = None
        telemetry.stop()


@contextmanager
def span(name: str, **attributes: Any) -> Generator[None]:
    """A span around the body, where this process collects any."""
    if active is None:
        yield
        return
    with active.span(name, **attributes):
        yield
