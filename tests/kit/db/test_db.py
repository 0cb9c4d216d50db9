"""The gateway to PostgreSQL: whose turn it is, and what happens while the server hangs and answers nothing."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, LiteralString

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db import Batcher, FifoSemaphore, TooManyWait
from tests import machine
from tests.kit.db.conftest import Freezer, one_of

SECONDS_MAX = 4  # for what may wait for a connection and give one back, each a second
DEADLINE_SECONDS = 60


async def test_steps_by_key_have_one_plan_each(pool: db.Pool) -> None:
    """For as long as their transaction lasts."""

    async def mode(database: db.Database) -> str:
        return await database.fetch_value("select current_setting('plan_cache_mode')")

    assert "force_generic_plan" == await db.change_by_key(pool, mode)
    assert "auto" == await db.change(pool, mode)


class TestSchemaChanges:
    """While statements are prepared that a process asks again and again, in transactions."""

    @pytest.fixture
    async def table(self, pool: db.Pool) -> None:
        async with db.transaction(pool) as database:
            await database.execute("create table thing (name text, size integer)")
            await database.execute("insert into thing values ('one', 1)")

    async def test_column_of_another_type(self, pool: db.Pool, table: None) -> None:
        """The first one is asked to come again, and the next time it is right."""
        await self._change(pool, "alter table thing alter column size type bigint", query="select size from thing")
        async with db.transaction(pool) as database:
            assert 1 == await database.fetch_value("select size from thing")

    async def test_all_columns_while_one_is_added(self, pool: db.Pool, table: None) -> None:
        """Why queries name their columns."""
        await self._change(pool, "alter table thing add column more text", query="select * from thing")

    async def _change(self, pool: db.Pool, change: str, *, query: LiteralString) -> None:
        async with db.transaction(pool) as database:
            await database.fetch(query)
        await alter(pool, change)
        with pytest.raises(errors.Unavailable, match="was changed") as refused:
            async with db.transaction(pool) as database:
                await database.fetch(query)
        assert "Retry-After" in refused.value.headers

    async def test_named_columns_while_others_come_and_go(self, pool: db.Pool, table: None) -> None:
        for change in ("add column more text", "drop column more", "add column more integer not null default 7"):
            for query in ("select name, size from thing", "update thing set size = size returning name, size"):
                async with db.transaction(pool) as database:
                    assert [("one", 1)] == [tuple(row) for row in await database.fetch(query)]
            await alter(pool, f"alter table thing {change}")


async def alter(pool: db.Pool, change: Any) -> None:
    """Change the schema, on another connection than the one that was used last."""
    async with db.connection(pool), db.transaction(pool) as database:
        await database.execute(change)


class TestTurns:
    async def test_nobody_waits_for_ever(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1, acquire_seconds=2.0) as pool, db.connection(pool):
            with pytest.raises(errors.Unavailable):
                await one_of(pool)

    async def test_whoever_comes_when_too_many_wait_is_refused_at_once(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1, waiting_max=1) as pool:
            async with db.connection(pool):
                waiting = asyncio.create_task(one_of(pool))
                while not pool.waiting:
                    await asyncio.sleep(0)
                with pytest.raises(errors.Unavailable, match="Too many requests wait"):
                    await one_of(pool)
            assert 1 == await waiting
            assert 0 == pool.waiting

    async def test_a_turn_that_was_given_up_is_free_again(self, database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1) as pool:
            async with db.connection(pool):
                waiting = asyncio.create_task(one_of(pool))
                await asyncio.sleep(0)
                waiting.cancel()
            assert 1 == await one_of(pool)

    async def test_an_end_waits_for_those_in_use(self, database_url: str) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS), await db.open_pool(database_url, size_max=2) as pool:
            async with db.transaction(pool) as database:
                await database.fetch_value("select 1")
                closing = asyncio.create_task(pool.close())
                await asyncio.sleep(0)
                assert 1 == await database.fetch_value("select 1")
            await closing

    async def test_one_that_broke_while_nobody_used_it(self, database_url: str) -> None:
        """The driver has let go of it by itself; the next one gets another, and no turn is lost."""
        async with await db.open_pool(database_url, size_max=1, acquire_seconds=5) as pool:
            for _ in range(3):
                async with db.connection(pool) as database:
                    pid = await database.fetch_value("select pg_backend_pid()")
                async with await db.open_pool(database_url, size_max=1) as other, db.connection(other) as database:
                    await database.fetch_value("select pg_terminate_backend($1, 5000)", pid)
                async with asyncio.timeout(DEADLINE_SECONDS):
                    while pool.idle[0]._con is not None:
                        await asyncio.sleep(0.005)
            async with db.transaction(pool) as database:
                assert 1 == await database.fetch_value("select 1")

    async def test_first_come_first_served(self, database_url: str) -> None:
        served: list[int] = []

        async def stay(number: int) -> None:
            for _ in range(3):  # whoever gives a connection back asks again at once, before the next in turn wakes up
                async with db.connection(pool):
                    served.append(number)

        async with await db.open_pool(database_url, size_max=1) as pool:
            await asyncio.gather(*(stay(number) for number in range(4)))
        assert [0, 1, 2, 3] * 3 == served


class TestHangingServer:
    async def test_each_use_ends_in_a_refusal(
        self, freezer: tuple[Freezer, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(db, "COMMAND_TIMEOUT_SECONDS", 1)
        cold, url = freezer
        async with await db.open_pool(url, size_max=2, acquire_seconds=1) as pool:
            assert 1 == await one_of(pool)
            pool.clock.set(pool.clock.now(), monotonic=time.monotonic() - 2 * db.CLOCK_AGE_SECONDS_MAX)
            cold.freeze()
            for _ in range(2):  # on the connection that is there, then on a new one
                start = time.monotonic()
                with pytest.raises(errors.Unavailable):
                    await one_of(pool)
                assert not machine.is_over(time.monotonic() - start, limit=SECONDS_MAX)
            cold.thaw()
            assert 1 == await one_of(pool)

    async def test_a_busy_server_is_waited_for(self, freezer: tuple[Freezer, str]) -> None:
        """Also by the first use after a while, which asks for the time; a rough answer is asked for again."""
        cold, url = freezer
        async with await db.open_pool(url, size_max=1) as pool:
            assert 1 == await one_of(pool)
            pool.clock.set(pool.clock.now(), monotonic=time.monotonic() - 2 * db.CLOCK_AGE_SECONDS_MAX)
            cold.freeze()
            asyncio.get_running_loop().call_later(1.3 * db.CLOCK_ROUND_TRIP_SECONDS_MAX, cold.thaw)
            assert 1 == await one_of(pool)
            assert pool.clock.is_stale
            assert 1 == await one_of(pool)
            assert not pool.clock.is_stale

    async def test_a_stuck_statement_ends_in_a_refusal(
        self, freezer: tuple[Freezer, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(db, "COMMAND_TIMEOUT_SECONDS", 1)
        cold, url = freezer
        async with await db.open_pool(url, size_max=2, acquire_seconds=1) as pool:
            start = time.monotonic()
            with pytest.raises(errors.Unavailable):
                await one_of(pool, before=cold.freeze)
            assert not machine.is_over(time.monotonic() - start, limit=SECONDS_MAX)
            cold.thaw()
            assert 1 == await one_of(pool)

    async def test_a_rollback_that_is_cut_off_leaves_nothing_open(self, database_url: str) -> None:
        """As where a process stood still for longer than its deadlines, which then pass one after the other."""
        told: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        asked = asyncio.Event()

        async def wait_in_vain(database: db.Database) -> None:
            asked.set()
            await database.fetch_value("select pg_sleep(60)")

        async with await db.open_pool(database_url, size_max=1) as pool:
            task = asyncio.create_task(db.change(pool, wait_in_vain))
            await asked.wait()
            for _ in range(2):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert 1 == await one_of(pool)
        assert [] == told


def turns_of(places: int = 1, *, waiting_max: int = 10, seconds: float = 60.0) -> FifoSemaphore:
    return FifoSemaphore(places, waiting_max=waiting_max, seconds=seconds)


async def waiting(turns: FifoSemaphore, count: int = 1) -> list[asyncio.Task[None]]:
    """So many more who wait."""
    tasks = [asyncio.create_task(turns.take()) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


class TestNoPlace:
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
            async with asyncio.timeout(DEADLINE_SECONDS):
                found = await asyncio.gather(*await waiting(turns, 3), return_exceptions=True)
            assert [TimeoutError] * 3 == [type(each) for each in found]
        assert 0 == turns.waiting
        turns.give_back()
        assert turns.take_at_once()


class TestPlaces:
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


async def test_a_flight_waits_for_those_who_are_about_to_come() -> None:
    flush = Flush()
    looks: list[int] = []

    def linger(waiting: int, waited: float) -> float:
        assert waited >= 0
        looks.append(waiting)
        return 0.001 if waiting < 3 else 0.0

    combiner = Batcher(flush, batch_max=10, linger=linger)
    first = asyncio.create_task(combiner.submit(0))
    await until(lambda: len(looks) > 1)
    assert [] == flush.batches

    assert [0, 2, 4] == await asyncio.gather(first, combiner.submit(1), combiner.submit(2))
    assert [[0, 1, 2]] == flush.batches


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
