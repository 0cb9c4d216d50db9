"""Long work: jobs that a worker has under a lease, one at a time, until each has ended or its turn is over."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from types import ModuleType
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar
from uuid import UUID

import structlog

from afterword import errors
from afterword.core.wire.exports import Response
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Database, Pool
from afterword.kit.db.leases import ATTEMPTS_MAX, LEASE_SECONDS, Job, LeasedJob, LeaseLost, Leases
from afterword.kit.db.replicas import Replica
from afterword.kit.transport import stores
from afterword.kit.transport.stores import Failed, Store
from afterword.listening.exports import datasets, schedules, service as exports
from afterword.listening.exports.datasets import CODEBOOK, DataSet, Day, PartFile, Position
from afterword.listening.exports.schedules import RUNS, RunRecord
from afterword.listening.exports.service import Work
from afterword.listening.exports.store import EXPORTS, Export, Piece, Scanned
from afterword.run.worker.flights import Repeat, repeat
from afterword.sending.intake.imports import service as imports
from afterword.sending.intake.imports.service import IMPORTS, ImportRecord
from afterword.sending.queue import batches
from afterword.sending.queue.batches import LEASES, Batch

POLL_SECONDS: Final = 2.0
RENEW_SECONDS: Final = 15.0
STEPS_A_TURN: Final = 5  # some seconds at most: then whoever has waited longest is next
PAUSE_SECONDS: Final = 0.01  # between two steps, for those who wait for the database

assert RENEW_SECONDS * 3 < LEASE_SECONDS  # noqa: S101

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class LongWorker(ABC, Generic[Job]):
    """Claims, renews and releases the jobs of one table; a kind of long work adds `work` and `fail`."""

    leases: Leases[Job]  # of the table
    counts_unavailable: ClassVar[bool] = False  # whether a database that is away, or too slow, is a failed attempt

    def __init__(self, pool: Pool, owner: UUID) -> None:
        self._pool = pool
        self._owner = owner

    @abstractmethod
    async def work(self, job: Job, stop: asyncio.Event, /) -> None:
        """To its end, for a turn, or until `stop`. Raises LeaseLost; NotFound, Conflict where it can never be done."""

    @abstractmethod
    async def fail(self, database: Database, job: Job, error: str | None, now: datetime, /) -> None:
        """End the job as failed, if this worker still has it; `error` is None if it was tried too often."""

    async def run(self, stop: asyncio.Event, repeat: Repeat = repeat) -> None:
        """Work until `stop`; what is begun then is released."""
        await repeat(lambda: self.work_next(stop), name=self.leases.table, seconds=POLL_SECONDS, stop=stop)

    async def work_next(self, stop: asyncio.Event) -> bool:
        """Give the job that has waited longest its turn; False: there is none, or it was lost meanwhile."""
        job = await db.change_by_key(self._pool, self.leases.claim, owner=self._owner)
        if job is None:
            return False
        if job.attempts > ATTEMPTS_MAX:
            await db.change(self._pool, self.fail, job, None, self._pool.clock.now())
            return True
        renewing = asyncio.create_task(self._renew(job))
        try:
            await self.work(job, stop)
        except LeaseLost:
            logger.info("a job was lost", table=self.leases.table)
            return False  # and not at once back again, or two workers could take it from each other for ever
        except (errors.NotFound, errors.Conflict) as refusal:
            await db.change(self._pool, self.fail, job, refusal.detail, self._pool.clock.now())
        except BaseException as error:
            is_away = isinstance(error, errors.Unavailable) and not self.counts_unavailable
            await self._release(job, is_tried=isinstance(error, Exception) and not is_away)
            raise
        else:
            await self._release(job, is_tried=False)
        finally:
            renewing.cancel()
        return True

    async def _renew(self, job: Job) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with suppress(errors.Unavailable):  # then at the next time
                now = self._pool.clock.now()
                await db.change(self._pool, self.leases.renew, job=job, owner=self._owner, now=now)

    async def _release(self, job: Job, *, is_tried: bool) -> None:
        """Let the next worker go on, or this one later; a job that has ended stays as it is."""
        await db.change(self._pool, self.leases.release, job=job, owner=self._owner, is_tried=is_tried)


class SteppedJob(LeasedJob, Protocol):
    @property
    def has_ended(self) -> bool: ...


Stepped = TypeVar("Stepped", bound=SteppedJob)


class StepWorker(LongWorker[Stepped]):
    """Works off some steps of a job, each a transaction, then some of the next job."""

    module: ModuleType  # its `work` does a step, its `fail` ends a job

    def __init__(self, pool: Pool, owner: UUID, *, secret: bytes) -> None:
        super().__init__(pool, owner)
        self._secret = secret

    async def work(self, job: Stepped, stop: asyncio.Event) -> None:
        for _ in range(STEPS_A_TURN):
            if stop.is_set():
                return
            given: dict[str, Any] = {"owner": self._owner, "secret": self._secret, "now": self._pool.clock.now()}
            job = await db.change(self._pool, self.module.work, job=job, **given)
            if job.has_ended:
                return
            await asyncio.sleep(PAUSE_SECONDS)

    async def fail(self, database: Database, job: Stepped, error: str | None, now: datetime) -> None:
        await self.module.fail(database, job=job, owner=self._owner, error=error, now=now)


class Importer(StepWorker[ImportRecord]):
    leases, module = IMPORTS, imports


class BatchWorker(StepWorker[Batch]):
    leases, module = LEASES, batches


class Exporter(LongWorker[Export]):
    """Reads a batch, writes it while the next is read, and keeps the piece, to the end of the file."""

    leases = EXPORTS
    counts_unavailable: ClassVar[bool] = True  # the next attempt reads less at once

    def __init__(self, pool: Pool, owner: UUID, reader: Replica | None = None) -> None:
        """`reader`: a standby that is read from once it has all that was there when the export was begun."""
        super().__init__(pool, owner)
        self._reader = reader

    async def work(self, job: Export, stop: asyncio.Event) -> None:
        work = await db.change(self._pool, exports.begin, export=job, owner=self._owner)
        try:
            await self._write(work, stop)
        finally:
            await asyncio.to_thread(work.writer.close)

    async def fail(self, database: Database, job: Export, error: str | None, now: datetime) -> None:
        await exports.fail(database, export=job, owner=self._owner, error=error, now=now)

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
                piece = await asyncio.to_thread(exports.pack, work, responses, is_first=is_first)
                work.after = after
                await self._keep(work, piece)
                is_first = False
        finally:
            reading.cancel()
            await asyncio.wait([reading])
        rest = exports.pack_rest(work)
        while (piece := await asyncio.to_thread(next, rest, None)) is not None:
            await self._keep(work, piece)
        await db.change(self._pool, exports.finish, work=work, now=self._pool.clock.now())

    async def _read(self, work: Work, after: tuple[datetime, str] | None) -> Scanned | None:
        reader, since = self._reader, work.export.started_time or work.export.created_time
        if reader is not None and await reader.lag_within(since=since) is not None:
            with suppress(errors.Unavailable):  # then the primary is read from
                return await db.change(reader.pool, exports.read, work=work, after=after)
        return await db.change(self._pool, exports.read, work=work, after=after)

    async def _keep(self, work: Work, piece: Piece) -> None:
        await db.change(self._pool, exports.keep, work=work, piece=piece)


SHIPPERS: Final = 2  # of a worker: a slow server holds up one of them


class Shipper(LongWorker[RunRecord]):
    """Compares the days of an export on a timetable, and writes those that have changed."""

    leases = RUNS
    counts_unavailable: ClassVar[bool] = True  # the next attempt reads less at once

    def __init__(self, pool: Pool, owner: UUID, site: Site) -> None:
        super().__init__(pool, owner)
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
