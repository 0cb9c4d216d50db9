"""DNS of sender domains over HTTP, against a name server of this process."""

from typing import Any

import httpx2
import pytest

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.transport import http as resolver
from tests.conftest import SITE
from tests.kit.transport.name_server import name_server
from tests.run.test_app import client_of
from tests.sending.providers.test_api import NEW, SMTP, add
from tests.sending.queue.conftest import Client, Queue

SENDGRID = {**SMTP, "host": "smtp.sendgrid.net"}
TEXTS = {
    "shop.example": ["v=spf1 include:_spf.shop.example -all"],
    "_spf.shop.example": ["v=spf1 include:sendgrid.net ?all"],
    "s1._domainkey.shop.example": [f"v=DKIM1; k=rsa; p={'A' * 392}"],
    "_dmarc.shop.example": ["v=DMARC1; p=none"],
}


async def sends_from(queue: Queue, *domains: str) -> None:
    for domain in domains:
        await queue.execute(
            "insert into organization_sender_domain (organization_id, domain) values ($1, $2)",
            *(queue.house.organization_id, domain),
        )


async def checked(queue: Queue, port: int, query: str = "", **body: Any) -> httpx2.Response:
    site = Site(SITE.public_url, SITE.secret, name_servers=(("127.0.0.1", port),))
    async with client_of(queue.pool, site=site) as http:
        http.base_url = httpx2.URL(f"{SITE.public_url}/v3.2")
        client = Client(http, queue)
        account = await add(client, **body)
        return await client.send("GET", f"/provider/{account['account_id']}/dns{query}")


async def test_refusals(http: httpx2.AsyncClient, queue: Queue) -> None:
    client = Client(http, queue)
    path = f"/provider/{(await add(client))['account_id']}/dns"
    wrong = await client.send("GET", f"{path}?selector=a%20b")
    assert (422, "selector") == (wrong.status_code, wrong.json()["errors"][0]["parameter"])


async def test_findings(queue: Queue) -> None:
    await sends_from(queue, "shop.example", "survey@new.example")
    async with name_server(TEXTS) as server:
        response = await checked(queue, server.port, settings=SENDGRID)
    domains = {one["domain"]: {each["kind"]: each for each in one["findings"]} for one in response.json()["domains"]}
    shop, new = domains["shop.example"], domains["new.example"]
    assert {"spf": "good", "dkim": "good", "dmarc": "weak"} == {kind: one["state"] for kind, one in shop.items()}
    assert "v=DMARC1; p=quarantine" == shop["dmarc"]["record"]
    assert {"spf": "no_domain", "dkim": "dkim_missing", "dmarc": "dmarc_missing"} == {
        kind: one["code"] for kind, one in new.items()
    }


async def test_a_selector_and_an_endless_record(queue: Queue) -> None:
    """Includes that include each other are asked for once, and no more than receivers would ask for."""
    await sends_from(queue, "shop.example")
    chain = {f"{n}.example": [f"v=spf1 include:{n + 1}.example include:0.example -all"] for n in range(20)}
    texts = {**chain, "shop.example": ["v=spf1 include:0.example -all"], "own._domainkey.shop.example": ["p="]}
    async with name_server(texts) as server:
        response = await checked(queue, server.port, "?selector=own")
    [found] = response.json()["domains"]
    assert ["spf_too_long", "dkim_revoked", "dmarc_missing"] == [one["code"] for one in found["findings"]]
    assert len(server.asked) < 20


async def test_without_name_servers(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "ANSWER_SECONDS", 0.1)
    await sends_from(queue, "shop.example")
    async with name_server({}, "shop.example", "_dmarc.shop.example") as server:
        response = await checked(queue, server.port)
    [found] = response.json()["domains"]
    assert (200, "unknown", "unknown") == (
        response.status_code, found["findings"][0]["state"], found["findings"][2]["state"],
    )  # fmt: skip


async def test_another_channel(queue: Queue) -> None:
    await sends_from(queue, "shop.example")
    body = {**NEW, "kind": "webhook", "settings": {"secrets": ["whsec_" + "A" * 43 + "="]}}
    assert [] == (await checked(queue, 9, **body)).json()["domains"]
    async with db.connection(queue.pool) as database:
        assert 1 == await database.fetch_value("select count(*) from channel_account where kind = 'webhook'")
