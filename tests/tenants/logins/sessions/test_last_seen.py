"""When sessions were seen, as a web process writes it down."""

from datetime import timedelta

from afterword.kit import db
from afterword.tenants.logins import sessions
from afterword.tenants.organizations.tokens.access import SessionUses
from tests.tenants.logins.conftest import Office, browser_of, log_in


async def test_seen_to_the_hour(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        cookie = client.cookies["afterword"]
    seen = SessionUses()
    async with db.transaction(office.pool) as database:
        now = database.clock.now()
        session = await sessions.get_session(database, cookie=cookie, now=now)
        assert session is not None
        for minutes, is_written in ((59, False), (61, True)):
            seen.note(session.session_id, now=now + timedelta(minutes=minutes))
            await sessions.update_sessions_seen(database, used=seen.take())
            again = await sessions.get_session(database, cookie=cookie, now=now)
            assert again is not None
            assert is_written == (again.seen_time > session.seen_time)
    assert {} == seen.take()
