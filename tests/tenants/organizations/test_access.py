"""Authentication by tokens: every 401 and 403 first."""

import hashlib
import time
import zlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from afterword import errors, ids
from afterword.core.organizations.access import ROLE_SCOPES, SCOPES, Caller
from afterword.kit import db
from afterword.tenants.organizations import service
from afterword.tenants.organizations.tokens import access, store as tokens_store
from afterword.tenants.organizations.users import User

SCOPE = "Queue.Create"


@pytest.fixture
async def organization(database: db.Database) -> service.Organization:
    return await service.create_organization(
        database, domain="demo", display_name="Demo", time_zone="Europe/Athens", now=database.clock.now()
    )


@pytest.fixture
async def token(database: db.Database, organization: service.Organization) -> str:
    return (await make(database, organization))[1]


async def make(
    database: db.Database, organization: service.Organization, *, scopes: tuple[str, ...] = (SCOPE,)
) -> tuple[tokens_store.Token, str]:
    return await service.create_token(
        database,
        organization_id=organization.organization_id,
        title="Test",
        scopes=scopes,
        kind="organization",
        user_id=None,
        now=database.clock.now(),
    )


async def authenticate(
    database: db.Database,
    authorization: str | None = None,
    esat_auth: str | None = None,
    *,
    esat_domain: str | None = None,
    query_names: tuple[str, ...] = (),
    cache: access.TokenCache | None = None,
) -> Caller:
    return await access.authenticate(
        database,
        authorization=authorization,
        esat_auth=esat_auth,
        esat_domain=esat_domain,
        query_names=query_names,
        cache=cache,
    )


async def refusal(database: db.Database, *headers: str | None, **others: str | None) -> errors.Refusal:
    with pytest.raises(errors.Refusal) as caught:
        await authenticate(database, *headers, esat_domain=others.get("esat_domain"))
    return caught.value


class TestRefusals:
    async def test_no_token(self, database: db.Database) -> None:
        for headers in (
            (None, None), ("", ""), (" ", None), ("Bearer", None), ("Bearer ", None), (None, "Bearer "),
            ("Basic YTpi", None), ("Basic YTpi", ""), ("Token abc", None), ("afw_x", None),
        ):  # fmt: skip
            refused = await refusal(database, *headers)
            assert (401, "unauthenticated") == (refused.status, refused.code), headers
            assert {"WWW-Authenticate": 'Bearer realm="afterword"'} == refused.headers

    async def test_no_token_of_ours(self, database: db.Database) -> None:
        for change in ("", "x", "é", "\0", "%", "a" * 5000, "afw_", "eyJhbGciOi.eyJzdWIi.x"):
            for headers in ((f"Bearer {change}.", None), (None, f"{change}.")):
                await self.check_invalid(await refusal(database, *headers))

    async def test_unknown_token(self, database: db.Database) -> None:
        await self.check_invalid(await refusal(database, f"Bearer {access.mint().text}"))

    async def test_wrong_verifier(self, database: db.Database, token: str) -> None:
        signed = token[:21] + access.mint().text[21:53]
        await self.check_invalid(await refusal(database, f"Bearer {signed}{access.checksum(signed)}"))

    async def test_wrong_checksum(self, token: str) -> None:
        clock = db.Clock()
        clock.set(datetime(2026, 11, 21, tzinfo=UTC), monotonic=time.monotonic())
        nowhere = db.Database(None, clock)  # any query would fail
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        await self.check_invalid(await refusal(nowhere, f"Bearer {wrong}"))

    async def test_mistyped(self, database: db.Database, token: str) -> None:
        for text in (token.lower(), token.upper(), token[:-1], f"{token}0", token.replace("_", "-")):
            await self.check_invalid(await refusal(database, f"Bearer {text}"))

    async def test_two_tokens(self, database: db.Database, token: str) -> None:
        for other in (access.mint().text, token.lower(), "x"):
            for headers in ((f"Bearer {token}", other), (f"Bearer {other}", token)):
                refused = await refusal(database, *headers)
                assert (401, "ambiguous_credentials") == (refused.status, refused.code)
                assert "WWW-Authenticate" in refused.headers

    async def test_token_in_the_url(self, database: db.Database, token: str) -> None:
        for name in access.URL_PARAMETERS:
            with pytest.raises(errors.Unauthorized) as caught:
                await authenticate(database, f"Bearer {token}", query_names=("page", name))
            assert "unauthenticated" == caught.value.code

    async def test_revoked(self, database: db.Database, organization: service.Organization) -> None:
        made, text = await make(database, organization)
        await service.revoke_token(
            database,
            organization_id=organization.organization_id,
            token_id=made.token_id,
            now=database.clock.now(),
        )
        await self.check_invalid(await refusal(database, f"Bearer {text}"), code="token_revoked")

    async def test_expired(self, database: db.Database, organization: service.Organization) -> None:
        made, text = await make(database, organization)
        await database.execute("update token set expires_time = now() - interval '1 second'")
        await self.check_invalid(await refusal(database, f"Bearer {text}"), code="token_expired")
        assert made.expires_time is None

    async def test_revoked_or_expired_is_told_to_the_right_verifier_only(
        self, database: db.Database, token: str
    ) -> None:
        await database.execute("update token set revoked_time = now()")
        signed = token[:21] + access.mint().text[21:53]
        await self.check_invalid(await refusal(database, f"Bearer {signed}{access.checksum(signed)}"))

    async def test_user_is_gone(self, database: db.Database, organization: service.Organization) -> None:
        _, text = await make_users(database, organization, role="owner")
        await database.execute("update organization_user set active = false")
        await self.check_invalid(await refusal(database, f"Bearer {text}"), code="token_revoked")

    async def test_other_domain(self, database: db.Database, token: str) -> None:
        for domain in ("other", "demo2", "dem", "de mo", "demo.", "\u0434emo"):
            for headers in ((None, token), (f"Bearer {token}", None)):
                refused = await refusal(database, *headers, esat_domain=domain)
                assert (403, "domain_mismatch") == (refused.status, refused.code), domain

    async def test_bad_token_comes_before_the_domain(self, database: db.Database) -> None:
        await self.check_invalid(await refusal(database, None, access.mint().text, esat_domain="other"))

    async def check_invalid(self, refused: errors.Refusal, *, code: str = "invalid_token") -> None:
        assert (401, code) == (refused.status, refused.code)
        assert {"WWW-Authenticate": 'Bearer realm="afterword", error="invalid_token"'} == refused.headers
        assert "afw_" not in refused.detail


class TestCaller:
    async def test_authorization(self, database: db.Database, token: str) -> None:
        for form in ("Bearer {}", "bearer {}", "BEARER   {} ", "Bearer\t{}"):
            caller = await authenticate(database, form.format(token))
            assert frozenset({SCOPE}) == caller.scopes, form
            assert ("demo", "Europe/Athens", "en") == (caller.domain, caller.time_zone, caller.default_locale)
            assert (None, (), False) == (caller.user_id, caller.application_ids, caller.test)

    async def test_old_header(self, database: db.Database, token: str) -> None:
        for form in ("{}", " {} ", "Bearer {}", "bearer {}"):
            for domain in (None, "", "demo", "DEMO", " Demo "):
                caller = await authenticate(database, None, form.format(token), esat_domain=domain)
                assert "demo" == caller.domain, (form, domain)
        for other in ("Basic YTpi", "Digest x", "", "Bearer", "Bearer {}"):
            assert "demo" == (await authenticate(database, other.format(token), token)).domain, other

    async def test_organizations_are_apart(
        self, database: db.Database, organization: service.Organization, token: str
    ) -> None:
        other = await service.create_organization(
            database, domain="other", display_name="Other", now=database.clock.now()
        )
        _, text = await make(database, other)
        assert other.organization_id == (await authenticate(database, f"Bearer {text}")).organization_id
        assert organization.organization_id == (await authenticate(database, f"Bearer {token}")).organization_id

    @pytest.mark.parametrize("role", ROLE_SCOPES)
    async def test_user_has_what_the_role_has_now(
        self, database: db.Database, organization: service.Organization, role: str
    ) -> None:
        user, text = await make_users(database, organization, role="owner")
        await database.execute("update organization_user set role = $1", role)
        caller = await authenticate(database, f"Bearer {text}")
        assert ROLE_SCOPES[role] == caller.scopes
        assert (user.user_id, user.user_id, "user") == (caller.user_id, caller.actor_id, caller.actor_kind)

    async def test_user_has_no_more_than_the_token(
        self, database: db.Database, organization: service.Organization
    ) -> None:
        _, text = await make_users(database, organization, role="agent", scopes={"Queue.Create", "Queue.Read"})
        assert {"Queue.Read"} == (await authenticate(database, f"Bearer {text}")).scopes

    @pytest.mark.parametrize(
        ("of_token", "of_user", "both"),
        [
            ((), (), ()),
            (("a", "b"), (), ("a", "b")),
            ((), ("a", "b"), ("a", "b")),
            (("a", "b"), ("b", "c"), ("b",)),
            (("a",), ("b",), access.NO_APPLICATION),
        ],
    )
    async def test_applications(
        self,
        database: db.Database,
        organization: service.Organization,
        of_token: tuple[str, ...],
        of_user: tuple[str, ...],
        both: tuple[str, ...],
    ) -> None:
        _, text = await make_users(database, organization, role="owner")
        await database.execute("update token set application_ids = $1", list(of_token))
        await database.execute("update organization_user set application_ids = $1", list(of_user))
        assert both == (await authenticate(database, f"Bearer {text}")).application_ids


class Standing(db.Clock):
    """Shows the time that it was set to, however long the test takes."""

    def __init__(self, now: datetime) -> None:
        super().__init__()
        self.shown = now

    def now(self) -> datetime:
        return self.shown


class TestCache:
    @pytest.fixture
    def clock(self, database: db.Database) -> Standing:
        """The only clock of the test's connection."""
        database.clock = clock = Standing(database.clock.now())
        return clock

    async def test_known_token_costs_no_query(self, database: db.Database, clock: Standing, token: str) -> None:
        cache = access.TokenCache()
        first = await authenticate(database, f"Bearer {token}", cache=cache)
        deaf = db.Database(None, clock)  # any query would fail
        assert first == await authenticate(deaf, None, token, cache=cache)

    async def test_forgets(self, database: db.Database, clock: Standing, token: str) -> None:
        cache = access.TokenCache()
        await authenticate(database, f"Bearer {token}", cache=cache)
        await database.execute("update token set revoked_time = now()")
        await authenticate(database, f"Bearer {token}", cache=cache)
        clock.shown += timedelta(seconds=1)
        with pytest.raises(access.InvalidToken):
            await authenticate(database, f"Bearer {token}", cache=cache)

    async def test_expiry_needs_no_forgetting(self, database: db.Database, clock: Standing, token: str) -> None:
        await database.execute("update token set expires_time = $1", clock.shown + timedelta(milliseconds=500))
        cache = access.TokenCache()
        await authenticate(database, f"Bearer {token}", cache=cache)
        clock.shown += timedelta(milliseconds=600)
        with pytest.raises(access.InvalidToken) as caught:
            await authenticate(database, f"Bearer {token}", cache=cache)
        assert "token_expired" == caught.value.code

    async def test_time_that_goes_back_forgets(self, database: db.Database, clock: Standing, token: str) -> None:
        cache = access.TokenCache()
        await authenticate(database, f"Bearer {token}", cache=cache)
        await database.execute("update token set revoked_time = now()")
        clock.shown -= timedelta(hours=1)
        with pytest.raises(access.InvalidToken):
            await authenticate(database, f"Bearer {token}", cache=cache)

    async def test_keeps_no_refusals_and_no_more_than_its_size(
        self, database: db.Database, clock: Standing, organization: service.Organization
    ) -> None:
        cache, tokens = access.TokenCache(size_max=2), list[str]()
        for _ in range(3):
            with pytest.raises(access.InvalidToken):
                await authenticate(database, f"Bearer {access.mint().text}", cache=cache)
            _, text = await make(database, organization)
            await authenticate(database, f"Bearer {text}", cache=cache)
            tokens.append(text)
        kept = [cache.get(hashlib.sha256(text.encode()).digest(), now=clock.shown) for text in tokens]
        assert [False, True, True] == [credential is not None for credential in kept]

    async def test_wrong_verifier_beside_a_cached_token(self, database: db.Database, token: str) -> None:
        cache = access.TokenCache()
        await authenticate(database, f"Bearer {token}", cache=cache)
        signed = token[:21] + access.mint().text[21:53]
        with pytest.raises(access.InvalidToken):
            await authenticate(database, f"Bearer {signed}{access.checksum(signed)}", cache=cache)


class TestFormat:
    def test_parts(self) -> None:
        secret = access.mint()
        assert 59 == len(secret.text)
        assert secret.text.startswith(f"afw_{secret.selector}_")
        assert 32 == len(secret.verifier_digest)
        assert access.is_token(secret.text)

    def test_checksum_is_crc_32_in_base_62(self) -> None:
        assert ids.base62(zlib.crc32(b"afw_x"), 6) == access.checksum("afw_x")
        assert "000000" == access.checksum("")

    @given(st.integers(0, 58), st.characters(codec="ascii"))
    def test_one_wrong_character_is_noticed(self, place: int, character: str) -> None:
        text = TOKEN
        changed = text[:place] + character + text[place + 1 :]
        assert (changed == text) == access.is_token(changed)

    @given(st.integers(0, 57))
    def test_two_swapped_characters_are_noticed(self, place: int) -> None:
        changed = TOKEN[:place] + TOKEN[place + 1] + TOKEN[place] + TOKEN[place + 2 :]
        assert (changed == TOKEN) == access.is_token(changed)

    @given(st.text())
    def test_text_is_no_token(self, text: str) -> None:
        assert not access.is_token(text)

    def test_no_two_are_alike(self) -> None:
        tokens = [access.mint() for _ in range(1000)]
        assert 1000 == len({token.selector for token in tokens}) == len({token.verifier_digest for token in tokens})


TOKEN = access.mint().text


async def make_users(
    database: db.Database, organization: service.Organization, *, role: str, scopes: frozenset[str] | set[str] = SCOPES
) -> tuple[User, str]:
    now = database.clock.now()
    user = await service.create_user(
        database, organization_id=organization.organization_id, email="ann@example.com", role=role, now=now
    )
    _, text = await service.create_token(
        database,
        organization_id=organization.organization_id,
        title="Ann's",
        scopes=scopes,
        kind="user",
        user_id=user.user_id,
        now=now,
    )
    return user, text
