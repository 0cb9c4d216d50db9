"""Claim, begin and settle by the real services, without a wire between, against bare batches on a bare table."""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from afterword import db
from afterword.channels.base import Sent
from afterword.core.lanes import LaneKey
from afterword.queue.lanes.service import SettingsCache
from afterword.queue.sending import service as sending
from afterword.queue.sending.outcomes import Waits
from afterword.queue.sending.service import Lease, Prepared, Result
from benchmarks.findings import Ratio
from benchmarks.requests import fill
from benchmarks.stage import Stage

Ground = TypeVar("Ground")

BATCH_ITEMS: Final = 100
LOOPS: Final = 2  # batches under way at the same moment
BATCHES_PER_SECOND: Final = 30  # how much work a round gets; the rate decides how long it takes
FAR: Final = 1_000_000  # between the numbers of new people
BARE_TIMES: Final = 10
FLOOR: Final = 0.12
# The worker's own pool: it probes by key only.
WORKER_SETTINGS: Final = {"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off"}


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker stands on, without channels."""

    pool: db.Pool
    lane: LaneKey
    lease: Lease
    cache: SettingsCache
    secret: bytes


async def claim_and_settle(stage: Stage, *, rounds: int, seconds: float) -> list[Ratio]:
    """Items a second from scheduled to sent, with instance, attempt and events each, for people known and new."""
    count = BATCH_ITEMS * max(2 * LOOPS, round(BATCHES_PER_SECOND * seconds))
    known: list[tuple[float, float]] = []
    new: list[tuple[float, float]] = []
    async with await db.open_pool(stage.url, size_max=LOOPS, server_settings=WORKER_SETTINGS) as pool:
        worker = worker_on(stage, pool)
        await empty(stage)
        await fill(stage, count)
        await _work_off(worker)
        for number in range(1, rounds + 1):
            await fill(stage, count)
            again = await _timed(_work_off, worker)
            await fill(stage, count, first=number * FAR)
            first = await _timed(_work_off, worker)
            await _fill_bare(stage, count * BARE_TIMES)
            bare = await _timed(_work_off_bare, pool)
            known.append((again, bare))
            new.append((first, bare))
    what = f"Claim, begin, settle, batches of {BATCH_ITEMS}"
    against = "bare two-statement batches"
    return [
        Ratio(f"{what}; known people", against, "items a second", known, FLOOR),
        Ratio(f"{what}; new people", against, "items a second", new),
    ]


def worker_on(stage: Stage, pool: db.Pool) -> Worker:
    """A worker for the seeded pipeline."""
    return Worker(
        pool=pool,
        lane=(stage.seeded.organization_id, stage.seeded.pipeline_id),
        lease=Lease(owner=uuid.uuid4(), seconds=60.0, margin_seconds=5.0),
        cache=SettingsCache(),
        secret=stage.site.secret,
    )


async def empty(stage: Stage) -> None:
    """Forget what other measurements scheduled."""
    async with db.transaction(stage.pool) as database:
        await database.execute("truncate queue_item cascade")


async def claim(worker: Worker) -> Prepared:
    """One batch, decided and equipped."""
    async with db.transaction(worker.pool) as database:
        return await sending.claim(
            database,
            shares={worker.lane: BATCH_ITEMS},
            metered=frozenset(),
            lease=worker.lease,
            cache=worker.cache,
            secret=worker.secret,
            draw=random.random,
        )


async def _work_off(worker: Worker) -> int:
    count = 0
    while dispatches := (await claim(worker)).dispatches:
        async with db.transaction(worker.pool) as database:
            begun = await sending.begin(database, dispatches=dispatches, lease=worker.lease)
        assert len(begun) == len(dispatches)
        results = [Result(dispatch, Sent(reply_code=250, reply="2.0.0 Ok"), Waits()) for dispatch in dispatches]
        async with db.transaction(worker.pool) as database:
            await sending.settle(database, results=results, now=database.clock.now())
        count += len(dispatches)
    return count


async def _fill_bare(stage: Stage, count: int) -> None:
    async with db.connection(stage.pool) as database:
        await database.execute("drop table if exists bare_job")
        await database.execute(
            """create table bare_job (job_id bigint primary key, status smallint not null,
                 due_time timestamptz not null, document jsonb not null)"""
        )
        await database.execute("create index on bare_job (due_time, job_id) where status = 1")
        await database.execute(
            """insert into bare_job select number, 1, now() - make_interval(secs => 1e-3 * number),
                 '{"address": "ann@example.com"}' from generate_series(1, $1::bigint) as number""",
            count,
        )
        await database.execute("analyze bare_job")


async def _work_off_bare(pool: db.Pool) -> int:
    count = 0
    async with db.connection(pool) as database:
        while True:
            rows = await database.fetch(
                """update bare_job set status = 2 where job_id in (
                     select job_id from bare_job where status = 1 and due_time <= now()
                     order by due_time, job_id limit 100 for update skip locked)
                   returning job_id, document"""
            )
            if not rows:
                return count
            await database.execute(
                "update bare_job set status = 4 where job_id = any($1::bigint[])", [row["job_id"] for row in rows]
            )
            count += len(rows)


async def _timed(work_off: Callable[[Ground], Awaitable[int]], ground: Ground) -> float:
    """The rate of `LOOPS` that work off what there is together."""
    begun = time.perf_counter()
    counts = await asyncio.gather(*(work_off(ground) for _ in range(LOOPS)))
    return sum(counts) / (time.perf_counter() - begun)
