"""When a process refuses: more are under way than it answers in time, and a moment later they still are."""

import asyncio
from collections.abc import Callable

import pytest

from afterword.web import load_shedder as pressures
from afterword.web.load_shedder import REQUESTS_MIN, LoadShedder

SECONDS_MAX = 10


@pytest.fixture
def pressure(monkeypatch: pytest.MonkeyPatch) -> LoadShedder:
    monkeypatch.setattr(pressures, "TURN_SECONDS", 0.002)
    return LoadShedder()


def enter(pressure: LoadShedder, count: int) -> None:
    for _ in range(count):
        pressure.enter()


def leave(pressure: LoadShedder, count: int) -> None:
    for _ in range(count):
        pressure.leave()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS_MAX):
        while not condition():
            await asyncio.sleep(0.001)


async def turns(count: int = 5) -> None:
    """Let some turns pass."""
    for _ in range(count):
        await asyncio.sleep(0.003)


class TestHigh:
    async def test_more_than_it_catches_up_with(self, pressure: LoadShedder) -> None:
        enter(pressure, REQUESTS_MIN)
        await until(lambda: pressure.is_high)

    async def test_it_stays_so_while_others_ask(self, pressure: LoadShedder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pressures, "CALM_SECONDS", 60.0)
        monkeypatch.setattr(pressures, "WAIT_SECONDS", 0.0)
        enter(pressure, REQUESTS_MIN)
        await until(lambda: pressure.is_high)
        leave(pressure, REQUESTS_MIN)  # all at once, as those who shared a transaction
        assert not pressure.is_high
        await turns()
        enter(pressure, REQUESTS_MIN)
        assert pressure.is_high


class TestNotHigh:
    async def test_few(self, pressure: LoadShedder) -> None:
        enter(pressure, REQUESTS_MIN - 1)
        await turns()
        assert not pressure.is_high

    async def test_a_burst(self, pressure: LoadShedder) -> None:
        for _ in range(5):
            enter(pressure, REQUESTS_MIN * 5)
            assert not pressure.is_high
            leave(pressure, REQUESTS_MIN * 5)
            await turns(1)
        assert not pressure.is_high

    async def test_as_many_as_are_answered_in_time(
        self, pressure: LoadShedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pressures, "WAIT_SECONDS", 60.0)
        enter(pressure, REQUESTS_MIN * 2)
        for _ in range(5):
            await turns(1)
            leave(pressure, 20)
            enter(pressure, 20)
        await turns(1)
        assert not pressure.is_high

    async def test_those_who_wait_for_their_clients(self, pressure: LoadShedder) -> None:
        enter(pressure, REQUESTS_MIN - 1)
        for _ in range(REQUESTS_MIN):
            pressure.enter()
            pressure.pause()
        await turns()
        assert not pressure.is_high

    async def test_it_is_over(self, pressure: LoadShedder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pressures, "CALM_SECONDS", 0.01)
        enter(pressure, REQUESTS_MIN)
        await until(lambda: pressure.is_high)
        leave(pressure, REQUESTS_MIN)

        def takes_a_burst() -> bool:
            enter(pressure, REQUESTS_MIN)
            is_high = pressure.is_high
            leave(pressure, REQUESTS_MIN)
            return not is_high

        await asyncio.sleep(0.05)  # in which nobody is refused
        await until(takes_a_burst)
