"""The pause of all sending: asks for a reason, stops every account, and stands on every page until it ends."""

import html

from tests.sending.queue.conftest import Client
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import plain
from tests.tenants.logins.conftest import browser_of, found, log_in

PAUSE = "/console/sending/pause"
REASON = "Wrong prices in the mail"
OPEN = "select count(*) from channel_account where paused_time is null"


async def test_paused_told_and_resumed(client: Client) -> None:
    await found(client.queue.pool, domain="patras", email="pan@patras.example")
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert f'href="{PAUSE}"' in html.unescape((await browser.get("/console/sending")).text)
        wrong = await browser.post(PAUSE, data={"reason": ""})
        assert (422, True) == (wrong.status_code, 'href="#reason"' in wrong.text)
        assert 303 == (await browser.post(PAUSE, data={"reason": REASON})).status_code
        for page in ("/console", "/console/settings/account", PAUSE):
            told = plain((await browser.get(page)).text)
            assert f"All sending is paused: {REASON}" in told, page
            assert "Sending by" not in told, page
        theirs = client.queue.house.organization_id
        assert 0 == await client.queue.value(f"{OPEN} and organization_id = $1", theirs)
        async with browser_of(client.queue.pool) as other:
            await log_in(other, email="ben@demo.example")
            assert f"All sending is paused: {REASON}" in plain((await other.get("/console/settings/account")).text)
        async with browser_of(client.queue.pool) as stranger:
            await log_in(stranger, email="pan@patras.example")
            assert "All sending is paused" not in plain((await stranger.get("/console")).text)
        assert 303 == (await browser.post(f"{PAUSE}/end")).status_code
        assert "All sending is paused" not in plain((await browser.get("/console")).text)
    assert 0 < await client.queue.value(f"{OPEN} and organization_id = $1", theirs)


async def test_a_pause_of_the_operator_stays(client: Client) -> None:
    await client.queue.execute("update channel_account set paused_time = now(), is_paused_by_operator = true")
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert 303 == (await browser.post(f"{PAUSE}/end")).status_code
        assert "All sending is paused" in plain((await browser.get("/console")).text)
