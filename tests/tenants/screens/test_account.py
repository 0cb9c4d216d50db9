"""One's own login: proof before acts that need it, profile, password, address, sessions and log-ins."""

import re

import pytest

from afterword.kit import db
from afterword.tenants.logins.links import LINKS_PER_HOUR
from afterword.tenants.screens.account import ACCOUNT
from tests.tenants.logins.conftest import PASSWORD, Browser, Office, browser_of, log_in
from tests.tenants.screens.test_entry import mailed

NEW = "another four words here"


async def forget_the_proof(office: Office) -> None:
    """Let the minutes pass after which the password is asked for again."""
    async with db.transaction(office.pool) as database:
        await database.execute("update login_session set proven_time = proven_time - interval '16 minutes'")


@pytest.fixture
async def ben(office: Office) -> str:
    return await office.add_user("ben@kalamata.example")


class TestProof:
    @pytest.mark.parametrize("path", ["/console/settings/password", "/console/settings/totp"])
    async def test_asked_again(self, office: Office, path: str, browser: Browser) -> None:
        await forget_the_proof(office)
        asked = await browser.post(path, headers={"Referer": f"http://testserver{ACCOUNT}"})
        assert f"/console/proof?next={ACCOUNT.replace('/', '%2F')}" == asked.headers["location"]
        assert 422 == (await browser.post("/console/proof", data={"password": "wrong"})).status_code
        proven = await browser.post("/console/proof", data={"password": PASSWORD, "next": ACCOUNT})
        assert ACCOUNT == proven.headers["location"]
        assert 303 != (await browser.post(path)).status_code


class TestAccount:
    async def test_profile(self, browser: Browser) -> None:
        saved = await browser.post(ACCOUNT, data={"display_name": "Olga", "locale": "el"})
        assert 303 == saved.status_code
        page = await browser.get(ACCOUNT)
        assert 'lang="el"' in page.text
        assert 'value="Olga"' in page.text
        refused = await browser.post(ACCOUNT, data={"display_name": "O" * 101, "locale": "no language"})
        assert 422 == refused.status_code

    async def test_last_log_ins(self, office: Office, ben: str) -> None:
        """An agent sees the own ones, refused ones too, and nobody else's."""
        async with browser_of(office.pool) as client, browser_of(office.pool, source="198.51.100.7") as thief:
            thief.headers["User-Agent"] = "Mozilla/5.0 (Windows NT 10.0) Firefox/140"
            await log_in(thief, password="wrong")
            await log_in(thief, email="ben@kalamata.example", password="wrong")
            await log_in(client, email="ben@kalamata.example")
            page = (await client.get(ACCOUNT)).text.replace("&#x2f;", "/")
            assert 1 == page.count("Refused")
            assert "Firefox, Windows" in page
            assert 2 == page.count("Unknown device")
            assert "198.51.100.0/24" in page
            assert "Logged in from a new browser" in page

    async def test_password(self, office: Office, browser: Browser) -> None:
        async with browser_of(office.pool) as other:
            await log_in(other)
            assert 422 == (await browser.post("/console/settings/password", data={"password": "short"})).status_code
            assert 303 == (await browser.post("/console/settings/password", data={"password": NEW})).status_code
            assert 200 == (await browser.get(ACCOUNT)).status_code
            assert 303 == (await other.get(ACCOUNT)).status_code
            assert 422 == (await log_in(other)).status_code
            assert 303 == (await log_in(other, password=NEW)).status_code

    async def test_mails_to_strangers(self, office: Office, browser: Browser) -> None:
        asked = [
            await browser.post("/console/settings/address", data={"email": f"stranger{n}@b.example"})
            for n in range(LINKS_PER_HOUR + 1)
        ]
        assert [*LINKS_PER_HOUR * [303], 429] == [one.status_code for one in asked]
        async with db.connection(office.pool) as database:
            assert LINKS_PER_HOUR == await database.fetch_value("select count(*) from notice_mail")

    async def test_address(self, office: Office, browser: Browser) -> None:
        assert 422 == (await browser.post("/console/settings/address", data={"email": "nowhere"})).status_code
        data = {"email": "new@kalamata.example"}
        assert 303 == (await browser.post("/console/settings/address", data=data)).status_code
        link = await mailed(office.pool)
        assert "new@kalamata.example" in (await browser.get(link)).text
        assert 303 == (await browser.post(link)).status_code
        assert 410 == (await browser.post(link)).status_code
        await browser.post("/console/logout")
        assert 422 == (await log_in(browser)).status_code
        assert 303 == (await log_in(browser, email="new@kalamata.example")).status_code

    async def test_sessions(self, office: Office, ben: str) -> None:
        async with browser_of(office.pool) as client, browser_of(office.pool) as other, browser_of(office.pool) as bens:
            for one in (client, other):
                await log_in(one)
            await log_in(bens, email="ben@kalamata.example")
            found = re.findall(r"/sessions/(\w{22})/end", (await client.get(ACCOUNT)).text)
            assert 1 == len(found)  # its own has no such button
            foreign = await bens.post(f"/console/settings/sessions/{found[0]}/end")
            assert 404 == foreign.status_code
            assert 303 == (await client.post(f"/console/settings/sessions/{found[0]}/end")).status_code
            assert 303 == (await other.get(ACCOUNT)).status_code
            await log_in(other)
            await client.post("/console/settings/sessions/end")
            assert [200, 303, 200] == [(await one.get(ACCOUNT)).status_code for one in (client, other, bens)]
