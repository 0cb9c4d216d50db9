"""Turns go on until a stop, whatever they raise; and each wait ends with what it waits for."""

import asyncio
import time

import pytest

from afterword import errors
from afterword.run.worker import flights
from tests import machine


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
