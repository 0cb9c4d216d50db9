"""Kiosk mode on its screen: settings, a PIN that is never shown, and the address for the device."""

import html

from tests.asking.screens.test_links import FORM
from tests.tenants.logins.conftest import Browser

KIOSK = {"is_on": "1", "idle_seconds": "45", "thanks_seconds": "8", "layout": "by_question", "kiosk_pin": ""}


async def test_kiosk(browser: Browser, path: str) -> None:
    made = await browser.post(f"{path}/links/new", data=FORM)
    one = made.headers["location"].partition("?")[0]
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
