"""Accounts slow down, rest, are tried again and are paused, on a real PostgreSQL."""

import asyncio
from datetime import datetime

import httpx2
import pytest

from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.sending.providers import health
from afterword.sending.queue import lanes as lanes_service
from tests.sending.providers.test_rates import throttle
from tests.sending.queue.conftest import Client, Queue
from tests.sending.queue.test_lanes import account, lanes


async def resume(queue: Queue) -> None:
    async with db.transaction(queue.pool) as database:
        await health.update_to_resumed(database, account=await account(queue))


class TestProbe:
    async def test_one_worker_wins(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.execute("update channel_account set open_until = now() - interval '1 second', failures = 5")
        key, open_until = await account(queue), (await lanes(queue))[0].open_until
        assert open_until is not None

        async def probe() -> bool:
            return await queue.run(health.claim_probe, account=key, open_until=open_until)

        assert [False, False, False, True] == sorted(await asyncio.gather(*(probe() for _ in range(4))))
        assert [] == await lanes(queue)


class TestRates:
    async def test_claiming_takes_tokens(self, queue: Queue) -> None:
        for number in range(8):
            await queue.schedule(f"a{number}@example.com")
        filled = await queue.value(
            "update channel_account set rate = 0.5, tokens = 3, refilled_time = now() returning refilled_time"
        )

        await queue.worker().claim(8, metered=frozenset({await account(queue)}))

        row = (await queue.fetch("select tokens, refilled_time from channel_account"))[0]
        seconds = (row["refilled_time"] - filled).total_seconds()
        # Claimed items stay claimed; the bucket waits.
        assert min(3 + 0.5 * seconds, 5) - 8 == pytest.approx(row["tokens"], abs=0.001)
        assert [] == await lanes(queue)

    async def test_a_throttle_halves_the_rate(self, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(health, "RATE_PAUSE_SECONDS", 600.0)
        await queue.execute(
            "update channel_account set rate = 40, rate_ceiling = 100, updated_time = now() - interval '1 hour'"
        )

        await throttle(queue, None)
        await throttle(queue, None)  # the same burst

        assert 20 == await queue.value("select rate from channel_account")

    async def test_the_first_throttle_learns_what_was_accepted(self, queue: Queue) -> None:
        for number in range(80):
            await queue.schedule(f"a{number}@example.com")
        await queue.worker().send(Sent(), 80)

        await throttle(
            queue,
            None,
            first="""update event set created_time = now() - case when event_id = (
                 select min(event_id) from event where type = 'queue_item.sent') then 9.99 else 0 end * interval '1 s'
               where type = 'queue_item.sent'""",
        )

        row = (await queue.fetch("select rate, rate_ceiling from channel_account"))[0]
        assert 8.0 == pytest.approx(row["rate_ceiling"], rel=0.01)
        assert row["rate_ceiling"] / 2 == row["rate"]

    async def test_the_first_throttle_of_a_burst(self, queue: Queue) -> None:
        """Sends within one second are a rate, not a tenth of one."""
        for number in range(40):
            await queue.schedule(f"a{number}@example.com")
        await queue.worker().send(Sent(), 40)

        await throttle(
            queue,
            None,
            first="update event set created_time = now() + interval '1 minute' where type = 'queue_item.sent'",
        )  # a minute ahead: however long this takes, less than a second passes

        assert 40 == await queue.value("select rate_ceiling from channel_account")

    async def test_the_first_throttle_of_a_quiet_account(self, queue: Queue) -> None:
        await throttle(queue, None)

        row = (await queue.fetch("select rate, rate_ceiling from channel_account"))[0]
        assert (2.5, health.RATE_CEILING_MIN) == (row["rate"], row["rate_ceiling"])

    async def test_it_recovers_up_to_its_ceiling(self, queue: Queue) -> None:
        await queue.execute(
            "update channel_account set rate = 5, rate_ceiling = 20, refilled_time = now() - interval '2 minutes'"
        )
        key = await account(queue)

        await queue.run(lanes_service.update_tokens, claimed={key: 1})
        assert 7 == pytest.approx(await queue.value("select rate from channel_account"), rel=0.01)

        await queue.execute("update channel_account set refilled_time = now() - interval '1 day'")
        await queue.run(lanes_service.update_tokens, claimed={key: 1})
        assert 20 == await queue.value("select rate from channel_account")


class TestBreaker:
    async def test_five_in_a_row(self, queue: Queue) -> None:
        assert [0, 0, 0, 0, 30, 60, 120] == [await self.fail(queue) for _ in range(7)]
        assert await queue.value("select open_until > now() + interval '110 seconds' from channel_account")

    async def test_what_was_in_flight_when_it_opened_tells_nothing_new(self, queue: Queue) -> None:
        assert [0, 0, 0, 0, 30, 0, 0] == [await self.fail(queue, is_probe=False) for _ in range(7)]
        assert 5 == await queue.value("select failures from channel_account")

    @pytest.mark.parametrize(
        ("failings", "rests"),
        [
            ([True], [30]),
            ([True, False, False, False, False, False, False], [30, 60, 120, 240, 480, 600, 600]),  # each probe fails
            ([False, False, True, False], [0, 0, 30, 60]),
            ([False, False, False, False, True, False], [0, 0, 0, 0, 30, 60]),  # both at once
            ([False, False, False, False, False, True], [0, 0, 0, 0, 30, 60]),  # a longer rest is no shorter for it
        ],
    )
    async def test_half_of_the_last_ones(self, queue: Queue, failings: list[bool], rests: list[float]) -> None:
        """It opens like five in a row, and each further rest is doubled."""
        assert rests == [await self.fail(queue, is_failing=is_failing) for is_failing in failings]
        assert await queue.value(
            "select open_until > now() + make_interval(secs => $1::float8 - 25) from channel_account", rests[-1]
        )

    async def test_a_success_of_its_probe_closes_it(self, queue: Queue) -> None:
        for _ in range(6):
            await self.fail(queue)

        assert (0, None) == await self.succeed(queue, is_probe=True)
        assert 0 == await self.fail(queue)

    async def test_a_success_of_what_was_in_flight_when_it_opened_closes_nothing(self, queue: Queue) -> None:
        for _ in range(4):
            await self.fail(queue)
        assert (0, None) == await self.succeed(queue, is_probe=False)

        for _ in range(5):
            await self.fail(queue)
        until = await queue.value("select open_until from channel_account")
        assert (5, until) == await self.succeed(queue, is_probe=False)

        await queue.execute("update channel_account set open_until = now() - interval '1 second'")
        assert (0, None) == await self.succeed(queue, is_probe=False)

    async def succeed(self, queue: Queue, *, is_probe: bool) -> tuple[int, datetime | None]:
        """The failures in a row, and the end of the rest, after it."""
        async with db.transaction(queue.pool) as database:
            await health.update_to_healthy(database, account=await account(queue), is_probe=is_probe)
        [row] = await queue.fetch("select failures, open_until from channel_account")
        return row["failures"], row["open_until"]

    async def test_what_was_claimed_before_a_person_resumed_it_tells_nothing_new(self, queue: Queue) -> None:
        for _ in range(5):
            await self.fail(queue)
        claimed = await queue.now()
        await resume(queue)

        assert 0 == await self.fail(queue, since=claimed, is_failing=True)
        assert 0 == await queue.value("select failures from channel_account")
        assert 30 == await self.fail(queue, is_failing=True)

    async def fail(
        self, queue: Queue, *, since: datetime | None = None, is_probe: bool = True, is_failing: bool = False
    ) -> float:
        since = since or await queue.now()
        async with db.transaction(queue.pool) as database:
            return await health.record_failure(
                database, account=await account(queue), since=since, is_probe=is_probe, is_failing=is_failing
            )


class TestPause:
    async def test_ok(self, queue: Queue) -> None:
        key = await account(queue)

        async with db.transaction(queue.pool) as database:
            assert await health.update_to_paused(database, account=key, reason="535 " + "x" * 600)
            assert not await health.update_to_paused(database, account=key, reason="again")
        assert 500 == await queue.value("select length(paused_reason) from channel_account")

        async with db.transaction(queue.pool) as database:
            assert await health.update_to_resumed(database, account=key)
            assert not await health.update_to_resumed(database, account=key)

    async def test_a_late_answer_does_not_pause_again_what_a_person_resumed(self, queue: Queue) -> None:
        key, claimed = await account(queue), await queue.now()
        await queue.run(health.update_to_paused, account=key, reason="535", since=claimed)
        await resume(queue)
        later = await queue.now()

        async with db.transaction(queue.pool) as database:
            assert not await health.update_to_paused(database, account=key, reason="535", since=claimed)
            assert await health.update_to_paused(database, account=key, reason="535", since=later)


async def test_figures(http: httpx2.AsyncClient, queue: Queue) -> None:
    """Shares of what was sent, too high only where chance does not explain it; domains that throttle."""
    client = Client(http, queue)
    path = f"/provider/{(await account(queue))[1]}/health"
    empty = await client.ok("GET", path)
    assert (0, None, None, False) == (
        *(empty["sent"], empty["last_sent_time"]),
        *(empty["bounces"]["share"], empty["bounces"]["is_high"]),
    )
    items = [await queue.schedule(f"a{number}@example.com") for number in range(12)]
    await queue.worker().send(Sent("x", 250, "ok"), 12)
    for kind, count in (("bounced", 5), ("failed", 4), ("complained", 1), ("delivered", 12)):
        await queue.execute(
            """insert into delivery_report (organization_id, item_id, kind, is_hard, is_proven, code, said)
               select $1, i, $2, false, true, '', '' from unnest($3::text[]) i""",
            *(queue.house.organization_id, kind, [item.item_id for item in items[:count]]),
        )
    await queue.execute(
        """insert into domain_rate (organization_id, account_id, domain, rate, rate_ceiling)
           values ($1, $2, 'slow.example', 0.5, 2)""",
        *await account(queue),
    )
    found = await client.ok("GET", path)
    assert (12, 5, 1) == (found["sent"], found["bounces"]["count"], found["complaints"]["count"])
    assert (True, 0.05) == (found["bounces"]["is_high"], found["bounces"]["share_max"])
    assert found["bounces"]["low"] < found["bounces"]["share"] == pytest.approx(5 / 12)
    assert [{"domain": "slow.example", "rate": 0.5}] == found["slow_domains"]
    assert found["last_sent_time"] is not None
