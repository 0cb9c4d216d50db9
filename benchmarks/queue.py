"""Claim, begin and settle by the real services, without a wire between, against two bare statements for a batch."""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from afterword import db
from afterword.channels.base import Sent
from afterword.core.lanes import LaneKey
from afterword.queue.lanes.service import SettingsCache
from afterword.queue.sending import service as sending
from afterword.queue.sending.outcomes import Waits
from afterword.queue.sending.service import Lease, Prepared, Result
from afterword.worker.loop import PLANNER, STATEMENT_SECONDS_MAX
from afterword.worker.pace import SLOTS, SLOTS_MAX
from benchmarks.findings import Ratio
from benchmarks.requests import fill
from benchmarks.stage import Stage

LOOPS: Final = 1  # batches under way at the same moment
BATCHES_PER_SECOND: Final = 10  # how much work a round gets; the rate decides how long it takes
FAR: Final = 1_000_000  # between the numbers of new people
BARE_TIMES: Final = 5  # the bare one is that much faster, or more
FLOOR: Final = 0.12


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker without channels stands on, and how much it claims at once."""

    stage: Stage
    pool: db.Pool
    batch: int
    lane: LaneKey
    lease: Lease
    cache: SettingsCache


async def claim_and_settle(stage: Stage, *, rounds: int, seconds: float) -> list[Ratio]:
    """Items a second from scheduled to sent, with instance, attempt and events each.

    In batches of the worker's default number of slots for people that are known and new, and in the largest batches.
    """
    async with await db.open_pool(
        stage.url, size_max=LOOPS, server_settings=PLANNER, statement_seconds_max=STATEMENT_SECONDS_MAX
    ) as pool:
        await empty(stage)
        usual = worker_on(stage, pool, batch=SLOTS)
        full = worker_on(stage, pool, batch=SLOTS_MAX)
        count = SLOTS_MAX * max(2 * LOOPS, round(BATCHES_PER_SECOND * seconds))
        await fill(stage, count)
        await _work_off(usual)
        known: list[tuple[float, float]] = []
        new: list[tuple[float, float]] = []
        same: list[tuple[float, float]] = []
        large: list[tuple[float, float]] = []
        for number in range(1, rounds + 1):
            again = await _rate(usual, count)
            first = await _rate(usual, count, first_person=number * FAR)
            short_rows = await _bare_rate(pool, count, batch=SLOTS)
            known.append((again, short_rows))
            new.append((first, short_rows))
            await fill(stage, count)
            same.append((again, await _timed(lambda: _work_off_raw(usual))))
            large.append((await _rate(full, count), await _bare_rate(pool, count, batch=SLOTS_MAX)))
    what, unit = "Claim, begin, settle, batches of", "items a second"
    bare, short = "bare two-statement batches", "the same on a table of four columns"
    return [
        Ratio(f"{what} {SLOTS}; known people", bare, unit, same, FLOOR),
        Ratio(f"{what} {SLOTS}; known people", short, unit, known),
        Ratio(f"{what} {SLOTS}; new people", short, unit, new),
        Ratio(f"{what} {SLOTS_MAX}; known people", short, unit, large),
    ]


def worker_on(stage: Stage, pool: db.Pool, *, batch: int) -> Worker:
    """A worker for the seeded pipeline that claims `batch` items at once."""
    return Worker(
        stage=stage,
        pool=pool,
        batch=batch,
        lane=(stage.seeded.organization_id, stage.seeded.pipeline_id),
        lease=Lease(owner=uuid.uuid4(), seconds=60.0, margin_seconds=5.0),
        cache=SettingsCache(),
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
            shares={worker.lane: worker.batch},
            metered=frozenset(),
            lease=worker.lease,
            cache=worker.cache,
            secret=worker.stage.site.secret,
            draw=random.random,
        )


async def _rate(worker: Worker, count: int, *, first_person: int = 0) -> float:
    await fill(worker.stage, count, first=first_person)
    return await _timed(lambda: _work_off(worker))


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


async def _bare_rate(pool: db.Pool, count: int, *, batch: int) -> float:
    async with db.connection(pool) as database:
        await database.execute("drop table if exists bare_job")
        await database.execute(
            """create table bare_job (job_id bigint primary key, status smallint not null,
                 due_time timestamptz not null, document jsonb not null)"""
        )
        await database.execute("create index on bare_job (due_time, job_id) where status = 1")
        await database.execute(
            """insert into bare_job select number, 1, now() - make_interval(secs => 1e-3 * number),
                 '{"address": "ann@example.com"}' from generate_series(1, $1::bigint) as number""",
            count * BARE_TIMES,
        )
        await database.execute("analyze bare_job")
    return await _timed(lambda: _work_off_bare(pool, batch))


async def _work_off_bare(pool: db.Pool, batch: int) -> int:
    count = 0
    async with db.connection(pool) as database:
        while True:
            rows = await database.fetch(
                """update bare_job set status = 2 where job_id in (
                     select job_id from bare_job where status = 1 and due_time <= now()
                     order by due_time, job_id limit $1 for update skip locked)
                   returning job_id, document""",
                batch,
            )
            if not rows:
                return count
            await database.execute(
                "update bare_job set status = 4 where job_id = any($1::bigint[])", [row["job_id"] for row in rows]
            )
            count += len(rows)


async def _work_off_raw(worker: Worker) -> int:
    """The two statements on the queue's own table, with its rows, keys and checks, and nothing beside it."""
    count = 0
    organization_id, pipeline_id = worker.lane
    async with db.connection(worker.pool) as database:
        while True:
            rows = await database.fetch(
                """update queue_item q
                   set status = 2, epoch = epoch + 1, attempts = attempts + 1, owner = $4::uuid,
                     lease_until = now() + interval '60 s'
                   from (select organization_id, item_id from queue_item
                         where organization_id = $1 and pipeline_id = $2 and status = 1 and due_time <= now()
                         order by due_time, item_id limit $3 for update skip locked) due
                   where q.organization_id = due.organization_id and q.item_id = due.item_id
                   returning q.*""",
                organization_id,
                pipeline_id,
                worker.batch,
                worker.lease.owner,
            )
            if not rows:
                return count
            await database.execute(
                """update queue_item q set status = 4, dispatched_time = now(), owner = null, lease_until = null
                   from unnest($2::text[]) as b (item_id) where q.organization_id = $1 and q.item_id = b.item_id""",
                organization_id,
                [row["item_id"] for row in rows],
            )
            count += len(rows)


async def _timed(work_off: Callable[[], Awaitable[int]]) -> float:
    """The rate of `LOOPS` that work off what there is together."""
    begun = time.perf_counter()
    counts = await asyncio.gather(*(work_off() for _ in range(LOOPS)))
    return sum(counts) / (time.perf_counter() - begun)
