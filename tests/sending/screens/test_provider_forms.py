"""Adding and changing a sending account: typed values stay, secrets never come back; its DNS and its reports."""

import html
import re
from html import unescape

import httpx2
import pytest

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.sending.providers import service
from afterword.sending.screens import provider_forms
from afterword.sending.screens.providers import PROVIDERS
from tests.kit.transport.name_server import name_server
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import OWN, SITE, Office, log_in

NEW = {
    "kind": "smtp", "title": "Our relay", "host": "smtp.shop.example", "security": "tls", "port": "",
    "username": "ann", "password": "hunter2hunter2", "rate_ceiling": "2,5",
}  # fmt: skip


async def test_password_is_asked_again(office: Office, owner: httpx2.AsyncClient) -> None:
    async with db.transaction(office.pool) as database:
        await database.execute("update login_session set proven_time = proven_time - interval '16 minutes'")
    assert (await owner.get(f"{PROVIDERS}/new")).headers["location"].startswith("/console/proof")
    asked = await owner.post(f"{PROVIDERS}/new", data=NEW)
    assert (401, True) == (asked.status_code, "/console/proof?next=" in html.unescape(asked.text))


async def test_mistakes_keep_what_was_typed(office: Office, owner: httpx2.AsyncClient) -> None:
    for wrong, field in (
        ({"title": ""}, "title"), ({"host": ""}, "host"), ({"port": "many"}, "port"),
        ({"rate_ceiling": "0"}, "rate_ceiling"), ({"rate_ceiling": "fast"}, "rate_ceiling"),
        ({"host": "10.0.0.1"}, "host"), ({"security": "none"}, "security"), ({"port": "99999"}, "port"),
        ({"kind": "sms_http", "description": "a ="}, "description"),
        ({"kind": "sms_http", "description": "[]"}, "description"),
        ({"kind": "sms_http", "description": 'url = "https://x.example"'}, "description"),
        ({"kind": "sms_http", "description": "a" + ".a" * (provider_forms.DOTS_MAX + 1) + " = 1"}, "description"),
    ):  # fmt: skip
        page = await owner.post(f"{PROVIDERS}/new", data={**NEW, **wrong})
        assert (422, True) == (page.status_code, f'href="#{field}"' in page.text), wrong
        assert "hunter2" not in page.text
        assert 'value="Our relay"' in page.text or wrong == {"title": ""}


@pytest.mark.parametrize("kind", provider_forms.FIELDS)
async def test_each_kind_has_a_form(office: Office, kind: str, owner: httpx2.AsyncClient) -> None:
    page = await owner.get(f"{PROVIDERS}/new?kind={kind}")
    assert all(f'name="{field.name}"' in page.text for field in provider_forms.FIELDS[kind])


async def test_webhook(office: Office, owner: httpx2.AsyncClient) -> None:
    """Its secret is made here and shown once; a new one signs beside that of before; other kinds have none."""
    made = await owner.post(f"{PROVIDERS}/new", data={"kind": "webhook", "title": "Our sender", "rate_ceiling": ""})
    path = re.search(rf'href="({PROVIDERS}/\w{{22}})', unescape(made.text))
    assert path is not None
    shown = [
        made.text,
        (await owner.post(f"{path[1]}/secret")).text,
        (await owner.post(f"{path[1]}/secret")).text,
    ]
    found = [re.findall(r'value="(whsec_[^"]+)"', unescape(text)) for text in shown]
    assert [1, 1, 1] == [len(one) for one in found]
    for below in ("", "/edit", "/secret"):
        page = await owner.get(path[1] + below)
        assert (200, False) == (page.status_code, "whsec_" in page.text)
    async with db.connection(office.pool) as database:
        account = await service.get_account(database, account_id=path[1].rpartition("/")[2])
    assert [found[2][0], found[1][0]] == service.settings_of(account, site=SITE)["secrets"]
    smtp = (await owner.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
    assert [404, 404] == [
        (await owner.get(f"{smtp}/secret")).status_code,
        (await owner.post(f"{smtp}/secret")).status_code,
    ]


async def test_added_and_changed(office: Office, owner: httpx2.AsyncClient) -> None:
    """A change without the password keeps it; another server asks for it; nobody overwrites another."""
    made = await owner.post(f"{PROVIDERS}/new", data=NEW)
    path = made.headers["location"].partition("?")[0]
    page = (await owner.get(f"{path}/edit")).text
    version = re.search(r'name="version" value="(\d+)"', page)
    assert version is not None
    assert ("hunter2" not in page, 'value="2.5"' in page) == (True, True)
    changed = {**NEW, "title": "Relay", "password": "", "version": version[1]}
    assert 422 == (await owner.post(f"{path}/edit", data={**changed, "host": "smtp.eve.example"})).status_code
    assert f"{path}?done=saved" == (await owner.post(f"{path}/edit", data=changed)).headers["location"]
    stale = await owner.post(f"{path}/edit", data={**changed, "title": "Mine"})
    assert (412, True) == (stale.status_code, 'value="Mine"' in stale.text)
    shown = (await owner.get(path)).text
    assert ("Relay" in shown, "hunter2" in shown) == (True, False)


async def test_records(office: Office) -> None:
    async with db.transaction(office.pool) as database:
        await database.execute(
            "insert into organization_sender_domain (organization_id, domain) values ($1, 'shop.example')",
            office.organization_id,
        )
    async with name_server({"shop.example": ["v=spf1 <b> +all"]}) as server:
        site = Site(SITE.public_url, SITE.secret, name_servers=(("127.0.0.1", server.port),))
        async with client_of(office.pool, site=site) as client:
            client.headers.update(OWN)
            await log_in(client)
            path = (await client.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
            page = await client.get(f"{path}/dns?selector=own", headers={"Accept-Language": "el"})
            wrong = await client.get(f"{path}/dns?selector=a+b")
    assert ("v=spf1 &lt;b&gt; ~all" in page.text, "own" in page.text) == (True, True)
    assert (422, True) == (wrong.status_code, 'value="a b"' in wrong.text)


async def test_an_address_for_reports(office: Office, owner: httpx2.AsyncClient) -> None:
    """Its key is shown this once."""
    path = (await owner.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
    assert 422 == (await owner.post(f"{path}/inbound", data={"adapter": "sns", "topic": "x"})).status_code
    assert 422 == (await owner.post(f"{path}/inbound", data={"adapter": "provider"})).status_code
    made = await owner.post(f"{path}/inbound", data={"adapter": "standard"})
    assert (200, "no-store") == (made.status_code, made.headers["cache-control"])
    assert "whsec_" in made.text
    assert 409 == (await owner.post(f"{path}/inbound", data={"adapter": "standard"})).status_code
    page = (await owner.get(path)).text
    assert "whsec_" not in page
    closing = re.search(r"inbound(?:/|&#x2f;)([0-9A-Za-z]+)(?:/|&#x2f;)closing", page)
    assert closing is not None
    address = f"{path}/inbound/{closing[1]}/closing"
    assert closing[1] in (await owner.get(address)).text
    assert f"{path}?done=removed" == (await owner.post(address)).headers["location"]
    assert "No address is open" in (await owner.get(path)).text
