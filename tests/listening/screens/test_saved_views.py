"""Saved views in the console: an address with a name, for oneself or for all, removed at once and taken back."""

import html
import re

from tests.console.test_undo import undo_of
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
    removed = await browser.post(found[0])
    assert "/console/responses?done=view_removed" == removed.headers["location"]
    assert "Late" not in (await browser.get("/console/responses")).text
    assert 404 == (await browser.post(found[0])).status_code
    undo = undo_of((await browser.get(removed.headers["location"])).text)
    back = await browser.post(undo.action, data=undo.fields)
    assert f"{address}&done=undone" == back.headers["location"]
    page = html.unescape((await browser.get("/console/responses")).text)
    assert f'<a href="{address}">Late</a>' in page
