"""Links work once, the newest of a purpose alone, and not for another purpose or after their time."""

import pytest
from msgspec.structs import replace

from afterword.kit import db
from afterword.tenants.logins import links
from afterword.tenants.logins.links import Link

SETUP = Link("setup", None, None, None, None)


async def test_once(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        now = database.clock.now()
        secret = await links.make(database, link=SETUP, now=now)
        assert SETUP == await links.get_link(database, secret=secret, purpose="setup", now=now)
        for purpose, moment in (("reset", now), ("setup", now + links.LIFETIMES["setup"])):
            with pytest.raises(links.LinkGone):
                await links.claim_link(database, secret=secret, purpose=purpose, now=moment)
        assert SETUP == await links.claim_link(database, secret=secret, purpose="setup", now=now)
        with pytest.raises(links.LinkGone):
            await links.get_link(database, secret=secret, purpose="setup", now=now)


async def test_the_newest_alone(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        now = database.clock.now()
        first, second = [await links.make(database, link=SETUP, now=now) for _ in range(2)]
        with pytest.raises(links.LinkGone):
            await links.get_link(database, secret=first, purpose="setup", now=now)
        assert SETUP == await links.get_link(database, secret=second, purpose="setup", now=now)


async def test_set_up_of_another_organization(pool: db.Pool) -> None:
    """Its link stays when one for this organization is made."""
    async with db.transaction(pool) as database:
        now = database.clock.now()
        one, other = [replace(SETUP, organization_id=22 * letter) for letter in "ab"]
        secret = await links.make(database, link=one, now=now)
        await links.make(database, link=other, now=now)
        assert one == await links.get_link(database, secret=secret, purpose="setup", now=now)


async def test_stored_nowhere(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        secret = await links.make(database, link=SETUP, now=database.clock.now())
        rows = await database.fetch("select * from login_link")
    assert secret not in str([dict(row) for row in rows])
