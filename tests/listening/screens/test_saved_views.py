"""Saved views in the console: an address with a name, for oneself or for all, removed on a page of its own."""

import html
import re

from tests.listening.reports.conftest import House
from tests.listening.reports.conftest import house as house  # noqa: PLC0414  a fixture
from tests.listening.screens.test_overview import owner as owner  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in


async def test_save_use_and_remove(owner: House) -> None:
    async with browser_of(owner.pool) as client:
        await log_in(client)
        address = "/console/responses?tab=unhappy&search=%CE%AC%CF%81%CE%B3%CE%B7%CF%83%CE%B5"
        target = address.replace("responses?", "responses/views?")
        saved = await client.post(f"{target}&after=5_x", data={"title": "Late"})
        assert f"{address}&done=view" == saved.headers["location"]
        page = html.unescape((await client.get("/console/responses")).text)
        assert f'<a href="{address}">Late</a>' in page
        assert f'<a href="{address}" aria-current="true">Late</a>' in html.unescape((await client.get(address)).text)
        found = re.search(r"/console/responses/views/\w{22}", page)
        assert found is not None
        assert "Remove the view “" in (await client.get(found[0])).text
        assert 303 == (await client.post(found[0])).status_code
        assert "Late" not in (await client.get("/console/responses")).text
        assert 404 == (await client.get(found[0])).status_code
