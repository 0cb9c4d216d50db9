"""Service accounts in the console: made, given a token, suspended, their tokens rotated, and removed."""

import re

import httpx2

from afterword.kit import db
from afterword.tenants.screens.members import PEOPLE, SERVICES
from afterword.tenants.screens.tokens import TOKENS
from tests.asking.screens.test_builder import text_of
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import SITE, Browser, Office, browser_of, found, log_in
from tests.tenants.screens.test_tokens import link_of, status_of

ACCOUNT = {"display_name": "Nightly export", "role": "admin"}
TOKEN = {"title": "Warehouse", "end": "365", "scope": ["Application.Read"]}


async def made(client: httpx2.AsyncClient) -> str:
    """The id of a new account."""
    answer = await client.post(SERVICES, data=ACCOUNT)
    return answer.headers["location"].removeprefix(f"{PEOPLE}/").removesuffix("?done=saved")


async def test_refused(office: Office, browser: Browser) -> None:
    await office.add_user("ben@kalamata.example")
    async with browser_of(office.pool) as bens:
        await log_in(bens, email="ben@kalamata.example")
        assert 403 == (await bens.post(SERVICES, data=ACCOUNT)).status_code
        for wrong in ({"display_name": " "}, {"role": "owner"}):
            assert 422 == (await browser.post(SERVICES, data={**ACCOUNT, **wrong})).status_code
        page = text_of(await browser.get(f"{SERVICES}/new"))
        assert "cannot log in" in page
        assert 'value="owner"' not in page
        user_id = await made(browser)
        assert 403 == (await browser.post(f"{PEOPLE}/{user_id}/invitation")).status_code


async def test_other_organization(office: Office, browser: Browser) -> None:
    await found(office.pool, domain="patras", email="pan@patras.example")
    async with browser_of(office.pool) as stranger:
        await log_in(stranger, email="pan@patras.example")
        user_id = await made(browser)
        assert 422 == (await stranger.post(TOKENS, data={**TOKEN, "account": user_id})).status_code
        assert "Nightly export" not in text_of(await stranger.get(f"{TOKENS}/new?account={user_id}"))


async def test_life(office: Office, browser: Browser) -> None:
    """Each token works exactly while it should."""
    async with client_of(office.pool, site=SITE) as api:
        user_id = await made(browser)
        page = f"{PEOPLE}/{user_id}"
        assert f"{TOKENS}/new?account={user_id}" in text_of(await browser.get(page))
        assert "Nightly export" in text_of(await browser.get(f"{TOKENS}/new?account={user_id}"))

        async def saved(state: str) -> None:
            version = re.search(r'name="version" value="(\d+)"', (await browser.get(page)).text)
            assert version is not None
            change = {"role": "admin", "active": state, "version": version[1]}
            assert 303 == (await browser.post(page, data=change)).status_code

        first = text_of(await browser.post(TOKENS, data={**TOKEN, "account": user_id}))
        assert 200 == await status_of(office, api, first)
        await saved("0")
        assert "suspended" in text_of(await browser.get(PEOPLE))
        assert 401 == await status_of(office, api, first)
        await saved("1")
        token = await link_of(browser)
        assert f'href="{token}">Warehouse' in text_of(await browser.get(page))
        assert f'href="{page}">Nightly export' in text_of(await browser.get(token))
        second = text_of(await browser.post(f"{token}/rotation", data={"overlap_hours": "0"}))
        assert [401, 200] == [await status_of(office, api, text) for text in (first, second)]
        assert "Its tokens stop working at once" in text_of(await browser.get(f"{page}/remove"))
        assert 303 == (await browser.post(f"{page}/remove")).status_code
        assert 401 == await status_of(office, api, second)
        assert 404 == (await browser.get(page)).status_code
    async with db.connection(office.pool) as database:
        assert not await database.fetch_value("select exists (select from notice_mail where user_id = $1)", user_id)
