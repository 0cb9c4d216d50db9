"""Items of all pipelines: tabs that add up, one item's page, the acts on it, and “Why not?”."""

import html
import re

import httpx2
import pytest

from afterword.core.messaging.addresses import address_key
from afterword.kit.transport.base import Refused, Sent, Unknown
from tests.dates import YEAR
from tests.sending.queue.conftest import Client, Queue
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import SITE, add_staff, browser_of, log_in

ITEM = re.compile(r'href="(/console/sending/\w{22})"')


@pytest.fixture
async def client(http: httpx2.AsyncClient, queue: Queue) -> Client:
    """A house with an owner and an agent who can log in."""
    await add_staff(queue.pool, queue.house.organization_id)
    return Client(http, queue)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>|[\u2068\u2069]", "", html.unescape(text)))


async def test_tabs_add_up_and_reasons_filter(client: Client) -> None:
    await client.create(responder_channel_identifier="sent@example.com")
    await client.queue.worker().send(Sent("reference", 250, "ok"))
    await client.create(responder_channel_identifier="later@example.com", send_time=f"{YEAR}-05-02T10:00:00+00:00")
    capped = await client.create(responder_channel_identifier="capped@example.com")
    await client.queue.execute(
        "update queue_item set status = 8, reason = 'frequency_cap' where item_id = $1", capped["item_id"]
    )
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        page = (await browser.get("/console/sending")).text
        for tab, count in (("All", 3), ("Waiting", 1), ("Sent", 1), ("Not asked", 1), ("Failed", 0)):
            assert re.search(rf">{tab} <span class=\"count\">{count}</span>", page), tab
        assert "Not asked: asked lately by this pipeline" in plain(page)
        assert f"May 2, {YEAR}" in plain(page)
        chip = re.search(r'href="([^"]*reason=frequency_cap[^"]*)"', page)
        assert chip is not None
        assert "A message and its details are kept for 400 days" in plain(page)
        narrow = (await browser.get(html.unescape(chip[1]))).text
        assert ["capped<wbr>@example.com"] == re.findall(r"<bdi>(\w+<wbr>@example.com)</bdi>", narrow)
        for query in ("tab=nope&days=x&after=zz", "reason=%F0%9F&application=" + "0" * 22):
            assert (await browser.get(f"/console/sending?{query}")).status_code in {200, 422}


async def test_one_item_and_acts_on_it(client: Client) -> None:
    await client.create(
        send_time=f"{YEAR}-05-02T10:00:00+00:00", external_reference="order-7",
        metadata={"questionnaire": {"store_id": "<b>7"}},
    )  # fmt: skip
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        [path] = ITEM.findall(html.unescape((await browser.get("/console/sending")).text))
        page = (await browser.get(path)).text
        assert "<dt>Store</dt><dd><bdi>&lt;b&gt;7</bdi></dd>" in page
        assert "<dt>Κατάστημα</dt>" in (await browser.get(path, headers={"Accept-Language": "el"})).text
        assert "Next moment:" in plain(page)
        assert "Dispatch window" in page
        assert "Send this message now?" in (await browser.get(f"{path}/now")).text
        await browser.post(f"{path}/now")
        assert 1 == await client.queue.value("select count(*) from queue_item where due_time <= now()")
        moved = await browser.get(f"{path}?done=message_due")
        assert "The message is due now." in moved.text
        assert f"{path}/now" not in moved.text
        assert 303 == (await browser.post(f"{path}/cancel")).status_code
        assert 7 == await client.queue.value("select status from queue_item")


@pytest.mark.parametrize("outcome", [Refused("no"), Unknown("silence")])
async def test_failed_and_sent_again(client: Client, outcome: Refused | Unknown) -> None:
    item = await client.create()
    path = f"/console/sending/{item['item_id']}"
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert f"{path}/again" not in (await browser.get(path)).text
        assert 409 == (await browser.post(f"{path}/again")).status_code
        await client.queue.execute("update queue_item set resend_after_seconds = null")
        await client.queue.worker().send(outcome)
        assert f"{path}/again" in (await browser.get(path)).text
        asked = plain((await browser.get(f"{path}/again")).text)
        assert isinstance(outcome, Unknown) == ("it may come twice" in asked)
        new = (await browser.post(f"{path}/again")).headers["location"]
        assert "This new message goes in its place." in (await browser.get(new)).text
    assert 2 == await client.queue.value("select count(*) from queue_item")
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser, email="ben@demo.example")
        assert 403 == (await browser.post(f"{path}/again")).status_code


async def test_why_not(client: Client) -> None:
    await client.create(external_reference="order-7")
    await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "eve@example.com"})
    for table, address in (("queue_item", "ann@example.com"), ("suppression", "eve@example.com")):
        key = address_key(SITE.secret, 1, address)  # the key of an address is of one site
        await client.queue.execute(f"update {table} set address_key = $1", key)
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)

        async def told(asked: str) -> str:
            return plain((await browser.get("/console/sending", params={"q": asked})).text)

        assert "order-7" in await told("order-7")
        assert "ann@example.com" in await told("Ann@example.com")
        nothing = await told("eve@example.com")
        assert "No message. Nobody asked for one" in nothing
        assert "nothing is sent to this address since" in nothing
        assert "No message." in await told("\x07")


async def test_failing_sending_and_what_waits(client: Client) -> None:
    item = await client.create(send_time=f"{YEAR}-05-02T10:00:00+00:00")
    await client.create(send_time=f"{YEAR}-05-03T10:00:00+00:00")
    held = "update queue_item set reason = 'quiet_hours' where item_id = $1"
    await client.queue.execute(held, item["item_id"])
    await client.queue.execute("update pipeline set paused = true, title = 'After <b>'")
    await client.queue.execute("update channel_account set paused_time = now(), paused_reason = 'login refused'")
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        page = html.unescape((await browser.get("/console")).text)
    for text in ("After <b>", "login refused", "1 scheduled", "1 message waits: quiet hours"):
        assert text in re.sub("[\u2068\u2069]", "", page), text
    assert 'href="/console/sending?tab=waiting&reason=quiet_hours"' in page
