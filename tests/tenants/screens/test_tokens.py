"""Tokens in the console: shown once, for people who gave their password lately, and ended at once."""

import re
import time
from datetime import timedelta
from typing import Any

import httpx2

from afterword.kit import db
from afterword.tenants.screens.tokens import TOKENS
from tests.asking.screens.test_builder import text_of
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import SITE, Browser, Office, browser_of, log_in

NEW = {"title": "Shop", "kind": "organization", "end": "90", "scope": ["Queue.Create", "Application.Read"]}


async def test_password_is_asked_again(office: Office, browser: Browser) -> None:
    async with db.transaction(office.pool) as database:
        await database.execute("update login_session set proven_time = proven_time - interval '16 minutes'")
    asked = [await browser.get(f"{TOKENS}/new"), await browser.post(TOKENS, data=NEW)]
    assert [303, 401] == [one.status_code for one in asked]
    assert asked[0].headers["location"].startswith("/console/proof")
    assert "Repeat your password" in asked[1].text


async def test_mistakes_keep_what_was_typed(browser: Browser) -> None:
    mistakes: list[dict[str, Any]] = [{"title": ""}, {"scope": []}, {"scope": ["Queue.Fly"]}]
    for wrong in (*mistakes, {"application": ["0" * 22]}, {"networks": "203.0.113.0/24\noffice"}):
        page = await browser.post(TOKENS, data={**NEW, **wrong})
        assert 422 == page.status_code, wrong
        assert 'value="90" selected' in page.text


async def test_limit(browser: Browser) -> None:
    refused = await browser.post(TOKENS, data={**NEW, "only_where": "store_id", "only_values": ""})
    assert 422 == refused.status_code
    assert "Give at least one value." in refused.text
    made = await browser.post(TOKENS, data={**NEW, "only_where": "store_id", "only_values": "Station\n"})
    assert 200 == made.status_code
    link = re.search(r"tokens(?:/|&#x2f;)([0-9A-Za-z]{22})", (await browser.get(TOKENS)).text)
    assert link is not None
    page = (await browser.get(f"{TOKENS}/{link[1]}")).text
    assert (True, False) == ("Station" in page, "store_id" in page)


async def test_made_used_and_ended(office: Office, browser: Browser) -> None:
    async with client_of(office.pool, site=SITE) as api:
        made = await browser.post(TOKENS, data=NEW)
        assert (200, "no-store") == (made.status_code, made.headers["cache-control"])
        text = re.search(r"afw_\w{16}_\w{38}", made.text)
        assert text is not None
        headers = {"Authorization": f"Bearer {text[0]}"}
        path = f"/v3.2/application/{office.application_id}"
        assert 200 == (await api.get(path, headers=headers)).status_code
        listed = await browser.get(TOKENS)
        assert text[0] not in listed.text
        link = re.search(r"tokens(?:/|&#x2f;)([0-9A-Za-z]{22})", listed.text)
        assert link is not None
        page = await browser.get(f"{TOKENS}/{link[1]}/end")
        assert "Shop" in page.text
        ended = await browser.post(f"{TOKENS}/{link[1]}/end")
        assert f"{TOKENS}?done=token_ended" == ended.headers["location"]
    async with db.connection(office.pool) as database:
        rows = await database.fetch("select action from audit_entry where thing_kind = 'token' order by created_time")
        assert ["created", "deleted"] == [row["action"] for row in rows]


async def test_networks(office: Office, browser: Browser) -> None:
    async with client_of(office.pool, site=SITE) as api:
        made = text_of(await browser.post(TOKENS, data={**NEW, "networks": "192.0.2.0/24\r\n2001:db8::/48"}))
        here = await link_of(browser)
        assert "192.0.2.0/24, 2001:db8::/48" in text_of(await browser.get(here))
        assert 200 == await status_of(office, api, made)
        form = text_of(await browser.get(f"{here}/edit"))
        version = re.search(r'name="version" value="(\d+)"', form)
        assert version is not None
        changed = {"title": "Shop", "networks": "203.0.113.0/24", "version": version[1]}
        wrong = await browser.post(f"{here}/edit", data={**changed, "networks": "office"})
        assert (422, True) == (wrong.status_code, "A network or an address is expected" in text_of(wrong))
        assert 303 == (await browser.post(f"{here}/edit", data=changed)).status_code
        assert 412 == (await browser.post(f"{here}/edit", data=changed)).status_code
        assert 403 == await status_of(office, api, made)


async def test_rotated(office: Office, browser: Browser) -> None:
    """The new text is shown once, the old one works for its hours, and may be ended at once."""
    async with client_of(office.pool, site=SITE) as api:
        old = text_of(await browser.post(TOKENS, data=NEW))
        here = await link_of(browser)
        assert f"{here}/rotation" in text_of(await browser.get(here))
        assert "for three days" in text_of(await browser.get(f"{here}/rotation"))
        rotated = await browser.post(f"{here}/rotation", data={"overlap_hours": "72"})
        new = text_of(rotated)
        assert (200, "no-store") == (rotated.status_code, rotated.headers["cache-control"])
        assert "The old token works until" in new
        assert f'href="{here}/end"' in new
        assert [200, 200] == [await status_of(office, api, text) for text in (old, new)]
        assert "Replaced; works until" in text_of(await browser.get(here))
        await browser.post(f"{here}/end")
        assert [401, 200] == [await status_of(office, api, text) for text in (old, new)]
        assert f"{here}/rotation" not in text_of(await browser.get(here))
        assert 409 == (await browser.post(f"{here}/rotation")).status_code


async def test_rotated_without_overlap(office: Office, browser: Browser) -> None:
    async with client_of(office.pool, site=SITE) as api:
        old = text_of(await browser.post(TOKENS, data=NEW))
        new = text_of(await browser.post(f"{await link_of(browser)}/rotation", data={"overlap_hours": "0"}))
        assert "The old token has been revoked." in new
        assert [401, 200] == [await status_of(office, api, text) for text in (old, new)]


async def test_list_says_whose_each_is(office: Office, browser: Browser) -> None:
    await office.add_user("ben@kalamata.example", role="admin")
    async with browser_of(office.pool) as bens:
        await log_in(bens, email="ben@kalamata.example")
        await bens.post(TOKENS, data={**NEW, "kind": "user"})
        assert "ben@kalamata.example" in text_of(await browser.get(TOKENS))
        async with db.transaction(office.pool) as database:
            await database.execute("update organization_user set display_name = 'Ben Berg' where role = 'admin'")
        assert "Ben Berg" in text_of(await browser.get(TOKENS))
        here = await link_of(browser)
        assert "You: it" not in (page := text_of(await browser.get(here)))
        assert "Ben Berg" in page
        assert "You: it" in text_of(await bens.get(here))
        await browser.post(f"{here}/end")
        await browser.post(TOKENS, data=NEW)
        assert "the organization" in text_of(await browser.get(TOKENS))


async def link_of(client: httpx2.AsyncClient) -> str:
    """The address of the only token."""
    [path] = set(re.findall(rf'href="({TOKENS}/[0-9A-Za-z]{{22}})"', text_of(await client.get(TOKENS))))
    return path


async def status_of(office: Office, api: httpx2.AsyncClient, page: str) -> int:
    """The API's answer to the token that stands on a page; no process has it in memory."""
    text = re.search(r"afw_\w{16}_\w{38}", page)
    assert text is not None
    async with db.connection(office.pool) as database:
        clock = database.clock
    clock.set(clock.now() + timedelta(seconds=1), monotonic=time.monotonic())
    headers = {"Authorization": f"Bearer {text[0]}"}
    return (await api.get(f"/v3.2/application/{office.application_id}", headers=headers)).status_code


async def test_unused_is_told(office: Office, browser: Browser) -> None:
    await browser.post(TOKENS, data=NEW)
    for days, is_told in ((89, False), (91, True)):
        async with db.transaction(office.pool) as database:
            await database.execute(
                "update token set created_time = now() - make_interval(days => $1), expires_time = null", days
            )
        for page in (TOKENS, await link_of(browser)):
            assert is_told == ("unused for 90 days" in (await browser.get(page)).text)
    async with db.transaction(office.pool) as database:
        await database.execute("update token set last_used_time = now()")
    assert "unused for 90 days" not in (await browser.get(TOKENS)).text
