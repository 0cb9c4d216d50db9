"""Pieces of work under way at once: as many as there are slots, each ended on its own, and all landed at a stop."""

import asyncio
from collections.abc import Sequence

from afterword.run.worker.flights import Flights


class Numbers(Flights[int]):
    name = "numbers"
    slots = 3
    poll_seconds = 0.01
    grace_seconds = 0.05

    def __init__(self, count: int) -> None:
        super().__init__()
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
