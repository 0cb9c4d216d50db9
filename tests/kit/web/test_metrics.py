"""Figures in Prometheus' text format: of the requests of this process, and of collectors."""

import os

import pytest

from afterword.kit import db, telemetry
from afterword.kit.db.replicas import Replica
from afterword.kit.web.metrics import Metrics, Sample
from tests.otlp import receiving
from tests.poolers import pgbouncer
from tests.run.test_app import client_of
from tests.standbys import Told


async def test_metrics(pool: db.Pool) -> None:
    async with client_of(pool, metrics_access="all") as client:
        await client.get(f"/v3.2/q/queue/item/{'0' * 22}")
        await client.get("/nowhere/at/all")
        found = await client.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain")
    series = 'method="GET",route="/v3.2/q/queue/item/{item_id}",status="401"'
    assert f"afterword_http_request_seconds_count{{{series}}} 1.0" in found.text
    assert 'route="unknown",status="404"' in found.text
    assert "\nafterword_queue" in found.text


async def test_samples_of_one_name_stand_together() -> None:
    async def collect() -> list[Sample]:
        return [
            Sample("afterword_test", "A test.", 3, (("kind", "a"),)),
            Sample("afterword_test", "A test.", 4, (("kind", "b"),)),
        ]

    text = (await Metrics().text([collect])).decode()
    assert 'afterword_test{kind="a"} 3.0\nafterword_test{kind="b"} 4.0\n' in text


async def test_a_collector_that_fails_is_counted_and_left_out() -> None:
    async def fail() -> list[Sample]:
        raise ConnectionError

    async def collect() -> list[Sample]:
        return [Sample("afterword_test", "A test.", 1, only_grows=True)]

    text = (await Metrics().text([fail, collect])).decode()
    assert "afterword_metrics_failures_total 1.0" in text
    assert "# TYPE afterword_test_total counter\nafterword_test_total 1.0\n" in text


class TestProbes:
    async def test_ready(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            found = await client.get("/readyz")
        assert (200, {"status": "ready", "server": "primary"}) == (found.status_code, found.json())

    async def test_a_server_that_takes_no_writes(self, pool_url: str) -> None:
        """A balancer must not send changes there; who only reads may stay."""
        only_reads = {"default_transaction_read_only": "on"}
        async with await db.open_pool(pool_url, size_max=1, server_settings=only_reads) as pool:
            async with client_of(pool) as client:
                found = await client.get("/readyz")
                assert (503, "primary") == (found.status_code, found.json()["server"])
                assert "--read-only" in found.json()["reason"]
            async with client_of(pool, copy=Replica(pool)) as client:
                found = await client.get("/readyz")
                assert {"status": "ready", "server": "copy", "lag_seconds": 0} == found.json()

    @pytest.mark.parametrize(("age", "sentence"), [(None, "is not known"), (90, "90 seconds behind")])
    async def test_a_copy_that_is_behind(self, pool: db.Pool, age: int | None, sentence: str) -> None:
        async with client_of(pool, copy=Told(pool, age)) as client:
            found = await client.get("/readyz")
        assert (503, "copy", age) == (found.status_code, found.json()["server"], found.json()["lag_seconds"])
        assert sentence in found.json()["reason"]

    async def test_behind_a_pooler(self, database_url: str) -> None:
        with pgbouncer(database_url, pool_mode="transaction") as url:
            async with await db.open_pool(url, size_max=1) as pool, client_of(pool) as client:
                found = await client.get("/readyz")
        assert 200 == found.status_code
        assert "No statements are prepared" in found.json()["pooler"]

    async def test_not_migrated(self, empty_database_url: str) -> None:
        async with await db.open_pool(empty_database_url, size_max=1) as pool, client_of(pool) as client:
            found = await client.get("/readyz")
        assert 503 == found.status_code
        assert "migrate" in found.json()["reason"]

    @pytest.mark.parametrize(("access", "status"), [("loopback", 404), ("off", 404), ("all", 200)])
    async def test_metrics_access(self, pool: db.Pool, access: str, status: int) -> None:
        async with client_of(pool, metrics_access=access) as client:
            assert status == (await client.get("/metrics")).status_code


async def test_probes_and_unknown_methods(pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(monkeypatch) as collector, telemetry.started("web", os.environ, version="1") as found:
        async with client_of(pool, telemetry=found) as client:
            await client.get("/readyz")
            await client.request("BREW", "/coffee")
    assert ["_OTHER unknown"] == [span.name for span in collector.spans]
