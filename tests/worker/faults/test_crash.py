"""Workers that are killed, stopped in their tracks, or gone for good: nothing is lost, and every copy has its note."""

import time

import pytest

from tests.worker.faults.rig import SLOTS, Rig, size

pytestmark = pytest.mark.faults


@pytest.mark.parametrize(("lost", "retry"), [(0.0, 0.0), (0.005, 0.02)], ids=["good world", "bad world"])
async def test_killed_workers(rig: Rig, lost: float, retry: float) -> None:
    """T01: `kill -9` at random moments; in the bad world some answers are lost after the dot, and some are 4yz."""
    items, kills = size(1_000, 20_000), size(5, 50)
    await rig.fill(organizations=size(4, 20), lanes=2, items=items)
    async with rig.sink(lost=lost, retry=retry) as sink, rig.workers() as workers:
        for _ in range(kills):
            await rig.gap(mails=items / (kills + 2))
            workers.kill(workers.one())
            workers.start_one()
        await rig.until(rig.nothing_open, seconds=60)
    figures = await rig.reconcile(unknown_max=rig.hits * SLOTS + sink.lost_answers)
    assert items == figures.items


async def test_zombies(rig: Rig) -> None:
    """T05: workers that sleep longer than their lease and then go on as if nothing had happened."""
    items, rounds = size(1_000, 20_000), size(1, 20)
    await rig.fill(organizations=size(4, 20), lanes=2, items=items)
    async with rig.sink(pause=0.01) as sink, rig.workers() as workers:
        for _ in range(rounds):
            await rig.gap(mails=items / (rounds * 3))
            zombies = [workers.one() for _ in range(1)]
            for zombie in zombies:
                workers.pause(zombie)
            await rig.until(Overslept(rig, zombies), seconds=30, what="the leases of the sleepers run out")
            for zombie in zombies:
                workers.wake(zombie)
        await rig.until(rig.nothing_open, seconds=60)
    await rig.reconcile(unknown_max=rig.hits * SLOTS + sink.lost_answers)
