"""The identity provider in the settings: by owners alone, saved and checked at once, and removed."""

from typing import Any

import pytest

from afterword.tenants.logins.identities import openid
from tests.asking.screens.test_builder import text_of
from tests.tenants.logins.conftest import Browser

PATH = "/console/settings/organization/identity"
FORM: dict[str, Any] = {
    "issuer": "https://login.shop.invalid",
    "client_id": "afterword",
    "client_secret": "between us",
    "scopes": "groups",
    "groups_claim": "groups",
    "admin": "chiefs",
    "agent": "desk\nnight desk",
    "default_role": "",
    "trusts_addresses": "",
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name server is quicker."""
    monkeypatch.setattr(openid, "CALL_SECONDS_MAX", 0.001)


async def test_identity(browser: Browser) -> None:
    assert f'href="{PATH}"' in text_of(await browser.get("/console/settings/organization"))
    blank = text_of(await browser.get(PATH))
    assert ("http://testserver/console/login/identity" in blank, "<code>kalamata</code>" in blank) == (True, True)
    for name, value in {"issuer": "http://login.shop.invalid", "scopes": "a b"}.items():
        wrong = await browser.post(PATH, data={**FORM, name: value})
        assert (422, True) == (wrong.status_code, f'href="#{name}"' in wrong.text)
        assert "between us" not in wrong.text
    assert 303 == (await browser.post(PATH, data=FORM)).status_code
    page = text_of(await browser.get(PATH))
    for text in ("night desk", "A secret is stored.", "The provider was not reached", "/console/login/with/kalamata"):
        assert text in page
    assert "between us" not in page
    assert 303 == (await browser.post(PATH, data={**FORM, "client_secret": "", "is_public": "1"})).status_code
    assert "Leave this empty for a public client." in text_of(await browser.get(PATH))
    assert 303 == (await browser.post(f"{PATH}/check")).status_code
    assert "Remove the log-in through https://login.shop.invalid?" in text_of(await browser.get(f"{PATH}/removal"))
    assert 303 == (await browser.post(f"{PATH}/removal")).status_code
    assert "A secret is stored." not in text_of(await browser.get(PATH))
