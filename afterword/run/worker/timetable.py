"""Exports on a timetable: a worker compares the days of a data set, and writes those that have changed."""

import asyncio
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Database, Pool
from afterword.kit.transport import stores
from afterword.kit.transport.stores import Failed, Store
from afterword.listening.exports import datasets, schedules, service as exports
from afterword.listening.exports.datasets import CODEBOOK, DataSet, Day, PartFile, Position
from afterword.listening.exports.schedules import RUNS, RunRecord
from afterword.run.worker.long_work import LongWorker

SHIPPERS: Final = 2  # of a worker: a slow server holds up one of them


class Shipper(LongWorker[RunRecord]):
    counts_unavailable: ClassVar[bool] = True  # the next attempt reads less at once

    def __init__(self, pool: Pool, owner: UUID, site: Site) -> None:
        super().__init__(pool, owner, RUNS)
        self._site = site

    async def work(self, job: RunRecord, stop: asyncio.Event) -> None:
        """A run that its store refuses has failed: another one is begun later."""
        now = self._pool.clock.now()
        data_set = await db.change(self._pool, datasets.begin, run=job, owner=self._owner, now=now)
        days = await self._compared(data_set, stop)
        if stop.is_set():
            return
        failed: Failed | None = None
        try:
            target = schedules.target_of(data_set.schedule, self._site)
            async with stores.opened(target, allowed=self._site.networks, now=now) as store:
                if not await store.has(CODEBOOK):  # somebody emptied the place, or another disk took it
                    days = await db.change(self._pool, datasets.plan, data_set=data_set, is_lost=True)
                await stores.put_bytes(store, CODEBOOK, data_set.codebook)
                for day in days:
                    if stop.is_set():
                        return
                    await self._write(data_set, day, store)
        except Failed as error:
            failed = error
        except OSError as error:  # of the file that is written here
            failed = Failed("cannot_write", error.strerror or "")
        await db.change(
            self._pool, schedules.end, run=job, owner=self._owner, failed=failed, now=self._pool.clock.now()
        )

    async def fail(self, database: Database, job: RunRecord, error: str | None, now: datetime) -> None:
        failed = Failed("given_up") if error is None else Failed("cannot_write", error)
        await schedules.end(database, run=job, owner=self._owner, failed=failed, now=now)

    async def _compared(self, data_set: DataSet, stop: asyncio.Event) -> list[Day]:
        after: Position | None = None
        while not stop.is_set():
            async with db.transaction(self._pool) as database:
                after = await datasets.take_fingerprints(database, data_set=data_set, after=after)
                if after is None:
                    return await datasets.plan(database, data_set=data_set)
        return []

    async def _write(self, data_set: DataSet, day: Day, store: Store) -> None:
        """Each file of a day, then those of before that are too many go, then the day is kept."""
        after, number, has_more = day.after, 0, day.fingerprint is not None
        while has_more:
            part = await asyncio.to_thread(PartFile, data_set)
            try:
                while has_more and not part.is_full:
                    asked: dict[str, Any] = {"work": data_set.work, "after": after, "oldest": day.oldest}
                    scanned = await db.change(self._pool, exports.read, **asked)
                    has_more = scanned is not None
                    if scanned is not None:
                        after = scanned.last
                        await asyncio.to_thread(part.write, scanned.responses)
                if part.row_count or data_set.is_whole:
                    size = await asyncio.to_thread(part.end)
                    await db.change(self._pool, datasets.update_parts, data_set=data_set, day=day, parts=number + 1)
                    await store.put(data_set.name(day.day, number), part.path)
                    data_set.files.update(file_count=1, row_count=part.row_count, bytes=size)
                    number += 1
            finally:
                await asyncio.to_thread(part.close)
        for surplus in range(number, day.parts):
            await store.delete(data_set.name(day.day, surplus))
        await db.change(self._pool, datasets.settle_day, data_set=data_set, day=day, parts=number)
