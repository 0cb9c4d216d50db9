"""The box of a public link on its screen: settings, the line to copy, and the websites that may show it."""

import html

from afterword.kit import db
from tests.asking.screens.test_links import FORM
from tests.tenants.logins.conftest import Browser, Office

BOX = {"is_shown": "1", "delay_seconds": "20", "share_percent": "50", "again_days": "30", "position": "center"}


async def test_box(office: Office, browser: Browser, path: str) -> None:
    made = await browser.post(f"{path}/links/new", data=FORM)
    one = made.headers["location"].partition("?")[0]
    assert f'href="{one}/box"' in html.unescape((await browser.get(one)).text)
    page = html.unescape((await browser.get(f"{one}/box")).text)
    assert "Turn the box on first." in page
    assert "No website may show it yet" in page
    for name, wrong in (("share_percent", "0"), ("delay_seconds", "soon"), ("scroll_percent", "101")):
        refused = await browser.post(f"{one}/box", data={**BOX, name: wrong, "version": "1"})
        assert (422, True) == (refused.status_code, f'href="#{name}"' in refused.text)
    async with db.transaction(office.pool) as database:
        await database.execute("update application set website_urls = '{https://shop.example/start}'")
    assert 303 == (await browser.post(f"{one}/box", data={**BOX, "addresses": "/a*\n/b", "version": "1"})).status_code
    page = html.unescape((await browser.get(f"{one}/box")).text)
    for text in ('<script async src="', 'box.js" data-link="', "/a*\n/b", "https://shop.example\n", "?box=1"):
        assert text.rstrip("\n") in page
    stale = await browser.post(f"{one}/box", data={**BOX, "version": "1"})
    assert 412 == stale.status_code
    assert 303 == (await browser.post(f"{one}/box", data={**BOX, "is_shown": "", "version": "2"})).status_code
    assert "Turn the box on first." in (await browser.get(f"{one}/box")).text
