"""Notes by the API of the slice in conftest.py: made, counted, and the problem documents of what is refused."""

from typing import Any

import httpx2

from afterword.kit import db
from tests.kit.web.conftest import House

UNKNOWN = "0" * 22


def problem(response: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    found: dict[str, Any] = response.json()
    assert (status, code) == (response.status_code, found["code"]), response.text
    assert "application/problem+json" == response.headers["content-type"]
    assert "no-store" == response.headers["cache-control"]
    assert status == found["status"]
    assert found["detail"] == found["message"] == found["error"]
    assert found["detail"]
    assert found["type"].endswith(f"/problems/{code}")
    assert response.headers["x-request-id"] == found["request_id"]
    assert f"urn:afterword:request:{found['request_id']}" == found["instance"]
    return found


def fields_of(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(error.get("pointer", error.get("parameter")), error["code"]) for error in found["errors"]]


async def create(client: httpx2.AsyncClient, title: str = "one", **more: Any) -> dict[str, Any]:
    response = await client.post("/note", json={"title": title, **more})
    assert 201 == response.status_code, response.text
    found: dict[str, Any] = response.json()
    return found


async def count(house: House) -> int:
    async with db.connection(house.pool) as database:
        return await database.fetch_value("select count(*) from note")
