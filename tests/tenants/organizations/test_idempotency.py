"""The kept answers of POSTs: one request one answer, however often and at whatever moment it is sent."""

import asyncio

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.web.runner import Replay
from afterword.tenants.organizations import idempotency, service as accounts
from tests.pruning import prune

KEY = "order-1042"


class TestIdempotency:
    async def claim(self, database: db.Database, organization_id: str, *, digest: bytes = b"1") -> Replay | None:
        return await idempotency.claim_idempotency_key(
            database, organization_id=organization_id, key=KEY, digest=digest, now=database.clock.now()
        )

    async def keep(self, database: db.Database, organization_id: str, *, body: bytes = b'{"a": 1}') -> None:
        await idempotency.update_kept_answer(
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
            with pytest.raises(errors.Invalid) as refused:
                await self.claim(database, organization_id, digest=b"2")
        assert (422, "idempotency_key_reused") == (refused.value.status, refused.value.code)
        assert ["Idempotency-Key"] == [error.header for error in refused.value.errors]

    async def test_first_takes_too_long(
        self, pool: db.Pool, organization_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(idempotency, "WAIT_SECONDS", 0.05)
        async with db.transaction(pool) as first:
            assert await self.claim(first, organization_id) is None
            with pytest.raises(idempotency.IdempotencyInProgress) as refused:
                async with db.transaction(pool) as second:
                    await self.claim(second, organization_id)
        assert (409, "idempotency_in_progress") == (refused.value.status, refused.value.code)
        assert {"Retry-After": "1"} == refused.value.headers

    async def test_row_without_an_answer(self, database: db.Database, organization_id: str) -> None:
        assert await self.claim(database, organization_id) is None
        with pytest.raises(idempotency.IdempotencyInProgress):
            await self.claim(database, organization_id)

    async def test_waits_for_the_first(
        self, pool: db.Pool, organization_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(idempotency, "WAIT_SECONDS", 60)

        async def again() -> Replay | None:
            async with db.transaction(pool) as database:
                return await self.claim(database, organization_id)

        async with db.transaction(pool) as first:
            assert await self.claim(first, organization_id) is None
            second = asyncio.create_task(again())
            await self.until_waiting(pool)
            await self.keep(first, organization_id)
        replay = await second
        assert (201, {"ETag": '"1"', "Location": "/x"}, b'{"a": 1}') == replay

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
        other = await accounts.create_organization(
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
        assert 0 == await prune(database, "idempotency keys")
        await self.age(database, hours=24)
        assert 0 == await prune(database, "idempotency keys", limit=0)
        assert 1 == await prune(database, "idempotency keys")

    async def age(self, database: db.Database, *, hours: int) -> None:
        await database.execute(
            "update idempotency_key set created_time = created_time - make_interval(hours => $1)", hours
        )

    async def until_waiting(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database, asyncio.timeout(30):
            query = (
                "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
            )
            while not await database.fetch_value(query):
                await asyncio.sleep(0)
