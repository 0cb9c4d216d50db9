"""Pipelines in the console: a new one that is off, its switch, removal, figures, messages and versions."""

import html
import re
from html import unescape

import httpx2
import pytest

from afterword.kit.transport.base import Sent
from afterword.sending.queue import lists
from tests.console.test_undo import undo_of
from tests.dates import YEAR
from tests.sending.queue.conftest import Client
from tests.sending.screens.conftest import plain
from tests.tenants.logins.conftest import browser_of, found, log_in

PIPELINES = "/console/sending/pipelines"


def path_of(client: Client) -> str:
    house = client.queue.house
    return f"{PIPELINES}/{house.questionnaire_id}/{house.pipeline_id}"


def version_of(page: httpx2.Response) -> str:
    match = re.search(r'name="version" value="(\d+)"', page.text)
    assert match is not None
    return match[1]


async def test_questionnaire_of_another_organization(client: Client) -> None:
    await found(client.queue.pool, domain="patras", email="pan@patras.example")
    async with browser_of(client.queue.pool) as stranger:
        await log_in(stranger, email="pan@patras.example")
        theirs = {"questionnaire_id": client.queue.house.questionnaire_id, "channel_id": "1", "title": "Mine",
                  "message_subject": "Hello", "message_body": "Hello"}  # fmt: skip
        assert 404 == (await stranger.post(f"{PIPELINES}/new", data=theirs)).status_code


async def test_new_and_switched_on(client: Client, browser: httpx2.AsyncClient) -> None:
    house = client.queue.house
    form = {"questionnaire_id": house.questionnaire_id, "channel_id": "1", "title": "Later", "message_subject": "Well?",
            "message_body": "Hello"}  # fmt: skip
    assert "Hello," in (await browser.get(f"{PIPELINES}/new")).text
    for name, wrong in (("title", ""), ("message_body", "{{ nothing }}"), ("message_subject", "x" * 201)):
        refused = await browser.post(f"{PIPELINES}/new", data={**form, name: wrong})
        assert 422 == refused.status_code
        assert f'href="#{name}"' in refused.text
        assert 'value="Well?"' in refused.text or name == "message_subject"
    made = await browser.post(f"{PIPELINES}/new", data=form)
    path = made.headers["location"].split("?")[0]
    page = (await browser.get(path)).text
    assert ">Off<" in page
    assert "Asks by e-mail." in page
    assert "Switch “Later” on?" in plain((await browser.get(f"{path}/switch")).text)
    assert 303 == (await browser.post(f"{path}/switch", data={"paused": ""})).status_code
    assert ">On<" in (await browser.get(path)).text
    assert "Later" in (await browser.get(PIPELINES)).text
    assert "cannot be removed" not in (await browser.get(f"{path}/removal")).text
    assert 303 == (await browser.post(f"{path}/removal")).status_code
    assert 404 == (await browser.get(path)).status_code


async def test_removal_while_messages_wait(client: Client, browser: httpx2.AsyncClient) -> None:
    """The page counts them and leads to them, and has no button that would be refused."""
    await client.create(send_time=f"{YEAR + 1}-01-15T10:30:00+02:00")
    path = path_of(client)
    page = await browser.get(f"{path}/removal")
    assert (
        "cannot be removed while messages of it wait" in page.text,
        "Remove the pipeline</button>" in page.text,
    ) == (True, False)
    waiting = re.search(r'<a href="([^"]+)">Waiting</a>: 1<', page.text)
    assert waiting is not None
    assert "tab=waiting" in unescape(waiting[1])
    assert 200 == (await browser.get(unescape(waiting[1]))).status_code
    assert 409 == (await browser.post(f"{path}/removal")).status_code


async def test_webhook(client: Client, browser: httpx2.AsyncClient) -> None:
    """Made with an address alone, which a sentence tells and a form changes; its message is shown as it is posted."""
    form = {"questionnaire_id": client.queue.house.questionnaire_id, "channel_id": "3", "title": "Ours",
            "message_body": "Hello"}  # fmt: skip
    for wrong in ("", "ftp://shop.example/"):
        refused = await browser.post(f"{PIPELINES}/new", data={**form, "target_url": wrong})
        assert (422, True) == (refused.status_code, 'href="#target_url"' in refused.text)
    made = await browser.post(f"{PIPELINES}/new", data={**form, "target_url": "https://shop.example/hook"})
    path = made.headers["location"].split("?")[0]
    page = plain((await browser.get(path)).text)
    assert ("It goes to https://shop.example/hook." in page, "Passes each message" in page) == (True, True)
    version = version_of(await browser.get(f"{path}/target"))
    changed = {"target_url": "https://shop.example/new", "version": version}
    assert 303 == (await browser.post(f"{path}/target", data=changed)).status_code
    messages = await browser.get(f"{path}/messages")
    assert "Posted to https://shop.example/new, signed" in plain(messages.text)
    assert "queue_item.dispatch" in messages.text
    texts = {"subject": "", "body": "", "version": version_of(messages)}
    assert 303 == (await browser.post(f"{path}/messages", data=texts)).status_code


async def test_figures_lead_to_their_messages(client: Client, browser: httpx2.AsyncClient) -> None:
    await client.sent(responder_channel_identifier="sent@example.com")
    capped = await client.create(responder_channel_identifier="capped@example.com")
    await client.queue.execute(
        "update queue_item set status = 8, reason = 'frequency_cap' where item_id = $1", capped["item_id"]
    )
    await client.create(responder_channel_identifier="later@example.com", send_time=f"{YEAR}-05-02T10:00:00+00:00")
    page = (await browser.get(path_of(client))).text
    assert "3 messages in 7 days: 1 sent, " in plain(page)
    assert "1 asked lately by this pipeline" in plain(page)
    [url] = re.findall(r'href="([^"]+reason=frequency_cap[^"]*)"', html.unescape(page))
    listed = plain((await browser.get(url)).text)
    assert "capped@example.com" in listed
    assert "sent@example.com" not in listed
    assert "one pipeline" in listed


async def test_switched_off_at_once_and_back(
    client: Client, browser: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way back is refused once somebody changed the pipeline; switching on says first how many messages leave."""
    path, switch = path_of(client), f"{path_of(client)}/switch"
    await client.create(responder_channel_identifier="later@example.com", send_time=f"{YEAR}-05-02T10:00:00+00:00")
    assert path == (await browser.get(switch)).headers["location"]
    off = await browser.post(switch, data={"paused": "1"})
    assert f"{path}?done=switched_off" == off.headers["location"]
    page = (await browser.get(off.headers["location"])).text
    assert ">Off<" in page
    undo = undo_of(page)
    assert (switch, "") == (undo.action, undo.fields["paused"])
    late = {**undo.fields, "version": str(int(undo.fields["version"]) - 1)}
    refused = await browser.post(undo.action, data=late)
    assert (412, True) == (refused.status_code, "Somebody changed this in the meantime" in refused.text)
    back = await browser.post(undo.action, data=undo.fields)
    assert f"{path}?done=undone" == back.headers["location"]
    page = (await browser.get(back.headers["location"])).text
    assert (True, True, False) == (">On<" in page, "It is as it was before." in page, 'name="undo"' in page)
    await browser.post(switch, data={"paused": "1"})
    assert "1 waiting message will be sent" in plain((await browser.get(switch)).text)
    await client.create(responder_channel_identifier="bob@example.com")
    monkeypatch.setattr(lists.count_items, "__kwdefaults__", {"limit": 1})
    assert "1+ waiting message will be sent" in plain((await browser.get(switch)).text)


async def test_others_that_write_to_the_same_people(client: Client, browser: httpx2.AsyncClient) -> None:
    queue = client.queue
    other = await queue.pipeline(title="Later <b>")
    for pipeline_id in (queue.pipeline_id, other.pipeline_id):
        address = f"/q/questionnaire/{queue.house.questionnaire_id}/pipeline/{pipeline_id}/queue/item"
        item = {"responder_channel_identifier": "ann@example.com"}
        assert 201 == (await client.send("POST", address, item)).status_code
    for one in (queue, other):
        assert 1 == len(await one.worker().send(Sent("reference", 250, "ok")))
    page = await browser.get(path_of(client))
    assert "1 of the last 1 people was also written to by “Later &lt;b&gt;”, within 30 days." in page.text


async def test_messages_of_a_questionnaire_that_is_not_published(client: Client, browser: httpx2.AsyncClient) -> None:
    """The page says in the reader's language why there is no message to look at."""
    await client.queue.execute("update questionnaire set published_version_id = null")
    page = await browser.get(f"{path_of(client)}/messages", headers={"Accept-Language": "de"})
    assert (200, False) == (page.status_code, "never published" in page.text)
    assert "nie veröffentlicht" in page.text


async def test_texts_by_language_and_reminder(client: Client, browser: httpx2.AsyncClient) -> None:
    path = path_of(client)
    await client.send("PATCH", client.pipeline, {"reminders": [{"delay_days": 3}]})
    for query, subject in (("", "First"), ("?locale=el", "Πρώτο"), ("?locale=en&reminder=1", "Again")):
        page = await browser.get(f"{path}/messages{query}")
        assert ("reminder" in query) == ("it reads like the invitation" in page.text)
        form = {"subject": subject, "body": f"{subject} & <b>", "version": version_of(page)}
        for field in ("body", "reason"):
            wrong = await browser.post(f"{path}/messages{query}", data={**form, field: "{{ nothing }}"})
            assert 422 == wrong.status_code
            assert f'href="#{field}"' in wrong.text
        assert f'value="{subject}"' in wrong.text
        saved = await browser.post(f"{path}/messages{query}", data=form)
        assert 303 == saved.status_code
        page = await browser.get(saved.headers["location"])
        assert f'value="{subject}"' in page.text
        assert "it reads like the invitation" not in page.text
        mail = await browser.get(f"{path}/mail{query}")
        assert f"{subject} &amp; &lt;b&gt;" in mail.text
        assert "sandbox" in mail.headers["content-security-policy"]
    pipeline = await client.ok("GET", client.pipeline)
    assert "First" == pipeline["message_subject"]
    assert {"el": {"subject": "Πρώτο", "body": "Πρώτο & <b>"}} == pipeline["messages"]
    assert {"en": {"subject": "Again", "body": "Again & <b>"}} == pipeline["reminders"][0]["messages"]
    page = await browser.get(f"{path}/messages")
    form = {"subject": "First", "body": "Well?", "footer": "Open <9> to 5", "version": version_of(page)}
    assert 303 == (await browser.post(f"{path}/messages", data=form)).status_code
    assert "Open &lt;9&gt; to 5" in (await browser.get(f"{path}/mail?locale=el")).text
    page = await browser.get(f"{path}/messages?locale=el")
    removed = await browser.post(f"{path}/messages?locale=el", data={"version": version_of(page)})
    assert 303 == removed.status_code
    assert {} == (await client.ok("GET", client.pipeline))["messages"]
    stale = await browser.post(f"{path}/messages", data={"subject": "S", "body": "B", "version": version_of(page)})
    assert 412 == stale.status_code
    assert "Saved by someone else" in stale.text


async def test_a_test_message(client: Client, browser: httpx2.AsyncClient) -> None:
    wrong = await browser.post(f"{path_of(client)}/test", data={"recipient": "nobody"})
    assert 422 == wrong.status_code
    assert 'href="#recipient"' in wrong.text
    assert 'value="nobody"' in wrong.text


async def test_a_text_message_says_its_parts(client: Client, browser: httpx2.AsyncClient) -> None:
    queue = client.queue
    made = await queue.pipeline(channel_id=2, message_body="How was it? {{ link }} " + "We read each answer. " * 8)
    page = await browser.get(f"{PIPELINES}/{queue.house.questionnaire_id}/{made.pipeline_id}/messages")
    assert "2 SMS" in page.text


async def test_listed_and_taken_back(client: Client, browser: httpx2.AsyncClient) -> None:
    path = path_of(client)
    assert f'href="{path}/versions"' in unescape((await browser.get(path)).text)
    for days in ("2", "5"):
        form = {"delay_cap_days": days, "delay_cap_hours": "0", "delay_cap_minutes": "0"}
        form["version"] = version_of(await browser.get(f"{path}/delay"))
        assert 303 == (await browser.post(f"{path}/delay", data=form)).status_code
    page = unescape((await browser.get(f"{path}/versions")).text)
    assert "is due after 5 days. Before: A message without a send time is due after 2 days." in plain(page)
    assert "The pipeline was created." in plain(page)
    [back, *_] = re.findall(rf'href="({path}/versions/\w{{22}})"', page)
    asked = await browser.get(back)
    assert "A message without a send time is due after 2 days." in plain(asked.text)
    assert 404 == (await browser.get(f"{path}/versions/{'0' * 22}")).status_code
    assert 412 == (await browser.post(back, data={"version": "1"})).status_code
    assert 303 == (await browser.post(back, data={"version": version_of(asked)})).status_code
    assert "is due after 2 days." in plain((await browser.get(path)).text)
    assert 412 == (await browser.post(back, data={"version": version_of(asked)})).status_code
