"""A server that is read from: how far it is behind is known without asking it for each request."""

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from afterword import errors
from afterword.kit import db
from afterword.kit.db import replicas
from afterword.kit.db.replicas import Replica
from tests.standbys import Told


class TestAway:
    async def test_it_is_left_alone_for_a_while(self, pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
        looks = 0

        def fail(_: object) -> None:
            nonlocal looks
            looks += 1
            raise errors.Unavailable("away")

        replica = Replica(pool)
        with capture_logs() as told, monkeypatch.context() as away:
            away.setattr(replicas, "connection", fail)
            assert [None] * 5 == [await replica.lag() for _ in range(5)]
            assert (None, 1) == (await replica.lag_within(), looks)
        assert "not known" in (replica.what_is_wrong(None) or "")
        assert ["the standby is not read from"] == [one["event"] for one in told]
        replica._next = 0.0
        with capture_logs() as told:
            assert 0 == await replica.lag()
            assert 0 == await replica.lag()
        assert ["the standby is read from again"] == [one["event"] for one in told]

    async def test_a_standby_that_has_replayed_nothing(self, pool: db.Pool) -> None:
        assert await Told(pool, None).lag_within() is None


class TestLag:
    async def test_a_primary_has_none(self, pool: db.Pool) -> None:
        replica = Replica(pool)
        assert (0, 0) == (await replica.lag(), await replica.lag_within(since=pool.clock.now()))
        assert replica.what_is_wrong(0) is None

    async def test_one_look_serves_all_that_ask(self, pool: db.Pool, statements: list[str]) -> None:
        replica = Replica(pool)
        await asyncio.gather(*(replica.lag() for _ in range(20)))
        assert ["select pg_is_in_recovery() as is_standby, pg_last_xact_replay_timestamp() as replayed"] == statements

    async def test_it_is_what_it_may_be_at_most(self, pool: db.Pool) -> None:
        assert 4 == await Told(pool, 4).lag()

    @pytest.mark.parametrize(("age", "found"), [(11, None), (10, 10)])
    async def test_beyond_the_bound_it_is_not_read_from(self, pool: db.Pool, age: int, found: int | None) -> None:
        replica = Told(pool, age, lag_seconds_max=10)
        assert found == await replica.lag_within()
        assert (replica.what_is_wrong(age) is None) == (found is not None)

    async def test_what_is_younger_than_it_knows(self, pool: db.Pool) -> None:
        replica = Told(pool, 4)
        assert 4 == await replica.lag()
        now = pool.clock.now()
        assert await replica.lag_within(since=now) is None
        assert 4 == await replica.lag_within(since=now - timedelta(seconds=5))
