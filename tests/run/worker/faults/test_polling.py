"""T08: a worker that polls finds all that is due in time, also behind a pooler, and costs next to nothing when idle."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from tests import machine
from tests.journeys import processes
from tests.journeys.processes import Child
from tests.poolers import pgbouncer
from tests.run.worker.faults.rig import Rig, size

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

POLL_SECONDS = 0.25
LATE_SECONDS_MAX = POLL_SECONDS + 0.25  # p99 on a machine that does nothing else
SLACK = 4  # times that, on one that does
SECONDS = size(4, 60)
ITEMS_SECONDS = 0.1  # between two items
IDLE_SECONDS = size(4, 30)
IDLE_SHARE_MAX = 0.02


@pytest.fixture
def pooler(rig: Rig) -> Iterator[str]:
    """The address of the test's database behind pgbouncer, which gives out servers by the transaction."""
    with pgbouncer(rig.database_url, pool_mode="transaction", default_pool_size=4) as url:
        yield url


async def trickle(rig: Rig) -> None:
    """One item after the other, each due at once."""
    lanes, began = await rig.lanes(), time.monotonic()
    while time.monotonic() - began < SECONDS:
        await rig.schedule(1, lanes=lanes)
        await asyncio.sleep(ITEMS_SECONDS)


async def judge(rig: Rig, name: str) -> None:
    """Nothing was missed, and nothing was late."""
    await rig.until(rig.nothing_open, seconds=30, what=f"nothing is missed: {name}")
    rows = await rig.connection.fetch(
        """select extract(epoch from min(a.begin_time) - i.due_time)::float8 as seconds
           from queue_item i join attempt a using (organization_id, item_id) group by organization_id, item_id,
             i.due_time"""
    )
    late = sorted(row["seconds"] for row in rows)
    p50, p99 = late[len(late) // 2], late[int(len(late) * 0.99)]
    assert len(late) == len(rig.acknowledged)
    rig.tell(f"T08 {name}: missed 0 of {len(late)}, late p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")
    assert not machine.is_over(p99, limit=SLACK * LATE_SECONDS_MAX)


@contextlib.asynccontextmanager
async def polling(rig: Rig, **pace: Any) -> AsyncGenerator[Child]:
    """One worker that sends."""
    await rig.fill(organizations=2, lanes=2, items=0)
    async with (
        rig.sink(),
        rig.workers(1, is_apart=True, **{"poll_seconds": POLL_SECONDS, "slots": 20, **pace}) as workers,
    ):
        await workers.ready()
        yield workers.children[0]


async def test_poll(rig: Rig) -> None:
    """Items come one after the other."""
    async with polling(rig):
        await trickle(rig)
        await judge(rig, "by polling")


async def test_pooler(rig: Rig, pooler: str) -> None:
    """Each statement outside of a transaction may meet another server."""
    async with polling(rig, database_url=pooler):
        await trickle(rig)
        await judge(rig, "behind a transaction pooler")


async def test_idle(rig: Rig) -> None:
    """A worker that has nothing to do takes next to nothing, at the product's own pace."""
    pace = {"lease_seconds": 60.0, "heartbeat_seconds": 15.0, "margin_seconds": 5.0, "reap_seconds": 1.0}
    async with polling(rig, **pace) as worker:
        await asyncio.sleep(1)  # it has just started
        began, before = time.monotonic(), processes.cpu_seconds(worker.pid)
        await asyncio.sleep(IDLE_SECONDS)
        used, seconds = processes.cpu_seconds(worker.pid) - before, time.monotonic() - began
        rig.tell(f"T08 idle CPU {used / seconds:.1%}")
        assert not machine.is_over(used, limit=SLACK * IDLE_SHARE_MAX * seconds)
