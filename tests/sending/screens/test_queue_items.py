"""Items of all pipelines: tabs that add up, one item's page, its message, acts, hours, and the pause of all sending."""

import html
import re

import httpx2
import pytest

from afterword.core.messaging.addresses import address_key
from afterword.kit.texts import texts
from afterword.kit.transport.base import Refused, Sent, Unknown
from tests.dates import YEAR
from tests.sending.queue.conftest import Client
from tests.sending.screens.conftest import plain
from tests.tenants.logins.conftest import SITE, browser_of, found, log_in

ITEM = re.compile(r'href="(/console/sending/\w{22})"')


async def test_an_organization_without_messages(client: Client, browser: httpx2.AsyncClient) -> None:
    """A longer period helps only where there is some message."""
    longer = "Choose a longer period or another tab."
    page = (await browser.get("/console/sending")).text
    assert ("No message yet." in page, longer in page) == (True, False)
    await client.create(responder_channel_identifier="later@example.com")
    page = (await browser.get("/console/sending?tab=failed")).text
    assert ("No message yet." in page, longer in page) == (False, True)


async def test_tabs_add_up_and_reasons_filter(client: Client, browser: httpx2.AsyncClient) -> None:
    await client.sent(responder_channel_identifier="sent@example.com")
    await client.create(responder_channel_identifier="later@example.com", send_time=f"{YEAR}-05-02T10:00:00+00:00")
    capped = await client.create(responder_channel_identifier="capped@example.com")
    await client.queue.execute(
        "update queue_item set status = 8, reason = 'frequency_cap' where item_id = $1", capped["item_id"]
    )
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


async def test_one_item_and_acts_on_it(client: Client, browser: httpx2.AsyncClient) -> None:
    await client.create(
        send_time=f"{YEAR}-05-02T10:00:00+00:00", external_reference="order-7",
        metadata={"questionnaire": {"store_id": "<b>7"}},
    )  # fmt: skip
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
async def test_failed_and_sent_again(
    client: Client, outcome: Refused | Unknown, browser: httpx2.AsyncClient, agent: httpx2.AsyncClient
) -> None:
    item = await client.create()
    path = f"/console/sending/{item['item_id']}"
    assert f"{path}/again" not in (await browser.get(path)).text
    assert 409 == (await browser.post(f"{path}/again")).status_code
    await client.queue.execute("update queue_item set resend_after_seconds = null")
    await client.queue.worker().send(outcome)
    assert f"{path}/again" in (await browser.get(path)).text
    asked = plain((await browser.get(f"{path}/again")).text)
    assert isinstance(outcome, Unknown) == ("it may arrive twice" in asked)
    new = (await browser.post(f"{path}/again")).headers["location"]
    assert "This new message replaces it." in (await browser.get(new)).text
    assert 2 == await client.queue.value("select count(*) from queue_item")
    assert 403 == (await agent.post(f"{path}/again")).status_code


async def test_why_not(client: Client, browser: httpx2.AsyncClient) -> None:
    await client.create(external_reference="order-7")
    await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "eve@example.com"})
    for table, address in (("queue_item", "ann@example.com"), ("suppression", "eve@example.com")):
        key = address_key(SITE.secret, 1, address)  # the key of an address is of one site
        await client.queue.execute(f"update {table} set address_key = $1", key)

    async def told(asked: str) -> str:
        return plain((await browser.get("/console/sending", params={"q": asked})).text)

    assert "order-7" in await told("order-7")
    assert "ann@example.com" in await told("Ann@example.com")
    nothing = await told("eve@example.com")
    assert "No message found. None was requested" in nothing
    assert "nothing has been sent to this address since" in nothing
    assert "No message found." in await told("\x07")


async def test_failing_sending_and_what_waits(client: Client, browser: httpx2.AsyncClient) -> None:
    item = await client.create(send_time=f"{YEAR}-05-02T10:00:00+00:00")
    await client.create(send_time=f"{YEAR}-05-03T10:00:00+00:00")
    held = "update queue_item set reason = 'quiet_hours' where item_id = $1"
    await client.queue.execute(held, item["item_id"])
    await client.queue.execute("update pipeline set paused = true, title = 'After <b>'")
    told = (await browser.get(f"/console/sending/{item['item_id']}", headers={"Accept-Language": "de"})).text
    assert "Wartet: der Versandweg ist angehalten" in plain(told)
    assert "Held: the pipeline is paused" not in told  # the sentence said it
    await client.queue.execute("update channel_account set paused_time = now(), paused_reason = 'login refused'")
    page = html.unescape((await browser.get("/console")).text)
    for text in ("After <b>", "login refused", "1 scheduled", "1 message waits: quiet hours"):
        assert text in re.sub("[\u2068\u2069]", "", page), text
    assert 'href="/console/sending?tab=waiting&reason=quiet_hours"' in page


async def test_counts_that_ended_early(
    client: Client, browser: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have a plus: of what failed as of what waits, in the reader's groups of thousands."""
    for name in "abcd":
        await client.create(responder_channel_identifier=f"{name}@example.com")
    await client.queue.execute(
        """update queue_item set status = 5, reason = 'mailbox_full' where responder_channel_identifier < 'c'"""
    )
    assert "2 messages failed in this period" in plain((await browser.get("/console")).text)
    monkeypatch.setattr("afterword.listening.screens.overview.COUNT_MAX", 1)
    page = plain((await browser.get("/console")).text)
    assert "1+ message failed in this period" in page
    assert "1+ scheduled" in page
    assert "1.000+" == texts("console", "de").count(1_000, is_capped=True)


async def test_composed_anew(client: Client, browser: httpx2.AsyncClient) -> None:
    assert 200 == (await client.send("PATCH", client.pipeline, {"message_body": "First words"})).status_code
    item = await client.create()
    path = f"/console/sending/{item['item_id']}"
    assert f'href="{path}/message"' in (await browser.get(path)).text
    assert "Not sent yet." in plain((await browser.get(f"{path}/message")).text)
    await client.queue.worker().send(Sent("reference", 250, "ok"))
    page = await browser.get(f"{path}/message")
    assert "have not changed since" in plain(page.text)
    assert "not what was sent" not in plain(page.text)
    assert f'src="{path}/message/mail"' in html.unescape(page.text)
    frame = await browser.get(f"{path}/message/mail")
    assert "First words" in frame.text
    assert frame.headers["content-security-policy"].startswith("sandbox")
    changed = await client.send("PATCH", client.pipeline, {"message_body": "Other words"})
    assert 200 == changed.status_code
    page = plain((await browser.get(f"{path}/message")).text)
    assert "not what was sent" in page
    assert "Other words" in page


async def test_of_the_person(client: Client, browser: httpx2.AsyncClient) -> None:
    """Stored values of the person stand in the text, as they did in the message."""
    application_id = client.queue.house.application_id
    declared = {"name": "nick", "title": "Nick", "type": "text", "application_id": application_id}
    assert 201 == (await client.send("POST", "/q/metadata/responder", declared)).status_code
    body = "Hello {{ responder.nick }}"
    assert 200 == (await client.send("PATCH", client.pipeline, {"message_body": body})).status_code
    first = await client.create(metadata={"responder": {"nick": "Ann"}})
    second = await client.sent()
    for item in (first, second):
        page = await browser.get(f"/console/sending/{item['item_id']}/message")
        assert "Hello Ann" in plain(page.text), page.text


async def test_a_reminder_that_is_gone(client: Client, browser: httpx2.AsyncClient) -> None:
    item = await client.create()
    path = f"/console/sending/{item['item_id']}/message"
    await client.queue.execute("update queue_item set source = 'reminder', reminder_number = 2")
    assert "has no such reminder" in plain((await browser.get(path)).text)


WAITING = "/console/sending?tab=waiting"


async def test_hours(client: Client, monkeypatch: pytest.MonkeyPatch, browser: httpx2.AsyncClient) -> None:
    for name in "abc":
        await client.create(responder_channel_identifier=f"{name}@example.com")
    await client.queue.execute("update queue_item set due_time = due_time - interval '1 minute'")
    assert "Sending forecast" not in (await browser.get(WAITING)).text  # all are due
    await client.queue.execute(
        """update queue_item set due_time = date_trunc('hour', now()) + case
             when responder_channel_identifier like 'a%' then interval '50 hours' else interval '2 hours' end"""
    )
    page = (await browser.get(WAITING)).text
    assert "3 messages become due in the next seven days." in page
    assert (1, 1) == (page.count("hour level-4"), page.count("hour level-2"))
    assert "Sending forecast" not in (await browser.get(f"{WAITING}&reason=quiet_hours")).text
    monkeypatch.setattr("afterword.sending.queue.lists.COUNT_MAX", 1)
    assert "There are more" in (await browser.get(WAITING)).text


PAUSE = "/console/sending/pause"
REASON = "Wrong prices in the mail"
OPEN = "select count(*) from channel_account where paused_time is null"


async def test_paused_told_and_resumed(client: Client, browser: httpx2.AsyncClient) -> None:
    await found(client.queue.pool, domain="patras", email="pan@patras.example")
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


async def test_a_pause_of_the_operator_stays(client: Client, browser: httpx2.AsyncClient) -> None:
    await client.queue.execute("update channel_account set paused_time = now(), is_paused_by_operator = true")
    assert 303 == (await browser.post(f"{PAUSE}/end")).status_code
    assert "All sending is paused" in plain((await browser.get("/console")).text)


async def test_of_one_branch(client: Client, agent: httpx2.AsyncClient) -> None:
    """The messages of the branch, and nothing about the others: no count, and not that an address is suppressed."""
    for store in ("north", "south"):
        await client.create(
            responder_channel_identifier=f"{store}@example.com", metadata={"questionnaire": {"store_id": store}}
        )
        await client.send("POST", "/suppression", {"channel_id": 1, "identifier": f"{store}@example.com"})
        for table, column in (("queue_item", "responder_channel_identifier"), ("suppression", "identifier")):
            address = f"{store}@example.com"
            key = address_key(SITE.secret, 1, address)  # the key of an address is of one site
            await client.queue.execute(f"update {table} set address_key = $1 where {column} = $2", key, address)
    await client.queue.execute(
        "update organization_user set only_where = 'store_id', only_values = '{north}' where role = 'agent'"
    )
    page = (await agent.get("/console/sending")).text
    assert ["north<wbr>@example.com"] == re.findall(r"<bdi>(\w+<wbr>@example.com)</bdi>", page)
    assert 'All <span class="count">1</span>' in page
    assert "/console/sending/outbox" not in page
    [path] = ITEM.findall(html.unescape(page))
    assert 200 == (await agent.get(path)).status_code
    assert 200 == (await agent.get(f"{path}/message")).status_code
    elsewhere = plain((await agent.get("/console/sending?q=south@example.com")).text)
    assert "No message found." in elsewhere
    assert "nothing has been sent" not in elsewhere
    assert "nothing has been sent" in plain((await agent.get("/console/sending?q=north@example.com")).text)
