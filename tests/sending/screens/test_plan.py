"""The hours in which waiting messages become due: above their list, not above a part of it."""

import pytest

from tests.sending.queue.conftest import Client
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import http as http  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import queue as queue  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in

WAITING = "/console/sending?tab=waiting"


async def test_hours(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        await client.create(responder_channel_identifier=f"{name}@example.com")
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert "What leaves when" not in (await browser.get(WAITING)).text  # all are due
        await client.queue.execute(
            """update queue_item set due_time = date_trunc('hour', now()) + case
                 when responder_channel_identifier like 'a%' then interval '50 hours' else interval '2 hours' end"""
        )
        page = (await browser.get(WAITING)).text
        assert "3 messages become due in the next seven days." in page
        assert (1, 1) == (page.count("hour level-4"), page.count("hour level-2"))
        assert "What leaves when" not in (await browser.get(f"{WAITING}&reason=quiet_hours")).text
        monkeypatch.setattr("afterword.sending.queue.lists.COUNT_MAX", 1)
        assert "There are more" in (await browser.get(WAITING)).text
