"""Turns: one worker has each, those who died or are busy are passed over, and readers without news have none."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from afterword.events import service as events
from afterword.kit import db
from afterword.run.worker.rota import Rota
from tests.conftest import settled
from tests.events.test_service import event

POLL_SECONDS = 3_600.0  # nobody asks but the test


def rota(pool: db.Pool) -> Rota:
    return Rota(pool=pool, poll_seconds=POLL_SECONDS)


@asynccontextmanager
async def waiting(
    *among: Rota, name: str = "work", seconds: float = 7_200.0
) -> AsyncGenerator[list[asyncio.Task[None]]]:
    never = asyncio.Event()
    tasks = [asyncio.create_task(each.wait(name, seconds, never)) for each in among]
    await asyncio.sleep(0)  # they wait now
    yield tasks
    never.set()
    await asyncio.gather(*tasks)


async def given(asked: Rota, task: asyncio.Task[None]) -> bool:
    """Ask once; whether the turn came."""
    await asked._ask()
    if not any(waiter.given.is_set() for waiters in asked._waiters.values() for waiter in waiters):
        return False
    await task
    return True


async def shift(pool: db.Pool, seconds: float) -> None:
    async with db.transaction(pool) as database:
        await database.execute("update job_timeout set next_time = next_time - make_interval(secs => $1)", seconds)


async def test_only_one_has_a_turn_and_keeps_it(pool: db.Pool) -> None:
    first, second = rota(pool), rota(pool)
    async with waiting(first, second) as (mine, other):
        assert not await given(first, mine)  # its row is new
        assert await given(first, mine)
        assert not await given(second, other)
    await shift(pool, 7_200.0)
    async with waiting(first, second) as (mine, other):
        assert not await given(second, other)  # whoever had it last is preferred for a poll
        assert await given(first, mine)


async def test_who_does_not_ask_is_passed_over(pool: db.Pool) -> None:
    first, second = rota(pool), rota(pool)
    async with waiting(first) as (mine,):
        await given(first, mine)
        assert await given(first, mine)
    await shift(pool, 7_200.0 + POLL_SECONDS)
    async with waiting(second) as (other,):
        assert await given(second, other)


async def test_what_is_handed_on_is_due_for_all(pool: db.Pool) -> None:
    first, second = rota(pool), rota(pool)
    async with waiting(first) as (mine,):
        await given(first, mine)
        assert await given(first, mine)
    await first.hand_on("work")
    async with waiting(second) as (other,):
        assert await given(second, other)
    await first.hand_on("work")  # once a poll
    async with waiting(first) as (mine,):
        assert not await given(first, mine)


async def test_a_clock_that_was_set_back(pool: db.Pool) -> None:
    only = rota(pool)
    async with waiting(only) as (mine,):
        await given(only, mine)
        assert await given(only, mine)
    await shift(pool, -86_400.0)
    async with waiting(only) as (mine,):
        assert await given(only, mine)


async def test_readers_without_news(pool: db.Pool) -> None:
    stopped, only = asyncio.Event(), rota(pool)
    stopped.set()
    await only.run(stopped, {"read": "test"})

    async def is_due() -> bool:
        async with db.transaction(pool) as database:
            await database.execute("update job_timeout set next_time = '-infinity'")
        async with waiting(only, name="read") as (task,):
            return await given(only, task)

    async def read() -> None:
        async with db.transaction(pool) as database:
            await events.read_next(database, reader="test", types=(), limit=10)

    await is_due()  # its row is new
    assert await is_due()  # as is the reader
    await read()
    assert not await is_due()
    async with db.transaction(pool) as database:
        await events.record(database, events=[event("tag.added")])
    assert await is_due()
    await settled(pool)
    await read()
    assert not await is_due()


@pytest.mark.parametrize("has_failed", [False, True])
async def test_a_turn_that_is_not_finished_comes_again(pool: db.Pool, *, has_failed: bool) -> None:
    """A worker that dies in its turn, or fails in it, loses nothing: the next one has it a poll later."""
    stop, begun, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
    dying, other = (Rota(pool=pool, poll_seconds=0.01) for _ in range(2))

    async def begin() -> bool:
        begun.set()
        if has_failed:
            raise RuntimeError
        await asyncio.Event().wait()
        return False

    async def finish() -> bool:
        done.set()
        return False

    async with asyncio.timeout(60):
        dead = [
            asyncio.create_task(dying.run(stop, {})),
            asyncio.create_task(dying.repeat(begin, name="work", seconds=0.01, stop=stop)),
        ]
        await begun.wait()
        for task in dead:
            task.cancel()
        await asyncio.gather(*dead, return_exceptions=True)
        living = [
            asyncio.create_task(other.run(stop, {})),
            asyncio.create_task(other.repeat(finish, name="work", seconds=0.01, stop=stop)),
        ]
        await done.wait()
        stop.set()
        await asyncio.gather(*living)
