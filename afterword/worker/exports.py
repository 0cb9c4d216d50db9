"""Exports, one at a time in this process: read a batch, write it while the next is read, keep the piece, to the end."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final
from uuid import UUID

import structlog

from afterword import db, errors
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.core.wire.exports import Response
from afterword.exports import service
from afterword.exports.service import Piece, Work
from afterword.exports.store import Export, Scanned
from afterword.exports.writers import TooManyRows
from afterword.worker.waiting import wait

POLL_SECONDS: Final = 1.0
HOLD_SECONDS: Final = 15.0

assert HOLD_SECONDS * 3 < service.LEASE_SECONDS  # noqa: S101

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class NotOurs(Exception):
    """It was cancelled, or another worker has it."""


class Exporter:
    """Writes exports until it is told to stop; what it has begun then is handed back."""

    def __init__(self, pool: db.Pool, owner: UUID) -> None:
        self._pool = pool
        self._owner = owner

    async def run(self, stop: asyncio.Event) -> None:
        """Write one export after the other; what one of them raises is logged and ends nothing."""
        while not stop.is_set():
            try:
                if await self.write_next(stop):
                    continue
            except errors.Unavailable:
                logger.warning("the database is away")
            except Exception:
                logger.exception("export failed")
            await wait(stop, POLL_SECONDS * random.uniform(JITTER_MIN, JITTER_MAX))  # noqa: S311

    async def write_next(self, stop: asyncio.Event) -> bool:
        async with db.transaction(self._pool) as database:
            export = await service.claim(database, owner=self._owner, now=database.clock.now())
        if export is None:
            return False
        holding = asyncio.create_task(self._hold(export))
        try:
            await self._write(export, stop)
        except NotOurs:
            logger.info("an export was taken away", export_id=export.export_id)
        except TooManyRows as error:
            await self._fail(export, str(error))
        except BaseException:
            await self._hand_back(export, is_tried=True)
            raise
        finally:
            holding.cancel()
        return True

    async def _hold(self, export: Export) -> None:
        """Prolong the lease until cancelled: a large worksheet takes longer than one to come out."""
        while True:
            await asyncio.sleep(HOLD_SECONDS)
            with suppress(errors.Unavailable):  # then at the next time
                async with db.transaction(self._pool) as database:
                    await service.renew(database, export=export, owner=self._owner, now=database.clock.now())

    async def _write(self, export: Export, stop: asyncio.Event) -> None:
        async with db.transaction(self._pool) as database:
            work = await service.begin(database, export=export, owner=self._owner)
        try:
            await self._write_rows(work, stop)
        finally:
            await asyncio.to_thread(work.writer.close)

    async def _write_rows(self, work: Work, stop: asyncio.Event) -> None:
        is_first = work.after is None
        reading = asyncio.create_task(self._read(work, work.after))
        try:
            while (scanned := await reading) is not None or is_first:
                if stop.is_set():
                    await self._hand_back(work.export, is_tried=False)
                    return
                responses: Sequence[Response] = ()
                after = work.after
                if scanned is not None:
                    responses, after = scanned.responses, scanned.last
                # In a thread, so that sending goes on; the database looks for the next rows meanwhile.
                reading = asyncio.create_task(self._read(work, after))
                piece = await asyncio.to_thread(service.pack, work, responses, is_first=is_first)
                work.after = after
                await self._keep(work, piece)
                is_first = False
        finally:
            reading.cancel()
            await asyncio.wait([reading])
        rest = service.pack_rest(work)
        while (piece := await asyncio.to_thread(next, rest, None)) is not None:
            await self._keep(work, piece)
        async with db.transaction(self._pool) as database:
            await service.finish(database, work=work, now=database.clock.now())

    async def _read(self, work: Work, after: tuple[datetime, str] | None) -> Scanned | None:
        async with db.transaction(self._pool) as database:
            return await service.read(database, work=work, after=after)

    async def _keep(self, work: Work, piece: Piece) -> None:
        async with db.transaction(self._pool) as database:
            if not await service.keep(database, work=work, piece=piece, now=database.clock.now()):
                raise NotOurs

    async def _fail(self, export: Export, error: str) -> None:
        async with db.transaction(self._pool) as database:
            now = database.clock.now()
            await service.fail(database, export=export, owner=self._owner, error=error, now=now)

    async def _hand_back(self, export: Export, *, is_tried: bool) -> None:
        async with db.transaction(self._pool) as database:
            await service.hand_back(database, export=export, owner=self._owner, is_tried=is_tried)
