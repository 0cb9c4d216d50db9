"""Probes are not traced, nor an unknown method by its name; tests/kit/test_telemetry.py has what a receiver gets."""

import os

import pytest

from afterword.kit import db, telemetry
from tests.otlp import receiving
from tests.run.test_app import client_of


async def test_probes_and_unknown_methods(pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(monkeypatch) as collector, telemetry.started("web", os.environ, version="1") as found:
        async with client_of(pool, telemetry=found) as client:
            await client.get("/readyz")
            await client.request("BREW", "/coffee")
    assert ["_OTHER unknown"] == [span.name for span in collector.spans]
