"""Chats in the console: a new one by its kind, its test card, and the forms that choose it."""

import html
import re
from dataclasses import replace

import httpx2
import pytest

from afterword.kit import db
from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.events.conftest import LOOPBACK
from tests.sending.channels.receiver import Receiver, Reply
from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import PASSWORD, SITE, Office, browser_of, log_in

CHATS = "/console/settings/chats"
FORM = {"title": "Shop floor <b>", "kind": "slack", "address": "https://hooks.slack.com/services/T0/B0/secretsecret",
        "comments": "1", "locale": "en", "active": "1"}  # fmt: skip
WRONG = (
    ("title", ""), ("kind", "icq"), ("address", ""), ("address", "https://example.com/"),
    ("address", "http://hooks.slack.com/x"), ("address", "https://10.0.0.1/"),
)  # fmt: skip


@pytest.fixture
async def made(owner: httpx2.AsyncClient) -> str:
    """The page of a chat."""
    await owner.post("/console/proof", data={"password": PASSWORD, "next": CHATS})
    answer = await owner.post(f"{CHATS}/new", data=FORM)
    assert 303 == answer.status_code
    return answer.headers["location"].partition("?")[0]


async def test_kinds(owner: httpx2.AsyncClient) -> None:
    await owner.post("/console/proof", data={"password": PASSWORD, "next": CHATS})
    page = html.unescape((await owner.get(f"{CHATS}/new")).text)
    for name in ("Slack", "Microsoft Teams", "Google Chat", "Mattermost", "Your own program"):
        assert f"<span>{name} <span" in page
    assert "Incoming Webhooks" in page


async def test_address_is_never_shown(owner: httpx2.AsyncClient, made: str) -> None:
    for path in (CHATS, made, f"{made}/edit"):
        page = (await owner.get(path)).text
        assert "secretsecret" not in page
    assert "hooks.slack.com" in (await owner.get(made)).text
    version = version_of(await owner.get(f"{made}/edit"))
    form = {**FORM, "address": "", "locale": "el", "version": version}
    assert 303 == (await owner.post(f"{made}/edit", data=form)).status_code


async def test_test_card(office: Office) -> None:
    """The page says whether the chat took it."""
    async with Receiver() as receiver, browser_of(office.pool, site=replace(SITE, networks=LOOPBACK)) as browser:
        await log_in(browser)
        await browser.post("/console/proof", data={"password": PASSWORD, "next": CHATS})
        form = {**FORM, "kind": "webhook", "address": f"{receiver.url}/hook"}
        path = (await browser.post(f"{CHATS}/new", data=form)).headers["location"].partition("?")[0]
        assert "Send a test card" in (await browser.get(path)).text
        taken = (await browser.post(f"{path}/test")).headers["location"]
        assert "The chat took the test card." in (await browser.get(taken)).text
        receiver.reply = Reply(403)
        refused = (await browser.post(f"{path}/test")).headers["location"]
        assert path == refused
        assert "HTTP 403" in (await browser.get(refused)).text
        assert "HTTP 403" in (await browser.get(CHATS)).text


async def test_alert_and_report(office: Office, owner: httpx2.AsyncClient, made: str) -> None:
    """The forms of an alert and of a report choose it; removing it removes it from both."""
    page = (await owner.get("/console/settings/alerts/new")).text
    chat_id = made.rpartition("/")[2]
    assert re.search(rf'name="chat_ids" value="{chat_id}"', page)
    form = {"report_id": "overview", "when": "weekly 1", "hour": "8", "locale": "en", "chat_id": chat_id}
    assert 303 == (await owner.post("/console/reports/mails", data=form)).status_code
    assert "Shop floor &lt;b&gt;" in (await owner.get("/console/reports/mails")).text
    wrong = await owner.post("/console/reports/mails", data={**form, "recipient": "ann@example.com"})
    assert (422, True) == (wrong.status_code, 'href="#chat_id"' in wrong.text)
    assert 303 == (await owner.post(f"{made}/removal")).status_code
    async with db.connection(office.pool) as database:
        assert 0 == await database.fetch_value("select count(*) from report_digest")
