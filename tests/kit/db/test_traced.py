"""Statements are spans below a request or a send, and have no value in them."""

import os
from typing import Any

import pytest

from afterword.kit import db, telemetry
from tests.conftest import House
from tests.otlp import receiving
from tests.run.test_app import client_of

SECRET = "ann@example.com"


def texts(spans: list[Any]) -> list[str]:
    return [one.value.string_value for span in spans for one in span.attributes if one.key == "db.query.text"]


async def test_off(pool: db.Pool) -> None:
    async with db.connection(pool) as database:
        assert type(database._connection).__module__.startswith("asyncpg")


async def test_below_a_request(pool: db.Pool, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(monkeypatch) as collector, telemetry.started("web", os.environ, version="1") as found:
        async with client_of(pool, telemetry=found) as client:
            path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}/queue/item"
            made = await client.post(path, json={"responder_channel_identifier": SECRET}, headers=house.headers)
            listed = await client.get(
                f"{path}?filter_by[EQUAL][ResponderChannelIdentifier]={SECRET}", headers=house.headers
            )
    assert [201, 200] == [made.status_code, listed.status_code]
    [post] = [span for span in collector.spans if span.name.startswith("POST ")]
    names = [span.name for span in collector.spans if span.parent_span_id == post.span_id]
    assert "insert queue_item" in names
    assert any("responder_channel_identifier" in text for text in texts(collector.spans))
    assert SECRET not in repr(collector.spans)


async def test_a_statement_that_fails(pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL quotes values in what it says; none of it is in the span."""
    with receiving(monkeypatch) as collector, telemetry.started("web", os.environ, version="1") as found:
        assert found is not None
        async with db.connection(pool) as database:
            with pytest.raises(Exception, match=SECRET), found.span("work"):
                await database.fetch("select $1::text::integer", SECRET)
    assert [2, 2] == [span.status.code for span in collector.spans]
    assert SECRET not in repr(collector.spans)


async def test_nothing_outside_of_a_span(pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers look for work all the time."""
    with receiving(monkeypatch) as collector, telemetry.started("worker", os.environ, version="1"):
        async with db.transaction(pool) as database:
            assert 1 == await database.fetch_value("select 1")
        with telemetry.span("work"):
            async with db.transaction(pool) as database:
                assert 2 == await database.fetch_value("select 2")
    assert ["select", "work"] == [span.name for span in collector.spans]
