"""Adding and changing a sending account: what was typed stays, secrets never come back."""

import re
from html import unescape

import pytest

from afterword.kit import db
from afterword.sending.providers import service
from afterword.sending.screens import provider_forms
from afterword.sending.screens.providers import PROVIDERS
from tests.tenants.logins.conftest import SITE, Office, browser_of, log_in

NEW = {
    "kind": "smtp", "title": "Our relay", "host": "smtp.shop.example", "security": "tls", "port": "",
    "username": "ann", "password": "hunter2hunter2", "rate_ceiling": "2,5",
}  # fmt: skip


async def test_password_is_asked_again(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        async with db.transaction(office.pool) as database:
            await database.execute("update login_session set proven_time = proven_time - interval '16 minutes'")
        asked = [await client.get(f"{PROVIDERS}/new"), await client.post(f"{PROVIDERS}/new", data=NEW)]
        assert all(one.headers["location"].startswith("/console/proof") for one in asked)


async def test_mistakes_keep_what_was_typed(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        for wrong, field in (
            ({"title": ""}, "title"), ({"host": ""}, "host"), ({"port": "many"}, "port"),
            ({"rate_ceiling": "0"}, "rate_ceiling"), ({"rate_ceiling": "fast"}, "rate_ceiling"),
            ({"host": "10.0.0.1"}, "settings"), ({"security": "none"}, "settings"),
            ({"kind": "sms_http", "description": "a ="}, "description"),
            ({"kind": "sms_http", "description": "[]"}, "description"),
            ({"kind": "sms_http", "description": "a" + ".a" * (provider_forms.DOTS_MAX + 1) + " = 1"}, "description"),
        ):  # fmt: skip
            page = await client.post(f"{PROVIDERS}/new", data={**NEW, **wrong})
            assert (422, True) == (page.status_code, f'href="#{field}"' in page.text), wrong
            assert "hunter2" not in page.text
            assert 'value="Our relay"' in page.text or wrong == {"title": ""}


@pytest.mark.parametrize("kind", provider_forms.FIELDS)
async def test_each_kind_has_a_form(office: Office, kind: str) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        page = await client.get(f"{PROVIDERS}/new?kind={kind}")
        assert all(f'name="{field.name}"' in page.text for field in provider_forms.FIELDS[kind])


async def test_webhook(office: Office) -> None:
    """Its secret is made here and shown once; a new one signs beside that of before; other kinds have none."""
    async with browser_of(office.pool) as client:
        await log_in(client)
        made = await client.post(
            f"{PROVIDERS}/new", data={"kind": "webhook", "title": "Our sender", "rate_ceiling": ""}
        )
        path = re.search(rf'href="({PROVIDERS}/\w{{22}})', unescape(made.text))
        assert path is not None
        shown = [
            made.text,
            (await client.post(f"{path[1]}/secret")).text,
            (await client.post(f"{path[1]}/secret")).text,
        ]
        found = [re.findall(r'value="(whsec_[^"]+)"', unescape(text)) for text in shown]
        assert [1, 1, 1] == [len(one) for one in found]
        for below in ("", "/edit", "/secret"):
            page = await client.get(path[1] + below)
            assert (200, False) == (page.status_code, "whsec_" in page.text)
        async with db.connection(office.pool) as database:
            account = await service.find_account(database, account_id=path[1].rpartition("/")[2])
        assert [found[2][0], found[1][0]] == service.settings_of(account, site=SITE)["secrets"]
        smtp = (await client.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
        assert [404, 404] == [
            (await client.get(f"{smtp}/secret")).status_code,
            (await client.post(f"{smtp}/secret")).status_code,
        ]


async def test_added_and_changed(office: Office) -> None:
    """A change without the password keeps it; another server asks for it; nobody overwrites another."""
    async with browser_of(office.pool) as client:
        await log_in(client)
        made = await client.post(f"{PROVIDERS}/new", data=NEW)
        path = made.headers["location"].partition("?")[0]
        page = (await client.get(f"{path}/edit")).text
        version = re.search(r'name="version" value="(\d+)"', page)
        assert version is not None
        assert ("hunter2" not in page, 'value="2.5"' in page) == (True, True)
        changed = {**NEW, "title": "Relay", "password": "", "version": version[1]}
        assert 422 == (await client.post(f"{path}/edit", data={**changed, "host": "smtp.eve.example"})).status_code
        assert f"{path}?done=saved" == (await client.post(f"{path}/edit", data=changed)).headers["location"]
        stale = await client.post(f"{path}/edit", data={**changed, "title": "Mine"})
        assert (412, True) == (stale.status_code, 'value="Mine"' in stale.text)
        shown = (await client.get(path)).text
        assert ("Relay" in shown, "hunter2" in shown) == (True, False)
