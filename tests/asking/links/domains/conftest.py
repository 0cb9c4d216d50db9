"""Two organizations, a name server of this process, and the application behind a real port."""

import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any

import httpx2
import pytest

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.transport import http as calls
from afterword.run.app import create_app
from afterword.tenants.organizations import service as accounts
from tests.asking.instances.conftest import NOW, SECRET, Shop, World, add_questionnaire
from tests.browser.conftest import served
from tests.kit.transport.name_server import name_server

HOST = "ask.shop.example"


@dataclass
class Place:
    """Two organizations on one installation; `records` are those of DNS."""

    shop: Shop
    other: Shop
    site: Site
    app: Any
    port: int
    records: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def path(self, shop: Shop) -> str:
        return f"/organization/{shop.world.caller.organization_id}/domain"

    async def claimed(self, shop: Shop, host: str = HOST) -> dict[str, Any]:
        response = await shop.send("PUT", self.path(shop), json={"host": host})
        assert response.status_code in {200, 201}, response.text
        return response.json()

    def publish(self, domain: dict[str, Any]) -> None:
        self.records.setdefault(domain["record_name"], []).append(domain["record_value"])

    async def checked(self, shop: Shop) -> dict[str, Any]:
        response = await shop.send("POST", f"{self.path(shop)}/check")
        assert 200 == response.status_code, response.text
        return response.json()

    async def active(self, shop: Shop, host: str = HOST) -> dict[str, Any]:
        """The domain of the organization, proven and reached over the port."""
        self.publish(await self.claimed(shop, host))
        async with self.open():
            found = await self.checked(shop)
        assert "active" == found["state"]
        return found

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        with socket.create_server(("127.0.0.1", self.port)) as listener:
            async with served(self.app, listener):
                yield

    async def at(self, host: str, path: str, method: str = "GET", **options: Any) -> httpx2.Response:
        headers = {"Host": host, **options.pop("headers", {})}
        return await self.shop.http.request(method, path, headers=headers, **options)


@pytest.fixture
async def place(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    """Each name leads to this machine, where nobody listens until a test opens the port."""
    monkeypatch.setattr(
        calls, "_look_up", lambda _, port: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
    )
    records: dict[str, list[str]] = {}
    async with name_server(records) as server:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        site = Site(
            f"http://answers.example:{port}",
            SECRET,
            networks=(ip_network("127.0.0.0/8"),),
            name_servers=(("127.0.0.1", server.port),),
        )
        app: Any = create_app(pool=world.pool, site=site)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=site.public_url) as http:
            shop = await Shop(world, http, None).with_token()
            yield Place(shop, await _other(shop), site, app, port, records)


async def _other(shop: Shop) -> Shop:
    """Another organization with a questionnaire of its own."""
    stranger = await shop.of_another_organization()
    async with db.transaction(shop.world.pool) as database:
        organization_id = await database.fetch_value("select organization_id from organization where domain = 'other'")
        application = await accounts.create_application(
            database, organization_id=organization_id, display_name="Other", now=NOW
        )
        questionnaire_id, _ = await add_questionnaire(database, organization_id, application.application_id)
    caller = replace(shop.world.caller, organization_id=organization_id)
    return replace(stranger, world=replace(shop.world, caller=caller, questionnaire_id=questionnaire_id))
