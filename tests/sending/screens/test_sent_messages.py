"""The message of an item that left: composed anew, and honest about what it is."""

import html

from afterword.kit.transport.base import Sent
from tests.sending.queue.conftest import Client
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import plain
from tests.tenants.logins.conftest import browser_of, log_in


async def test_composed_anew(client: Client) -> None:
    assert 200 == (await client.send("PATCH", client.pipeline, {"message_body": "First words"})).status_code
    item = await client.create()
    path = f"/console/sending/{item['item_id']}"
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert f'href="{path}/message"' in (await browser.get(path)).text
        assert "It has not left." in plain((await browser.get(f"{path}/message")).text)
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


async def test_of_the_person(client: Client) -> None:
    """Stored values of the person stand in the text, as they did in the message."""
    application_id = client.queue.house.application_id
    declared = {"name": "nick", "title": "Nick", "type": "text", "application_id": application_id}
    assert 201 == (await client.send("POST", "/q/metadata/responder", declared)).status_code
    body = "Hello {{ responder.nick }}"
    assert 200 == (await client.send("PATCH", client.pipeline, {"message_body": body})).status_code
    first = await client.create(metadata={"responder": {"nick": "Ann"}})
    second = await client.create()
    await client.queue.worker().send(Sent("reference", 250, "ok"))
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        for item in (first, second):
            page = await browser.get(f"/console/sending/{item['item_id']}/message")
            assert "Hello Ann" in plain(page.text), page.text


async def test_a_reminder_that_is_gone(client: Client) -> None:
    item = await client.create()
    path = f"/console/sending/{item['item_id']}/message"
    await client.queue.execute("update queue_item set source = 'reminder', reminder_number = 2")
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert "has no such reminder" in plain((await browser.get(path)).text)
