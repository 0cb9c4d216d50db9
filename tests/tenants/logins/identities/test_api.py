"""The identity provider by the API: owners alone; a member that is left out, and one that is null."""

import pytest

from tests.tenants.organizations.conftest import (
    Desk,
    desk as desk,  # noqa: PLC0414  a fixture
)

DOCUMENT = {"issuer": "https://login.shop.example", "client_id": "afterword"}


@pytest.fixture
def path(desk: Desk) -> str:
    return f"/organization/{desk.house.organization_id}/identity"


async def test_admin(desk: Desk, path: str) -> None:
    _, token = await desk.person("admin")
    assert 403 == (await desk.ask("PUT", path, token, json=DOCUMENT)).status_code


async def test_secret(desk: Desk, path: str) -> None:
    """Null makes a public client of one with a secret; what is left out stays."""
    _, token = await desk.person("owner")
    assert 422 == (await desk.ask("PUT", path, token, json={**DOCUMENT, "client_secret": ""})).status_code
    for change, status, has_secret in (
        ({"client_secret": "between us"}, 201, True),
        ({}, 200, True),
        ({"client_secret": None}, 200, False),
        ({}, 200, False),
    ):
        reply = await desk.ask("PUT", path, token, json={**DOCUMENT, **change})
        assert (status, has_secret) == (reply.status_code, reply.json().get("has_client_secret")), reply.text
