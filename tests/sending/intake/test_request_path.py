"""A batch calls functions of at most five files of its package."""

import httpx2

from tests.conftest import House
from tests.conftest import client as client  # noqa: PLC0414  a fixture
from tests.request_path import crossing


async def test_batch(house: House, client: httpx2.AsyncClient) -> None:
    client.headers.update(house.headers)
    batch = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}/queue/item/batch"
    rows = [
        {"responder_channel_identifier": "anna@example.com", "external_reference": "order-1"},
        {"responder_channel_identifier": "eleni@example.com"},
    ]
    await crossing("sending/intake", client, "POST", batch, json=rows)
    await crossing("sending/intake", client, "POST", batch, json=rows, params={"on_conflict": "update"})
