"""A client of the queue's routes."""

from collections.abc import Mapping
from typing import Any

import httpx2

from tests.making import make_token
from tests.queue.conftest import Queue

BODY = {"responder_channel_identifier": "ann@example.com"}


class Client:
    """Speaks as the house, as one token of it, or as nobody."""

    def __init__(self, http: httpx2.AsyncClient, queue: Queue, headers: Mapping[str, str] | None = None) -> None:
        self.http, self.queue = http, queue
        self.headers = queue.house.headers if headers is None else headers

    @property
    def pipeline(self) -> str:
        return f"/q/questionnaire/{self.queue.house.questionnaire_id}/pipeline/{self.queue.pipeline_id}"

    @property
    def items(self) -> str:
        return f"{self.pipeline}/queue/item"

    def paths(self, item_id: str) -> list[str]:
        return [f"{self.items}/{item_id}", f"/q/queue/item/{item_id}"]

    async def send(self, method: str, path: str, body: object = None, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.request(method, path, json=body, headers={**self.headers, **names})

    async def create(self, **body: object) -> dict[str, Any]:
        response = await self.send("POST", self.items, {**BODY, **body})
        assert 201 == response.status_code, response.text
        return response.json()

    async def with_token(self, scopes: frozenset[str], **limits: Any) -> "Client":
        text = await make_token(self.queue.pool, self.queue.house.organization_id, scopes=scopes, **limits)
        return Client(self.http, self.queue, {"Authorization": f"Bearer {text}"})


def codes(response: httpx2.Response) -> list[tuple[str | None, str]]:
    return [(error.get("pointer"), error["code"]) for error in response.json()["errors"]]
