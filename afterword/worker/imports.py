"""Imports, one at a time in this process and in turns: some pieces of one, then some of the next."""

import asyncio
import random
from typing import Final
from uuid import UUID

import structlog

from afterword import db, errors
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.intake.imports import service
from afterword.intake.imports.service import NotOurs
from afterword.intake.imports.store import Import
from afterword.worker.waiting import wait

POLL_SECONDS: Final = 1.0
PIECES_A_TURN: Final = 5  # some seconds at most: then whoever has waited longest is next
PAUSE_SECONDS: Final = 0.01  # between two pieces, for those who wait for the database
FAILURE_SECONDS: Final = 1.0

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Importer:
    """Works off imports until it is told to stop; what it has begun then goes on in other hands."""

    def __init__(self, pool: db.Pool, owner: UUID, *, secret: bytes) -> None:
        self._pool = pool
        self._owner = owner
        self._secret = secret

    async def run(self, stop: asyncio.Event) -> None:
        """One turn after the other; what one of them raises is logged and ends nothing."""
        while not stop.is_set():
            try:
                if await self.work_next(stop):
                    continue
            except errors.Unavailable:
                logger.warning("the database is away")
            except Exception:
                logger.exception("import failed")
                await wait(stop, FAILURE_SECONDS)
                continue
            await wait(stop, POLL_SECONDS * random.uniform(JITTER_MIN, JITTER_MAX))  # noqa: S311

    async def work_next(self, stop: asyncio.Event) -> bool:
        """Give the import that has waited longest its turn; False: there is none, or it was taken away meanwhile."""
        async with db.transaction(self._pool) as database:
            job = await service.claim(database, owner=self._owner, now=database.clock.now())
        if job is None:
            return False
        return await self._take_turn(job, stop)

    async def _take_turn(self, job: Import, stop: asyncio.Event) -> bool:
        """False for an import that another worker has taken."""
        try:
            for _ in range(PIECES_A_TURN):
                if stop.is_set():
                    break
                job = await self._work(job)
                if job.has_ended:
                    return True
                await asyncio.sleep(PAUSE_SECONDS)
        except NotOurs:
            logger.info("an import was taken away", import_id=job.import_id)
            return False  # and not at once back again, or two workers could take it from each other for ever
        except (errors.NotFound, errors.Conflict) as refusal:  # of the pipeline: no row is to blame
            await self._fail(job, refusal.detail)
            return True
        except BaseException as error:
            is_failure = isinstance(error, Exception) and not isinstance(error, errors.Unavailable)
            await self._hand_back(job, is_failure=is_failure)
            raise
        await self._hand_back(job, is_failure=False)
        return True

    async def _work(self, job: Import) -> Import:
        async with db.transaction(self._pool) as database:
            return await service.work(
                database, job=job, owner=self._owner, secret=self._secret, now=database.clock.now()
            )

    async def _fail(self, job: Import, error: str) -> None:
        async with db.transaction(self._pool) as database:
            await service.fail(database, job=job, owner=self._owner, error=error, now=database.clock.now())

    async def _hand_back(self, job: Import, *, is_failure: bool) -> None:
        async with db.transaction(self._pool) as database:
            now = database.clock.now()
            await service.hand_back(database, job=job, owner=self._owner, now=now, is_failure=is_failure)
