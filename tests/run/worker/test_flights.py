"""Pieces of work under way at once: as many as there are slots, each ended on its own, and all landed at a stop."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, cast

import pytest

from afterword import errors
from afterword.run.worker import flights
from afterword.run.worker.flights import Flights
from tests import machine


class Numbers(Flights[int]):
    name = "numbers"
    slots = 3
    poll_seconds = 0.01
    grace_seconds = 0.05

    def __init__(self, count: int) -> None:
        super().__init__(pool=cast("Any", None), site=cast("Any", None))  # it has no need of them
        self.left = list(range(count))
        self.under_way: set[int] = set()
        self.go = asyncio.Event()
        self.most = 0
        self.full = asyncio.Event()
        self.done = asyncio.Event()

    async def claim(self, limit: int) -> tuple[Sequence[int], bool]:
        claimed, self.left = self.left[:limit], self.left[limit:]
        return claimed, bool(claimed)

    async def serve(self, work: int) -> None:
        self.under_way.add(work)
        self.most = max(self.most, len(self.under_way))
        if len(self.under_way) == self.slots:
            self.full.set()
        try:
            await self.go.wait()
            if work == 1:
                raise ValueError
        finally:
            self.under_way.discard(work)
            if not self.left and not self.under_way:
                self.done.set()


async def test_no_more_than_its_slots_and_one_that_fails_ends_no_other() -> None:
    numbers, stop = Numbers(10), asyncio.Event()
    running = asyncio.create_task(numbers.run(stop))
    async with asyncio.timeout(30):
        await numbers.full.wait()
        assert 7 == len(numbers.left)
        numbers.go.set()
        await numbers.done.wait()
        stop.set()
        await running
    assert 3 == numbers.most


async def test_what_takes_longer_than_the_grace_is_ended() -> None:
    numbers = Numbers(2)
    assert 2 == await numbers.turn()
    assert 0 == await numbers.turn()
    await numbers.land(0.01)
    assert set() == numbers.under_way


@pytest.mark.parametrize("error", [errors.Unavailable("away"), RuntimeError("a bug")])
async def test_what_a_turn_raises_ends_nothing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    pauses: list[float] = []
    stop, turns = asyncio.Event(), 0

    async def pass_by(*_: asyncio.Event, seconds: float | None = None) -> None:
        pauses.append(seconds or 0)

    async def turn() -> bool:
        nonlocal turns
        turns += 1
        if turns == 2:
            stop.set()
            return False
        raise error

    monkeypatch.setattr(flights, "first_of", pass_by)
    await flights.repeat(turn, name="test", seconds=0.01, stop=stop)
    assert 2 == turns
    assert pauses[0] > 0.5 > pauses[1]  # a fault is followed by a longer pause


async def test_a_turn_with_more_to_do_is_followed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, left = asyncio.Event(), [3]

    async def turn() -> bool:
        left[0] -= 1
        if not left[0]:
            stop.set()
        return True

    monkeypatch.delattr(flights, "first_of")
    await flights.repeat(turn, name="test", seconds=60, stop=stop)
    assert 0 == left[0]


async def test_waits_end_with_their_events_or_their_time() -> None:
    first, second = asyncio.Event(), asyncio.Event()
    start = time.monotonic()
    await flights.wait(first, 0.01)
    await flights.first_of(first, second, seconds=0.01)
    second.set()
    await flights.first_of(first, second)
    await flights.wait(second, 60)
    assert not machine.is_over(time.monotonic() - start, limit=5)
