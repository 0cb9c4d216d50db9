"""The outbox: a test message is made, kept, and opened as its recipient would see it."""

import html
import re
from dataclasses import replace

import httpx2

from afterword.kit.transport.base import EMAIL, Sent
from afterword.run.worker import captured
from afterword.run.worker.messages import Notices
from afterword.sending.queue import outbox
from tests.sending.providers.test_accounts import add as add_account
from tests.sending.queue.conftest import Client
from tests.sending.queue.outbox.test_api import capture
from tests.tenants.logins.conftest import SITE, browser_of, log_in

OUTBOX = "/console/sending/outbox"


async def test_from_form_to_content(client: Client, browser: httpx2.AsyncClient) -> None:
    house = client.queue.house
    pipeline = f"{house.questionnaire_id}/{house.pipeline_id}"
    wrong = await browser.post(OUTBOX, data={"pipeline": pipeline, "recipient": "nobody"})
    assert 422 == wrong.status_code
    assert 'value="nobody"' in wrong.text
    made = await browser.post(OUTBOX, data={"pipeline": pipeline, "recipient": "ann@example.org"})
    here = made.headers["location"].partition("?")[0]
    item_id = here.rpartition("/")[2]
    assert await client.queue.value("select test from queue_item where item_id = $1", item_id)
    await client.queue.worker().send(Sent(reply="captured"))
    await capture(client.queue, item_id)
    assert f"{OUTBOX}/{item_id}" in await text_of(browser, here)
    shown = await text_of(browser, OUTBOX)
    assert "How was it?" in shown
    assert "ann@example.org" in shown
    for query, is_there in (
        ("q=ann@example.org", True),
        ("q=ben@x.example", False),
        (f"pipeline={'0' * 22}", False),
    ):
        assert is_there is (f"{OUTBOX}/{item_id}" in await text_of(browser, f"{OUTBOX}?{query}")), query
    page = await text_of(browser, f"{OUTBOX}/{item_id}")
    assert f"{SITE.public_url}/a/" in page
    assert "Answer as the recipient" in page
    assert f'data-copy="{SITE.public_url}/a/' in page
    frame = await browser.get(f"{OUTBOX}/{item_id}/mail")
    assert "<p>How was it?</p>" in frame.text
    assert frame.headers["content-security-policy"].startswith("sandbox")


async def test_what_was_kept_was_not_sent(client: Client, browser: httpx2.AsyncClient) -> None:
    """Pages and figures say so of a real item; a test goes on as if it had left."""
    items = [await client.create(responder_channel_identifier="ben@x.example", test=test) for test in (False, True)]
    await client.queue.worker().send(Sent(reply="captured"))
    sent = await client.queue.value("select array_agg(test) from questionnaire_instance where sent_time is not null")
    assert [True] == sent
    for page in ("/console/sending", f"/console/sending/{items[0]['item_id']}"):
        assert "Kept in the outbox" in await text_of(browser, page), page
    async with browser_of(client.queue.pool, site=replace(SITE, sends_mail=False)) as keeping:
        await log_in(keeping)
        for one, is_there in ((browser, False), (keeping, True)):
            assert is_there is ("Sent or kept <span" in await text_of(one, "/console/sending"))


async def test_a_message_that_left_was_sent(client: Client, browser: httpx2.AsyncClient) -> None:
    await client.create()
    await client.queue.worker().send(Sent(reply="250 2.0.0 Ok"))
    assert 1 == await client.queue.value("select count(*) from questionnaire_instance where sent_time is not null")
    assert "Kept in the outbox" not in await text_of(browser, "/console/sending")


async def test_pipeline_that_counts_from_a_date(client: Client, browser: httpx2.AsyncClient) -> None:
    """A test message has today in place of the date, so that it can be tried."""
    house = client.queue.house
    await client.queue.change_pipeline("delay_from = 'questionnaire_metadata:order_date', delay_cap_days = 1")
    form = {"pipeline": f"{house.questionnaire_id}/{house.pipeline_id}", "recipient": "ann@example.org"}
    assert 303 == (await browser.post(OUTBOX, data=form)).status_code
    ahead = await client.queue.value("select extract(epoch from send_time - now()) / 3600 from queue_item")
    assert -2 <= ahead <= 26  # tomorrow's midnight, in the zones of reader and organization


async def test_mails_to_users_are_the_operators(client: Client) -> None:
    """A link to a new password would make its reader the owner, also where the organization has its own account."""
    queue = client.queue
    await add_account(queue, "smtp", {"url": "smtp://u:p@relay.example:587"})
    worker = Notices(pool=queue.pool, site=SITE, channel=captured(queue.pool, [EMAIL])[EMAIL], mail_from="a@b.example")
    async with browser_of(queue.pool) as browser:
        await browser.post("/console/reset", data={"email": "olga@kalamata.example"})
        assert 1 == await worker.turn()
        await worker.land()
        message_id = await queue.value(
            "select message_id from outbox_message where recipient = 'olga@kalamata.example'"
        )
        await queue.execute("update outbox_message set to_user = null")  # and kept by an older release
        await capture(queue, "7" * 22, to_user=True, recipient="ann@example.com")
        for email in ("ben@demo.example", "olga@kalamata.example"):
            await log_in(browser, email=email)
            shown = await text_of(browser, OUTBOX)
            for one in (message_id, "7" * 22):
                assert one not in shown
                for path in ("", "/mail"):
                    assert 404 == (await browser.get(f"{OUTBOX}/{one}{path}")).status_code
                assert 404 == (await client.send("GET", f"/q/outbox/{one}")).status_code
        assert [] == (await client.ok("GET", "/q/outbox"))["results"]
        assert {message_id, "7" * 22} == {
            one.message_id for one in await queue.run(outbox.list_message_records, limit=5)
        }


async def test_a_message_of_no_pipeline(client: Client, browser: httpx2.AsyncClient) -> None:
    """A reply to a customer is no test message."""
    await capture(client.queue, "7" * 22, to_user=False, recipient="ann@example.com")
    shown = await text_of(browser, OUTBOX)
    assert "ann@example.com</bdi> · without a pipeline" in re.sub("[\u2068\u2069]", "", shown)


async def test_clock(client: Client, agent: httpx2.AsyncClient, browser: httpx2.AsyncClient) -> None:
    ahead = "select test_clock_seconds from organization where organization_id = $1"
    assert 403 == (await agent.post(f"{OUTBOX}/clock")).status_code
    assert "Tests use the real time." in await text_of(browser, OUTBOX)
    for form, seconds, text in (({"hours": "48"}, 172_800, "For tests it is "), ({"act": "back"}, 0, "real time")):
        assert 303 == (await browser.post(f"{OUTBOX}/clock", data=form)).status_code
        assert seconds == await client.queue.value(ahead, client.queue.house.organization_id)
        assert text in await text_of(browser, OUTBOX)


async def text_of(browser: httpx2.AsyncClient, path: str) -> str:
    return html.unescape((await browser.get(path)).text)
