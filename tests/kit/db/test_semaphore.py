"""Turns: as many at once as there are places, in the order in which they came, and not for ever."""

import asyncio

import pytest

from afterword.kit.db import FifoSemaphore, TooManyWait

SECONDS_MAX = 10


def turns_of(places: int = 1, *, waiting_max: int = 10, seconds: float = 60.0) -> FifoSemaphore:
    return FifoSemaphore(places, waiting_max=waiting_max, seconds=seconds)


async def waiting(turns: FifoSemaphore, count: int = 1) -> list[asyncio.Task[None]]:
    """So many more who wait."""
    tasks = [asyncio.create_task(turns.take()) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


class TestRefused:
    async def test_more_than_may_wait(self) -> None:
        turns = turns_of(waiting_max=1)
        await turns.take()
        [first] = await waiting(turns)
        with pytest.raises(TooManyWait):
            await turns.take()
        turns.give_back()
        await first

    async def test_each_who_waited_too_long(self) -> None:
        turns = turns_of(seconds=0.01)
        await turns.take()
        for _ in range(2):
            async with asyncio.timeout(SECONDS_MAX):
                found = await asyncio.gather(*await waiting(turns, 3), return_exceptions=True)
            assert [TimeoutError] * 3 == [type(each) for each in found]
        assert 0 == turns.waiting
        turns.give_back()
        assert turns.take_at_once()


class TestTurns:
    async def test_as_many_as_there_are_places(self) -> None:
        turns = turns_of(2)
        assert [True, True, False] == [turns.take_at_once() for _ in range(3)]
        turns.give_back()
        assert turns.take_at_once()

    async def test_who_comes_when_one_was_called_in_waits_behind(self) -> None:
        turns = turns_of()
        await turns.take()
        first, second = await waiting(turns, 2)
        turns.give_back()
        assert not turns.take_at_once()
        await first
        assert not second.done()
        turns.give_back()
        await second
        assert 0 == turns.waiting

    async def test_who_left_is_passed_over(self) -> None:
        turns = turns_of()
        await turns.take()
        first, second = await waiting(turns, 2)
        first.cancel()
        await asyncio.sleep(0)
        turns.give_back()
        await second

    async def test_who_left_when_called_in_gives_the_place_to_the_next(self) -> None:
        turns = turns_of()
        await turns.take()
        first, second = await waiting(turns, 2)
        turns.give_back()
        first.cancel()
        await second
        assert first.cancelled()
        turns.give_back()
        assert turns.take_at_once()
