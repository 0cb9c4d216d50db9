"""Imports in turns: some pieces of one, then some of the next."""

import asyncio
from datetime import datetime
from typing import Final
from uuid import UUID

from afterword import db
from afterword.db import Database
from afterword.intake.imports import service
from afterword.intake.imports.store import IMPORTS, Import
from afterword.worker.long_work import LongWorker

PIECES_A_TURN: Final = 5  # some seconds at most: then whoever has waited longest is next
PAUSE_SECONDS: Final = 0.01  # between two pieces, for those who wait for the database


class Importer(LongWorker[Import]):
    """Works off the pieces of imports."""

    def __init__(self, pool: db.Pool, owner: UUID, *, secret: bytes) -> None:
        super().__init__(pool, owner, IMPORTS)
        self._secret = secret

    async def work(self, job: Import, stop: asyncio.Event) -> None:
        for _ in range(PIECES_A_TURN):
            if stop.is_set():
                return
            async with db.transaction(self._pool) as database:
                now = database.clock.now()
                job = await service.work(database, job=job, owner=self._owner, secret=self._secret, now=now)
            if job.has_ended:
                return
            await asyncio.sleep(PAUSE_SECONDS)

    async def fail(self, database: Database, job: Import, error: str | None, now: datetime) -> None:
        await service.fail(database, job=job, owner=self._owner, error=error, now=now)
