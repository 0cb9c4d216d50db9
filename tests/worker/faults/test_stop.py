"""SIGTERM to `afterword worker` itself while it sends: what is under way is finished, the rest is handed back."""

import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from tests.channels.sink import Fault
from tests.journeys import processes
from tests.journeys.processes import Child
from tests.worker.faults import mutants
from tests.worker.faults.rig import SECRET, Rig, size

pytestmark = pytest.mark.faults

STOP_SECONDS_MAX = 25.0
IN_FLIGHT = size(40, 200)
HELD = 10  # wait for the answer to DATA: claimed, and not begun


@asynccontextmanager
async def worker(rig: Rig, number: int) -> AsyncGenerator[Child]:
    """The command itself, with the pace that operators get."""
    assert rig.target is not None
    environment = processes.environment(
        database_url=rig.database_url, smtp_url=rig.target.url, secret=SECRET, worker_slots=IN_FLIGHT
    )
    log = rig.folder / f"worker-{number}.log"
    child = processes.start(
        mutants.arguments("worker"), env=environment | mutants.chosen(), log=log, name=f"worker {number}"
    )
    try:
        yield child
        assert [] == child.errors()
    finally:
        processes.kill_tree(child)


async def in_flight(rig: Rig) -> int:
    return await rig.connection.fetchval("select count(*) from queue_item where status in (2, 3)")


async def test_stop_while_sending(rig: Rig) -> None:
    """Lost 0, unknown 0, out in 25 s; what was only claimed has no attempt counted."""
    rounds = size(2, 20)
    await rig.fill(organizations=2, lanes=2, items=IN_FLIGHT * (rounds + 1))
    await rig.connection.execute("update channel_account set slots_max = 200")
    async with rig.sink(pause=0.5) as sink:
        for number in range(rounds):
            async with worker(rig, number) as child:
                sink.faults = {"data": Fault("silence", times=HELD)}
                goal = sink.count + IN_FLIGHT // 2

                async def is_busy(goal: int = goal) -> bool:
                    return sink.count >= goal and IN_FLIGHT == await in_flight(rig)

                await rig.until(is_busy, seconds=30, what="all slots are in use")
                began = time.monotonic()
                assert 0 == await child.stop(seconds=STOP_SECONDS_MAX), child.tail()
                print(f"stopped in {time.monotonic() - began:.2f} s")  # noqa: T201
            assert 0 == await in_flight(rig)
            waiting = await rig.connection.fetchval("select max(attempts) from queue_item where status = 1")
            assert 0 == waiting
        sink.pause, sink.faults = 0.0, {}
        async with worker(rig, rounds) as child:
            await rig.drained()
            assert 0 == await child.stop(), child.tail()
    figures = await rig.reconcile(unknown_max=0)
    assert figures.items == figures.mails


async def test_second_signal_skips_the_wait(rig: Rig) -> None:
    """A mail server that accepts and says nothing holds nobody who is in a hurry."""
    await rig.fill(organizations=1, lanes=1, items=1)
    async with rig.sink(faults={"dot": Fault("late")}) as sink, worker(rig, 0) as child:

        async def is_out() -> bool:
            return sink.count == 1

        await rig.until(is_out, seconds=30, what="the mail is out")
        child.send(signal.SIGTERM)

        async def has_heard() -> bool:
            return "stopping" in child.tail()

        await rig.until(has_heard, seconds=5, what="it has heard the first signal")
        child.send(signal.SIGTERM)
        await child.ended(seconds=3)
        assert 3 == await rig.connection.fetchval("select status from queue_item")
