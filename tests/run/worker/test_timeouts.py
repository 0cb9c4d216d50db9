"""Jobs that the limit of a statement ends."""

import asyncio

from afterword.kit import db
from afterword.run.worker import loop, timeouts
from afterword.run.worker.jobs import Job
from tests.journeys.processes import until
from tests.run.worker.conftest import Bench, Logs


async def test_a_job_that_takes_too_long(bench: Bench, logs: Logs) -> None:
    """It is logged and counted, and tried again at its own time, not at once as after an outage."""
    runs = 0

    async def read_too_much(database: db.Database) -> int:
        nonlocal runs
        runs += 1
        await database.execute("set local statement_timeout = 1")
        return await database.execute("select pg_sleep(10)")

    stop, pool = asyncio.Event(), bench.queue.pool
    repeating = asyncio.create_task(loop._repeat(Job("read all", 3_600.0, 1, read_too_much), pool, stop))
    try:
        await until(lambda: bench.queue.value("select total = 1 from job_timeout where name = 'read all'"), seconds=10)
    finally:
        stop.set()
        await repeating
    assert (1, ["job took longer than a statement may"]) == (runs, logs.events)
    async with db.connection(pool) as database:
        (sample,) = await timeouts.samples(database)
    assert 1 == sample.value
