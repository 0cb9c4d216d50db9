"""An integrating developer's side of a journey: the API over HTTP, with what `afterword seed` printed."""

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.journeys.processes import ROOT, environment, until

SENT = 3


@dataclass(frozen=True)
class Client:
    base_url: str
    token: str
    organization_id: str
    questionnaire_id: str
    pipeline_id: str
    verify: bool = True  # the certificate of the server

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def items_path(self) -> str:
        return f"/q/questionnaire/{self.questionnaire_id}/pipeline/{self.pipeline_id}/queue/item"

    async def request(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        """One request on a connection of its own."""
        async with httpx2.AsyncClient(timeout=20, verify=self.verify) as http:
            return await http.request(method, f"{self.base_url}{path}", json=body, headers=self.headers)

    async def get(self, path: str) -> Any:
        answer = await self.request("GET", path)
        assert 200 == answer.status_code, answer.text
        return answer.json()

    async def schedule(self, address: str, **more: Any) -> dict[str, Any]:
        answer = await self.request("POST", self.items_path, {"responder_channel_identifier": address, **more})
        assert 201 == answer.status_code, answer.text
        return answer.json()

    async def sent(self, item_id: str) -> dict[str, Any]:
        """The item, once it is Sent."""

        async def item_if_sent() -> dict[str, Any] | None:
            item = await self.get(f"/q/queue/item/{item_id}")
            return item if item["status_id"] == SENT else None

        item = await until(item_if_sent, seconds=20, what=f"{item_id} is sent")
        assert item is not None
        return item


async def seed(**settings: object) -> Client:
    """`afterword seed` with these settings."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "afterword", "seed", "--json"),
        cwd=ROOT,
        env=environment(**settings),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert 0 == process.returncode
    return client_of(output)


def client_of(printed: str | bytes) -> Client:
    document: dict[str, Any] = json.loads(printed)
    return Client(**{name: document[name] for name in Client.__dataclass_fields__ if name in document})
