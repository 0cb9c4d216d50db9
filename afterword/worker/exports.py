"""Exports: read a batch, write it while the next is read, keep the piece, to the end of the file."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from afterword import db
from afterword.core.wire.exports import Response
from afterword.db import Database
from afterword.exports import service
from afterword.exports.service import Piece, Work
from afterword.exports.store import EXPORTS, Export, Scanned
from afterword.worker.long_work import LongWorker


class Exporter(LongWorker[Export]):
    counts_unavailable: ClassVar[bool] = True  # the next attempt reads less at once

    def __init__(self, pool: db.Pool, owner: UUID) -> None:
        super().__init__(pool, owner, EXPORTS)

    async def work(self, job: Export, stop: asyncio.Event) -> None:
        async with db.transaction(self._pool) as database:
            work = await service.begin(database, export=job, owner=self._owner)
        try:
            await self._write(work, stop)
        finally:
            await asyncio.to_thread(work.writer.close)

    async def fail(self, database: Database, job: Export, error: str | None, now: datetime) -> None:
        await service.fail(database, export=job, owner=self._owner, error=error, now=now)

    async def _write(self, work: Work, stop: asyncio.Event) -> None:
        is_first = work.after is None
        reading = asyncio.create_task(self._read(work, work.after))
        try:
            while (scanned := await reading) is not None or is_first:
                if stop.is_set():
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
            await service.keep(database, work=work, piece=piece)
