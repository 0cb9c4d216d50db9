"""Workers that are killed, stopped in their tracks, or gone for good: nothing is lost, and every copy has its note."""

import time
from dataclasses import dataclass, field

import pytest

from tests import machine
from tests.channels.sink import Fault, Phase
from tests.journeys.processes import Child
from tests.worker.faults.rig import LEASE_SECONDS, SLOTS, Rig, size

pytestmark = pytest.mark.faults


@pytest.mark.parametrize(("lost", "retry"), [(0.0, 0.0), (0.005, 0.02)], ids=["good world", "bad world"])
async def test_killed_workers(rig: Rig, lost: float, retry: float) -> None:
    """`kill -9` at random moments; in the bad world some answers are lost after the dot, and some are 4yz."""
    items, kills = size(1_000, 20_000), size(5, 50)
    await rig.fill(organizations=size(4, 20), lanes=2, items=items)
    async with rig.sink(lost=lost, retry=retry, pause=0.01) as sink, rig.workers() as workers:
        for _ in range(kills):
            await rig.gap(mails=items / (kills + 2))
            workers.kill(workers.one())
            workers.start_one()
        await rig.drained()
    figures = await rig.reconcile(unknown_max=rig.hits * SLOTS + sink.lost_answers)
    assert items == figures.items


async def test_zombies(rig: Rig) -> None:
    """Workers that sleep past their leases, and then go on as if nothing had happened."""
    items, rounds, sleepers = size(1_000, 20_000), size(1, 7), 3
    await rig.fill(organizations=size(4, 20), lanes=2, items=items)
    async with rig.sink(pause=0.01), rig.workers() as workers:
        for _ in range(rounds):
            zombies: list[Child] = []
            for _ in range(sleepers):
                await rig.gap(mails=items / (rounds * 25))
                zombies.append(await workers.pause_with_items())
            for zombie in zombies:
                await rig.until(workers.is_bereft(zombie), seconds=60, what=f"others took what {zombie.name} held")
                workers.wake(zombie)
        await rig.drained()
    figures = await rig.reconcile(unknown_max=rig.hits * SLOTS)
    assert figures.unknown, "no sleeper held anything"


@dataclass
class Watch:
    """How long it takes until one worker has everything that others held when they died."""

    rig: Rig
    owner: str
    deaths: dict[str, float] = field(default_factory=dict[str, float])  # by item
    seconds: list[float] = field(default_factory=list[float])
    overdue: float = 0.0

    async def note(self, victim: str) -> None:
        """This one dies now."""
        rows = await self.rig.connection.fetch("select item_id from queue_item where owner = $1::text::uuid", victim)
        self.deaths |= {row["item_id"]: time.monotonic() for row in rows}

    async def is_over(self) -> bool:
        rows = await self.rig.connection.fetch(
            """select item_id, owner = $1::text::uuid as is_saved,
                 coalesce(extract(epoch from now() - lease_until)::float8, 0) as overdue
               from queue_item where item_id = any ($2::text[])""",
            self.owner,
            list(self.deaths),
        )
        self.overdue = max([self.overdue, *(row["overdue"] for row in rows)])
        saved = [row["item_id"] for row in rows if row["is_saved"]]
        self.seconds += [time.monotonic() - self.deaths.pop(item_id) for item_id in saved]
        return not self.deaths


async def test_recovery(rig: Rig) -> None:
    """What the dead held is claimed again within lease + 2 s, past 10,000 overdue rows that are locked."""
    victims, held = size(10, 40), SLOTS
    await rig.fill(organizations=2, lanes=2, items=victims * held)
    await rig.connection.execute("update channel_account set slots_max = 200")
    # Half of them stand before the beginning (no answer to DATA), half behind the dot.
    faults: dict[Phase, Fault] = {"data": Fault("silence", times=victims * held // 2), "dot": Fault("late")}
    async with (
        rig.sink(faults=faults) as sink,
        rig.workers(victims, dot_seconds=60) as crew,
    ):
        dying = list(crew.children)

        async def all_held() -> bool:
            return victims * held == await rig.connection.fetchval(
                "select count(*) from queue_item where owner is not null"
            )

        await rig.until(all_held, seconds=60, what="the victims hold everything")
        watch = Watch(rig, await crew.owner_of(crew.start_one(slots=victims * held)))
        async with rig.locked_overdue(10_000):
            for victim in rig.draw.sample(dying, k=victims):
                await watch.note(await crew.owner_of(victim))
                crew.kill(victim)
            await rig.until(watch.is_over, seconds=60, what="the survivor has claimed all of it")
        sink.release.set()
        await rig.drained()
    await rig.reconcile(unknown_max=victims * held)
    rig.tell(f"T02 claimed again after {max(watch.seconds):.2f} s at most, overdue by {watch.overdue:.2f} s at most")
    assert not machine.is_over(max(watch.seconds) - LEASE_SECONDS, limit=2)
    assert not machine.is_over(watch.overdue, limit=5)
