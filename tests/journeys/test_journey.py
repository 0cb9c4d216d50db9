"""The journey without mocks: a request, a worker, a mail server, a person with a phone, and the answers."""

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect

from afterword.run import embedded, migrations
from tests.journeys import processes
from tests.journeys.client import Client, seed
from tests.journeys.inbox import Inbox, Mail
from tests.journeys.processes import Child, until

ANN = "ann@example.com"
COMMENT = "Quick & careful <3"
PHONE = ViewportSize(width=360, height=760)


@dataclass(frozen=True)
class Running:
    """A web and a worker process on one database, and a client of theirs."""

    url: str
    client: Client
    web: Child
    worker: Child


async def start(stack: AsyncExitStack, *, database_url: str, folder: Path, inbox: Inbox) -> Running:
    port = processes.free_port()
    settings = {
        "database_url": database_url,
        "port": port,
        "data_dir": folder / "data",
        "secret": "s" * 32,
        "smtp_url": inbox.url,
        "mail_from": "survey@demo.example",
    }
    url = f"http://localhost:{port}"
    web = await stack.enter_async_context(processes.command("web", folder=folder, **settings))
    worker = await stack.enter_async_context(processes.command("worker", folder=folder, **settings))
    client = await seed(**settings)
    await processes.ready(url, web)
    return Running(url, client, web, worker)


@pytest.fixture
async def phone(browser: Browser) -> AsyncIterator[Page]:
    """A page on a narrow touch screen."""
    context = await browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    yield await context.new_page()
    await context.close()


async def answer(page: Page, link: str) -> None:
    """Touch what a person would touch: the score came with the link, then a reason, a comment, send."""
    await page.goto(link)
    assert PHONE["width"] == await page.evaluate("document.documentElement.scrollWidth")
    assert "4" == await page.locator("input[type=radio]:checked").get_attribute("value")
    await page.locator(".key").nth(4).tap()
    await page.get_by_role("button", name="Next").tap()
    await page.get_by_text("Speed of the delivery").tap()
    await page.get_by_label("Is there anything else").fill(COMMENT)
    await page.locator("button[value=send]").tap()
    await expect(page.locator("form[data-view], fieldset")).to_have_count(0)


def check_mail(mail: Mail, *, item_id: str, url: str) -> list[str]:
    """The mail as a mail program sees it; the links of its scores, the lowest first."""
    message = mail.message
    assert [ANN] == mail.recipients
    assert "survey@demo.example" == mail.sender
    assert message["Message-ID"].startswith(f"<{item_id}@")
    assert message["List-Unsubscribe"].startswith(f"<{url}/u/")
    assert "List-Unsubscribe=One-Click" == message["List-Unsubscribe-Post"]
    assert "Ann" in mail.text("plain")
    scores = [link for link in mail.links(f"{url}/a/") if "v=" in link]
    assert 5 == len(scores)
    assert scores[0].partition("?")[0] in mail.text("plain")
    return scores


async def check_answers(client: Client, instance_id: str) -> None:
    """The API returns the answers, and times in their order."""
    content: dict[str, Any] = await client.get(f"/q/instance/{instance_id}/response/content")
    assert [5, [1], COMMENT] == [one["value"] for one in content["answers"]]
    assert [] == content["skipped_question_ids"]
    assert content["finalized"] is True
    assert {"transaction_id": "1042"} == content["metadata"]["questionnaire"]
    assert "Ann" == content["metadata"]["responder"]["first_name"]
    instance = await client.get(f"/q/instance/{instance_id}")
    names = ("created_time", "sent_time", "viewed_time", "submitted_time", "completed_time")
    times = [datetime.fromisoformat(instance[name]) for name in names]
    assert sorted(times) == times
    assert instance["finalized"] is True


async def test_journey(database_url: str, tmp_path: Path, inbox: Inbox, phone: Page) -> None:
    """Schedule, send, open the mail, answer on a phone, read back."""
    async with AsyncExitStack() as stack:
        running = await start(stack, database_url=database_url, folder=tmp_path, inbox=inbox)
        client = running.client
        item = await client.schedule(
            ANN,
            locale="en",
            metadata={"questionnaire": {"transaction_id": "1042"}, "responder": {"first_name": "Ann"}},
        )
        assert 1 == item["status_id"]
        mail = await inbox.one_for(ANN)
        scores = check_mail(mail, item_id=item["item_id"], url=running.url)
        sent = await client.sent(item["item_id"])
        instance_id = sent["questionnaire_instance_id"]
        assert scores[3].startswith(f"{running.url}/a/{instance_id}?")
        created, dispatched = (datetime.fromisoformat(sent[name]) for name in ("created_time", "dispatched_time"))
        assert created <= dispatched
        before = await client.get(f"/q/instance/{instance_id}")
        assert [None, None] == [before["viewed_time"], before["submitted_time"]]

        await answer(phone, scores[3])
        await check_answers(client, instance_id)
        assert 1 == len(inbox.mails)
        for child in (running.web, running.worker):
            assert 0 == await child.stop(), child.tail()
            assert [] == child.errors()


@pytest.mark.faults
async def test_journey_over_a_dead_database(home: Path, tmp_path: Path, inbox: Inbox, phone: Page) -> None:
    """PostgreSQL is killed between the mail and the answer: 503 meanwhile, then everything is there."""
    server = await embedded.start(home)
    async with server, AsyncExitStack() as stack:
        await migrations.migrate(server.url)
        running = await start(stack, database_url=server.url, folder=tmp_path, inbox=inbox)
        client = running.client
        item = await client.schedule(
            ANN,
            locale="en",
            metadata={"questionnaire": {"transaction_id": "1042"}, "responder": {"first_name": "Ann"}},
        )
        mail = await inbox.one_for(ANN)
        scores = check_mail(mail, item_id=item["item_id"], url=running.url)
        sent = await client.sent(item["item_id"])

        assert server.process is not None
        server.process.send_signal(signal.SIGKILL)
        await _refused(running, client, item["item_id"])
        page = await phone.goto(scores[3])
        assert page is not None
        assert 503 == page.status
        await server.launch()

        async def is_back() -> bool:
            return (await client.request("GET", f"/q/queue/item/{item['item_id']}")).status_code == 200

        await until(is_back, seconds=5, what="the web process recovers by itself")
        assert sent == await client.get(f"/q/queue/item/{item['item_id']}")
        await answer(phone, scores[3])
        await check_answers(client, sent["questionnaire_instance_id"])

        another = await client.schedule("bob@example.com")
        await inbox.one_for("bob@example.com")
        await client.sent(another["item_id"])
        assert [ANN, "bob@example.com"] == [mail.recipients[0] for mail in inbox.mails]
        assert ([], []) == (running.web.errors(), running.worker.errors())
        for child in (running.web, running.worker):
            assert 0 == await child.stop(), child.tail()


async def _refused(running: Running, client: Client, item_id: str) -> None:
    """Every door says 503 and when to come again, and the process itself stays alive."""

    async def is_away() -> bool:
        return (await client.request("GET", f"/q/queue/item/{item_id}")).status_code == 503

    await until(is_away, seconds=10, what="the API says 503")
    for method, path, body in (
        ("GET", f"/q/queue/item/{item_id}", None),
        ("POST", client.items_path, {"responder_channel_identifier": "lost@example.com"}),
    ):
        answer = await client.request(method, path, body)
        assert 503 == answer.status_code
        assert "unavailable" == answer.json()["code"]
        assert int(answer.headers["retry-after"])
    async with httpx2.AsyncClient(base_url=running.url) as http:
        assert 200 == (await http.get("/healthz")).status_code
        assert 503 == (await http.get("/readyz")).status_code
