"""Proofs between password and code, and the pruning of what has ended."""

from datetime import timedelta

from afterword import db
from afterword.logins import service, store
from afterword.logins.sessions import service as sessions
from tests.logins.conftest import EMAIL, SITE, Office, browser_of, log_in


async def test_pending(office: Office) -> None:
    async with db.connection(office.pool) as database:
        now = database.clock.now()
        login = await store.get_login_by_email(database, email=EMAIL.upper())
    assert login is not None
    text = service.pending(login, secret=SITE.secret, now=now)
    assert login.login_id == service.read_pending(text, secret=SITE.secret, now=now)
    assert service.read_pending(text, secret=SITE.secret, now=now + service.PENDING) is None
    assert service.read_pending(text, secret=b"x" * 32, now=now) is None
    assert login.password_hash not in repr(login)


async def test_prune(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        await log_in(client, password="wrong")
        await client.post("/console/reset", data={"email": EMAIL})
    async with db.transaction(office.pool) as database:
        now = database.clock.now()
        assert 0 == await service.prune(database, now=now, limit=10)
        assert 1 == await service.prune(database, now=now + sessions.LIFETIME + timedelta(days=1), limit=10)
        for query in ("select count(*) from login_session", "select count(*) from login_link"):
            assert 0 == await database.fetch_value(query)
