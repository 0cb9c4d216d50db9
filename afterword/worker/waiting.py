"""Waiting that a stop cuts short."""

import asyncio


async def wait(stop: asyncio.Event, seconds: float) -> None:
    """Until `stop` is set, at most so long."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return


async def first_of(*events: asyncio.Event, seconds: float | None = None) -> None:
    """Until one of the events is set, at most so long where that is said."""
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
