"""The identity provider in the settings: by owners alone, saved and checked at once, and removed."""

from typing import Any

import pytest

from afterword.tenants.logins.identities import openid
from tests.asking.screens.test_builder import begun, text_of
from tests.tenants.logins.conftest import Office

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


async def test_identity(office: Office) -> None:
    async with begun(office) as (client, _):
        assert f'href="{PATH}"' in text_of(await client.get("/console/settings/organization"))
        assert "http://testserver/console/login/identity" in text_of(await client.get(PATH))
        for name, value in {"issuer": "http://login.shop.invalid", "scopes": "a b"}.items():
            wrong = await client.post(PATH, data={**FORM, name: value})
            assert (422, True) == (wrong.status_code, f'href="#{name}"' in wrong.text)
            assert "between us" not in wrong.text
        assert 303 == (await client.post(PATH, data=FORM)).status_code
        page = text_of(await client.get(PATH))
        for text in ("night desk", "One is stored.", "The provider was not reached", "/console/login/with/kalamata"):
            assert text in page
        assert "between us" not in page
        assert 303 == (await client.post(PATH, data={**FORM, "client_secret": "", "is_public": "1"})).status_code
        assert "Leave this empty for a public client." in text_of(await client.get(PATH))
        assert 303 == (await client.post(f"{PATH}/check")).status_code
        assert "Remove the log-in through https://login.shop.invalid?" in text_of(await client.get(f"{PATH}/removal"))
        assert 303 == (await client.post(f"{PATH}/removal")).status_code
        assert "One is stored." not in text_of(await client.get(PATH))
