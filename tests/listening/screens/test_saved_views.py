"""Saved views in the console: an address with a name, for oneself or for all, removed on a page of its own."""

import html
import re

from tests.tenants.logins.conftest import Browser


async def test_save_use_and_remove(browser: Browser) -> None:
    address = "/console/responses?tab=unhappy&search=%CE%AC%CF%81%CE%B3%CE%B7%CF%83%CE%B5"
    target = address.replace("responses?", "responses/views?")
    saved = await browser.post(f"{target}&after=5_x", data={"title": "Late"})
    assert f"{address}&done=view" == saved.headers["location"]
    page = html.unescape((await browser.get("/console/responses")).text)
    assert f'<a href="{address}">Late</a>' in page
    assert f'<a href="{address}" aria-current="true">Late</a>' in html.unescape((await browser.get(address)).text)
    found = re.search(r"/console/responses/views/\w{22}", page)
    assert found is not None
    assert "Remove the view “" in (await browser.get(found[0])).text
    assert 303 == (await browser.post(found[0])).status_code
    assert "Late" not in (await browser.get("/console/responses")).text
    assert 404 == (await browser.get(found[0])).status_code
