"""Hashes of passwords, proofs between password and code, invitations over the API, and pruning."""

from datetime import timedelta

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.tenants.logins import service, sessions
from tests.conftest import HASHER
from tests.making import make_token
from tests.pruning import prune
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import EMAIL, PASSWORD, SITE, Office, browser_of, log_in


async def test_pending(office: Office) -> None:
    """It ends after some minutes, and with the password."""
    async with db.transaction(office.pool) as database:
        now = database.clock.now()
        login = await service.get_login_by_email(database, email=EMAIL.upper())
        assert login is not None
        text = service.pending(login, secret=SITE.secret, now=now)
        for secret, moment in ((SITE.secret, now + service.PENDING), (b"x" * 32, now)):
            assert await service.find_pending(database, text=text, secret=secret, now=moment) is None
        given = {"text": text, "secret": SITE.secret, "now": now}
        assert login == await service.find_pending(database, **given)
        await service.change_password(database, login=login, password_hash="another", now=now)
        assert await service.find_pending(database, **given) is None
    assert login.password_hash not in repr(login)


async def test_prune(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        await log_in(client, password="wrong")
        await client.post("/console/reset", data={"email": EMAIL})
    async with db.transaction(office.pool) as database:
        now = database.clock.now()
        names = ("idle sessions", "sessions", "log-in links", "challenges of passkeys", "failed log-ins")
        assert 0 == await prune(database, *names, now=now)
        assert 4 == await prune(database, *names, now=now + sessions.LIFETIME + timedelta(days=1))
        for query in ("select count(*) from login_session", "select count(*) from login_link"):
            assert 0 == await database.fetch_value(query)


async def test_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_hasher", HASHER)
    hashed = await service.hash_of("O\u0301lga has four words")
    assert hashed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await service.is_right(hashed, "\u00d3lga has four words")
    assert not await service.is_right(hashed, "Olga has four words")
    assert not await service.is_right("no hash", PASSWORD)
    assert not service.is_outdated(hashed)


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
