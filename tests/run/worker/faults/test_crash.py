"""Workers that are killed, stopped in their tracks, or gone for good: nothing is lost, and every copy has its note."""

import subprocess
import time
from dataclasses import dataclass, field

import pytest

from tests import machine
from tests.journeys.processes import Child
from tests.run.worker.faults.rig import LEASE_SECONDS, SLOTS, WORKERS, Crew, Lossy, Rig, lack, needs, size
from tests.sending.channels.sink import Fault, Phase

pytestmark = pytest.mark.faults

RELUCTANT_SECONDS = 2.0


@pytest.mark.parametrize(("lost", "retry"), [(0.0, 0.0), (0.005, 0.02)], ids=["good world", "bad world"])
async def test_killed_workers(rig: Rig, lost: float, retry: float) -> None:
    """`kill -9` at random moments; in the bad world some answers are lost after the dot, and some are 4yz."""
    items, kills = size(500, 20_000), size(3, 50)
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
    """Seconds until one worker has everything that others held when they died."""

    rig: Rig
    owner: str
    deaths: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])  # by item, until saved
    seconds: list[float] = field(default_factory=list[float])
    overdue: float = 0.0
    _items: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    async def note(self, victim: str) -> None:
        """This one dies now."""
        rows = await self.rig.connection.fetch(
            "select organization_id, item_id from queue_item where owner = $1::text::uuid", victim
        )
        self.deaths |= {(row["organization_id"], row["item_id"]): time.monotonic() for row in rows}
        self._items |= self.deaths.keys()

    async def is_over(self) -> bool:
        """Look at everything that was held, saved or not."""
        rows = await self.rig.connection.fetch(
            """select organization_id, item_id, coalesce(owner = $1::text::uuid, false) as is_saved,
                 coalesce(extract(epoch from now() - lease_until)::float8, 0) as overdue
               from unnest($2::text[], $3::text[]) as held (organization_id, item_id)
               join queue_item using (organization_id, item_id)""",
            self.owner,
            [organization_id for organization_id, _ in self._items],
            [item_id for _, item_id in self._items],
        )
        self.overdue = max([self.overdue, *(row["overdue"] for row in rows)])
        saved = {(row["organization_id"], row["item_id"]) for row in rows if row["is_saved"]}
        self.seconds += [time.monotonic() - self.deaths.pop(item) for item in saved & self.deaths.keys()]
        return not self.deaths


@dataclass
class Trials:
    """Crowds that die, one after the other, each beside one more worker that takes over."""

    rig: Rig
    crew: Crew
    sink: Lossy
    victims: int
    seconds: list[float] = field(default_factory=list[float])
    overdue: float = 0.0

    async def run(self) -> None:
        """One crowd, from their items to the end of these."""
        self.sink.release.clear()
        held = self.victims * SLOTS
        # Half of it stands before the beginning (no answer to DATA), half behind the dot.
        silence = self.sink.faults["data"]
        silence.times = held // 2
        accepted = self.sink.count + held - held // 2
        await self.rig.schedule(held)
        # They leave the reaping to the one who lives on: all would walk past the locked rows at once.
        dying = [self.crew.start_one(reap_seconds=RELUCTANT_SECONDS) for _ in range(self.victims)]

        async def all_stand() -> bool:
            return not silence.times and self.sink.count >= accepted and await self._is_held(held)

        await self.rig.until(all_stand, seconds=120, what="the victims hold everything")
        survivor = self.crew.start_one(slots=held)
        watch = Watch(self.rig, await self.crew.owner_of(survivor))
        for victim in self.rig.draw.sample(dying, k=self.victims):
            await watch.note(await self.crew.owner_of(victim))
            self.crew.kill(victim)
        await self.rig.until(watch.is_over, seconds=60, what="the survivor has claimed all of it")
        self.seconds += watch.seconds
        self.overdue = max(self.overdue, watch.overdue)
        self.sink.release.set()
        await self.rig.until(self._is_done, seconds=60, what="all of it is sent")
        assert 0 == await survivor.stop(), survivor.tail()

    async def _is_held(self, count: int) -> bool:
        return count == await self.rig.connection.fetchval(
            "select count(*) from queue_item where status in (2, 3) and lease_until > now()"
        )

    async def _is_done(self) -> bool:
        return not await self.rig.connection.fetchval(
            "select exists(select from queue_item where status < 4 and source <> 'locked')"
        )


async def test_recovery(rig: Rig) -> None:
    """Items of dead workers are claimed again within lease + 2 s, past 10,000 overdue rows that are locked."""
    rounds, victims, locked = size(1, 10), size(10, 20), 10_000
    await rig.fill(organizations=2, lanes=2, items=0)
    await rig.connection.execute("update channel_account set slots_max = 200")
    faults: dict[Phase, Fault] = {"data": Fault("silence", times=0), "dot": Fault("late")}
    async with (
        rig.locked_overdue(locked),
        rig.sink(faults=faults) as sink,
        rig.workers(0, dot_seconds=60) as crew,
    ):
        trials = Trials(rig, crew, sink, victims)
        for _ in range(rounds):
            await trials.run()
    await rig.reconcile(unknown_max=rounds * victims * SLOTS)
    slowest, count = max(trials.seconds), len(trials.seconds)
    rig.tell(
        f"T02 {rounds * victims} killed beside {locked} locked rows: {count} items claimed again after {slowest:.2f} s"
        f" at most, overdue by {trials.overdue:.2f} s at most"
    )
    assert not machine.is_over(slowest - LEASE_SECONDS, limit=2)
    assert not machine.is_over(trials.overdue, limit=5)


NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")  # in which each worker is process 1


@pytest.fixture
def namespace() -> tuple[str, ...]:
    """The prefix of a command that makes a worker process 1."""
    needs("unshare")
    if subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        lack("the right to make process namespaces: root")
    return NAMESPACE


@pytest.mark.nightly
async def test_the_same_name_again(rig: Rig, namespace: tuple[str, ...]) -> None:
    """A worker under the same host name and the same process number is another one all the same."""
    restarts, items = size(5, 20), size(1_000, 20_000)
    await rig.fill(organizations=size(4, 20), lanes=2, items=items)
    async with rig.sink(pause=0.01), rig.workers(count=0) as workers:
        for _ in range(WORKERS):
            workers.start_one(before=namespace)
        for _ in range(restarts):
            await rig.gap(mails=items / (restarts + 2))
            workers.kill(workers.one())
            workers.start_one(before=namespace)
        await rig.drained()
        owners = await rig.connection.fetchval("select count(distinct owner) from attempt")
        hits = rig.hits
        for child in workers.working:
            workers.kill(child)  # the outermost process of a namespace passes no SIGTERM on
    await rig.reconcile(unknown_max=hits * SLOTS)
    rig.tell(f"T03 {owners} runs of process 1, {hits} of them killed")
    assert owners > WORKERS
