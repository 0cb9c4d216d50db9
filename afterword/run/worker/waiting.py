"""Waiting that a stop cuts short, and turns that go on until one."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import structlog

from afterword import errors
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.run.worker.pace import AWAY_SECONDS_MAX

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return


async def first_of(*events: asyncio.Event, seconds: float | None = None) -> None:
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def repeat(
    turn: Callable[[], Awaitable[bool]],
    *,
    name: str,
    seconds: float,
    stop: asyncio.Event,
    wake: asyncio.Event | None = None,
) -> None:
    """Take turn after turn until `stop`, at once while one returns True; what it raises is logged and ends nothing.

    Else `seconds` lie between two turns, or less where `wake` is set.
    """
    while not stop.is_set():
        pause = seconds
        if wake is not None:
            wake.clear()
        try:
            if await turn():
                continue
        except errors.Unavailable:
            pause = AWAY_SECONDS_MAX
        except Exception:
            logger.exception("a turn failed", work=name)
            pause = max(pause, 1.0)
        await first_of(stop, *([wake] if wake else []), seconds=pause * jitter())


def jitter() -> float:
    return random.uniform(JITTER_MIN, JITTER_MAX)  # noqa: S311
