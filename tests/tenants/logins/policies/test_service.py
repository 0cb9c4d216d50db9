"""The login policy: who sets it, how nobody locks themselves out, and that each session meets it, however it began."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from afterword import errors
from afterword.core.organizations.access import Caller, installation
from afterword.kit import db
from afterword.kit.nouns import service as nouns
from afterword.tenants.logins import policies
from afterword.tenants.logins.policies import POLICY
from tests.asking.screens.test_builder import text_of
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import EMAIL, OWN, Office, browser_of, found, log_in
from tests.tenants.logins.identities.provider import Provider, running
from tests.tenants.logins.identities.test_service import (
    NIKOS,
    SITE,
    browser,
    connect,
    plain as plain,  # noqa: PLC0414  a fixture
)

NOTHING: dict[str, Any] = {
    "requires_second_factor": False,
    "requires_provider": False,
    "console_networks": (),
    "token_networks": (),
}
PEOPLE = "/console/settings/people"
ACCOUNT = "/console/settings/account"


@pytest.fixture
def provider() -> Any:
    with running(f"{SITE.public_url}/console/login/identity") as provider:
        yield provider


async def require(office: Office, *, caller: Caller | None = None, address: str | None = None, **policy: Any) -> None:
    async with db.transaction(office.pool) as database:
        await policies.save(
            database,
            caller=caller or installation(office.organization_id),
            wanted={**NOTHING, **policy},
            address=address,
            now=database.clock.now(),
        )


@contextmanager
def refused(words: str) -> Generator[None]:
    with pytest.raises(errors.Invalid) as caught:
        yield
    assert words in caught.value.errors[0].message


async def give_second_factor(office: Office, email: str) -> None:
    async with db.transaction(office.pool) as database:
        await database.execute("update login set totp_secret = '\\x01', totp_time = now() where email = $1", email)


class TestSave:
    async def test_only_an_owner(self, office: Office) -> None:
        admin = Caller(office.organization_id, "", "u", frozenset(), (), "kalamata", "UTC", "en", role="admin")
        with pytest.raises(errors.Forbidden, match="owner"):
            await require(office, caller=admin)

    async def test_own_address_stays_in(self, office: Office) -> None:
        with refused("lock yourself out"):
            await require(office, address="192.0.2.1", console_networks=["198.51.100.0/24"])
        await require(office, address="192.0.2.1", console_networks=["198.51.100.0/24", "192.0.2.1"])
        async with db.connection(office.pool) as database:
            policy = await nouns.get(
                POLICY, database, caller=installation(office.organization_id), key=office.organization_id
            )
        assert (["198.51.100.0/24", "192.0.2.1/32"], 2) == (policy.console_networks, policy.version)

    async def test_two_at_once(self, office: Office) -> None:
        """The second one waits, and then sees what the first one stored."""
        caller = installation(office.organization_id)

        async def save(sees: errors.Expect) -> None:
            async with db.transaction(office.pool) as database:
                given: dict[str, Any] = {"wanted": {**NOTHING, "console_networks": ["192.0.2.1"]}, "address": None}
                await policies.save(database, caller=caller, **given, now=database.clock.now(), expect=sees)

        def first(version: int) -> None:
            if version != 1:
                raise errors.Stale("another one was first")

        async with db.transaction(office.pool) as database:
            await nouns.get(POLICY, database, caller=caller, key=office.organization_id, is_locked=True)
            second = asyncio.create_task(save(first))
            await database.fetch_value("select pg_backend_pid()")
            given: dict[str, Any] = {"wanted": {**NOTHING, "requires_second_factor": True}, "address": None}
            await policies.save(database, caller=caller, **given, now=database.clock.now())
        with pytest.raises(errors.Stale):
            await second

    @pytest.mark.parametrize("network", ["", "192.0.2.1/24", "shop.example", "0.0.0.0/33"])
    async def test_networks(self, office: Office, network: str) -> None:
        with refused("network or an address"):
            await require(office, console_networks=["192.0.2.1", network])

    async def test_no_provider_yet(self, office: Office) -> None:
        with refused("Connect"):
            await require(office, requires_provider=True)


class TestSessions:
    async def test_second_factor(self, office: Office) -> None:
        """It holds for a session that is open, and for a new one; a factor opens both. Nothing else does."""
        async with browser_of(office.pool) as client:
            await log_in(client)
            assert 200 == (await client.get(PEOPLE)).status_code
            await require(office, requires_second_factor=True)
            for path in ("/console", PEOPLE, "/console/responses", "/console/settings/tokens"):
                refused = await client.get(path)
                assert (303, f"{ACCOUNT}?done=second_factor") == (refused.status_code, refused.headers["location"])
            assert 303 == (await client.post(PEOPLE, data={"email": "x@kalamata.example", "role": "owner"})).status_code
            assert "requires a second factor" in text_of(await client.get(f"{ACCOUNT}?done=second_factor"))
            assert "Scan" in (page := text_of(await client.post("/console/settings/totp"))) or "code" in page
            await give_second_factor(office, EMAIL)
            assert 200 == (await client.get(PEOPLE)).status_code

    async def test_switch(self, office: Office) -> None:
        """A session that began in another organization is confined in this one alone."""
        other = await found(office.pool, domain="sparta", email="sofia@sparta.example")
        async with db.transaction(office.pool) as database:
            login_id = await database.fetch_value("select login_id from login where email = $1", EMAIL)
            await database.execute(
                "update organization_user set login_id = $1 where organization_id = $2", login_id, other.organization_id
            )
        await require(other, requires_second_factor=True)
        async with browser_of(office.pool) as client:
            await log_in(client)
            assert 200 == (await client.get(PEOPLE)).status_code
            for one, status in ((other, 303), (office, 200)):
                user = f"{one.organization_id}/{one.user_id}"
                assert 303 == (await client.post("/console/switch", data={"user": user})).status_code
                assert status == (await client.get(PEOPLE)).status_code

    async def test_networks(self, office: Office) -> None:
        await office.add_user("ann@kalamata.example", password=None)
        await require(office, console_networks=["192.0.2.0/24", "2001:db8::/32"])
        for source, status in (
            ("192.0.2.7", 200),
            ("2001:db8::1", 200),
            ("198.51.100.1", 403),
            ("::ffff:192.0.2.9", 200),
        ):
            async with browser_of(office.pool, source=source) as client:
                assert 303 == (await log_in(client)).status_code
                page = await client.get(PEOPLE)
                assert status == page.status_code, source
                assert ("ann<wbr>@kalamata.example" in page.text) == (status == 200)
                assert 303 == (await client.post("/console/logout")).status_code

    async def test_provider_alone(self, office: Office, provider: Provider) -> None:
        """A password opens nothing any more but to owners, with a second factor; without a provider it does."""
        await office.add_user("ann@kalamata.example", role="admin")
        await connect(office, provider)
        async with client_of(office.pool, site=SITE) as client, browser(office, provider) as person:
            client.headers.update(OWN)
            await log_in(client, email="ann@kalamata.example")
            await require(office, requires_provider=True)
            page = await client.get(PEOPLE)
            assert (403, True) == (page.status_code, "/console/login/with/kalamata" in text_of(page))
            assert 303 == (await person.log_in(groups=["chiefs"])).status_code
            assert 200 == (await person.client.get(PEOPLE)).status_code
            assert 303 == (await person.log_in(**{**NIKOS, "sub": "ann", "email": "ann@kalamata.example"})).status_code
            async with client_of(office.pool, site=SITE) as owner:
                owner.headers.update(OWN)
                await log_in(owner)
                assert f"{ACCOUNT}?done=second_factor" == (await owner.get(PEOPLE)).headers["location"]
                await give_second_factor(office, EMAIL)
                assert 200 == (await owner.get(PEOPLE)).status_code
            async with db.transaction(office.pool) as database:
                await database.execute("update organization_user set role = 'admin' where email like 'ann@%'")
                await database.execute("delete from identity_provider")
            assert 200 == (await client.get(PEOPLE)).status_code
