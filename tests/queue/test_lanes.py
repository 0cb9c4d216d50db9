"""Which lanes are open, and how accounts slow down, rest and are paused, on a real PostgreSQL."""

import asyncio
from datetime import timedelta

import pytest

from afterword import db
from afterword.channels.base import Refused, Sent
from afterword.core.lanes import START
from afterword.queue import store as queue_store
from afterword.queue.lanes import service, store
from afterword.queue.lanes.store import Lane
from tests.queue.conftest import EMAIL, LINK, Queue

END = ("~", "~")
MINUTE = timedelta(minutes=1)


async def lanes(queue: Queue, **values: object) -> list[Lane]:
    known: dict[str, object] = {"after": START, "until": END, "channel_ids": [EMAIL, LINK], "busy": [], "limit": 32}
    async with db.connection(queue.pool) as database:
        return await store.list_lanes(database, **{**known, **values})  # pyright: ignore[reportArgumentType]


async def account(queue: Queue) -> tuple[str, str]:
    account_id = await queue.value("select account_id from pipeline where pipeline_id = $1", queue.pipeline_id)
    return queue.house.organization_id, account_id


class TestListLanes:
    async def test_nothing_due(self, queue: Queue) -> None:
        await queue.schedule(send_time=await queue.now() + MINUTE)

        assert [] == await lanes(queue)

    @pytest.mark.parametrize(
        "statement",
        [
            "update pipeline set paused = true",
            "update channel_account set paused_time = now()",
            "update channel_account set open_until = now() + interval '1 minute'",
            "update channel_account set rate = 1, tokens = 0.5, refilled_time = now() + interval '1 second'",
            "update queue_item set status = 7",
        ],
    )
    async def test_closed(self, queue: Queue, statement: str) -> None:
        await queue.schedule()
        await queue.execute(statement)

        assert [] == await lanes(queue)

    async def test_left_out(self, queue: Queue) -> None:
        await queue.schedule()

        assert [] == await lanes(queue, channel_ids=[LINK])
        assert [] == await lanes(queue, busy=[await account(queue)])
        assert [] == await lanes(queue, after=queue.lane)
        assert [] == await lanes(queue, until=(queue.lane[0], ""))
        assert [] == await lanes(queue, limit=0)

    async def test_ok(self, queue: Queue) -> None:
        await queue.schedule()
        other = await queue.pipeline(
            questionnaire_id=queue.house.questionnaire_id, channel_id=LINK, title="Link", priority=0
        )
        await other.schedule("key")

        found = await lanes(queue)

        assert [queue.pipeline_id, other.pipeline_id] == [lane.pipeline_id for lane in found]
        assert [(5, None, 10), (0, None, 10)] == [(lane.priority, lane.tokens, lane.slots_max) for lane in found]
        assert [found[1]] == await lanes(queue, after=queue.lane)

    async def test_a_rested_breaker_wants_a_probe(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.execute("update channel_account set open_until = now() - interval '1 second', failures = 5")

        [lane] = await lanes(queue)

        assert 5 == lane.failures
        assert lane.open_until is not None

    async def test_tokens(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.execute(
            "update channel_account set rate = 2, tokens = 1, refilled_time = now() - interval '3 seconds'"
        )
        assert [7] == [lane.tokens for lane in await lanes(queue)]

        await queue.execute(
            "update channel_account set rate = 2, tokens = 1, refilled_time = now() - interval '1 hour'"
        )
        assert [20] == [lane.tokens for lane in await lanes(queue)]


class TestProbe:
    async def test_one_worker_wins(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.execute("update channel_account set open_until = now() - interval '1 second', failures = 5")
        [lane] = await lanes(queue)

        async def probe() -> bool:
            async with db.transaction(queue.pool) as database:
                return await service.win_probe(database, lane=lane)

        assert [False, False, False, True] == sorted(await asyncio.gather(*(probe() for _ in range(4))))
        assert [] == await lanes(queue)


class TestRates:
    async def test_claiming_takes_tokens(self, queue: Queue) -> None:
        for number in range(5):
            await queue.schedule(f"a{number}@example.com")
        await queue.execute("update channel_account set rate = 1, tokens = 3")

        await queue.worker().claim(5, metered=frozenset({await account(queue)}))

        tokens = await queue.value("select tokens from channel_account")
        assert -2 <= tokens < -1.5  # what is claimed is claimed; the bucket waits
        assert [] == await lanes(queue)

    async def test_a_throttle_halves_the_rate(self, queue: Queue) -> None:
        await queue.execute(
            "update channel_account set rate = 40, rate_ceiling = 100, updated_time = now() - interval '1 hour'"
        )

        await self.slow_down(queue)
        await self.slow_down(queue)  # the same burst

        assert 20 == await queue.value("select rate from channel_account")

    async def test_the_first_throttle_learns_what_was_accepted(self, queue: Queue) -> None:
        for number in range(80):
            await queue.schedule(f"a{number}@example.com")
        await queue.worker().send(Sent(), 80)
        await queue.execute(
            """update event set created_time = now() - interval '9.99 seconds' where event_id in (
                 select event_id from event where type = 'queue_item.sent' limit 1)"""
        )

        await self.slow_down(queue)

        row = (await queue.fetch("select rate, rate_ceiling from channel_account"))[0]
        assert 8.0 == pytest.approx(row["rate_ceiling"], rel=0.01)
        assert row["rate_ceiling"] / 2 == row["rate"]

    async def test_the_first_throttle_of_a_burst(self, queue: Queue) -> None:
        """What was taken within a second is a rate, not a tenth of one."""
        for number in range(40):
            await queue.schedule(f"a{number}@example.com")
        await queue.worker().send(Sent(), 40)
        await queue.execute("update event set created_time = now() where type = 'queue_item.sent'")

        await self.slow_down(queue)

        assert 40 == pytest.approx(await queue.value("select rate_ceiling from channel_account"), rel=0.5)

    async def test_the_first_throttle_of_a_quiet_account(self, queue: Queue) -> None:
        await self.slow_down(queue)

        row = (await queue.fetch("select rate, rate_ceiling from channel_account"))[0]
        assert (2.5, service.RATE_CEILING_MIN) == (row["rate"], row["rate_ceiling"])

    async def test_it_recovers_up_to_its_ceiling(self, queue: Queue) -> None:
        await queue.execute(
            "update channel_account set rate = 5, rate_ceiling = 20, refilled_time = now() - interval '2 minutes'"
        )
        key = await account(queue)

        async with db.transaction(queue.pool) as database:
            await service.take_tokens(database, claimed={key: 1})
        assert 7 == pytest.approx(await queue.value("select rate from channel_account"), rel=0.01)

        await queue.execute("update channel_account set refilled_time = now() - interval '1 day'")
        async with db.transaction(queue.pool) as database:
            await service.take_tokens(database, claimed={key: 1})
        assert 20 == await queue.value("select rate from channel_account")

    async def slow_down(self, queue: Queue) -> None:
        async with db.transaction(queue.pool) as database:
            await service.slow_down(database, account=await account(queue))


class TestBreaker:
    async def test_five_in_a_row(self, queue: Queue) -> None:
        assert [0, 0, 0, 0, 30, 60, 120] == [await self.fail(queue) for _ in range(7)]
        assert await queue.value("select open_until > now() + interval '110 seconds' from channel_account")

    async def test_what_was_in_flight_when_it_opened_tells_nothing_new(self, queue: Queue) -> None:
        assert [0, 0, 0, 0, 30, 0, 0] == [await self.fail(queue, is_probe=False) for _ in range(7)]
        assert 5 == await queue.value("select failures from channel_account")

    async def test_half_of_the_last_ones(self, queue: Queue) -> None:
        assert 30 == await self.fail(queue, is_failing=True)

    async def test_a_success_closes_it(self, queue: Queue) -> None:
        for _ in range(6):
            await self.fail(queue)

        async with db.transaction(queue.pool) as database:
            await service.record_success(database, account=await account(queue))

        assert (0, None) == tuple((await queue.fetch("select failures, open_until from channel_account"))[0].values())
        assert 0 == await self.fail(queue)

    async def fail(self, queue: Queue, *, is_probe: bool = True, is_failing: bool = False) -> float:
        async with db.transaction(queue.pool) as database:
            return await service.record_failure(
                database, account=await account(queue), is_probe=is_probe, is_failing=is_failing
            )


class TestPause:
    async def test_ok(self, queue: Queue) -> None:
        key = await account(queue)

        async with db.transaction(queue.pool) as database:
            assert await service.pause(database, account=key, reason="535 " + "x" * 600)
            assert not await service.pause(database, account=key, reason="again")
        assert 500 == await queue.value("select length(paused_reason) from channel_account")

        async with db.transaction(queue.pool) as database:
            assert await service.resume(database, account=key)
            assert not await service.resume(database, account=key)


class TestSettingsCache:
    async def test_a_change_is_seen_at_once(self, queue: Queue) -> None:
        cache = service.SettingsCache()
        titles: list[str] = []
        for statement in ("title = 'One'", "title = 'Two'"):
            await queue.change_pipeline(statement)
            async with db.connection(queue.pool) as database:
                settings = await service.settings_of(database, lanes=[queue.lane], cache=cache)
            titles.append(settings[queue.lane].pipeline.title)

        assert ["One", "Two"] == titles

    async def test_it_is_bounded(self, queue: Queue) -> None:
        cache = service.SettingsCache()
        async with db.connection(queue.pool) as database:
            settings = await service.settings_of(database, lanes=[queue.lane], cache=cache)
        cache.kept = {(str(number), ""): settings[queue.lane] for number in range(service.LANES_KEPT_MAX)}

        cache.keep(list(settings.values()))

        assert [queue.lane] == list(cache.kept)


async def test_figures(queue: Queue) -> None:
    for number in range(7):
        await queue.schedule(f"a{number}@example.com")
    await queue.schedule("later@example.com", send_time=await queue.now() + MINUTE)
    await queue.execute("update queue_item set due_time = due_time - interval '1 minute' where due_time <= now()")
    worker = queue.worker()
    await worker.send(Sent(), 1)
    await worker.send(Refused("no"), 1)
    await worker.begin(*await worker.claim(1))
    await worker.claim(2)

    async with db.connection(queue.pool) as database:
        figures = await queue_store.list_figures(database)

    by_state = {"".join(value for _, value in figure.labels) or figure.name: figure.value for figure in figures}
    assert (1, 1, 0) == (by_state["accepted"], by_state["refused"], by_state["unknown"])
    assert (2, 2, 1) == (by_state["due"], by_state["claimed"], by_state["sending"])
    assert 60 <= by_state["afterword_queue_oldest_due_seconds"] < 120
    assert (0, 0) == (by_state["afterword_queue_paused_accounts"], by_state["afterword_queue_open_breakers"])
