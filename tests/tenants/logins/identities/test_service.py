"""Log-in through an identity provider: refusals and attacks first, then the ok, tried against a real provider."""

import asyncio
import html
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from afterword.core.messaging.networks import networks_of
from afterword.core.organizations.access import Caller, installation
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.tenants.logins.identities import openid, service
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import EMAIL, OWN, Office, found, log_in
from tests.tenants.logins.identities.provider import CLIENT_ID, CLIENT_SECRET, Provider, running

SITE = Site("http://testserver", b"s" * 32, networks=networks_of("127.0.0.0/8"))
GROUPS = [{"group": "desk", "role": "agent"}, {"group": "chiefs", "role": "admin"}]
VALUES: dict[str, Any] = {
    "client_id": CLIENT_ID,
    "client_secret": CLIENT_SECRET,
    "scopes": [],
    "groups_claim": "groups",
    "group_roles": GROUPS,
    "default_role": None,
    "trusts_addresses": False,
}
NIKOS: dict[str, Any] = {
    "sub": "nikos-1",
    "email": "nikos@kalamata.example",
    "email_verified": True,
    "name": "Nikos P.",
    "groups": ["desk", "lunch"],
}


# Claims of the token, claims of the person, and words that the owner is told.
WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"iss": "https://other.example"}, {}, "claim iss:"),
    ({"aud": ["another-client"]}, {}, "claim aud:"),
    ({"aud": ["afterword", "another-client"]}, {}, "is for others too"),
    ({"azp": "another-client"}, {}, "is for another client"),
    ({"nonce": "of-another-log-in"}, {}, "claim nonce:"),
    ({"exp": 1_700_000_000}, {}, "claim exp:"),
    ({"iat": 4_000_000_000}, {}, "claim iat:"),
    ({"sub": ""}, {}, "claim sub"),
    ({"sub": 7}, {}, "claim sub"),
    ({"sub": "s" * 256}, {}, "claim sub"),
    ({"email": None}, {}, "claim sub or email"),
    ({}, {"email_verified": "false"}, "claim email_verified of a person is false"),
    ({}, {"groups": ["lunch", "\x1b[1m/office"]}, "claim groups named: [1m/office, lunch."),
    ({}, {"groups": None, "_claim_names": {"groups": "src1"}}, "cannot be read: there are over 1,000"),
]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running(service.return_url(SITE)) as provider:
        yield provider


async def connect(office: Office, provider: Provider, *, site: Site = SITE, **values: Any) -> None:
    caller = installation(office.organization_id)
    async with db.transaction(office.pool) as database:
        await service.save(
            database,
            caller=caller,
            values={**VALUES, "issuer": provider.issuer, **values},
            site=site,
            now=database.clock.now(),
        )
        now = database.clock.now()
    assert (await service.check(office.pool, caller=caller, site=site, now=now)).problem is None


@dataclass
class Person:
    """A browser, which goes to the provider and back."""

    client: httpx2.AsyncClient
    provider: Provider
    sent: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    async def go(self, *, domain: str = "kalamata", **claims: Any) -> dict[str, str]:
        """The provider's answer: the parameters that it leads back with."""
        self.provider.person = {**NIKOS, **claims}
        begun = await self.client.get(f"/console/login/with/{domain}/start")
        assert 303 == begun.status_code, begun.text
        self.sent = parse_qs(urlsplit(begun.headers["location"]).query)
        async with httpx2.AsyncClient() as elsewhere:
            back = await elsewhere.get(begun.headers["location"])
        assert back.headers["location"].startswith(service.return_url(SITE)), back.text
        return dict(httpx2.URL(back.headers["location"]).params)

    async def come_back(self, params: dict[str, str]) -> httpx2.Response:
        return await self.client.post(service.RETURN_PATH, data=params)

    async def log_in(self, **claims: Any) -> httpx2.Response:
        return await self.come_back(await self.go(**claims))


@asynccontextmanager
async def browser(office: Office, provider: Provider, *, source: str = "192.0.2.1") -> AsyncGenerator[Person]:
    async with client_of(office.pool, site=SITE, source=source) as client:
        client.headers.update(OWN)
        yield Person(client, provider)


@pytest.fixture
async def person(office: Office, provider: Provider) -> AsyncGenerator[Person]:
    """A browser, and an organization that is connected with the provider."""
    await connect(office, provider)
    async with browser(office, provider) as person:
        yield person


async def roles(office: Office) -> dict[str, str]:
    async with db.connection(office.pool) as database:
        rows = await database.fetch("select email, role from organization_user where removed_time is null")
    return {row["email"]: row["role"] for row in rows}


class TestAttacks:
    async def test_no_provider(self, office: Office) -> None:
        async with client_of(office.pool, site=SITE) as client:
            assert 404 == (await client.get("/console/login/with/kalamata/start")).status_code
            assert 404 == (await client.get("/console/login/with/nobody/start")).status_code

    async def test_another_browser_or_another_state(self, office: Office, provider: Provider) -> None:
        await connect(office, provider)
        async with browser(office, provider) as mine, browser(office, provider) as theirs:
            params = await mine.go()
            assert 403 == (await theirs.come_back(params)).status_code  # no cookie of a flow
            await theirs.go()
            assert 403 == (await theirs.come_back(params)).status_code  # that of another one
            assert 403 == (await mine.come_back({**params, "state": "x" * 22})).status_code
            assert 303 == (await mine.come_back(params)).status_code
            assert 403 == (await mine.come_back(params)).status_code  # a code works once

    async def test_another_site_cannot_post(self, person: Person) -> None:
        params = await person.go()
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert 403 == (await person.client.post(service.RETURN_PATH, data=params, headers=headers)).status_code

    async def test_too_late(self, office: Office, provider: Provider) -> None:
        await connect(office, provider)
        async with db.connection(office.pool) as database:
            now = database.clock.now()
            begun = await service.begin(
                database, domain="kalamata", going_on="/console", is_anew=False, site=SITE, now=now
            )
        url, text = begun
        state = parse_qs(urlsplit(url).query)["state"][0]
        assert state == service.read_flow(text, site=SITE, now=now).challenge.state
        with pytest.raises(service.LoginFailed, match="too long"):
            service.read_flow(text, site=SITE, now=now + service.FLOW)

    async def test_key_and_secret(self, office: Office, provider: Provider) -> None:
        await connect(office, provider)
        provider.published = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)
        async with browser(office, provider) as person:
            assert 403 == (await person.log_in()).status_code
        provider.published = None
        await connect(office, provider, client_secret="another")
        async with browser(office, provider) as person:
            assert 403 == (await person.log_in()).status_code

    async def test_claims_of_somebody_else(self, provider: Provider, person: Person) -> None:
        provider.is_thin, provider.token_claims = True, {"sub": "somebody-else"}
        assert 403 == (await person.log_in()).status_code

    async def test_guesses_are_counted(
        self, office: Office, provider: Provider, person: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """States and codes that nobody gave out are, at one organization, and the provider is not asked any more."""
        monkeypatch.setattr(service, "WRONG_MAX", 3)
        other = await found(office.pool, domain="sparta", email="sofia@sparta.example")
        await connect(other, provider)
        async with browser(office, provider) as elsewhere:
            params = await person.go()
            for wrong in ({"code": "made-up"}, {"state": "x" * 22}, {"code": ""}):
                assert 403 == (await person.come_back({**params, **wrong})).status_code
            asked = len(provider.asked)
            refused = await person.come_back(params)
            assert (429, "900") == (refused.status_code, refused.headers["retry-after"])
            assert (True, False) == ("Too many log-ins" in refused.text, "password" in refused.text)
            assert asked == len(provider.asked)
            assert 303 == (await elsewhere.come_back(await elsewhere.go(domain="sparta"))).status_code

    async def test_refusals_and_successes_are_not_counted(
        self, office: Office, provider: Provider, person: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A provider that is set up wrongly locks nobody out, nor do many people of one office."""
        monkeypatch.setattr(service, "WRONG_MAX", 1)
        for claims, status in (
            ({"groups": ["lunch"]}, 403),
            ({"groups": ["desk"], "email_verified": False}, 403),
            ({}, 303),
            ({}, 303),
        ):
            assert status == (await person.log_in(**claims)).status_code
        provider.token_claims = {"nonce": "x"}
        assert 403 == (await person.log_in()).status_code
        provider.token_claims = {}
        assert 303 == (await person.log_in()).status_code

    @pytest.mark.parametrize(("tells", "iss", "status"), [(False, "", 303), (True, "", 403), (True, "x", 403)])
    async def test_answer_of_another_provider(
        self, provider: Provider, person: Person, *, tells: bool, iss: str, status: int
    ) -> None:
        """The code is not taken anywhere; what counts where is in test_openid.py."""
        provider.document = {"authorization_response_iss_parameter_supported": tells}
        params = await person.go()
        provider.asked.clear()
        assert status == (await person.come_back({**params, "iss": iss})).status_code
        assert (303 == status) is ("/token" in provider.asked)
        if tells:
            assert 303 == (await person.come_back({**params, "iss": provider.issuer})).status_code

    async def test_only_open_networks(self, office: Office, provider: Provider) -> None:
        """Without the operator's word no call goes to loopback, nor to an address of the document."""
        await connect(office, provider)
        closed = Site("http://testserver", b"s" * 32)
        caller = installation(office.organization_id)
        async with db.connection(office.pool) as database:
            now = database.clock.now()
        provider.asked.clear()
        checked = await service.check(office.pool, caller=caller, site=closed, now=now)
        assert "not reached" in (checked.problem or "")
        provider.document = {"authorization_endpoint": "http://169.254.169.254/latest"}
        checked = await service.check(office.pool, caller=caller, site=SITE, now=now)
        assert "authorization_endpoint" in (checked.problem or "")
        provider.document = {"authorization_endpoint": "javascript:alert(1)"}
        assert (await service.check(office.pool, caller=caller, site=SITE, now=now)).problem
        provider.document = {"issuer": "https://other.example"}
        assert (await service.check(office.pool, caller=caller, site=SITE, now=now)).problem
        provider.document = {"pad": "x" * 70_000}
        assert "64 KB" in str((await service.check(office.pool, caller=caller, site=SITE, now=now)).problem)

    async def test_another_organization_is_not_opened(self, office: Office, provider: Provider) -> None:
        """A provider says any address it likes: it opens its own organization, and nothing of that person elsewhere."""
        await connect(office, provider, trusts_addresses=True)
        other = await found(office.pool, domain="sparta", email="sofia@sparta.example")
        async with browser(office, provider) as person:
            assert 303 == (await person.log_in(sub="s", email="sofia@sparta.example")).status_code
            switched = await person.client.post(
                "/console/switch", data={"user": f"{other.organization_id}/{other.user_id}"}
            )
            assert 404 == switched.status_code
            assert "Kalamata Books" in (await person.client.get("/console/settings/account")).text
            for path in ("password", "address", "totp", "recovery"):
                refused = await person.client.post(
                    f"/console/settings/{path}", data={"password": "x" * 20, "email": "a@b.example"}
                )
                assert refused.status_code in {303, 403}, path
        async with client_of(office.pool, site=SITE) as client:
            client.headers.update(OWN)
            assert 303 == (await log_in(client, email="sofia@sparta.example")).status_code
            assert "Sparta Books" in (await client.get("/console/settings/account")).text


async def problem_of(office: Office) -> str | None:
    async with db.connection(office.pool) as database:
        return (await service.get(database, caller=installation(office.organization_id))).problem


class TestReasons:
    """The person is told that it failed; the owner is told the reason, until a log-in works."""

    async def test_of_a_person(self, office: Office, provider: Provider) -> None:
        """A token of another issuer, for another client, of another log-in, of another time, of nobody; no group."""
        await connect(office, provider)
        for number, (token, claims, words) in enumerate(WRONG):
            provider.token_claims = token
            async with browser(office, provider, source=f"192.0.{number}.1") as person:
                assert 403 == (await person.log_in(**claims)).status_code, words
                assert "afterword" not in person.client.cookies
            assert words in (await problem_of(office) or ""), words
        assert {EMAIL: "owner"} == await roles(office)
        provider.token_claims = {}
        async with browser(office, provider) as person:
            assert 303 == (await person.log_in()).status_code
        assert await problem_of(office) is None

    async def test_of_the_provider(self, office: Office, provider: Provider) -> None:
        """Its own words, made one short line."""
        await connect(office, provider, client_secret="another")
        async with browser(office, provider) as person:
            assert 403 == (await person.log_in()).status_code
            assert "status 401 at /token: invalid_client" in (await problem_of(office) or "")
            state = (await person.go())["state"]
            told = {"error": "invalid_scope", "error_description": "No scope\n\x1b" + "x" * 900, "state": state}
            refused = await person.client.get(service.RETURN_PATH, params=told)
            assert (403, False) == (refused.status_code, "invalid_scope" in refused.text)
        problem = await problem_of(office) or ""
        assert "led back with an error: invalid_scope: No scope xxx" in problem
        assert len(problem) < 300

    @pytest.mark.parametrize("change", [{"state": "x" * 22}, {"iss": "https://evil.example"}, None])
    async def test_strangers_tell_the_owner_nothing(
        self, office: Office, provider: Provider, person: Person, change: dict[str, str] | None
    ) -> None:
        async with browser(office, provider) as stranger:
            told = {"error": "x", "state": (await person.go())["state"], **(change or {})}
            client = person.client if change else stranger.client
            assert 403 == (await client.get(service.RETURN_PATH, params=told)).status_code
        assert await problem_of(office) is None

    async def test_new_settings_begin_anew(self, office: Office, provider: Provider) -> None:
        await connect(office, provider)
        async with browser(office, provider) as person:
            await person.log_in(groups=[])
        assert "claim groups named: none" in (await problem_of(office) or "")
        await connect(office, provider, groups_claim="roles")
        assert await problem_of(office) is None


class TestSettings:
    async def test_only_an_owner(self, office: Office, provider: Provider) -> None:
        admin = Caller(office.organization_id, "", "u", frozenset(), (), "kalamata", "UTC", "en", role="admin")
        async with db.transaction(office.pool) as database:
            with pytest.raises(service.errors.Forbidden, match="owner"):
                await service.save(
                    database, caller=admin, values={**VALUES, "issuer": provider.issuer}, site=SITE,
                    now=database.clock.now(),
                )  # fmt: skip
            with pytest.raises(service.errors.Forbidden, match="owner"):
                await service.remove(database, caller=admin)

    async def test_secret_stays_with_its_issuer(self, office: Office, provider: Provider) -> None:
        await connect(office, provider)
        kept = {name: value for name, value in VALUES.items() if name != "client_secret"}
        caller = installation(office.organization_id)
        for issuer, has_secret in ((provider.issuer, True), ("https://other.example", False)):
            async with db.transaction(office.pool) as database:
                stored, is_new = await service.save(
                    database, caller=caller, values={**kept, "issuer": issuer}, site=SITE,
                    now=database.clock.now(),
                )  # fmt: skip
            assert (has_secret, has_secret, False) == (
                stored.has_client_secret,
                stored.authorization_url is not None,
                is_new,
            )

    async def test_removal_ends_its_sessions(self, office: Office, person: Person) -> None:
        await person.log_in()
        assert 200 == (await person.client.get("/console/settings/account")).status_code
        async with db.transaction(office.pool) as database:
            await service.remove(database, caller=installation(office.organization_id))
        assert 303 == (await person.client.get("/console/settings/account")).status_code
        assert 404 == (await person.client.get("/console/login/with/kalamata/start")).status_code


class TestLogIn:
    async def test_first_time(self, office: Office, provider: Provider) -> None:
        """A person without an invitation gets a user with the role of a group; the next time it is the same one."""
        await connect(office, provider)
        async with browser(office, provider) as person:
            response = await person.log_in()
            assert (303, "/console") == (response.status_code, response.headers["location"])
            page = (await person.client.get("/console/settings/account")).text
            assert "Nikos P." in page
            assert "Password, second factor and passkeys are kept there." in page
            assert ["S256"] == person.sent["code_challenge_method"]
            assert 303 == (await person.log_in(groups=["desk", "chiefs"])).status_code
        assert {EMAIL: "owner", NIKOS["email"]: "admin"} == await roles(office)
        async with browser(office, provider) as person:
            assert 303 == (await person.log_in(email="n.p@kalamata.example", groups="desk")).status_code
        assert {EMAIL: "owner", NIKOS["email"]: "agent"} == await roles(office)

    async def test_thin_token(self, office: Office, provider: Provider, person: Person) -> None:
        provider.is_thin = True
        assert 303 == (await person.log_in()).status_code
        assert "agent" == (await roles(office))[NIKOS["email"]]

    async def test_signed_answer(self, office: Office, provider: Provider, person: Person) -> None:
        """The answer about the person may be a token too; then it must be of this provider and for us."""
        provider.is_thin = provider.is_signed = True
        for wrong in ({"aud": "another-client"}, {"iss": "https://other.example"}):
            assert 403 == (await person.log_in(**wrong)).status_code
        provider.token_claims = {"sub": "somebody-else"}
        provider.is_signed = False
        assert 403 == (await person.log_in()).status_code
        provider.token_claims, provider.is_signed = {}, True
        assert 303 == (await person.log_in()).status_code
        assert "agent" == (await roles(office))[NIKOS["email"]]

    @pytest.mark.parametrize(("minutes", "status"), [(2, 303), (-2, 303), (10, 403), (-10, 403)])
    async def test_clocks(self, provider: Provider, person: Person, minutes: int, status: int) -> None:
        """The provider's clock may be two minutes before or behind ours."""
        now = int(time.time()) + 60 * minutes
        provider.token_claims = {"iat": now, "nbf": now, "exp": now}
        assert status == (await person.log_in()).status_code

    async def test_unknown_key(self, provider: Provider, person: Person) -> None:
        provider.keys = [{"kty": "EC", "crv": "BP-256", "x": "AAAA", "y": "AAAA", "kid": "other"}]
        assert 303 == (await person.log_in()).status_code

    @pytest.mark.parametrize("groups", [{"chiefs": {"1": "a.example"}}, "lunch, chiefs", ["/chiefs"]])
    async def test_forms_of_groups(self, office: Office, person: Person, groups: object) -> None:
        assert 303 == (await person.log_in(groups=groups)).status_code
        assert "admin" == (await roles(office))[NIKOS["email"]]

    async def test_groups_that_are_not_told(self, office: Office, provider: Provider) -> None:
        """Somebody with too many groups for a token keeps the role and waits; an owner needs no group."""
        await connect(office, provider, default_role="agent")
        elsewhere = {"groups": None, "_claim_names": {"groups": "src1"}}
        async with browser(office, provider) as person:
            assert 303 == (await person.log_in(groups=["chiefs"])).status_code
            refused = await person.log_in(**elsewhere)
            assert (403, True) == (refused.status_code, "does not tell your groups" in refused.text)
            assert 403 == (await person.log_in(sub="new", email="new@kalamata.example", **elsewhere)).status_code
            assert {EMAIL: "owner", NIKOS["email"]: "admin"} == await roles(office)
            assert 303 == (await person.log_in(sub="olga-1", email=EMAIL, **elsewhere)).status_code
            await connect(office, provider, group_roles=[], default_role="agent")
            assert 303 == (await person.log_in(**elsewhere)).status_code

    async def test_without_a_group(self, office: Office, provider: Provider) -> None:
        """Nobody without a role is let in, and a person who lost it is out at once."""
        await connect(office, provider)
        async with browser(office, provider) as person:
            assert 403 == (await person.log_in(groups=["lunch"])).status_code
            assert {EMAIL: "owner"} == await roles(office)
            assert 303 == (await person.log_in()).status_code
            async with browser(office, provider) as phone:
                refused = await phone.log_in(groups=[])
                assert "None of your groups" in refused.text
            assert 303 == (await person.client.get("/console/settings/account")).status_code
        await connect(office, provider, default_role="reporting")
        async with browser(office, provider) as person:
            assert 303 == (await person.log_in(groups=[])).status_code
        assert "reporting" == (await roles(office))[NIKOS["email"]]

    async def test_known_address(self, office: Office, provider: Provider, person: Person) -> None:
        """A user with the address is joined if the provider verified it; an owner stays one, without a group."""
        for verified in (False, None):
            claims = {"sub": "olga-1", "email": EMAIL.upper(), "email_verified": verified, "groups": []}
            assert 403 == (await person.log_in(**claims)).status_code
        claims["email_verified"] = True
        assert 303 == (await person.log_in(**claims)).status_code
        assert "Kalamata Books" in (await person.client.get("/console/settings/account")).text
        other = await person.log_in(**{**claims, "sub": "olga-2"})
        assert (403, True) == (other.status_code, "Another person" in other.text)
        assert {EMAIL: "owner"} == await roles(office)
        async with client_of(office.pool, site=SITE) as client:
            client.headers.update(OWN)
            assert 303 == (await log_in(client)).status_code  # the password still works

    async def test_trusted_addresses(self, office: Office, provider: Provider) -> None:
        await connect(office, provider, trusts_addresses=True)
        async with browser(office, provider) as person:
            claims = {"sub": "olga-1", "email": EMAIL, "groups": []}
            assert 403 == (await person.log_in(**claims, email_verified=False)).status_code
            assert 303 == (await person.log_in(**claims, email_verified=None)).status_code

    async def test_switched_off(self, office: Office, person: Person) -> None:
        await person.log_in()
        async with db.transaction(office.pool) as database:
            await database.execute("update organization_user set active = false where email like 'nikos@%'")
        assert 303 == (await person.client.get("/console/settings/account")).status_code
        assert "switched off" in (await person.log_in()).text

    async def test_session_is_short(self, office: Office, person: Person) -> None:
        await person.log_in()
        async with db.connection(office.pool) as database:
            assert service.LIFETIME == await database.fetch_value(
                "select expires_time - created_time from login_session"
            )

    async def test_proof(self, provider: Provider, person: Person) -> None:
        """Acts that ask for the password ask the provider for a new log-in, and believe its time alone."""
        tokens = "/console/settings/tokens/new"
        await person.log_in(groups=["chiefs"])
        assert "/console/proof" in (await person.client.get(tokens)).headers["location"]
        proof = html.unescape((await person.client.get("/console/proof?next=/console/settings/tokens/new")).text)
        assert "/console/login/with/kalamata/start?anew=1" in proof
        assert 'type="password"' not in proof
        begun = await person.client.get("/console/login/with/kalamata/start?anew=1")
        asked = parse_qs(urlsplit(begun.headers["location"]).query)
        assert (["login"], ["30"]) == (asked["prompt"], asked["max_age"])
        await person.log_in(groups=["chiefs"], auth_time=int(time.time()) - 3600)
        assert 303 == (await person.client.get(tokens)).status_code
        for auth_time in (2**60, 10**400, -1):
            assert 303 == (await person.log_in(groups=["chiefs"], auth_time=auth_time)).status_code
            assert 303 == (await person.client.get(tokens)).status_code
        for auth_time in (int(time.time()), time.time(), int(time.time() * 1_000)):
            await person.log_in(groups=["chiefs"], auth_time=auth_time)
            assert 200 == (await person.client.get(tokens)).status_code

    async def test_log_out(self, provider: Provider, person: Person) -> None:
        """Our session ends, then the page leads to the provider to log out there; without an address, to our own."""
        await person.log_in()
        page = await person.client.post("/console/logout")
        url = urlsplit(page.headers["refresh"].removeprefix("0; url="))
        query = parse_qs(url.query)
        assert (f"{provider.issuer}/end", ["afterword"]) == (url._replace(query="").geturl(), query["client_id"])
        assert [f"{SITE.public_url}/console/login"] == query["post_logout_redirect_uri"]
        told = jwt.decode(query["id_token_hint"][0], provider.key).claims
        assert (provider.issuer, "nikos-1") == (told["iss"], told["sub"])
        assert 303 == (await person.client.get("/console/settings/account")).status_code
        await person.log_in()
        provider.document = {"end_session_endpoint": None}
        assert "/console/login?done=out" == (await person.client.post("/console/logout")).headers["location"]

    @pytest.mark.parametrize("fault", ["long", "unreadable"])
    async def test_log_out_without_hint(self, office: Office, person: Person, fault: str) -> None:
        """A token that is too long for a header is not kept, and one that we cannot open keeps nobody here."""
        await person.log_in(**({"groups": ["desk", "x" * 3_000]} if fault == "long" else {}))
        async with db.transaction(office.pool) as database:
            tokens = await database.fetch("select id_token from login_session")
            assert [fault == "long"] == [row["id_token"] is None for row in tokens]
            await database.execute("update login_session set id_token = 'x' where id_token is not null")
        refresh = (await person.client.post("/console/logout")).headers["refresh"]
        assert (True, False) == ("/end?client_id=" in refresh, "id_token_hint" in refresh)

    async def test_at_the_same_time(self, office: Office, provider: Provider) -> None:
        """Two browsers of a person who was never here: one user comes of it."""
        await connect(office, provider)
        async with browser(office, provider) as one, browser(office, provider) as other:
            first, second = await one.go(), await other.go()
            answers = await asyncio.gather(one.come_back(first), other.come_back(second))
        assert {303} <= {answer.status_code for answer in answers} <= {303, 409}
        assert 2 == len(await roles(office))

    async def test_in_another_browser_meanwhile(
        self, office: Office, provider: Provider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first log-in ends elsewhere, after this one looked for the person and before it looks for the address."""
        await connect(office, provider)
        async with browser(office, provider) as one, browser(office, provider) as other:
            first, second = await one.go(), await other.go()

            async def find_and_wait(database: db.Database, **key: str) -> service.Member | None:
                monkeypatch.undo()
                found = await service.get_member_by_subject(database, **key)
                assert 303 == (await other.come_back(second)).status_code
                return found

            monkeypatch.setattr(service, "get_member_by_subject", find_and_wait)
            assert 303 == (await one.come_back(first)).status_code
        assert 2 == len(await roles(office))

    async def test_slow_provider(self, provider: Provider, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(openid, "CALL_SECONDS_MAX", 0.05)
        params = await person.go()
        provider.is_open.clear()
        try:
            assert 403 == (await person.come_back(params)).status_code
        finally:
            provider.is_open.set()
        assert "/token" not in provider.asked


async def test_stores_find_nothing_of_others(office: Office, provider: Provider) -> None:
    await connect(office, provider)
    other = await found(office.pool, domain="sparta", email="sofia@sparta.example")
    async with db.connection(office.pool) as database:
        assert await service.get_provider(database, organization_id=other.organization_id) is None
        for find in (
            service.get_member_by_email(database, organization_id=other.organization_id, email=EMAIL),
            service.get_member_by_subject(
                database, organization_id=other.organization_id, issuer=provider.issuer, subject="nikos-1"
            ),
        ):
            assert await find is None
    assert timedelta(hours=12) == service.LIFETIME
