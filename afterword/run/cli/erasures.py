"""`afterword erasure export` and `replay`: the ledger of erasures, for use after a restore.

A backup from before an erasure still has the person. The ledger, kept apart from the backups, has ids and hashes alone;
replayed before the service starts, it erases those people again.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

import cyclopts

from afterword import errors
from afterword.core.scheduling.retries import JITTER_MAX
from afterword.events import log
from afterword.kit import db
from afterword.privacy import service
from afterword.privacy.service import LedgerLine
from afterword.run.cli.context import open_pool, read_text
from afterword.run.worker.long_work import Importer
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits

LEDGER_BYTES_MAX: Final = 1_000_000_000
REAP_ITEMS_MAX: Final = 100
WAIT_SECONDS: Final = 0.5
WORK_SECONDS_MAX: Final = 3_600.0

app = cyclopts.App(name="erasure")


@app.command
async def export() -> None:
    """Print the ledger, a line of JSON for each erasure: ids and hashes, which name nobody.

    Keep it apart from the backups, for as long as the oldest of them.
    """
    async with open_pool() as (_, pool):
        async for line in service.lines(pool):
            print(line)


@app.command(name="replay")
async def replay(file: Path, /) -> None:
    """Erase the people again who were erased since a restored backup; before `afterword serve`. Can be repeated.

    Args:
        file: The last output of `afterword erasure export`.
    """
    kept = list(service.read(read_text(file, bytes_max=LEDGER_BYTES_MAX), name=str(file)))
    async with open_pool() as (context, pool):
        done = await replay_lines(pool, kept=kept, secret=context.site.secret)
    left = len(kept) - done
    print(f"{done:,} erased again, {left:,} were erased already or belong to no organization here.")


async def replay_lines(pool: db.Pool, *, kept: Sequence[LedgerLine], secret: bytes) -> int:
    """Erase again, in a database that no worker uses yet; return the number of people.

    What ran when the backup was taken ends first, since of a person one erasure runs at a time.
    """
    done = 0
    async with db.transaction(pool) as database:
        await log.adopt(database)  # else no reader works on what came from another cluster
    await _work(pool, secret=secret)
    for line in kept:
        async with db.transaction(pool) as database:
            is_begun = await service.replay(database, kept=line, now=database.clock.now())
        if is_begun:
            await _work(pool, secret=secret)
            done += 1
    return done


async def _work(pool: db.Pool, *, secret: bytes) -> None:
    """Bring all erasures to their end. Raises Unavailable after an hour without one."""
    deadline = time.monotonic() + WORK_SECONDS_MAX
    while True:
        async with db.transaction(pool) as database:
            if await service.work_next(database, now=database.clock.now()):
                continue
            if not await service.count_running(database):
                return
            await sending.reap(database, limit=REAP_ITEMS_MAX, waits=Waits(JITTER_MAX, 1.0))
        if time.monotonic() > deadline:
            raise errors.Unavailable("An erasure waits for something that does not come to its end.")
        if not await Importer(pool, uuid4(), secret=secret).work_next(asyncio.Event()):
            await asyncio.sleep(WAIT_SECONDS)
