"""Workers that are killed, stopped in their tracks, or gone for good: nothing is lost, and every copy has its note."""

import pytest

from tests.journeys.processes import Child
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
    """T05: workers that sleep past their leases, and then go on as if nothing had happened."""
    items, rounds, sleepers = size(1_000, 20_000), size(1, 7), 3
    await rig.fill(organizations=size(4, 20), lanes=2, items=items)
    async with rig.sink(pause=0.01), rig.workers() as workers:
        for _ in range(rounds):
            zombies: list[Child] = []
            for _ in range(sleepers):
                await rig.gap(mails=items / (rounds * 25))
                zombies.append(await workers.pause_with_items())
            for zombie in zombies:
                await rig.until(workers.is_bereft(zombie), seconds=20, what=f"others took what {zombie.name} held")
                workers.wake(zombie)
        await rig.until(rig.nothing_open, seconds=60)
    figures = await rig.reconcile(unknown_max=rig.hits * SLOTS)
    assert figures.unknown, "no sleeper held anything"
