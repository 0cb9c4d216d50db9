"""Wake-ups on a real PostgreSQL: heard, throttled, and missed without harm."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest

from afterword import db, wakeups
from afterword.wakeups import Ear

DEADLINE_SECONDS = 60.0


@asynccontextmanager
async def ear(
    pool: db.Pool, url: str, *, probe_seconds: float = 0.2, answer_seconds: float = DEADLINE_SECONDS / 2
) -> AsyncGenerator[Ear]:
    """A listener that has heard its own probe, or has found out that it cannot."""
    stop = asyncio.Event()
    listener = Ear(url=url, pool=pool, probe_seconds=probe_seconds, answer_seconds=answer_seconds)
    running = asyncio.create_task(listener.run(stop))
    try:
        await until(listener.woken.is_set)
        listener.woken.clear()
        yield listener
    finally:
        stop.set()
        await asyncio.wait_for(running, DEADLINE_SECONDS)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def commit(pool: db.Pool, *, due_in: float = 0.0) -> None:
    async with db.transaction(pool) as database:
        database.announce(database.clock.now() + timedelta(seconds=due_in))


class TestSpeaker:
    async def test_nobody_asked(self, pool: db.Pool) -> None:
        await commit(pool)  # the setting is off: nothing is told

    async def test_rolled_back(self, pool: db.Pool, database_url: str) -> None:
        speaker = wakeups.speak(pool, url=database_url, horizon_seconds=0.25)

        async def fail() -> None:
            async with db.transaction(pool) as database:
                database.announce(database.clock.now())
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fail()
        assert speaker._task is None
        await speaker.close()

    async def test_what_a_poll_finds_in_time(self, pool: db.Pool, database_url: str) -> None:
        speaker = wakeups.speak(pool, url=database_url, horizon_seconds=0.25)
        await commit(pool, due_in=60)
        assert speaker._task is None
        await speaker.close()

    async def test_at_most_ten_a_second(self, pool: db.Pool, database_url: str) -> None:
        speaker = wakeups.speak(pool, url=database_url, horizon_seconds=0.25)
        began = time.monotonic()
        for _ in range(300):
            await commit(pool)
        await until(lambda: speaker.count > 0)
        assert speaker.count <= 2 + (time.monotonic() - began) / wakeups.EVERY_SECONDS
        await speaker.close()

    async def test_a_database_that_is_away(self, pool: db.Pool) -> None:
        """The commit has happened; that nobody hears of it is no error."""
        speaker = wakeups.speak(pool, url="postgresql://nobody@127.0.0.1:9/nothing", horizon_seconds=0.25)
        await commit(pool)
        task = speaker._task
        assert task is not None
        await asyncio.wait_for(task, DEADLINE_SECONDS)
        assert 0 == speaker.count
        await speaker.close()


class TestEar:
    async def test_heard(self, pool: db.Pool, database_url: str) -> None:
        speaker = wakeups.speak(pool, url=database_url, horizon_seconds=0.25)
        async with ear(pool, database_url) as listener:
            await commit(pool)
            await asyncio.wait_for(listener.woken.wait(), DEADLINE_SECONDS)
            assert not listener.is_deaf
        await speaker.close()

    async def test_a_terminated_listener_listens_again(self, pool: db.Pool, database_url: str) -> None:
        async with ear(pool, database_url, probe_seconds=60) as listener:
            async with db.connection(pool) as database:
                await database.fetch(
                    """select pg_terminate_backend(pid) from pg_stat_activity
                       where application_name = 'afterword ear' and datname = current_database()"""
                )
            await asyncio.wait_for(listener.woken.wait(), DEADLINE_SECONDS)  # it listens again, and looks at once
            assert not listener.is_deaf

    async def test_an_exchange_that_was_cut(
        self, pool: db.Pool, database_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The driver's own confusion, when the server ends the connection at the wrong moment, ends no listener."""
        connect = wakeups._connect
        left = [asyncpg.InternalClientError("another operation is in progress")]

        async def cut(url: str, name: str) -> object:
            if left:
                raise left.pop()
            return await connect(url, name)

        monkeypatch.setattr(wakeups, "_connect", cut)
        async with ear(pool, database_url) as listener:
            assert not listener.is_deaf

    async def test_deafness_is_told_once_and_ends(
        self, pool: db.Pool, database_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As behind a transaction pooler, where LISTEN stays on a connection that others get."""
        told: list[str] = []
        monkeypatch.setattr(wakeups.logger, "warning", told.append)
        monkeypatch.setattr(wakeups.logger, "info", told.append)
        is_deaf = True
        heard = Ear._heard

        def hear(self: Ear, connection: object, pid: int, channel: str, word: str) -> None:
            if not is_deaf:
                heard(self, connection, pid, channel, word)

        monkeypatch.setattr(Ear, "_heard", hear)
        async with ear(pool, database_url, answer_seconds=1.5) as listener:
            await until(lambda: listener.is_deaf)
            listener.woken.clear()
            await asyncio.wait_for(listener.woken.wait(), DEADLINE_SECONDS)  # it tries again
            assert 1 == len(told)
            is_deaf = False
            await until(lambda: not listener.is_deaf)
        assert ["wake-ups are heard again"] == told[1:]
