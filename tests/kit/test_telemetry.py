"""Traces and metrics reach a receiver that speaks OTLP, and have nothing of anybody in them."""

import asyncio
import os
import sys
from collections.abc import Iterator

import pytest

from afterword.kit import db, telemetry
from afterword.kit.telemetry import MissingExtra, Telemetry
from afterword.run.app import queue_figures
from tests.conftest import House
from tests.otlp import Collector, receiving
from tests.run.test_app import client_of

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SERVER = 2


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with receiving(monkeypatch) as found:
        yield found


def test_off_without_an_endpoint() -> None:
    with telemetry.started("web", {}, version="1") as found, telemetry.span("anything", item="1"):
        assert found is None


def test_switched_off() -> None:
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}
    with telemetry.started("web", environment, version="1") as found:
        assert found is None


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtra, match=r"afterword\[otel\]"):
        Telemetry("web", version="1")


async def test_requests(pool: db.Pool, house: House, collector: Collector) -> None:
    path = f"/v3.2/q/queue/item/{'0' * 22}?key=secret"
    with telemetry.started("web", os.environ, version="9.9") as found:
        assert found is not None
        async with client_of(pool, telemetry=found) as client:
            parent = f"00-{TRACE_ID}-b7ad6b7169203331-01"
            await client.get(path, headers={**house.headers, "traceparent": parent})
            await client.get("/a/0123456789abcdefghijkl")
            await client.get("/healthz")
    name = "GET /v3.2/q/queue/item/{item_id}"
    assert {name, "GET /a/{instance_id}"} == {span.name for span in collector.spans if span.kind == SERVER}
    expected = {"http.request.method": "GET", "http.response.status_code": 404, "http.route": name.partition(" ")[2]}
    assert expected == collector.attributes_of(name)
    assert TRACE_ID == next(span.trace_id.hex() for span in collector.spans if span.name == name)
    everything = repr((collector.spans, collector.metrics))
    assert not any(secret in everything for secret in ("secret", "0123456789abcdefghijkl", "0" * 22, house.token))
    durations = collector.metrics["http.server.request.duration"].histogram.data_points
    assert 2 == sum(point.count for point in durations)
    assert {"service.name": "afterword-web", "service.version": "9.9"}.items() <= collector.resources[0].items()


async def test_figures(pool: db.Pool, house: House, collector: Collector) -> None:
    with telemetry.started("web", os.environ, version="1") as found:
        assert found is not None
        published = asyncio.create_task(found.keep_published(queue_figures(pool, None)))
        while "afterword_queue_items" not in found.figures:
            await asyncio.sleep(0)
        published.cancel()
    points = collector.metrics["afterword_queue_items"].gauge.data_points
    assert {"due", "claimed", "sending"} == {point.attributes[0].value.string_value for point in points}
    assert "afterword_database_oldest_transaction_seconds" in collector.metrics


async def test_a_receiver_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with telemetry.started("worker", os.environ, version="1") as found, telemetry.span("send"):
        assert found is not None


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("select 1", "select"),
        ("select a,\n  b from queue_item q for update skip locked", "select queue_item"),
        ("with x as (select a from lane) insert into queue_item (a) select a from x", "insert queue_item"),
        ("insert into tag (a) values ($1) on conflict (a) do update set a = $1", "insert tag"),
        ("with x as (select a from lane for no key update) update queue_item set a = 1", "update queue_item"),
        ("delete from tag where a = $1", "delete tag"),
    ],
)
def test_the_name_of_a_statement(query: str, name: str) -> None:
    assert (name, " ".join(query.split())) == telemetry._named(query)
