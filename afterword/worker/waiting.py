"""Waiting that a stop cuts short."""

import asyncio


async def wait(stop: asyncio.Event, seconds: float) -> None:
    """Until `stop` is set, at most so long."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return


async def first_of(*events: asyncio.Event) -> None:
    """Until one of the events is set."""
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
