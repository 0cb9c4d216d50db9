"""T32: how much goes through, fsync on, workers, web process, server and sink on one machine.

The limits are those of a machine with two cores that has nothing else to do; on a slower one they are as much lower.
"""

import statistics
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.run.worker.loop import PLANNER
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.service import Lease
from tests import machine
from tests.run.worker.faults.flood import flood
from tests.run.worker.faults.rig import Rig, size
from tests.sending.queue.conftest import Queue

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

MAILS = size(3_000, 20_000)
SENDS_MIN = 500  # a second, of two workers
MOVED = size(4_000, 30_000)
MOVES_MIN = 3_000  # items a second through claim, begin and settle, of one worker
BATCH = 200
DUE = size(20_000, 100_000)
CLAIM_SECONDS_MAX = 0.015  # a hundred items
CLAIMS = 20
POSTS_MIN = 1_500  # a second
POST_SECONDS_MAX = 0.05  # p99
POST_SECONDS = size(3, 30)
LINES = 32


def enough(rate: float, least: float) -> bool:
    """Whether a rate is what it must be, as fast as this machine is at the moment."""
    return not machine.is_over(1 / rate, limit=1 / least)


@asynccontextmanager
async def as_worker(rig: Rig) -> AsyncGenerator[Queue]:
    """The queue of the first lane, over a pool as a worker has it."""
    house, pipeline_id = (await rig.lanes())[0]
    async with await db.open_pool(rig.database_url, size_max=2, server_settings=PLANNER) as pool:
        yield Queue(pool, house, pipeline_id)


async def test_sends(rig: Rig) -> None:
    """Two workers send real mail to a sink that writes each one down before it answers."""
    await rig.fill(organizations=4, lanes=2, items=MAILS)
    await rig.connection.execute("update channel_account set slots_max = 50")
    await rig.connection.execute("analyze")
    async with (
        rig.sink(),
        rig.workers(count=2, is_apart=True, slots=50, lease_seconds=60.0, heartbeat_seconds=15.0) as workers,
    ):
        await rig.drained()
        assert 2 == len(workers.working)
    await rig.reconcile(unknown_max=0)
    rate = await rig.connection.fetchval(
        """select count(*) / extract(epoch from max(dispatched_time) - min(dispatched_time))::float8
           from queue_item where status = 4"""
    )
    rig.tell(f"T32 {rate:.0f} mails a second of 2 workers (at least {SENDS_MIN}); slowness {machine.slowness():.1f}")
    assert enough(rate, SENDS_MIN)


async def test_moves(rig: Rig) -> None:
    """Claim with its decisions and instances, begin, settle with attempt and event; one worker, no wire."""
    await rig.fill(organizations=1, lanes=1, items=MOVED)
    await rig.connection.execute("analyze")
    async with as_worker(rig) as queue:
        worker, moved, began = queue.worker(), 0, time.perf_counter()
        while dispatches := await worker.send(Sent(None, 250, "ok"), BATCH):
            moved += len(dispatches)
        rate = moved / (time.perf_counter() - began)
    rig.tell(
        f"T32 {rate:.0f} items a second through claim, begin and settle in batches of {BATCH} (at least {MOVES_MIN}); "
        f"slowness {machine.slowness():.1f}"
    )
    assert MOVED == moved
    assert enough(rate, MOVES_MIN)


@pytest.mark.parametrize("ground", ["one lane", "200 lanes", "never analysed"])
async def test_claims(rig: Rig, ground: str) -> None:
    """A hundred items out of very many that are due."""
    count = 200 if ground == "200 lanes" else 1
    await rig.fill(organizations=1, lanes=count, items=0)
    await rig.connection.execute(
        """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
             responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after,
             attempts_max)
           select p.organization_id, 'Q' || lpad(n::text, 21, '0'), p.questionnaire_id, p.pipeline_id,
             'a' || n || '@example.com', sha256(int8send(n)), now(), 0,
             now() - interval '1 day' + n * interval '1 millisecond', now() + interval '3 days', 9
           from generate_series(1, $1::bigint) n,
             lateral (select *, row_number() over (order by pipeline_id) as place from pipeline) p
           where p.place = n % $2 + 1""",
        DUE,
        count,
    )
    if ground != "never analysed":
        await rig.connection.execute("analyze")
    lanes = await rig.connection.fetch("select organization_id, pipeline_id from pipeline order by 2 limit 32")
    shares = {(row["organization_id"], row["pipeline_id"]): -(-100 // len(lanes)) for row in lanes}
    seconds: list[float] = []
    async with as_worker(rig) as queue:
        for _ in range(CLAIMS):
            lease = Lease(owner=uuid.uuid4(), seconds=60, margin_seconds=5)
            async with db.transaction(queue.pool) as database:
                began = time.perf_counter()
                claimed = await sending.claim_bare(database, shares=shares, lease=lease, empty_until={})
                seconds.append(time.perf_counter() - began)
            assert len(claimed) >= 100
    median = statistics.median(seconds)
    rig.tell(
        f"T32 claim of 100 in {median * 1000:.1f} ms over {DUE} due rows, {ground} (at most "
        f"{CLAIM_SECONDS_MAX * 1000:.0f}); slowness {machine.slowness():.1f}"
    )
    assert not machine.is_over(median, limit=CLAIM_SECONDS_MAX)


async def test_posts(rig: Rig) -> None:
    """One web process; every 201 is a row that was synced."""
    await rig.fill(organizations=1, lanes=1, items=0)
    [(house, pipeline_id)] = await rig.lanes()
    path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{pipeline_id}/queue/item"
    body = '{"responder_channel_identifier": "flood@example.com"}'
    async with rig.web() as [web]:
        await flood(web.url, path=path, token=house.token, body=body, lines=LINES, seconds=1.0)
        found = await flood(web.url, path=path, token=house.token, body=body, lines=LINES, seconds=POST_SECONDS)
        assert [] == web.child.errors()
    rate, p99 = found.count(201) / found.lasted, found.p99(201)
    rig.tell(
        f"T32 {rate:.0f} POSTs of an item a second (at least {POSTS_MIN}), p99 {p99 * 1000:.0f} ms (at most "
        f"{POST_SECONDS_MAX * 1000:.0f}); slowness {machine.slowness():.1f}"
    )
    assert {201} == found.seconds.keys()
    assert enough(rate, POSTS_MIN)
    assert not machine.is_over(p99, limit=POST_SECONDS_MAX)
