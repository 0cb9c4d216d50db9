"""Claims stay quick while old snapshots pin dead rows, dumps read everything, and retention removes a million items."""

import asyncio
import subprocess
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import asyncpg
import pytest

from afterword import ids
from afterword.core.scheduling.statuses import Item
from afterword.kit import db
from afterword.run.worker.loop import PLANNER
from afterword.sending.queue import retention
from afterword.sending.queue.retention import RetentionCursor
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.service import Lease
from tests.conftest import House
from tests.run.worker.faults import mutants
from tests.run.worker.faults.rig import Rig, size

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

PROBE_ITEMS = 50
CLAIM_SECONDS_MAX = 0.05
PAUSE_SECONDS = 0.02  # between two claims
SNAPSHOT_SECONDS = size(20, 300)
RATE = 800  # items a second that are queued
SENT_RATE = 80  # that one worker sends at ease beside everything else
RATE_SHARE_MIN = 0.9
OLD_ITEMS = size(100_000, 1_000_000)
RETENTION_DAYS = 60
STEP_ITEMS = 1_000
LOOKED_BEFORE = timedelta(seconds=0.5)
# Rows queued within LOOKED_BEFORE may be dead and are passed all the same; twice that, for those in between.
ENTRIES_MAX = 2 * PROBE_ITEMS * (1 + int(LOOKED_BEFORE.total_seconds() / PAUSE_SECONDS))
# Entries of the index, dead ones too. It counts from transaction to transaction, until the server takes it over.
ENTRIES: Final = "select pg_stat_get_xact_tuples_returned('queue_item_due'::regclass)"
QUEUE_PROBES: Final = """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
    responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after, attempts_max)
  select $1, left(md5(random()::text), 22), $3, $2, 'probe@example.com', sha256(random()::text::bytea), now(), 0, now(),
    now() + interval '1 day', 9
  from generate_series(1, $4)"""
END_PROBES: Final = """update queue_item set status = 8, owner = null, lease_until = null
  where organization_id = $1 and pipeline_id = $2 and status in (2, 3)"""


@dataclass
class Prober:
    """Queues, claims and ends items in a lane of its own again and again, with a worker's statement."""

    pool: db.Pool
    house: House
    pipeline_id: str
    seconds: list[float] = field(default_factory=list[float])
    entries: int = 0  # at most, that one claim passed in the index: whatever the machine is doing besides

    async def run(self) -> None:
        lease = Lease(owner=uuid.uuid4(), seconds=60, margin_seconds=5)
        lane = self.house.organization_id, self.pipeline_id
        while True:
            async with db.transaction(self.pool) as database:
                await database.execute(QUEUE_PROBES, *lane, self.house.questionnaire_id, PROBE_ITEMS)
            empty_until = {lane: self.pool.clock.now() - LOOKED_BEFORE}  # as the look at all lanes has found its head
            async with db.transaction(self.pool) as database:
                before = await database.fetch_value(ENTRIES)
                began = time.perf_counter()
                claimed = await sending.claim_bare(
                    database, shares={lane: PROBE_ITEMS}, lease=lease, empty_until=empty_until
                )
                self.seconds.append(time.perf_counter() - began)
                self.entries = max(self.entries, await database.fetch_value(ENTRIES) - before)
            assert PROBE_ITEMS == len(claimed)
            async with db.transaction(self.pool) as database:
                await database.execute(END_PROBES, *lane)
            await asyncio.sleep(PAUSE_SECONDS)

    def p99(self) -> float:
        """Of what was measured since the last question."""
        ordered, self.seconds = sorted(self.seconds), []
        return ordered[int(len(ordered) * 0.99)]


@asynccontextmanager
async def prober(rig: Rig) -> AsyncGenerator[Prober]:
    """A lane that no worker serves, on a channel that none has, with enough due items for ever."""
    mutants.mutate()  # the claims that are measured are made here, and not by a worker
    [(house, pipeline_id), *_] = await rig.lanes()
    await rig.connection.execute("update pipeline set paused = true where pipeline_id = $1", pipeline_id)
    async with await db.open_pool(rig.database_url, size_max=1, server_settings=PLANNER) as pool:
        found = Prober(pool, house, pipeline_id)
        task = asyncio.create_task(found.run())
        try:
            yield found
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert task.cancelled()
    await rig.connection.execute("delete from queue_item where pipeline_id = $1", pipeline_id)


async def queued_for(rig: Rig, seconds: float, *, rate: int = RATE) -> float:
    """Queue items at the rate, for so long; the rate that was reached."""
    began, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < seconds:
        if count < passed * rate:
            await rig.schedule(rate // 8)
            count += rate // 8
        else:
            await asyncio.sleep(0.01)
    return count / (time.perf_counter() - began)


async def test_old_snapshot(rig: Rig) -> None:
    """T11: a transaction that keeps its snapshot, and a dump, beside what is queued and sent."""
    await rig.fill(organizations=4, lanes=2, items=0)
    async with rig.sink(), rig.workers(1, slots=50), prober(rig) as probe:
        alone = await queued_for(rig, SNAPSHOT_SECONDS / 2)
        quiet = probe.p99()
        holder: Any = await asyncpg.connect(rig.database_url)
        async with holder.transaction(isolation="repeatable_read", readonly=True):
            await holder.fetchval("select count(*) from queue_item")
            dump = asyncio.create_task(asyncio.to_thread(_dump, rig))
            beside = await queued_for(rig, SNAPSHOT_SECONDS)
            held = probe.p99()
            await dump
        await holder.close()
        await queued_for(rig, SNAPSHOT_SECONDS / 4)
        after = probe.p99()
    rig.tell(
        f"T11 {alone:.0f} queued a second alone, {beside:.0f} beside a snapshot of {SNAPSHOT_SECONDS} s and a dump; "
        f"claim p99 {quiet * 1000:.0f} ms, {held * 1000:.0f} ms, afterwards {after * 1000:.0f} ms; "
        f"of {PROBE_ITEMS} passes {probe.entries} index entries at most"
    )
    assert probe.entries <= ENTRIES_MAX
    assert beside >= RATE_SHARE_MIN * alone
    assert held <= max(CLAIM_SECONDS_MAX, 2 * quiet)


def _dump(rig: Rig) -> None:
    program = rig.server.binaries.folder / "pg_dump"
    run = subprocess.run(
        [str(program), "--format=custom", "--no-sync", "--file=/dev/null", rig.database_url],
        check=False,
        capture_output=True,
        text=True,
    )
    assert 0 == run.returncode, run.stderr


async def test_retention(rig: Rig, record_property: Callable[[str, object], None]) -> None:
    """T47: a million old items go while others are sent; what somebody needs stays."""
    await rig.fill(organizations=2, lanes=2, items=0)
    needed = await _old_items(rig)
    async with rig.sink(), rig.workers(1, slots=50), prober(rig) as probe:
        await queued_for(rig, 5, rate=SENT_RATE)
        quiet = probe.p99()
        others = asyncio.create_task(_keep_queueing(rig))
        began, mark, passed = time.perf_counter(), RetentionCursor(), 0
        while True:
            async with db.transaction(rig.pool) as database:
                count, mark = await retention.prune(
                    database, cursor=mark, days=RETENTION_DAYS, now=database.clock.now(), limit=STEP_ITEMS
                )
            passed += count
            if mark == RetentionCursor():
                break
        seconds = time.perf_counter() - began
        others.cancel()
        held = probe.p99()
        await rig.until(rig.nothing_open_but_the_probes, seconds=120)
    left = {row["item_id"] for row in await rig.connection.fetch("select item_id from queue_item where source = 'old'")}
    rig.tell(
        f"T47 {passed} old items passed in {seconds:.0f} s, {len(left)} kept for a reason; "
        f"claim p99 {quiet * 1000:.0f} ms without, {held * 1000:.0f} ms beside it"
    )
    assert needed == left
    assert held <= max(CLAIM_SECONDS_MAX, 2 * quiet)


async def _keep_queueing(rig: Rig) -> None:
    while True:
        await queued_for(rig, 1, rate=SENT_RATE)


async def _old_items(rig: Rig) -> set[str]:
    """Ended long ago, but for some that must stay: with an open attempt, with an unread event, failed lately."""
    [_, (house, pipeline_id), *_] = await rig.lanes()
    now = await rig.connection.fetchval("select now()")
    old = ids.ordered_many(now - timedelta(days=RETENTION_DAYS + 30), OLD_ITEMS)
    await rig.connection.execute("create temporary table old (item_id text)")
    await rig.connection.copy_records_to_table("old", records=[(item_id,) for item_id in old])
    await rig.connection.execute(
        """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
             responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after, status,
             attempts, attempts_max, source, dispatched_time, created_time, updated_time)
           select $1, item_id, $2, $3, 'old@example.com', '\\x00', $4, 0, $4, $4, 4, 1, 9, 'old', $4, $4, $4
           from old""",
        house.organization_id,
        house.questionnaire_id,
        pipeline_id,
        now - timedelta(days=RETENTION_DAYS + 30),
    )
    await rig.connection.execute("insert into event_cursor (reader, xid) values ('a reader', pg_current_xact_id())")
    attempted, unread, failed = old[10], old[20], old[30]
    await rig.connection.execute(
        "insert into attempt (organization_id, item_id, epoch, owner) values ($1, $2, 1, gen_random_uuid())",
        house.organization_id,
        attempted,
    )
    await rig.connection.execute(
        """insert into event (organization_id, event_id, type, subject_id, is_terminal, actor_kind, data)
           values ($1, $2, 'queue_item.sent', $3, true, 'worker', '{}')""",
        house.organization_id,
        ids.ordered(now),
        unread,
    )
    await rig.connection.execute(
        """update queue_item set status = $2, dispatched_time = null, updated_time = now() - interval '29 days'
           where item_id = $1""",
        failed,
        Item.FAILED,
    )
    return {attempted, unread, failed}
