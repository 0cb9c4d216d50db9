"""Tokens in the console: shown once, for people who gave their password lately, and ended at once."""

import re

from afterword import db
from afterword.console.settings.tokens import TOKENS
from tests.logins.conftest import SITE, Office, browser_of, found, log_in
from tests.test_app import client_of

NEW = {"title": "Shop", "kind": "organization", "end": "90", "scope": ["Queue.Create", "Application.Read"]}


async def test_password_is_asked_again(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        async with db.transaction(office.pool) as database:
            await database.execute("update login_session set proven_time = proven_time - interval '16 minutes'")
        asked = [await client.get(f"{TOKENS}/new"), await client.post(TOKENS, data=NEW)]
        assert [303, 303] == [one.status_code for one in asked]
        assert all(one.headers["location"].startswith("/console/proof") for one in asked)


async def test_mistakes_keep_what_was_typed(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        for wrong in ({"title": ""}, {"scope": []}, {"scope": ["Queue.Fly"]}, {"application": ["0" * 22]}):
            page = await client.post(TOKENS, data={**NEW, **wrong})
            assert 422 == page.status_code, wrong
            assert 'value="90" selected' in page.text


async def test_other_organization(office: Office) -> None:
    other = await found(office.pool, domain="patras", email="pan@patras.example")
    async with browser_of(office.pool) as owner, browser_of(office.pool) as stranger:
        await log_in(owner)
        await log_in(stranger, email="pan@patras.example")
        await owner.post(TOKENS, data=NEW)
        page = await owner.get(TOKENS)
        link = re.search(r"tokens(?:/|&#x2f;)([0-9A-Za-z]{22})", page.text)
        assert link is not None
        assert other.organization_id != office.organization_id
        assert 404 == (await stranger.get(f"{TOKENS}/{link[1]}")).status_code
        assert 404 == (await stranger.post(f"{TOKENS}/{link[1]}/end")).status_code


async def test_made_used_and_ended(office: Office) -> None:
    async with browser_of(office.pool) as client, client_of(office.pool, site=SITE) as api:
        await log_in(client)
        made = await client.post(TOKENS, data=NEW)
        assert (200, "no-store") == (made.status_code, made.headers["cache-control"])
        text = re.search(r"afw_\w{16}_\w{38}", made.text)
        assert text is not None
        headers = {"Authorization": f"Bearer {text[0]}"}
        path = f"/v3.2/application/{office.application_id}"
        assert 200 == (await api.get(path, headers=headers)).status_code
        listed = await client.get(TOKENS)
        assert text[0] not in listed.text
        link = re.search(r"tokens(?:/|&#x2f;)([0-9A-Za-z]{22})", listed.text)
        assert link is not None
        page = await client.get(f"{TOKENS}/{link[1]}/end")
        assert "Shop" in page.text
        ended = await client.post(f"{TOKENS}/{link[1]}/end")
        assert f"{TOKENS}?done=token_ended" == ended.headers["location"]
    async with db.connection(office.pool) as database:
        rows = await database.fetch("select action from audit_entry where thing_kind = 'token' order by created_time")
        assert ["created", "deleted"] == [row["action"] for row in rows]


async def test_unused_is_told(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        await client.post(TOKENS, data=NEW)
        for days, is_told in ((89, False), (91, True)):
            async with db.transaction(office.pool) as database:
                await database.execute(
                    "update token set created_time = now() - make_interval(days => $1), expires_time = null", days
                )
            assert is_told == ("unused for 90 days" in (await client.get(TOKENS)).text)
        async with db.transaction(office.pool) as database:
            await database.execute("update token set last_used_time = now()")
        assert "unused for 90 days" not in (await client.get(TOKENS)).text
