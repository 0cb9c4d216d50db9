"""Repeats, in a restored database that nobody uses yet, the retention runs that the backup does not know."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from afterword import errors
from afterword.kit import db
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.privacy.erasure_replay import store
from afterword.privacy.erasure_replay.store import KeptRun
from afterword.privacy.retention import service as retention

WAIT_SECONDS: Final = 0.5
WORK_SECONDS_MAX: Final = 3_600.0


async def forget(pool: db.Pool, *, kept: Sequence[KeptRun]) -> int:
    """Remove again what these runs removed, and all that is due by the periods of now; return how many were repeated.

    Nothing is removed that a legal hold of the restored database keeps. Raises Unavailable after an hour of waiting.
    """
    begun = 0
    for run in kept:
        async with db.transaction(pool) as database:
            begun += await store.insert_run(database, kept=run, now=database.clock.now())
    deadline = time.monotonic() + WORK_SECONDS_MAX
    while True:
        async with db.transaction(pool) as database:
            if await retention.work_next(database, now=database.clock.now()):
                continue
            if not await store.count_running(database):
                return begun
        if time.monotonic() > deadline:
            raise errors.Unavailable("A retention run waits for something that does not come to its end.")
        # Responses go once the counts of their days are kept.
        await _keep_counts(pool)
        await asyncio.sleep(WAIT_SECONDS)


async def _keep_counts(pool: db.Pool) -> None:
    after = ""
    while True:
        async with db.transaction(pool) as database:
            found, after = await daily_counts.survey(database, after=after, now=database.clock.now())
        if found < daily_counts.SURVEY_MAX:
            break
    for step in (daily_counts.follow, daily_counts.keep):
        is_over = False
        while not is_over:
            async with db.transaction(pool) as database:
                is_over = not await step(database, now=database.clock.now())
