"""The mailbox of answers in the console: set, refused with what was typed, tested, and told of on the case."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import get_args

import httpx2
import pytest

from afterword.cases.screens.settings import MAILBOX_PATH as PATH, PROBLEMS
from afterword.core.messaging.networks import networks_of
from afterword.kit.transport.imap import Problem
from tests.cases.conftest import Desk
from tests.cases.mailboxes.conftest import (
    ADDRESS,
    certificate as certificate,  # noqa: PLC0414  a fixture
    mailserver as mailserver,  # noqa: PLC0414  a fixture
    started as started,  # noqa: PLC0414  a fixture
)
from tests.cases.messages.test_messages import case_of_ann
from tests.cases.screens.test_settings import version_of
from tests.dovecot import PASSWORDS, USER, Mailserver
from tests.tenants.logins.conftest import SITE, browser_of, log_in


@pytest.fixture
async def near(office: Desk) -> AsyncGenerator[httpx2.AsyncClient]:
    """The owner's browser at an installation that may connect to this machine."""
    async with browser_of(office.pool, site=replace(SITE, networks=networks_of("127.0.0.0/8"))) as browser:
        await log_in(browser)
        yield browser


async def form_of(browser: httpx2.AsyncClient, server: Mailserver) -> dict[str, str]:
    return {
        "version": version_of((await browser.get(PATH)).text), "address": ADDRESS, "host": "127.0.0.1",
        "security": "tls", "port": str(server.tls), "username": USER, "password": PASSWORDS[USER], "folder": "INBOX",
    }  # fmt: skip


def test_each_problem_has_its_words() -> None:
    assert set(get_args(Problem)) == set(PROBLEMS)


async def test_agents_do_not_set_it_up(office: Desk, agent: httpx2.AsyncClient) -> None:
    assert 403 == (await agent.get(PATH)).status_code
    path = (await case_of_ann(office)).replace("/alert/instance", "/console/cases")
    page = (await agent.get(path)).text
    assert "Answers by mail are not set up." in page
    assert "Set up the mailbox" not in page


async def test_refused(near: httpx2.AsyncClient, mailserver: Mailserver) -> None:
    form = await form_of(near, mailserver)
    response = await near.post(PATH, data={**form, "address": "nobody", "username": ""})
    assert 422 == response.status_code
    assert 'value="nobody"' in response.text
    assert PASSWORDS[USER] not in response.text
    assert 412 == (await near.post(PATH, data={**form, "version": "7"})).status_code


async def test_set_and_tested(office: Desk, near: httpx2.AsyncClient, mailserver: Mailserver) -> None:
    """Saving tests it too. An empty password keeps the one that is stored."""
    path = (await case_of_ann(office)).replace("/alert/instance", "/console/cases")
    assert "Set up the mailbox</a>" in (await near.get(path)).text
    form = await form_of(near, mailserver)
    assert 303 == (await near.post(PATH, data={**form, "password": "wrong"})).status_code
    page = (await near.get(PATH)).text
    assert "Gmail and others need an app password." in page
    assert "Authentication failed" in page
    assert "The mailbox cannot be read at the moment." in (await near.get(path)).text
    form["version"] = version_of(page)
    assert 303 == (await near.post(PATH, data=form)).status_code
    page = (await near.get(PATH)).text
    assert '<span class="state">On</span>' in page
    assert 303 == (await near.post(PATH, data={**form, "version": version_of(page), "password": ""})).status_code
    mailserver.deliver(b"Subject: Hello\r\n\r\nHello.\r\n")
    assert 303 == (await near.post(f"{PATH}/check", data={})).status_code
    page = (await near.get(PATH)).text
    assert "<dt>Mails in the folder</dt><dd>1</dd>" in page
    assert "Answers arrive at answers@shop.example." in (await near.get(path)).text.replace("\u2068", "").replace(
        "\u2069", ""
    )


async def test_by_a_pipe(near: httpx2.AsyncClient) -> None:
    page = (await near.get(PATH)).text
    assert '<span class="state off">Not set up</span>' in page
    form = {"address": ADDRESS, "host": "", "security": "tls", "port": "993", "folder": "INBOX"}
    form["version"] = version_of(page)
    assert 303 == (await near.post(PATH, data=form)).status_code
    page = (await near.get(PATH)).text
    assert '<span class="state">By a pipe</span>' in page
    assert "Test</button>" not in page
