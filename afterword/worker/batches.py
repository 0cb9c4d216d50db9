"""Acts on many items in turns: some steps of one, then some of the next."""

import asyncio
from datetime import datetime
from typing import Final
from uuid import UUID

from afterword import db
from afterword.db import Database
from afterword.queue.batches import service
from afterword.queue.batches.store import BATCHES, Batch
from afterword.worker.long_work import LongWorker

STEPS_A_TURN: Final = 5
PAUSE_SECONDS: Final = 0.01  # between two steps, for those who wait for the database


class BatchWorker(LongWorker[Batch]):
    """Works off the steps of acts on many items."""

    def __init__(self, pool: db.Pool, owner: UUID, *, secret: bytes) -> None:
        super().__init__(pool, owner, BATCHES)
        self._secret = secret

    async def work(self, job: Batch, stop: asyncio.Event) -> None:
        for _ in range(STEPS_A_TURN):
            if stop.is_set():
                return
            async with db.transaction(self._pool) as database:
                now = database.clock.now()
                job = await service.work(database, job=job, owner=self._owner, secret=self._secret, now=now)
            if job.has_ended:
                return
            await asyncio.sleep(PAUSE_SECONDS)

    async def fail(self, database: Database, job: Batch, error: str | None, now: datetime) -> None:
        await service.fail(database, job=job, owner=self._owner, error=error, now=now)
