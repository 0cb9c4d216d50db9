"""Claims where recipient domains have rates of their own: within them, or later, and nothing is counted."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.kit import db
from afterword.sending.providers import rates
from tests.sending.providers.test_rates import SLOW, claim, of_account, throttle
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_lanes import lanes as open_lanes


async def filled(queue: Queue, *, rate: float, tokens: float) -> datetime:
    """A bucket that holds so much, from when on."""
    await throttle(queue)
    return await queue.value(
        """update domain_rate set rate = $1, rate_ceiling = $1, tokens = $2, refilled_time = now()
           returning refilled_time""",
        rate,
        tokens,
    )


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the test takes, no bucket fills up by the time between."""
    real = rates.update_tokens

    async def update_tokens(database: db.Database, **values: Any) -> Any:
        await database.execute("update domain_rate set refilled_time = now()")
        return await real(database, **values)

    monkeypatch.setattr(rates, "update_tokens", update_tokens)


class TestClaims:
    async def test_without_such_domains_nobody_looks(self, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
        async def never(*_values: object, **_named: object) -> None:
            raise AssertionError

        await queue.schedule()
        assert [False] == [lane.has_domain_rates for lane in await open_lanes(queue)]
        monkeypatch.setattr(rates, "update_tokens", never)
        assert ["ann@example.com"] == await claim(queue, by_domain=frozenset())

    @pytest.mark.usefixtures("still")
    async def test_overdraft_is_released(self, queue: Queue) -> None:
        """Items within the bucket are sent, other domains too; the rest comes back in its turn, uncounted."""
        for number in range(5):
            await queue.schedule(f"a{number}@{'SLOW.example' if number % 2 else SLOW}")
        for number in range(4):
            await queue.schedule(f"b{number}@example.com")
        await filled(queue, rate=0.5, tokens=2.1)
        assert [True] == [lane.has_domain_rates for lane in await open_lanes(queue)]
        now = await queue.now()

        assert ["a0@slow.example", "a1@SLOW.example", *(f"b{n}@example.com" for n in range(4))] == await claim(queue)

        held = await queue.fetch("select * from queue_item where reason = 'throttled' order by due_time")
        assert [(1, 0, 1, f"Held: {SLOW} takes few messages at the moment")] * 3 == [
            (row["status"], row["attempts"], row["throttled"], row["result"]) for row in held
        ]
        waits = [(row["due_time"] - now).total_seconds() for row in held]
        assert all(0.8 * 2 * place <= wait <= 1.2 * 2 * place + 5 for place, wait in enumerate(waits, start=1))
        assert 0.1 == pytest.approx(await queue.value("select tokens from domain_rate"))
        assert (None, True) == await of_account(queue)

    async def test_who_comes_back_early_waits_longer(self, queue: Queue) -> None:
        await filled(queue, rate=0.05, tokens=0)
        item = await queue.schedule(f"a@{SLOW}")
        await queue.execute("update queue_item set throttled = 7")
        now = await queue.now()
        assert [] == await claim(queue)
        wait = (await queue.row(item))["due_time"] - now
        assert timedelta(seconds=128 * 0.8) <= wait <= timedelta(seconds=128 * 1.2 + 5)

    async def test_never_beyond_its_end(self, queue: Queue) -> None:
        await filled(queue, rate=0.05, tokens=0)
        item = await queue.schedule(f"a@{SLOW}")
        await queue.execute("update queue_item set throttled = 7, not_after = now() + interval '1 minute'")
        assert [] == await claim(queue)
        row = await queue.row(item)
        assert row["not_after"] == row["due_time"]

    async def test_workers_share_a_bucket(self, queue: Queue) -> None:
        for number in range(12):
            await queue.schedule(f"a{number}@{SLOW}")
        begun = await filled(queue, rate=2, tokens=4)
        found = await asyncio.gather(*(claim(queue, 3) for _ in range(4)))
        row = (await queue.fetch("select tokens, refilled_time from domain_rate"))[0]
        gained = 2 * (row["refilled_time"] - begun).total_seconds()
        assert 4 <= sum(map(len, found))
        assert 4 + gained == pytest.approx(sum(map(len, found)) + row["tokens"], abs=0.001)

    async def test_it_refills(self, queue: Queue) -> None:
        await filled(queue, rate=0.5, tokens=0)
        await queue.execute("update domain_rate set refilled_time = now() - interval '1 hour'")
        for number in range(12):
            await queue.schedule(f"a{number}@{SLOW}")
        assert 5 == len(await claim(queue))  # 10 s of its rate
