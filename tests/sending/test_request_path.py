"""A write of an item, a batch or a pipeline calls functions of at most five files of its package."""

from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from tests.conftest import (
    House,
    client as client,  # noqa: PLC0414  a fixture
)
from tests.request_path import crossing

SEND_TIME = (datetime.now(UTC) + timedelta(days=1)).isoformat()


@pytest.fixture
async def items(house: House, client: httpx2.AsyncClient) -> str:
    client.headers.update(house.headers)
    return f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}/queue/item"


@pytest.fixture
async def item(items: str, client: httpx2.AsyncClient) -> str:
    created = await client.post(
        items, json={"send_time": SEND_TIME, "responder_channel_identifier": "anna@example.com"}
    )
    return f"/v3.2/q/queue/item/{created.json()['item_id']}"


@pytest.mark.parametrize("prefer", ["handling=lenient", "handling=strict"])
async def test_schedule(items: str, client: httpx2.AsyncClient, prefer: str) -> None:
    body = {"send_time": SEND_TIME, "responder_channel_identifier": "anna@example.com"}
    await crossing("sending/queue", client, "POST", items, json=body, headers={"Prefer": prefer}, status=201)


@pytest.mark.parametrize(
    "body",
    [{"locale": "el"}, {"responder_channel_identifier": "eleni@example.com"}, {"status_id": 5}],
    ids=["text", "address", "cancel"],
)
async def test_change(item: str, client: httpx2.AsyncClient, body: dict[str, object]) -> None:
    await crossing("sending/queue", client, "PATCH", item, json=body)


async def test_delete(item: str, client: httpx2.AsyncClient) -> None:
    await crossing("sending/queue", client, "DELETE", item, status=204)


async def test_batch(house: House, client: httpx2.AsyncClient) -> None:
    client.headers.update(house.headers)
    batch = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}/queue/item/batch"
    rows = [
        {"responder_channel_identifier": "anna@example.com", "external_reference": "order-1"},
        {"responder_channel_identifier": "eleni@example.com"},
    ]
    await crossing("sending/intake", client, "POST", batch, json=rows)
    await crossing("sending/intake", client, "POST", batch, json=rows, params={"on_conflict": "update"})


async def test_create_change_delete(house: House, client: httpx2.AsyncClient) -> None:
    client.headers.update(house.headers)
    pipelines = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline"
    body = {"title": "Ours", "channel_id": 1, "message_subject": "Hello", "message_body": "Hello {{ link }}"}
    body |= {"dispatch_start_time": "09:00", "dispatch_end_time": "17:00"}
    created = await crossing("sending/pipelines", client, "POST", pipelines, json=body, status=201)
    pipeline = f"{pipelines}/{created.json()['pipeline_id']}"
    await crossing("sending/pipelines", client, "PATCH", pipeline, json={"title": "Theirs"})
    await crossing("sending/pipelines", client, "DELETE", pipeline, status=204)
