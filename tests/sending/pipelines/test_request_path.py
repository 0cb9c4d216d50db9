"""A write of a pipeline calls functions of at most five files of its package."""

import httpx2

from tests.conftest import House
from tests.conftest import client as client  # noqa: PLC0414  a fixture
from tests.request_path import crossing


async def test_create_change_delete(house: House, client: httpx2.AsyncClient) -> None:
    client.headers.update(house.headers)
    pipelines = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline"
    body = {"title": "Ours", "channel_id": 1, "message_subject": "Hello", "message_body": "Hello {{ link }}"}
    body |= {"dispatch_start_time": "09:00", "dispatch_end_time": "17:00"}
    created = await crossing("sending/pipelines", client, "POST", pipelines, json=body, status=201)
    pipeline = f"{pipelines}/{created.json()['pipeline_id']}"
    await crossing("sending/pipelines", client, "PATCH", pipeline, json={"title": "Theirs"})
    await crossing("sending/pipelines", client, "DELETE", pipeline, status=204)
