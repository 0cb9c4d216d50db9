"""Acts on many messages: a dry run first, counts that add up, and nothing of other organizations."""

import asyncio
import html
import re
from uuid import uuid4

import httpx2

from afterword.kit.transport.base import Refused
from afterword.run.worker.long_work import BatchWorker
from afterword.sending.screens.bulk_actions import NEW
from tests.dates import YEAR
from tests.sending.queue.conftest import Client
from tests.sending.queue.test_batches import imported
from tests.sending.screens.conftest import plain

LATER = f"{YEAR}-05-02T10:00:00+00:00"


async def work(client: Client) -> None:
    worker = BatchWorker(client.queue.pool, uuid4(), secret=client.queue.secret)
    while await worker.work_next(asyncio.Event()):
        pass


async def test_refused_checked_and_done(client: Client, browser: httpx2.AsyncClient) -> None:
    for number in range(3):
        await client.create(responder_channel_identifier=f"a{number}@example.com", send_time=LATER)
    capped = await client.create(responder_channel_identifier="capped@example.com", send_time=LATER)
    await client.queue.execute("update queue_item set reason = 'quiet_hours' where item_id = $1", capped["item_id"])
    waiting = await browser.get("/console/sending?tab=waiting&reason=quiet_hours")
    assert f'href="{NEW}?reason=quiet_hours"' in html.unescape(waiting.text)
    for form, field in (
        ({}, "action"),
        ({"action": "move"}, "send_time"),
        ({"action": "move", "send_time": "x"}, "send_time"),
    ):
        wrong = await browser.post(NEW, data=form)
        assert (422, True) == (wrong.status_code, f'href="#{field}"' in wrong.text)
    assert "that wait: 1" in plain((await browser.get(f"{NEW}?reason=quiet_hours")).text)
    assert "that wait: 4" in plain((await browser.get(NEW)).text)
    tried = await browser.post(f"{NEW}?reason=quiet_hours", data={"action": "cancel"})
    here = tried.headers["location"]
    running = await browser.get(here)
    assert "2" == running.headers["refresh"]
    assert 303 == (await browser.post(f"{here}/doing")).status_code  # not before it is counted
    await work(client)
    page = plain((await browser.get(here)).text)
    assert "1would be cancelled" in page
    assert "Cancel 1 message" in page
    assert 0 == await client.queue.value("select count(*) from queue_item where status = 7")
    done = (await browser.post(f"{here}/doing")).headers["location"]
    await work(client)
    assert "1are cancelled" in plain((await browser.get(done)).text)
    assert 1 == await client.queue.value("select count(*) from queue_item where status = 7")
    moved = (await browser.post(NEW, data={"action": "move", "send_time": f"{YEAR}-06-01T09:30"})).headers["location"]
    assert 303 == (await browser.post(f"{moved}/stop")).status_code
    assert "stopped" in (await browser.get(moved)).text
    assert 303 == (await browser.post(f"{moved}/resume")).status_code
    await work(client)
    assert re.search(r"Move 3 messages", plain((await browser.get(moved)).text))
    assert here in html.unescape((await browser.get(NEW)).text)


async def test_what_failed_is_sent_again(client: Client, browser: httpx2.AsyncClient) -> None:
    for name in ("ann", "bob"):
        await client.sent(Refused("no"), responder_channel_identifier=f"{name}@example.com")
    await client.create(send_time=LATER)
    assert "Send again all" not in (await browser.get("/console/sending?tab=waiting")).text
    failed = html.unescape((await browser.get("/console/sending?tab=failed")).text)
    assert f'href="{NEW}?tab=failed"' in failed
    page = await browser.get(f"{NEW}?tab=failed")
    assert "Messages that failed: 2" in plain(page.text)
    assert 'value="cancel"' not in page.text
    assert 422 == (await browser.post(f"{NEW}?tab=failed", data={"action": "cancel"})).status_code
    assert 422 == (await browser.post(NEW, data={"action": "repeat"})).status_code
    here = (await browser.post(f"{NEW}?tab=failed", data={"action": "repeat"})).headers["location"]
    await work(client)
    page = plain((await browser.get(here)).text)
    assert "2would be sent again" in page
    assert "Send 2 messages again" in page
    assert 3 == await client.queue.value("select count(*) from queue_item")
    done = (await browser.post(f"{here}/doing")).headers["location"]
    await work(client)
    assert "2are created again and due now" in plain((await browser.get(done)).text)
    assert 5 == await client.queue.value("select count(*) from queue_item")


async def test_a_list_alone(client: Client, browser: httpx2.AsyncClient) -> None:
    await client.create(send_time=LATER)
    import_id = await imported(client, "a@example.com", "b@example.com")
    page = plain((await browser.get(f"{NEW}?import={import_id}")).text)
    assert "Messages that wait: 2" in page
    assert "Only those of this list." in page
    here = (await browser.post(f"{NEW}?import={import_id}", data={"action": "cancel"})).headers["location"]
    await work(client)
    await browser.post(f"{here}/doing")
    await work(client)
    assert 1 == await client.queue.value("select count(*) from queue_item where status = 1")
    assert "that wait: 0" in plain((await browser.get(f"{NEW}?import={'z' * 22}")).text)
