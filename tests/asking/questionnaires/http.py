"""The API as one organization's client calls it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import httpx2

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from tests.conftest import House
from tests.making import make_application, make_token

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass
class Api:
    """Asks as the house's token unless another is given; headers are keyword arguments."""

    client: httpx2.AsyncClient
    pool: db.Pool
    house: House

    async def ask(
        self, method: str, path: str, body: object = None, *, token: str | None = None, **headers: str
    ) -> httpx2.Response:
        headers["Authorization"] = f"Bearer {token or self.house.token}"
        options: dict[str, Any] = {} if body is None else {"json": body}
        return await self.client.request(method, f"/v3.2{path}", headers=headers, **options)

    async def get(self, path: str, **options: Any) -> httpx2.Response:
        return await self.ask("GET", path, **options)

    async def post(self, path: str, body: object = None, **options: Any) -> httpx2.Response:
        return await self.ask("POST", path, {} if body is None else body, **options)

    async def put(self, path: str, body: object, **options: Any) -> httpx2.Response:
        return await self.ask("PUT", path, body, **options)

    async def patch(self, path: str, body: object, **options: Any) -> httpx2.Response:
        return await self.ask("PATCH", path, body, **options)

    async def delete(self, path: str, **options: Any) -> httpx2.Response:
        return await self.ask("DELETE", path, **options)

    @staticmethod
    def wrong(response: httpx2.Response) -> list[tuple[str, str]]:
        """The places of a 422 with their codes."""
        assert 422 == response.status_code, response.text
        return [(one["pointer"], one["code"]) for one in response.json()["errors"]]

    async def application(self, name: str = "Another shop") -> str:
        """One more application of the house."""
        return await make_application(self.pool, self.house.organization_id, name)

    async def token(
        self, *, scopes: Collection[str] = SCOPES, application_ids: Collection[str] = (), test: bool = False
    ) -> str:
        return await make_token(
            self.pool, self.house.organization_id, scopes=scopes, application_ids=list(application_ids), test=test
        )

    async def events(self, subject_id: str) -> list[tuple[str, str]]:
        """Types and actors of the events of a subject."""
        async with db.connection(self.pool) as database:
            rows = await database.fetch(
                "select type, actor_id from event where organization_id = $1 and subject_id = $2 order by seq",
                self.house.organization_id,
                subject_id,
            )
        return [(row["type"], row["actor_id"]) for row in rows]

    async def start(self, path: str) -> str:
        """Start on a public link as a browser does, choosing the last of each scale; the instance that it made."""
        page = await self.client.get(path)
        assert 200 == page.status_code, page.text
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
        assert fields, page.text
        fields |= dict(re.findall(r'<input type="radio" name="([^"]+)" value="(\d+)"', page.text))
        sent = await self.client.post(path, data={**fields, "go": "next"}, headers=FORM)
        found = re.search(r"/a/([0-9A-Za-z]{22})", sent.headers.get("Location", "") + sent.text)
        assert found is not None, sent.text
        return found[1]


def definition(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    asked = questions or ({"type": "nps", "title": "Would you recommend us?", "required": True},)
    return {"default_locale": "en", "locales": ["en"], "groups": [{"questions": list(asked)}], **more}


async def made(api: Api, **more: Any) -> str:
    body = {"owner_application_id": api.house.application_id, "display_name": "Mine", **more}
    response = await api.post("/q/questionnaire", body)
    assert 201 == response.status_code, response.text
    return response.json()["questionnaire_id"]


async def published(api: Api, document: dict[str, Any] | None = None, **more: Any) -> tuple[str, dict[str, Any]]:
    """A new questionnaire with one version, and that version."""
    questionnaire_id = await made(api, **more)
    saved = await api.put(f"/q/questionnaire/{questionnaire_id}/draft", document or definition())
    assert [] == [one for one in saved.json()["problems"] if one["severity"] == "error"], saved.text
    version = await api.post(f"/q/questionnaire/{questionnaire_id}/version")
    assert 201 == version.status_code, version.text
    return questionnaire_id, version.json()


def only(document: dict[str, Any]) -> dict[str, Any]:
    """The first question of a definition."""
    return document["groups"][0]["questions"][0]
