"""Claim, begin and settle by the real services, without a wire between, against one bare statement for a batch.

Three ceilings, each a loop over one fused statement that completes the last batch and claims the next: the claim of the
design itself over short rows, tenants, lanes, epochs and leases included; a table of four columns with a number for its
key, which is what a queue without all of these could reach; and the queue's own table, with its keys and checks.
"""

import asyncio
import gc
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from afterword.core.scheduling.lanes import LaneKey
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.run.worker.flights import SLOTS, SLOTS_MAX
from afterword.run.worker.loop import PLANNER, STATEMENT_SECONDS_MAX
from afterword.sending.queue.lanes import SettingsCache
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.service import Lease, Prepared, Result
from benchmarks.findings import Ratio
from benchmarks.requests import fill
from benchmarks.stage import Stage

SHAPES: Final = ((1, SLOTS), (2, SLOTS), (1, SLOTS_MAX))  # batches under way at the same moment, items in each
BATCHES_PER_SECOND: Final = 10  # how much work a round gets; the rate decides how long it takes
FAR: Final = 1_000_000  # between the numbers of new people
BARE_TIMES: Final = 5  # the bare one is that much faster, or more
FLOOR: Final = 0.133  # of the queue's own table: 5 % below the 0.14 that was reached
HOUSEKEEPING_SECONDS_MAX: Final = 900.0  # ten million rows take minutes
WARM_BATCHES: Final = 3
GARBAGE_OBJECTS: Final = 20_000  # as the worker's process has it


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker without channels, with the size of its claims."""

    stage: Stage
    pool: db.Pool
    batch: int
    lane: LaneKey
    lease: Lease
    cache: SettingsCache


async def claim_and_settle(stage: Stage, *, rounds: int, seconds: float) -> list[Ratio]:
    """Items a second from scheduled to sent, with instance, attempt and events each.

    In batches of the worker's default number of slots, one and two at a time, and in the largest ones; for people that
    are known, and for new ones.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_OBJECTS)
    await empty(stage)
    found: list[Ratio] = []
    for loops, batch in SHAPES:
        async with await _pool(stage, loops) as pool:
            found += await _compare(worker_on(stage, pool, batch=batch), rounds=rounds, seconds=seconds, loops=loops)
    return found


async def _compare(worker: Worker, *, rounds: int, seconds: float, loops: int) -> list[Ratio]:
    stage, batch = worker.stage, worker.batch
    is_usual = (loops, batch) == SHAPES[0]
    count = SLOTS_MAX * max(2 * loops, round(BATCHES_PER_SECOND * seconds))
    await fill(stage, count)
    await work_off(worker)  # makes the people, the statements and their plans
    known: list[tuple[float, float]] = []
    new: list[tuple[float, float]] = []
    least: list[tuple[float, float]] = []
    own: list[tuple[float, float]] = []
    for number in range(1, rounds + 1):
        again = await _rate(worker, count, loops=loops)
        short_rows = await _short_rate(worker, count, loops=loops)
        known.append((again, short_rows))
        least.append((again, await _least_rate(worker.pool, count, batch=batch, loops=loops)))
        if is_usual:
            new.append((await _rate(worker, count, loops=loops, first_person=number * FAR), short_rows))
        await fill(stage, count)
        await settle(stage)
        own.append((again, await _timed(lambda: _work_off_raw(worker), loops)))
    connections = "1 connection" if loops == 1 else f"{loops} connections"
    what, unit = f"Claim, begin, settle, batches of {batch}, {connections}", "items a second"
    return [
        Ratio(what, "fused batches, short rows", unit, known),
        Ratio(what, "fused batches, four columns", unit, least),
        Ratio(what, "fused batches, the queue's own table", unit, own, FLOOR if is_usual else None),
        *([Ratio(f"{what}; new people", "fused batches, short rows", unit, new)] if new else ()),
    ]


async def _pool(stage: Stage, loops: int) -> db.Pool:
    return await db.open_pool(
        stage.url, size_max=loops, server_settings=PLANNER, statement_seconds_max=STATEMENT_SECONDS_MAX
    )


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


async def settle(stage: Stage) -> None:
    """Do the housekeeping that earlier rounds left for later, so that no round pays for another's."""
    connection: Any = await asyncpg.connect(stage.url)
    try:
        await connection.execute("vacuum analyze", timeout=HOUSEKEEPING_SECONDS_MAX)
    finally:
        await connection.close()


async def rate_of_moves(stage: Stage, count: int, *, batch: int, loops: int) -> float:
    """Items a second from scheduled to sent, on so many connections."""
    async with await _pool(stage, loops) as pool:
        worker = worker_on(stage, pool, batch=batch)
        await fill(stage, batch * loops * WARM_BATCHES)
        await work_off(worker)  # makes the statements and their plans
        return await _rate(worker, count, loops=loops)


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


async def _rate(worker: Worker, count: int, *, loops: int, first_person: int = 0) -> float:
    await fill(worker.stage, count, first=first_person)
    await settle(worker.stage)
    return await _timed(lambda: work_off(worker), loops)


async def work_off(worker: Worker) -> int:
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


async def _short_rate(worker: Worker, count: int, *, loops: int) -> float:
    organization_id, pipeline_id = worker.lane
    async with db.connection(worker.pool) as database:
        await database.execute("drop table if exists short_item")
        await database.execute(
            """create table short_item (organization_id text collate "C" not null, item_id text collate "C" not null,
                 pipeline_id text collate "C" not null, status smallint not null, due_time timestamptz not null,
                 epoch bigint not null, owner uuid, lease_until timestamptz,
                 primary key (organization_id, item_id)) with (fillfactor = 85)"""
        )
        await database.execute(
            "create index on short_item (organization_id, pipeline_id, due_time, item_id) where status = 1"
        )
        await database.execute("create index on short_item (lease_until) where status in (2, 3)")
        await database.execute(
            """insert into short_item select $1, lpad(number::text, 22, '0'), $2, 1,
                 now() - make_interval(secs => 1e-3 * number), 0 from generate_series(1, $3::bigint) as number""",
            organization_id,
            pipeline_id,
            count * BARE_TIMES,
        )
        await database.execute("analyze short_item")
    return await _timed(lambda: _work_off_short(worker), loops)


async def _work_off_short(worker: Worker) -> int:
    """One statement that completes the former batch and claims the next, each item by its own epoch."""
    count = 0
    organization_id, pipeline_id = worker.lane
    former: list[tuple[str, str, int]] = []
    async with db.connection(worker.pool) as database:
        while True:
            rows = await database.fetch(
                """with done as (
                     update short_item q set status = 4, owner = null, lease_until = null
                     from unnest($5::text[], $6::text[], $7::bigint[]) as b (organization_id, item_id, epoch)
                     where q.organization_id = b.organization_id and q.item_id = b.item_id and q.epoch = b.epoch
                       and q.status::int = 2),
                   due as materialized (
                     select i.organization_id, i.item_id
                     from unnest($1::text[], $2::text[], $3::int[]) as l (organization_id, pipeline_id, share)
                     cross join lateral (
                       select * from (
                         select organization_id, item_id from short_item
                         where organization_id = l.organization_id and pipeline_id = l.pipeline_id and status = 1
                           and due_time <= now()
                         order by due_time, item_id limit 200 for update skip locked) head
                       limit l.share) i)
                   update short_item q
                   set status = 2, epoch = q.epoch + 1, owner = $4::uuid, lease_until = now() + interval '60 s'
                   from due where q.organization_id = due.organization_id and q.item_id = due.item_id
                   returning q.organization_id, q.item_id, q.epoch""",
                [organization_id],
                [pipeline_id],
                [worker.batch],
                worker.lease.owner,
                [one[0] for one in former],
                [one[1] for one in former],
                [one[2] for one in former],
            )
            former = [(row["organization_id"], row["item_id"], row["epoch"]) for row in rows]
            if not former:
                return count
            count += len(former)


async def _least_rate(pool: db.Pool, count: int, *, batch: int, loops: int) -> float:
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
    return await _timed(lambda: _work_off_least(pool, batch), loops)


async def _work_off_least(pool: db.Pool, batch: int) -> int:
    """One statement that completes the former batch and claims the next."""
    count = 0
    former: list[int] = []
    async with db.connection(pool) as database:
        while True:
            rows = await database.fetch(
                """with done as (update bare_job set status = 4 where job_id = any($2::bigint[]))
                   update bare_job set status = 2 where job_id in (
                     select job_id from bare_job where status = 1 and due_time <= now()
                     order by due_time, job_id limit $1 for update skip locked)
                   returning job_id, document""",
                batch,
                former,
            )
            former = [row["job_id"] for row in rows]
            if not former:
                return count
            count += len(former)


async def _work_off_raw(worker: Worker) -> int:
    """The same on the queue's own table, with its rows, keys and checks, and nothing beside it."""
    count = 0
    former: list[str] = []
    organization_id, pipeline_id = worker.lane
    async with db.connection(worker.pool) as database:
        while True:
            rows = await database.fetch(
                """with done as (
                     update queue_item q set status = 4, dispatched_time = now(), owner = null, lease_until = null
                     from unnest($5::text[]) as b (item_id) where q.organization_id = $1 and q.item_id = b.item_id)
                   update queue_item q
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
                former,
            )
            former = [row["item_id"] for row in rows]
            if not former:
                return count
            count += len(former)


async def _timed(work_off: Callable[[], Awaitable[int]], loops: int) -> float:
    """The rate of `loops` that work off what there is together."""
    begun = time.perf_counter()
    counts = await asyncio.gather(*(work_off() for _ in range(loops)))
    return sum(counts) / (time.perf_counter() - begun)
