"""Recipient domains that throttle: each goes slower by itself, until it has recovered; the others never notice."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.core.scheduling.lanes import AccountKey
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.sending.providers import health, rates as providers_rates
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_lanes import account, lanes as open_lanes

SLOW = "slow.example"


async def throttle(queue: Queue, domain: str | None = SLOW, *, first: str = "select") -> None:
    """A throttle, in the moment of the `first` statement."""
    key = await account(queue)
    async with db.transaction(queue.pool) as database:
        await database._connection.execute(first)
        await health.slow_down(database, account=key, domain=domain)


async def prune(queue: Queue) -> int:
    return await queue.run(providers_rates.prune, limit=100)


async def rates(queue: Queue) -> dict[str, float]:
    return {row["domain"]: row["rate"] for row in await queue.fetch("select domain, rate from domain_rate")}


async def of_account(queue: Queue) -> tuple[Any, ...]:
    return tuple((await queue.fetch("select rate, has_domain_rates from channel_account"))[0].values())


@pytest.fixture
def long_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the test takes, its throttles are one burst."""
    monkeypatch.setattr(providers_rates, "PAUSE_SECONDS", 600.0)


async def claim(queue: Queue, count: int = 20, *, by_domain: frozenset[AccountKey] | None = None) -> list[str]:
    """The addresses that go."""
    keys = frozenset({await account(queue)}) if by_domain is None else by_domain
    dispatches = await queue.worker().claim(count, by_domain=keys)
    return sorted(one.item.responder_channel_identifier for one in dispatches)


class TestThrottled:
    async def test_a_domain_goes_slower_and_its_account_does_not(self, queue: Queue) -> None:
        await throttle(queue)
        assert {SLOW: providers_rates.CEILING_MIN / 2} == await rates(queue)
        assert (None, True) == await of_account(queue)

    @pytest.mark.usefixtures("long_burst")
    async def test_the_same_burst(self, queue: Queue) -> None:
        await throttle(queue)
        await throttle(queue)
        assert {SLOW: 0.5} == await rates(queue)

    async def test_again(self, queue: Queue) -> None:
        await throttle(queue)
        for expected in (0.25, 0.125, 0.0625, providers_rates.FLOOR, providers_rates.FLOOR):
            await throttle(
                queue,
                first="""update domain_rate set throttled_time = now() - interval '2 seconds', refilled_time = now(),
                           tokens = 5""",
            )
            assert {SLOW: pytest.approx(expected)} == await rates(queue)
        assert 0 == await queue.value("select tokens from domain_rate")

    async def test_several_at_once_are_the_account(self, queue: Queue) -> None:
        await throttle(queue)
        await throttle(queue, "other.example")
        await throttle(queue, "third.example")
        assert {SLOW, "other.example"} == set(await rates(queue))
        assert (2.5, True) == await of_account(queue)

    async def test_one_after_the_other_is_not(self, queue: Queue) -> None:
        for domain in ("a.example", "b.example", "c.example", "d.example"):
            await throttle(queue, domain)
            await queue.execute("update domain_rate set throttled_time = now() - interval '61 seconds'")
        assert 4 == len(await rates(queue))
        assert (None, True) == await of_account(queue)

    async def test_too_many_are_the_account(self, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(providers_rates, "DOMAINS_MAX", 1)
        await throttle(queue)
        await queue.execute("update domain_rate set throttled_time = now() - interval '61 seconds'")
        await throttle(queue, "other.example")
        assert {SLOW} == set(await rates(queue))
        assert 2.5 == (await of_account(queue))[0]
        await throttle(queue)  # one that is known has its place
        assert {SLOW: pytest.approx(0.275, rel=0.1)} == await rates(queue)

    async def test_what_it_took_lately(self, queue: Queue) -> None:
        for number in range(30):
            await queue.schedule(f"a{number}@{SLOW if number % 3 else 'example.com'}")
        await queue.worker().send(Sent("x", 250, "ok"), 30)
        # A minute ahead: however long this takes, less than a second passes.
        await throttle(queue, first="update event set created_time = now() + interval '1 minute'")
        assert {SLOW: 10} == await rates(queue)

    @pytest.mark.usefixtures("long_burst")
    async def test_at_once_in_two_workers(self, queue: Queue) -> None:
        await asyncio.gather(*(throttle(queue) for _ in range(6)))
        assert {SLOW: 0.5} == await rates(queue)


class TestRecovery:
    async def test_by_a_twentieth_of_the_ceiling_a_minute(self, queue: Queue) -> None:
        await throttle(queue)
        await queue.execute("update domain_rate set refilled_time = now() - interval '4 minutes'")
        await queue.schedule(f"a@{SLOW}")
        await claim(queue)
        assert {SLOW: pytest.approx(0.7, rel=0.01)} == await rates(queue)

    async def test_then_it_is_gone(self, queue: Queue) -> None:
        await throttle(queue)
        await throttle(queue, "other.example")
        assert 0 == await prune(queue)
        back = "update domain_rate set throttled_time = throttled_time - $1::interval, refilled_time = throttled_time"
        await queue.execute(f"{back} where domain = 'slow.example'", timedelta(minutes=11))
        await queue.execute("update domain_rate set refilled_time = throttled_time")
        assert 1 == await prune(queue)
        assert (None, True) == await of_account(queue)
        await queue.execute(
            "update domain_rate set throttled_time = now() - interval '11 minutes', rate = rate_ceiling"
        )
        assert 1 == await prune(queue)
        assert (None, False) == await of_account(queue)
        await throttle(queue)
        assert (None, True) == await of_account(queue)


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
    real = providers_rates.update_tokens

    async def update_tokens(database: db.Database, **values: Any) -> Any:
        await database.execute("update domain_rate set refilled_time = now()")
        return await real(database, **values)

    monkeypatch.setattr(providers_rates, "update_tokens", update_tokens)


class TestClaims:
    async def test_without_such_domains_nobody_looks(self, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
        async def never(*_values: object, **_named: object) -> None:
            raise AssertionError

        await queue.schedule()
        assert [False] == [lane.has_domain_rates for lane in await open_lanes(queue)]
        monkeypatch.setattr(providers_rates, "update_tokens", never)
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
