"""Proofs between password and code, and the pruning of what has ended."""

from datetime import timedelta

from afterword.kit import db
from afterword.tenants.logins import service, sessions
from tests.pruning import prune
from tests.tenants.logins.conftest import EMAIL, SITE, Office, browser_of, log_in


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
