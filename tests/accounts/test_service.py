"""Organizations, users, tokens; the kept answers of POSTs."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from afterword import db, errors
from afterword.accounts import access, service, store
from afterword.core.access import SCOPES

KEY = "order-1042"


@pytest.fixture
async def database(pool: db.Pool) -> AsyncIterator[db.Database]:
    async with db.connection(pool) as database:
        yield database


@pytest.fixture
async def organization_id(database: db.Database) -> str:
    organization = await service.create_organization(
        database, domain="demo", display_name="Demo", now=database.clock.now()
    )
    return organization.organization_id


def codes(refused: pytest.ExceptionInfo[errors.Invalid]) -> list[tuple[str | None, str]]:
    return [(error.pointer, error.code) for error in refused.value.errors]


class TestCreateOrganization:
    async def test_everything_wrong(self, database: db.Database) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await service.create_organization(
                database,
                domain="Demo Shop",
                display_name="",
                time_zone="Mars/Olympus",
                default_locale="!",
                now=database.clock.now(),
            )
        assert [
            ("/domain", "invalid_format"),
            ("/time_zone", "unknown_value"),
            ("/default_locale", "invalid_locale"),
            ("/display_name", "too_short"),
        ] == codes(refused)

    @pytest.mark.parametrize("time_zone", ["", "/etc/passwd", "../UTC", "Europe/Athens\0", "Europe"])
    async def test_no_time_zone(self, database: db.Database, time_zone: str) -> None:
        with pytest.raises(errors.Invalid):
            await service.create_organization(
                database, domain="demo", display_name="Demo", time_zone=time_zone, now=database.clock.now()
            )

    @pytest.mark.parametrize("domain", ["", "-a", "a-", "a_b", "a.b", "a" * 64, "demo\n", "Demo"])
    async def test_no_domain(self, database: db.Database, domain: str) -> None:
        with pytest.raises(errors.Invalid):
            await service.create_organization(database, domain=domain, display_name="Demo", now=database.clock.now())

    @pytest.mark.usefixtures("organization_id")
    async def test_domain_is_taken(self, database: db.Database) -> None:
        with pytest.raises(db.Taken):
            await service.create_organization(database, domain="demo", display_name="Demo", now=database.clock.now())

    async def test_ok(self, database: db.Database) -> None:
        organization = await service.create_organization(
            database,
            domain="shop-1",
            display_name="Shop",
            time_zone="Europe/Athens",
            default_locale="EL_gr",
            postal_address="1 Street",
            now=database.clock.now(),
        )
        assert "el-gr" == organization.default_locale
        assert organization == await store.get_organization(database, organization_id=organization.organization_id)
        assert organization == await store.get_organization_by_domain(database, domain="SHOP-1")
        assert [organization] == await store.list_organizations(database)


class TestCreateApplication:
    async def test_wrong(self, database: db.Database, organization_id: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await service.create_application(
                database,
                organization_id=organization_id,
                display_name="x" * 201,
                time_zone="Nowhere",
                now=database.clock.now(),
            )
        assert [("/display_name", "too_long"), ("/time_zone", "unknown_value")] == codes(refused)

    async def test_other_organization(self, database: db.Database, organization_id: str) -> None:
        application = await service.create_application(
            database, organization_id=organization_id, display_name="Shop", now=database.clock.now()
        )
        for other, among in (("o" * 22, ()), (organization_id, ("a" * 22,)), (organization_id, access.NO_APPLICATION)):
            assert (
                await store.get_application(
                    database, organization_id=other, application_id=application.application_id, among=among
                )
                is None
            )

    async def test_ok(self, database: db.Database, organization_id: str) -> None:
        application = await service.create_application(
            database, organization_id=organization_id, display_name="Shop", now=database.clock.now()
        )
        assert store.CUSTOM_APPLICATION_TYPE_ID == application.application_type_id
        for among in ((), (application.application_id,)):
            assert application == await store.get_application(
                database, organization_id=organization_id, application_id=application.application_id, among=among
            )


class TestCreateToken:
    async def create(self, database: db.Database, organization_id: str, **changes: object) -> tuple[store.Token, str]:
        wanted: dict[str, object] = {
            "title": "Shop",
            "scopes": ["Queue.Create"],
            "kind": "organization",
            "user_id": None,
            **changes,
        }
        return await service.create_token(
            database,
            organization_id=organization_id,
            now=database.clock.now(),
            **wanted,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        )

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"scopes": []}, ("/scopes", "too_few")),
            ({"scopes": "Queue.Create"}, ("/scopes", "too_many")),
            ({"scopes": ["x"] * 201}, ("/scopes", "too_many")),
            ({"scopes": ["Queue.Create", "queue.create"]}, ("/scopes/1", "unknown_scope")),
            ({"scopes": ["Queue.Create "]}, ("/scopes/0", "unknown_scope")),
            ({"scopes": ["*"]}, ("/scopes/0", "unknown_scope")),
            ({"maker_scopes": {"Queue.Read"}}, ("/scopes/0", "unknown_scope")),
            ({"title": ""}, ("/title", "too_short")),
            ({"kind": "user"}, ("/kind", "required")),
            ({"user_id": "u" * 22}, ("/kind", "required")),
            ({"kind": "user", "user_id": "u" * 22}, ("/user_id", "unknown_id")),
            ({"application_ids": ["a" * 22]}, ("/application_ids/0", "unknown_id")),
            ({"application_ids": ["a" * 22] * 101}, ("/application_ids", "too_many")),
        ],
    )
    async def test_wrong(
        self, database: db.Database, organization_id: str, changes: dict[str, object], expected: tuple[str, str]
    ) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await self.create(database, organization_id, **changes)
        assert [expected] == codes(refused)

    async def test_expired_from_the_start(self, database: db.Database, organization_id: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await self.create(database, organization_id, expires_time=database.clock.now())
        assert [("/expires_time", "out_of_range")] == codes(refused)

    async def test_other_organizations_things(self, database: db.Database, organization_id: str) -> None:
        now = database.clock.now()
        other = await service.create_organization(database, domain="other", display_name="Other", now=now)
        user = await service.create_user(
            database, organization_id=other.organization_id, email="a@b.c", role="owner", now=now
        )
        application = await service.create_application(
            database, organization_id=other.organization_id, display_name="Shop", now=now
        )
        for changes in (
            {"kind": "user", "user_id": user.user_id},
            {"application_ids": [application.application_id]},
        ):
            with pytest.raises(errors.Invalid):
                await self.create(database, organization_id, **changes)

    async def test_ok(self, database: db.Database, organization_id: str) -> None:
        token, text = await self.create(database, organization_id, scopes=SCOPES)
        assert access.is_token(text)
        assert tuple(sorted(SCOPES)) == token.scopes
        assert token == await store.get_token(database, organization_id=organization_id, token_id=token.token_id)
        row = await database.fetch_value("select to_jsonb(t)::text || t::text from token t")
        assert text[21:53] not in row


class TestRevokeToken:
    async def test_unknown(self, database: db.Database, organization_id: str) -> None:
        with pytest.raises(errors.NotFound):
            await service.revoke_token(
                database, organization_id=organization_id, token_id="t" * 22, now=database.clock.now()
            )

    async def test_twice(self, database: db.Database, organization_id: str) -> None:
        token, _ = await TestCreateToken().create(database, organization_id)
        now = database.clock.now()
        for later in (now, now + timedelta(days=1)):
            revoked = await service.revoke_token(
                database, organization_id=organization_id, token_id=token.token_id, now=later
            )
            assert now == revoked.revoked_time


class TestIdempotency:
    async def claim(
        self, database: db.Database, organization_id: str, *, digest: bytes = b"1"
    ) -> service.Replay | None:
        return await service.claim_idempotency_key(
            database, organization_id=organization_id, key=KEY, digest=digest, now=database.clock.now()
        )

    async def keep(self, database: db.Database, organization_id: str, *, body: bytes = b'{"a": 1}') -> None:
        await service.keep_idempotent_answer(
            database,
            organization_id=organization_id,
            key=KEY,
            status=201,
            headers={"ETag": '"1"', "Location": "/x"},
            body=body,
        )

    async def test_other_request(self, pool: db.Pool, organization_id: str) -> None:
        async with db.transaction(pool) as database:
            assert await self.claim(database, organization_id) is None
            await self.keep(database, organization_id)
        async with db.connection(pool) as database:
            with pytest.raises(service.IdempotencyKeyReused) as refused:
                await self.claim(database, organization_id, digest=b"2")
        assert (422, "idempotency_key_reused") == (refused.value.status, refused.value.code)
        assert ["Idempotency-Key"] == [error.header for error in refused.value.errors]

    async def test_first_takes_too_long(
        self, pool: db.Pool, organization_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "IDEMPOTENCY_WAIT_SECONDS", 0.05)
        async with db.transaction(pool) as first:
            assert await self.claim(first, organization_id) is None
            with pytest.raises(service.IdempotencyInProgress) as refused:
                async with db.transaction(pool) as second:
                    await self.claim(second, organization_id)
        assert (409, "idempotency_in_progress") == (refused.value.status, refused.value.code)
        assert {"Retry-After": "1"} == refused.value.headers

    async def test_row_without_an_answer(self, database: db.Database, organization_id: str) -> None:
        assert await self.claim(database, organization_id) is None
        with pytest.raises(service.IdempotencyInProgress):
            await self.claim(database, organization_id)

    async def test_waits_for_the_first(self, pool: db.Pool, organization_id: str) -> None:
        async def again() -> service.Replay | None:
            async with db.transaction(pool) as database:
                return await self.claim(database, organization_id)

        async with db.transaction(pool) as first:
            assert await self.claim(first, organization_id) is None
            second = asyncio.create_task(again())
            await self.until_waiting(pool)
            await self.keep(first, organization_id)
        replay = await second
        assert service.Replay(201, {"ETag": '"1"', "Location": "/x"}, b'{"a": 1}') == replay

    async def test_first_was_refused(self, pool: db.Pool, organization_id: str) -> None:
        async def refuse() -> None:
            async with db.transaction(pool) as database:
                assert await self.claim(database, organization_id) is None
                raise errors.NotFound("There is no such thing.")

        with pytest.raises(errors.NotFound):
            await refuse()
        async with db.transaction(pool) as database:
            assert await self.claim(database, organization_id) is None

    async def test_other_organization_has_its_own_keys(self, database: db.Database, organization_id: str) -> None:
        other = await service.create_organization(
            database, domain="other", display_name="Other", now=database.clock.now()
        )
        assert await self.claim(database, organization_id) is None
        assert await self.claim(database, other.organization_id, digest=b"2") is None

    async def test_a_day_later_it_is_a_new_key(self, database: db.Database, organization_id: str) -> None:
        assert await self.claim(database, organization_id) is None
        await self.keep(database, organization_id)
        await self.age(database, hours=23)
        assert await self.claim(database, organization_id) is not None
        await self.age(database, hours=1)
        assert await self.claim(database, organization_id, digest=b"2") is None
        assert [None, None] == list(await database.fetch_row("select status, body from idempotency_key") or ())

    async def test_other_locks_wait_as_before(self, pool: db.Pool, organization_id: str) -> None:
        async with db.transaction(pool) as database:
            await self.claim(database, organization_id)
            assert "1s" == await database.fetch_value("show lock_timeout")

    async def test_prune(self, database: db.Database, organization_id: str) -> None:
        await self.claim(database, organization_id)
        assert 0 == await service.prune_idempotency_keys(database, now=database.clock.now())
        await self.age(database, hours=24)
        assert 0 == await service.prune_idempotency_keys(database, now=database.clock.now(), limit=0)
        assert 1 == await service.prune_idempotency_keys(database, now=database.clock.now())

    async def age(self, database: db.Database, *, hours: int) -> None:
        await database.execute(
            "update idempotency_key set created_time = created_time - make_interval(hours => $1)", hours
        )

    async def until_waiting(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database, asyncio.timeout(5):
            query = "select count(*) from pg_locks where not granted"
            while not await database.fetch_value(query):  # noqa: ASYNC110  the event is the database's
                await asyncio.sleep(0)
