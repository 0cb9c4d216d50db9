"""A link in a box and in kiosk mode: settings, the line to copy, a PIN that is never shown, the device's address."""

import html

import pytest

from afterword.kit import db
from tests.asking.screens.test_links import FORM
from tests.tenants.logins.conftest import Browser, Office

BOX = {"is_shown": "1", "delay_seconds": "20", "share_percent": "50", "again_days": "30", "position": "center"}
KIOSK = {"is_on": "1", "idle_seconds": "45", "thanks_seconds": "8", "layout": "by_question", "kiosk_pin": ""}


@pytest.fixture
async def one(browser: Browser, path: str) -> str:
    """The address of a new link."""
    made = await browser.post(f"{path}/links/new", data=FORM)
    return made.headers["location"].partition("?")[0]


async def test_box(office: Office, browser: Browser, one: str) -> None:
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


async def test_kiosk(browser: Browser, one: str) -> None:
    kiosk = f"{one}/kiosk"
    assert f'href="{kiosk}"' in html.unescape((await browser.get(one)).text)
    assert "Turn kiosk mode on first." in (await browser.get(kiosk)).text
    for name, wrong in (("idle_seconds", "5"), ("thanks_seconds", ""), ("layout", "x"), ("kiosk_pin", "12")):
        refused = await browser.post(kiosk, data={**KIOSK, name: wrong, "version": "1"})
        assert (422, True) == (refused.status_code, f'href="#{name}"' in refused.text)
    assert 303 == (await browser.post(kiosk, data={**KIOSK, "kiosk_pin": "471199", "version": "1"})).status_code
    page = html.unescape((await browser.get(kiosk)).text)
    assert ("/kiosk</a>" in page, "A PIN is set." in page, "471199" in page) == (True, True, False)
    assert 303 == (await browser.post(kiosk, data={**KIOSK, "idle_seconds": "60", "version": "2"})).status_code
    assert "A PIN is set." in (await browser.get(kiosk)).text
    assert 303 == (await browser.post(kiosk, data={"remove": "pin", "version": "3"})).status_code
    page = (await browser.get(kiosk)).text
    assert ("No PIN is set" in page, 'value="60"' in page) == (True, True)
    limited = await browser.post(one, data={**FORM, "one_response_per": "browser", "version": "4"})
    assert (422, True) == (limited.status_code, 'href="#one_response_per"' in limited.text)
