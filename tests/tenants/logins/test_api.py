"""Mailing an invitation over the API: for users of ours who cannot log in yet."""

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from tests.making import make_token
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import EMAIL, SITE, Office


async def token_of(office: Office, *scopes: str, test: bool = False) -> dict[str, str]:
    text = await make_token(office.pool, office.organization_id, scopes=scopes or SCOPES, test=test)
    return {"Authorization": f"Bearer {text}"}


async def invite(office: Office, user_id: str, headers: dict[str, str]) -> httpx2.Response:
    async with client_of(office.pool, site=SITE) as client:
        return await client.post(f"/v3.2/user/{user_id}/invitation", headers=headers)


@pytest.fixture
async def ben(office: Office) -> str:
    return await office.add_user("ben@kalamata.example", password=None)


async def test_refused(office: Office) -> None:
    assert 409 == (await invite(office, office.user_id, await token_of(office))).status_code


async def test_ok(office: Office, ben: str) -> None:
    answer = await invite(office, ben, await token_of(office))
    assert (201, "ben@kalamata.example") == (answer.status_code, answer.json()["email"])
    assert EMAIL not in answer.text
    assert "console" not in answer.text  # the link stands in the mail alone
    async with db.connection(office.pool) as database:
        assert "ben@kalamata.example" == await database.fetch_value("select recipient from notice_mail")
