"""A receiver that speaks OTLP over HTTP, as any collector of OpenTelemetry does."""

import gzip
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Collector:
    """Receives traces and metrics, and keeps them."""

    url: str = ""
    spans: list[Any] = field(default_factory=list[Any])
    metrics: dict[str, Any] = field(default_factory=dict[str, Any])
    resources: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def take(self, path: str, content: bytes) -> None:
        """Keep the spans and the newest metrics of one request."""
        if path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(content).resource_spans:
                self.resources.append({one.key: one.value.string_value for one in group.resource.attributes})
                self.spans += [span for scope in group.scope_spans for span in scope.spans]
        if path == "/v1/metrics":
            for group in ExportMetricsServiceRequest.FromString(content).resource_metrics:
                self.metrics |= {one.name: one for scope in group.scope_metrics for one in scope.metrics}

    def attributes_of(self, name: str) -> dict[str, Any]:
        """Those of the only span with this name."""
        [span] = [one for one in self.spans if one.name == name]
        return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


@contextmanager
def receiving(monkeypatch: pytest.MonkeyPatch) -> Generator[Collector]:
    """A collector, which OpenTelemetry's variables name meanwhile."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            is_packed = self.headers.get("Content-Encoding") == "gzip"
            collector.take(self.path, gzip.decompress(content) if is_packed else content)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *_: Any) -> None:  # noqa: A002  the name of the base class
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    collector.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    yield collector
    server.shutdown()
    server.server_close()
