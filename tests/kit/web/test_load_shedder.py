"""When a process refuses: more are under way than it answers in time, and a moment later they still are."""

import asyncio
from collections.abc import Callable

import pytest
from starlette.types import Message

from afterword.kit.web import middleware as shedding
from afterword.kit.web.middleware import REQUESTS_MIN, LoadShedder

SECONDS_MAX = 10


@pytest.fixture
def load_shedder(monkeypatch: pytest.MonkeyPatch) -> LoadShedder:
    monkeypatch.setattr(shedding, "INTERVAL_SECONDS", 0.002)
    return LoadShedder()


def enter(load_shedder: LoadShedder, count: int) -> None:
    for _ in range(count):
        load_shedder.enter()


def leave(load_shedder: LoadShedder, count: int) -> None:
    for _ in range(count):
        load_shedder.leave()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS_MAX):
        while not condition():
            await asyncio.sleep(0.001)


async def turns(count: int = 5) -> None:
    """Let some turns pass."""
    for _ in range(count):
        await asyncio.sleep(0.003)


class TestHigh:
    async def test_more_than_it_catches_up_with(self, load_shedder: LoadShedder) -> None:
        enter(load_shedder, REQUESTS_MIN)
        await until(lambda: load_shedder.is_high)

    async def test_lasts_while_others_ask(self, load_shedder: LoadShedder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shedding, "CALM_SECONDS", 60.0)
        monkeypatch.setattr(shedding, "WAIT_SECONDS", 0.0)
        enter(load_shedder, REQUESTS_MIN)
        await until(lambda: load_shedder.is_high)
        leave(load_shedder, REQUESTS_MIN)  # all at once, as those who shared a transaction
        assert not load_shedder.is_high
        await turns()
        enter(load_shedder, REQUESTS_MIN)
        assert load_shedder.is_high


class TestNotHigh:
    async def test_few(self, load_shedder: LoadShedder) -> None:
        enter(load_shedder, REQUESTS_MIN - 1)
        await turns()
        assert not load_shedder.is_high

    async def test_a_burst(self, load_shedder: LoadShedder) -> None:
        for _ in range(5):
            enter(load_shedder, REQUESTS_MIN * 5)
            assert not load_shedder.is_high
            leave(load_shedder, REQUESTS_MIN * 5)
            await turns(1)
        assert not load_shedder.is_high

    async def test_as_many_as_are_answered_in_time(
        self, load_shedder: LoadShedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shedding, "WAIT_SECONDS", 60.0)
        enter(load_shedder, REQUESTS_MIN * 2)
        for _ in range(5):
            await turns(1)
            leave(load_shedder, 20)
            enter(load_shedder, 20)
        await turns(1)
        assert not load_shedder.is_high

    async def test_those_who_wait_for_their_clients(self, load_shedder: LoadShedder) -> None:
        sent = asyncio.Event()

        async def receive() -> Message:
            await sent.wait()
            return {}

        async def wait() -> None:
            await load_shedder.untimed(receive)()

        enter(load_shedder, REQUESTS_MIN - 1)
        async with asyncio.TaskGroup() as clients:
            for _ in range(REQUESTS_MIN):
                load_shedder.enter()
                clients.create_task(wait())
                await asyncio.sleep(0)
            await turns()
            assert not load_shedder.is_high
            sent.set()

    async def test_it_is_over(self, load_shedder: LoadShedder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shedding, "CALM_SECONDS", 0.01)
        enter(load_shedder, REQUESTS_MIN)
        await until(lambda: load_shedder.is_high)
        leave(load_shedder, REQUESTS_MIN)

        def takes_a_burst() -> bool:
            enter(load_shedder, REQUESTS_MIN)
            is_high = load_shedder.is_high
            leave(load_shedder, REQUESTS_MIN)
            return not is_high

        await asyncio.sleep(0.05)  # in which nobody is refused
        await until(takes_a_burst)
