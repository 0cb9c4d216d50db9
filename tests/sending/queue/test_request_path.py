"""A write of a queue item calls functions of at most five files of its package."""

from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from tests.conftest import House
from tests.conftest import client as client  # noqa: PLC0414  a fixture
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
