"""The versions of a pipeline in the console: sentences with their author, and one taken back."""

import re
from html import unescape

from tests.sending.queue.conftest import Client
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.sending.screens.test_pipelines import path_of, version_of
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import plain
from tests.tenants.logins.conftest import browser_of, log_in


async def test_listed_and_taken_back(client: Client) -> None:
    path = path_of(client)
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert f'href="{path}/versions"' in unescape((await browser.get(path)).text)
        for days in ("2", "5"):
            form = {"delay_cap_days": days, "delay_cap_hours": "0", "delay_cap_minutes": "0"}
            form["version"] = version_of(await browser.get(f"{path}/delay"))
            assert 303 == (await browser.post(f"{path}/delay", data=form)).status_code
        page = unescape((await browser.get(f"{path}/versions")).text)
        assert "is due after 5 days. Before: A message without a send time is due after 2 days." in plain(page)
        assert "The pipeline was made." in plain(page)
        [back, *_] = re.findall(rf'href="({path}/versions/\w{{22}})"', page)
        asked = await browser.get(back)
        assert "A message without a send time is due after 2 days." in plain(asked.text)
        assert 404 == (await browser.get(f"{path}/versions/{'0' * 22}")).status_code
        assert 412 == (await browser.post(back, data={"version": "1"})).status_code
        assert 303 == (await browser.post(back, data={"version": version_of(asked)})).status_code
        assert "is due after 2 days." in plain((await browser.get(path)).text)
        assert 412 == (await browser.post(back, data={"version": version_of(asked)})).status_code
