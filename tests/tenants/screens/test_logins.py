"""The login policy in the settings."""

from tests.asking.screens.test_builder import text_of
from tests.tenants.logins.conftest import Browser

PATH = "/console/settings/organization/logins"
FORM = {
    "requires_second_factor": "",
    "requires_provider": "",
    "console_networks": "192.0.2.0/24",
    "token_networks": "203.0.113.0/24",
}


async def test_policy(browser: Browser) -> None:
    assert "People without one must set it up" in text_of(await browser.get(PATH))
    assert f'href="{PATH}"' in text_of(await browser.get("/console/settings/organization"))
    assert "Your address is 192.0.2.1." in text_of(await browser.get(PATH))
    form = {**FORM, "version": "1"}
    wrong = await browser.post(PATH, data={**form, "console_networks": "198.51.100.0/24"})
    assert (422, True) == (wrong.status_code, "you would lock yourself out" in text_of(wrong))
    assert 303 == (await browser.post(PATH, data=form)).status_code
    for network in ("192.0.2.0/24", "203.0.113.0/24"):
        assert network in text_of(await browser.get(PATH))
    assert 412 == (await browser.post(PATH, data=form)).status_code
    assert 303 == (await browser.post(PATH, data={**form, "version": "2", "console_networks": ""})).status_code
