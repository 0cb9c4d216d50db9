"""The host of public pages in the settings: claimed, checked, told of on the overview once it is lost, given back."""

import pytest

from afterword.asking.links import domains
from afterword.kit import db
from tests.asking.screens.test_builder import text_of
from tests.tenants.logins.conftest import Browser, Office

PATH = "/console/settings/organization/domain"
FORM = {"host": "ask.shop.example"}


async def test_domain(office: Office, monkeypatch: pytest.MonkeyPatch, browser: Browser) -> None:
    monkeypatch.setattr(domains, "ASK_SECONDS_MAX", 0)  # over before a name server can answer
    assert f'href="{PATH}"' in text_of(await browser.get("/console/settings/organization"))
    wrong = await browser.post(PATH, data={"host": "shop"})
    assert (422, True, True) == (wrong.status_code, 'href="#host"' in wrong.text, 'value="shop"' in wrong.text)
    assert 303 == (await browser.post(PATH, data=FORM)).status_code
    page = text_of(await browser.get(PATH))
    for text in ("not proven yet", "<code>_afterword.ask.shop.example</code>", "afterword-domain="):
        assert text in page
    assert 303 == (await browser.post(f"{PATH}/check")).status_code
    assert "No name server answered." in text_of(await browser.get(PATH))
    async with db.transaction(office.pool) as database:
        await database.execute("update custom_domain set proven_time = now(), lost_time = now()")
    assert "The record is gone." in text_of(await browser.get(PATH))
    assert "The record of ask.shop.example is gone." in text_of(await browser.get("/console"))
    assert "Release “ask.shop.example”?" in text_of(await browser.get(f"{PATH}/removal"))
    assert 303 == (await browser.post(f"{PATH}/removal")).status_code
    assert "_afterword" not in text_of(await browser.get(PATH))
