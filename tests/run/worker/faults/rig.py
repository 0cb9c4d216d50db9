"""The rig of the fault tests: a durable cluster, real workers that are killed, a sink that remembers what it accepted.

Small here, so that every change can afford it; AFTERWORD_TEST_FAULTS=full gives the volumes of a nightly run. Every
random choice comes from one seed, printed, and given back with AFTERWORD_TEST_SEED.
"""

import asyncio
import contextlib
import random
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import asyncpg

from afterword.kit import db
from afterword.run import embedded
from afterword.run.worker.flights import POOL_SIZE
from afterword.sending.pipelines import service as pipelines
from afterword.sending.queue import service as queue
from afterword.sending.queue.records import QueueItemRequest
from tests.conftest import EMAIL, FIGURE, House, build_house
from tests.journeys import processes
from tests.journeys.processes import Child, until
from tests.run.worker.faults import mutants
from tests.run.worker.faults.nursery import Nursery
from tests.run.worker.faults.reconciler import Figures, reconcile
from tests.run.worker.faults.runner import HEARTBEAT_SECONDS, LEASE_SECONDS, SLOTS, Orders
from tests.run.worker.faults.witness import Witness
from tests.sending.channels.sink import Fault, Phase, Sink
from tests.sizes import FULL, lack, size

__all__ = ["FULL", "LEASE_SECONDS", "SLOTS", "Crew", "Lossy", "Rig", "Web", "lack", "needs", "size"]

WORKERS: Final = 4
SECRET: Final = "k" * 32
STOP_SECONDS_MAX: Final = 30.0
UNLIMITED: Final = 1_000_000  # requests a minute
BATCH: Final = 200
CONNECTIONS_MAX: Final = 300
# With more, the cluster turns some away, and a worker whose heartbeat finds no connection loses what it holds.
WORKERS_MAX: Final = CONNECTIONS_MAX // (POOL_SIZE + 2)
GAP_SECONDS: Final = LEASE_SECONDS - 2 * HEARTBEAT_SECONDS  # of the machine, from which on leases may run out
EXCUSE_SECONDS: Final = 2.0  # until a reaper has looked, behind the end of a lease
GONE_SECONDS_MAX: Final = 120  # a fast shutdown writes everything down before
SYSTEM_FOLDERS: Final = "/usr/sbin:/sbin"  # which users' PATH may lack


def needs(program: str) -> str:
    """Where a program is that the test cannot do without."""
    return shutil.which(program) or shutil.which(program, path=SYSTEM_FOLDERS) or lack(program)


DRAIN_SECONDS_MAX: Final = size(180, 900)


@dataclass
class Lossy(Sink):
    """A sink that counts the answers which it kept to itself."""

    lost_answers: int = 0

    def drawn(self) -> Fault | None:
        fault = super().drawn()
        if fault is not None and fault.way == "lost":
            self.lost_answers += 1
        return fault

    def accepted(self) -> list[str]:
        """The item of each mail that it took, in order."""
        assert self.file is not None
        return self.file.read_text().splitlines()


@dataclass
class Rig:
    """One test's database on the run's cluster, and everything that the test starts on it."""

    server: embedded.Server
    database_url: str
    pool: db.Pool
    connection: Any  # asyncpg's, to look past the product
    folder: Path
    draw: random.Random
    acknowledged: set[str] = field(default_factory=set[str])
    aborted: set[str] = field(default_factory=set[str])
    houses: list[House] = field(default_factory=list[House])
    hits: int = 0  # kills and pauses
    public_url: str = "http://localhost:8080"
    crew: "Crew | None" = None
    target: Lossy | None = None
    witnesses: list[Witness] = field(default_factory=list[Witness])
    record: Callable[[str, object], None] | None = None
    nursery: Nursery | None = None

    def tell(self, figure: str) -> None:
        """Keep a figure for the end of the run: `T02 claimed again after 2.1 s (at most 5)`."""
        if self.record is not None:
            self.record(FIGURE, figure)

    async def fill(self, *, organizations: int, lanes: int, items: int) -> None:
        """Organizations with so many pipelines each, and items that are due, dealt out among them all."""
        for number in range(organizations):
            house = await build_house(self.pool, domain=f"shop{number}")
            self.houses.append(house)
            for _ in range(1, lanes):
                await self.add_lane(house)
        await self.schedule(items)

    async def schedule(self, items: int, *, lanes: Sequence[tuple[House, str]] = ()) -> None:
        """More of them, through the product's own service; dealt out among all lanes where none are named."""
        lanes = lanes or await self.lanes()
        for first in range(0, items, BATCH):
            wanted = [self._new(lanes, number) for number in range(first, min(first + BATCH, items))]
            async with db.transaction(self.pool) as database:
                outcomes = await queue.schedule_all(database, wanted=wanted, secret=SECRET.encode())
            for outcome in outcomes:
                assert isinstance(outcome, queue.QueueItemRecord), outcome
                self.acknowledged.add(outcome.item_id)

    async def add_lane(self, house: House) -> None:
        async with db.transaction(self.pool) as database:
            await pipelines.create_pipeline(
                database,
                organization_id=house.organization_id,
                now=database.clock.now(),
                questionnaire_id=house.questionnaire_id,
                channel_id=EMAIL,
                title="Another",
                message_subject="How was your delivery?",
                message_body="Hello,\n\nyour order has arrived. How did it go?",
            )

    async def lanes(self) -> list[tuple[House, str]]:
        """Every pipeline beside its organization."""
        houses = {house.organization_id: house for house in self.houses}
        rows = await self.connection.fetch("select organization_id, pipeline_id from pipeline order by 1, 2")
        return [(houses[row["organization_id"]], row["pipeline_id"]) for row in rows]

    @contextlib.asynccontextmanager
    async def sink(
        self, *, lost: float = 0.0, retry: float = 0.0, pause: float = 0.0, faults: dict[Phase, Fault] | None = None
    ) -> AsyncGenerator[Lossy]:
        """The outside world, until the end of the block."""
        seed = self.draw.getrandbits(32)
        file = self.folder / "accepted"
        sink = Lossy(faults or {}, file, lost=lost, retry=retry, pause=pause, seed=seed, keep=False)
        async with sink:
            self.target = sink
            yield sink

    @contextlib.asynccontextmanager
    async def workers(self, count: int = WORKERS, *, is_apart: bool = False, **pace: Any) -> AsyncGenerator["Crew"]:
        """Workers that send to the sink; SIGTERM at the end of the block, and they must end well.

        Those whose memory or pace is looked at are apart: no copies of another process.
        """
        assert self.target is not None, "workers need a sink"
        orders = Orders(
            database_url=self.database_url,
            smtp_url=self.target.url,
            public_url=self.public_url,
            secret=SECRET,
        )
        self.crew = crew = Crew(self, replace(orders, **pace), is_apart)
        witness = Witness(self.database_url, gap_seconds=GAP_SECONDS)
        self.witnesses.append(witness)
        witness.start()
        try:
            for _ in range(count):
                crew.start_one()
            yield crew
            await crew.stop()
        finally:
            crew.bury()
            await witness.stop()

    @contextlib.asynccontextmanager
    async def web(self, count: int = 1, **settings: object) -> AsyncGenerator[list["Web"]]:
        """Web processes on the test's database, with these settings beside the rig's."""
        sites: list[Web] = []
        try:
            for number in range(count):
                port = processes.free_port()
                environment = processes.environment(
                    database_url=self.database_url,
                    port=port,
                    secret=SECRET,
                    token_requests_per_minute=UNLIMITED,
                    organization_requests_per_minute=UNLIMITED,
                    **settings,
                )
                environment |= mutants.chosen()
                log = self.folder / f"web-{number}.log"
                child = processes.start(mutants.arguments("web"), env=environment, log=log, name="web")
                sites.append(Web(child, f"http://localhost:{port}", environment, log))
            for site in sites:
                await processes.ready(site.url, site.child)
            yield sites
            for site in sites:
                assert 0 == await site.child.stop(), site.child.tail()
        finally:
            for site in sites:
                processes.kill_tree(site.child)

    @contextlib.asynccontextmanager
    async def locked_overdue(self, count: int) -> AsyncGenerator[None]:
        """Rows whose leases ran out stand first in the reaper's scan, and another transaction has them locked.

        To be called while nobody reaps: they are overdue from the beginning.
        """
        [(house, pipeline_id), *_] = await self.lanes()
        await self.connection.execute(
            """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
                 responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after, status,
                 epoch, owner, lease_until, attempts, attempts_max, source)
               select $1, 'locked' || lpad(n::text, 16, '0'), $2, $3, 'locked@example.com', decode('00', 'hex'), now(),
                 0, now(), now() + interval '1 day', 2, 1, gen_random_uuid(), now() - interval '1 minute', 1, 9,
                 'locked'
               from generate_series(1, $4) as n""",
            house.organization_id,
            house.questionnaire_id,
            pipeline_id,
            count,
        )
        holder: Any = await asyncpg.connect(self.database_url)
        try:
            async with holder.transaction():
                locked = await holder.fetch("select from queue_item where source = 'locked' and status = 2 for update")
                assert count == len(locked), "a reaper was faster"
                yield
                await holder.execute("delete from queue_item where source = 'locked'")
        finally:
            await holder.close()

    async def crash_database(self, sign: signal.Signals = signal.SIGQUIT) -> None:
        """`pg_ctl -m immediate`: every connection breaks, nothing is written any more; SIGINT: `-m fast`."""
        process = self.server.process
        assert process is not None
        process.send_signal(sign)

        async def gone() -> bool:
            return not self.server.is_running()

        await until(gone, seconds=GONE_SECONDS_MAX, what="PostgreSQL is gone")

    async def revive_database(self) -> None:
        """Start it again: it recovers from its log."""
        await self.server.launch()
        self.connection = await asyncpg.connect(self.database_url)

    async def gap(self, mails: float) -> None:
        """Wait until some more mails were accepted: a number drawn from the seed, so many in the mean."""
        sink = self.target
        assert sink is not None
        goal = sink.count + self.draw.expovariate(1 / mails)

        async def passed() -> bool:
            return sink.count >= goal or await self.nothing_open()

        await self.until(passed, seconds=180, what=f"{goal:.0f} mails")

    async def until(self, condition: Any, *, seconds: float, what: str = "") -> None:
        """Wait for a condition; on failure the workers' logs help."""
        began = time.perf_counter()
        try:
            await until(condition, seconds=seconds, what=what or condition.__name__)
        except BaseException:
            if self.crew is not None:
                print(f"after {time.perf_counter() - began:.1f} s:", await self.states(), *self.crew.tails())  # noqa: T201
            raise

    async def drained(self) -> None:
        """Wait until every item has come to its end."""
        await self.until(self.nothing_open, seconds=DRAIN_SECONDS_MAX, what="nothing is open")

    async def nothing_open(self) -> bool:
        """Whether every item has come to its end."""
        return not await self.connection.fetchval("select exists(select from queue_item where status < 4)")

    async def nothing_open_but_the_probes(self) -> bool:
        """Whether every item of a lane that is not paused has come to its end."""
        return not await self.connection.fetchval(
            """select exists(select from queue_item i join pipeline p using (organization_id, pipeline_id)
                             where i.status < 4 and not p.paused)"""
        )

    async def states(self) -> dict[int, int]:
        """The number of items by status."""
        rows = await self.connection.fetch("select status, count(*) as n from queue_item group by status order by 1")
        return {row["status"]: row["n"] for row in rows}

    async def reconcile(self, *, unknown_max: int) -> Figures:
        """Assert that nothing was lost, doubled without a note, or told twice; and give the figures.

        Unknown outcomes in moments in which the machine itself stood still are allowed beside `unknown_max`.
        """
        assert self.target is not None
        figures = await self.count()
        self.tell(f"reconciler: {figures.line}; {self.hits} kills and pauses, {self.target.lost_answers} answers lost")
        assert {} == figures.wrong
        excused = self.excused(figures)
        assert figures.unknown <= unknown_max + excused, (dict(figures.unknown_replies), excused)
        return figures

    def excused(self, figures: Figures) -> int:
        """The number of outcomes that are unknown because the machine stood still."""
        times, within = figures.unknown_times, LEASE_SECONDS + EXCUSE_SECONDS
        gaps = [f"{(end - begin).total_seconds():.1f}" for each in self.witnesses for begin, end in each.gaps]
        excused = sum(each.excused(times, within_seconds=within) for each in self.witnesses)
        if gaps:
            self.tell(f"reconciler: the machine stood still for {', '.join(gaps)} s; {excused} unknown for that")
        return excused

    async def count(self) -> Figures:
        """The reconciler's figures, unjudged."""
        assert self.target is not None
        return await reconcile(
            self.connection, accepted=self.target.accepted(), acknowledged=self.acknowledged, aborted=self.aborted
        )

    def _new(self, lanes: Sequence[tuple[House, str]], number: int) -> queue.NewItem:
        house, pipeline_id = lanes[number % len(lanes)]
        return queue.NewItem(
            caller=house.caller,
            questionnaire_id=house.questionnaire_id,
            pipeline_id=pipeline_id,
            request=QueueItemRequest(responder_channel_identifier=f"person{number}@example.com"),
        )


@dataclass(frozen=True)
class Web:
    child: Child
    url: str
    environment: Mapping[str, str]
    log: Path

    async def again(self) -> "Web":
        """Another process at the same address, when this one has ended."""
        child = processes.start(mutants.arguments("web"), env=self.environment, log=self.log, name="web")
        await processes.ready(self.url, child)
        return replace(self, child=child)


@dataclass
class Crew:
    rig: Rig
    orders: Orders
    is_apart: bool
    children: list[Child] = field(default_factory=list[Child])
    own: Nursery | None = None  # where the rig has none

    @property
    def working(self) -> list[Child]:
        """Those that live and were not stopped in their tracks."""
        return [child for child in self.children if child.is_alive and not child.is_paused]

    def start_one(self, *, before: Sequence[str] = (), **pace: Any) -> Child:
        """One more, with other numbers than the rest if wanted, in what `before` makes for it."""
        assert len(self.working) < WORKERS_MAX, "there are no connections for more"
        number = len(self.children)
        log, name, orders = self.rig.folder / f"worker-{number}.log", f"worker {number}", replace(self.orders, **pace)
        if before or self.is_apart:
            environment = processes.environment() | mutants.chosen()
            words = ["-m", "tests.run.worker.faults.runner", orders.text]
            child = processes.start(words, env=environment, log=log, name=name, before=before)
        else:
            born: Any = self._nursery().bear(orders, path=log)
            child = Child(born, log, name)
        self.children.append(child)
        return child

    def _nursery(self) -> Nursery:
        if self.rig.nursery is not None:
            return self.rig.nursery
        self.own = self.own or nursery(self.rig.folder / "nursery.log")
        return self.own

    def one(self) -> Child:
        """Any of those that work."""
        return self.rig.draw.choice(self.working)

    def kill(self, child: Child) -> None:
        """SIGKILL: it has no last word."""
        self.rig.hits += 1
        child.send(signal.SIGKILL)
        child.process.wait()

    async def pause_with_items(self) -> Child:
        """Stop one in its tracks while it is sending."""

        async def caught() -> Child | None:
            child = self.one()
            owner = await self.owner_of(child)
            child.send(signal.SIGSTOP)
            if await self.is_sending(owner):  # what is only claimed has no attempt, and leaves no note of one
                self.rig.hits += 1
                child.is_paused = True
                return child
            child.send(signal.SIGCONT)
            return None

        found = await until(caught, seconds=60, what="a worker is caught with items")
        assert found is not None
        return found

    async def held(self, owner: str) -> int:
        """The number of items of this run, as the database sees it."""
        return await self.rig.connection.fetchval("select count(*) from queue_item where owner = $1::text::uuid", owner)

    async def is_sending(self, owner: str) -> bool:
        """Whether this run has begun to send an item, as the database sees it."""
        return await self.rig.connection.fetchval(
            "select exists(select from queue_item where owner = $1::text::uuid and status = 3)", owner
        )

    def is_bereft(self, child: Child) -> Callable[[], Awaitable[bool]]:
        """A condition: the reaper has taken everything that it held."""

        async def bereft() -> bool:
            return not await self.held(child.told("run_id"))

        return bereft

    def wake(self, child: Child) -> None:
        """SIGCONT: it goes on where it was."""
        child.send(signal.SIGCONT)
        child.is_paused = False

    async def owner_of(self, child: Child) -> str:
        """The run id under which it claims, once it has begun to work."""

        async def told() -> str:
            assert child.is_alive, child.tail()
            return child.told("run_id")

        return await until(told, seconds=90, what=f"{child.name} works")

    async def ready(self) -> None:
        for child in self.working:
            await self.owner_of(child)

    async def stop(self) -> None:
        """SIGTERM to all that live; each must end with 0, and none may have logged an error."""
        left = [child for child in self.children if child.is_alive]
        for child in left:
            child.send(signal.SIGTERM)
        for child in left:
            code = await child.ended(seconds=STOP_SECONDS_MAX)
            assert code == 0 or not child.told("run_id"), (code, child.tail())  # one that was still starting just ends
        wrong = [line for child in self.children for line in child.errors()]
        assert [] == wrong, wrong[:3]

    def bury(self) -> None:
        for child in self.children:
            processes.kill_tree(child)
        if self.own is not None:
            self.own.stop()

    def tails(self) -> list[str]:
        return [f"\n{child.name}: {child.tail()}" for child in self.children]


def nursery(path: Path) -> Nursery:
    return Nursery(env=processes.environment() | mutants.chosen(), path=path)


def start_cluster(more: Mapping[str, str] | None = None) -> tuple[embedded.Server, Path]:
    """A cluster with checksums and fsync, on a disk, in a folder that its user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-faults-"))
    folder.chmod(0o711)
    settings = {"max_connections": str(CONNECTIONS_MAX), "shared_buffers": "128MB", **(more or {})}
    return asyncio.run(embedded.start(folder, settings=settings)), folder
