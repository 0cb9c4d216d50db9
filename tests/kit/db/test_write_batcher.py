import asyncio
from collections.abc import Callable, Sequence

import pytest

from afterword import errors
from afterword.kit.db import Batcher


class Flush:
    """Doubles numbers; refuses 13; is away when told so; waits while `gate` is closed."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_away = False
        self.running = self.running_max = 0

    async def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        self.running += 1
        self.running_max = max(self.running, self.running_max)
        await self.gate.wait()
        self.running -= 1
        if self.is_away:
            raise errors.Unavailable("away")
        if 13 in numbers:
            raise ValueError("13")
        return [number * 2 for number in numbers]


async def test_a_lone_one_goes_at_once() -> None:
    flush = Flush()

    assert 14 == await Batcher(flush, batch_max=10).submit(7)
    assert [[7]] == flush.batches


async def test_who_comes_at_the_end_of_a_flight_has_one() -> None:
    """The turn of the loop in which the outcome is told is the one in which the flight has just ended."""
    combiner = Batcher(Flush(), batch_max=10)
    async with asyncio.timeout(10):
        assert [2, 4, 6] == [await combiner.submit(number) for number in (1, 2, 3)]


async def test_what_gathers_meanwhile_goes_with_the_next() -> None:
    flush = Flush()
    flush.gate.clear()
    combiner = Batcher(flush, batch_max=3)
    first = asyncio.create_task(combiner.submit(0))
    await until(lambda: bool(flush.batches))
    others = [asyncio.create_task(combiner.submit(number)) for number in range(1, 6)]
    await until(lambda: len(combiner._waiting) == 5)
    flush.gate.set()

    assert [0, 2, 4, 6, 8, 10] == await asyncio.gather(first, *others)
    assert [[0], [1, 2, 3], [4, 5]] == flush.batches


async def test_whoever_comes_when_the_first_in_line_waits_too_long_is_refused() -> None:
    flush = Flush()
    flush.gate.clear()
    combiner = Batcher(flush, batch_max=1, waiting_seconds_max=0.0)
    tasks = [asyncio.create_task(combiner.submit(0))]
    await until(lambda: bool(flush.batches))
    tasks.append(asyncio.create_task(combiner.submit(1)))
    await until(lambda: len(combiner._waiting) == 1)
    with pytest.raises(errors.Unavailable):
        await combiner.submit(2)
    flush.gate.set()

    assert [0, 2] == await asyncio.gather(*tasks)
    assert 6 == await combiner.submit(3), "nobody waits any more"


async def test_whoever_comes_when_too_many_wait_is_refused_at_once() -> None:
    flush = Flush()
    flush.gate.clear()
    combiner = Batcher(flush, batch_max=1, waiting_max=2)
    first = asyncio.create_task(combiner.submit(0))
    await until(lambda: bool(flush.batches))
    others = [asyncio.create_task(combiner.submit(number)) for number in (1, 2)]
    await until(lambda: len(combiner._waiting) == 2)
    with pytest.raises(errors.Unavailable) as caught:
        await combiner.submit(3)
    flush.gate.set()

    assert {"Retry-After": "2"} == caught.value.headers
    assert [0, 2, 4] == await asyncio.gather(first, *others)


async def test_no_more_in_flight_than_allowed() -> None:
    flush = Flush()
    flush.gate.clear()
    combiner = Batcher(flush, batch_max=1, flights_max=2)
    tasks = [asyncio.create_task(combiner.submit(number)) for number in range(10)]
    await until(lambda: len(combiner._waiting) == 8)
    flush.gate.set()
    await asyncio.gather(*tasks)

    assert 2 == flush.running_max
    assert 10 == len(flush.batches)


async def test_a_bad_one_hurts_nobody_else() -> None:
    flush = Flush()
    combiner = Batcher(flush, batch_max=10)

    results = await asyncio.gather(*(combiner.submit(number) for number in (12, 13, 14)), return_exceptions=True)

    assert [24, 28] == [results[0], results[2]]
    assert isinstance(results[1], ValueError)
    assert [[12, 13, 14], [12], [13], [14]] == flush.batches


async def test_a_database_that_is_away_concerns_all_alike() -> None:
    flush = Flush()
    flush.is_away = True
    combiner = Batcher(flush, batch_max=10)

    results = await asyncio.gather(*(combiner.submit(number) for number in (1, 2)), return_exceptions=True)

    assert all(isinstance(result, errors.Unavailable) for result in results)
    assert [[1, 2]] == flush.batches


async def test_who_gives_up_is_left_out() -> None:
    flush = Flush()
    flush.gate.clear()
    combiner = Batcher(flush, batch_max=10)
    tasks = [asyncio.create_task(combiner.submit(number)) for number in range(3)]
    await until(lambda: bool(flush.batches))
    late = asyncio.create_task(combiner.submit(9))
    await until(lambda: len(combiner._waiting) == 1)
    late.cancel()
    tasks[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await late
    flush.gate.set()

    assert [0, 4] == await asyncio.gather(tasks[0], tasks[2])
    assert 6 == await combiner.submit(3)
    assert [[0, 1, 2], [3]] == flush.batches


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0)
