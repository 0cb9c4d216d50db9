"""A worker and its accounts: pauses, breakers, throttles, slots."""

import asyncio
from dataclasses import replace

import pytest

from afterword.kit import db
from afterword.kit.transport.base import Begin, Message, Outcome, Retry, Sent
from tests.run.worker.conftest import RIG, Bench, Logs, accept
from tests.run.worker.test_sender import SCHEDULED


class TestAccounts:
    async def test_a_wrong_login_pauses_the_account_and_fails_nothing(self, bench: Bench) -> None:
        async def refuse(message: Message, begin: Begin) -> Outcome:
            return Retry("account", "535 5.7.8 bad credentials", 535)

        bench.channel.script = refuse
        items = [await bench.queue.schedule(f"a{n}@example.com") for n in range(6)]
        async with bench.worker():
            await bench.until("select exists (select from channel_account where paused_time is not null)")
            await bench.until("select not exists (select from queue_item where status <> 1)")

        assert {(SCHEDULED, 0)} == {
            ((await bench.queue.row(item))["status"], (await bench.queue.row(item))["attempts"]) for item in items
        }
        assert "535 5.7.8 bad credentials" == await bench.queue.value("select paused_reason from channel_account")
        assert 0 == await bench.queue.value("select count(*) from attempt")

    async def test_the_breaker_opens_and_one_probe_closes_it(self, bench: Bench, logs: Logs) -> None:
        is_up = False

        async def answer(message: Message, begin: Begin) -> Outcome:
            return await accept(message, begin) if is_up else Retry("connection", "nobody there")

        bench.channel.script = answer
        for number in range(20):
            await bench.queue.schedule(f"a{number}@example.com")
        async with bench.worker():
            await bench.until("select exists (select from channel_account where open_until > now())")
            asked = await bench.until_still(bench.channel.asked.total)
            await bench.queue.execute("update channel_account set open_until = now()")
            await bench.until("select failures > 5 and open_until > now() from channel_account")
            assert asked + 1 == bench.channel.asked.total()
            is_up = True
            await bench.queue.execute("update channel_account set open_until = now()")
            await bench.until_done()

        assert 20 == bench.channel.accepted.total()
        assert [1, 1] == [logs.events.count(one) for one in ("provider away", "provider answers again")]
        assert "nobody there" == logs.causes["provider away"]
        assert (0, None) == tuple(
            (await bench.queue.fetch("select failures, open_until from channel_account"))[0].values()
        )

    async def test_throttled(self, bench: Bench) -> None:
        """Everything is delivered, no attempt is counted, the rate is learned."""
        refused: list[str] = []

        async def answer(message: Message, begin: Begin) -> Outcome:
            if bench.channel.asked.total() > 10 and len(refused) < 5:  # however slowly they come
                refused.append(message.item_id)
                return Retry("throttle", "454 4.7.0 too many", 454)
            return await accept(message, begin)

        bench.channel.script = answer
        for number in range(18):
            await bench.queue.schedule(f"a{number}@example.com")
        async with bench.worker(replace(RIG, slots=20)):
            await bench.until_done()

        assert 18 == bench.channel.accepted.total()
        assert 1 == await bench.queue.value("select max(attempts) from queue_item")
        assert await bench.queue.value("select rate is not null and rate_ceiling is not null from channel_account")

    @pytest.mark.costly
    async def test_a_domain_that_throttles(self, bench: Bench) -> None:
        """It goes slower alone: everything is delivered, nothing counted, and no other mail waits for it."""
        asked: list[str] = []

        async def answer(message: Message, begin: Begin) -> Outcome:
            if message.recipient.endswith("@slow.example"):
                asked.append(message.item_id)
                if 3 < len(asked) <= 5:  # however slowly they come
                    return Retry("throttle", "450 4.7.0 rate limit", 450, domain="slow.example")
            return await accept(message, begin)

        bench.channel.script = answer
        for number in range(36):
            domain = "example.com" if number % 6 else "slow.example"
            await bench.queue.schedule(f"a{number}@{domain}")
        async with bench.worker(replace(RIG, slots=20)):
            await bench.until_done()

        assert 36 == bench.channel.accepted.total()
        assert 1 == await bench.queue.value("select max(attempts) from queue_item")
        assert await bench.queue.value("select rate is null and has_domain_rates from channel_account")
        assert ["slow.example"] == [row["domain"] for row in await bench.queue.fetch("select domain from domain_rate")]
        quick = "select max(throttled) from queue_item where responder_channel_identifier like '%@example.com'"
        assert 0 == await bench.queue.value(quick)

    async def test_claiming_beside_outcomes(self, bench: Bench) -> None:
        """While outcomes are written the next items are claimed, and begin after: no slot has two begun items."""
        two_of_each = """select count(*) filter (where status = 2) = 2 and count(*) filter (where status = 3) = 2
                         from queue_item"""
        async with bench.worker(replace(RIG, slots=2)):
            async with db.transaction(bench.queue.pool) as other:
                await other.execute("lock table attempt_total in exclusive mode")
                for _ in range(6):
                    await bench.queue.schedule()
                await bench.until(two_of_each)
                for _ in range(10):
                    await asyncio.sleep(RIG.poll_seconds)
                    assert await bench.queue.value(two_of_each)
            await bench.until_done()

        assert 6 == sum(bench.channel.accepted.values())

    async def test_slots_of_an_account(self, bench: Bench) -> None:
        """A slow account fills only its own slots; others go on."""
        go = asyncio.Event()
        most = running = 0

        async def slowly(message: Message, begin: Begin) -> Outcome:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await begin()
            await go.wait()
            running -= 1
            return Sent()

        bench.channel.script = slowly
        await bench.queue.execute("update channel_account set slots_max = 2")
        for number in range(6):
            await bench.queue.schedule(f"a{number}@example.com")
        link = await bench.queue.pipeline(
            questionnaire_id=bench.queue.house.questionnaire_id, channel_id=4, title="Link"
        )
        item = await link.schedule("key")
        async with bench.worker():
            await bench.until("select status = 4 from queue_item where item_id = $1", item.item_id)
            assert 2 == most
            go.set()
            await bench.until_done()

        assert 2 == most
