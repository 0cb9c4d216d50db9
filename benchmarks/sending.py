"""Mails of three organizations by real workers to a local mail server: their rate, and the processor time of each.

Half of the people are known, half are new. The items lie in the queue before the clock starts. The time of the workers
and of all processes of PostgreSQL is the kernel's, and begins after the first mails, so that no start is part of it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import engine, queue
from benchmarks.findings import Figure, Ratio
from benchmarks.requests import connects, fill
from benchmarks.rest import TICKS_PER_SECOND
from benchmarks.stage import CHECKOUT, Stage, free_port, running

MAILS: Final = 100_000
ORGANIZATIONS: Final = ("north", "south", "east")
KNOWN: Final = 5_000  # people of each organization, who are asked again and again
NEW: Final = 1_000_000  # the number of the first new one
WARM_SHARE: Final = 0.1  # of the mails, sent before the clock starts
RATE_FLOOR, WORKER_FLOOR, DATABASE_FLOOR, SECOND_FLOOR = 3.0, 1 / 0.45, 1 / 0.5, 1.6
WORKER_MS_MAX, DATABASE_MS_MAX = 1.45, 1.55
POLL_SECONDS: Final = 0.05
SECONDS_MAX: Final = 3_600.0
OTHER: Final = "the other checkout"
WHAT: Final = "Mails of three organizations, new and known people"
COUNTED: Final = """select (select xact_commit from pg_stat_database where datname = current_database()),
  (select wal_bytes from pg_stat_wal)::bigint"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Mails a second; of each the milliseconds of the workers and of PostgreSQL, its commits and kB of its log."""

    rate: float
    worker_ms: float
    database_ms: float
    commits: float
    log_kb: float

    def __str__(self) -> str:
        return (
            f"{self.rate:,.0f} mails a second, each {self.worker_ms:.2f} ms of worker and {self.database_ms:.2f} of "
            f"PostgreSQL, {self.commits:.2f} commits, {self.log_kb:.1f} kB of write-ahead log"
        )


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds and numbers that were used up to a moment."""

    time: float
    sent: int
    worker: float
    database: float
    commits: int
    log_bytes: int

    def until(self, end: "Moment") -> Cost:
        """The costs of each mail between two moments."""
        mails = end.sent - self.sent
        return Cost(
            rate=mails / (end.time - self.time),
            worker_ms=1000 * (end.worker - self.worker) / mails,
            database_ms=1000 * (end.database - self.database) / mails,
            commits=(end.commits - self.commits) / mails,
            log_kb=(end.log_bytes - self.log_bytes) / mails / 1000,
        )


@dataclass(slots=True)
class Ground:
    """Organizations, a mail server that takes everything, and the number of the next new person."""

    stage: Stage
    tenants: Sequence[Stage]
    port: int
    server: int  # the process of PostgreSQL that has started all others
    next_new: int = NEW

    async def send(self, mails: int, *, checkout: Path = CHECKOUT, workers: int = 1) -> Cost:
        """Send so many by `workers` processes of a checkout."""
        warm = round(mails * WARM_SHARE)
        each = -(-(mails + warm) // len(self.tenants))
        await queue.empty(self.stage)
        for tenant in self.tenants:
            await self._fill(tenant, each)
        self.next_new += each
        await queue.settle(self.stage)
        before = await engine.sent(self.stage)
        async with AsyncExitStack() as stack:
            settings = engine.settings(self.stage, smtp_url=f"smtp://127.0.0.1:{self.port}?starttls=never")
            processes: list[int] = []
            for number in range(workers):
                own = settings | {"data_dir": str(self.stage.folder / f"worker-{number}")}
                worker = running("afterword", "worker", settings=own, checkout=checkout)
                processes.append((await stack.enter_async_context(worker)).pid)
            begun = await self._reached(before + warm, processes)
            cost = begun.until(await self._reached(before + len(self.tenants) * each, processes))
        print(f"  {cost}, by {workers} of {checkout.name}", flush=True)
        return cost

    async def _fill(self, tenant: Stage, count: int) -> None:
        known = count // 2
        for start in range(0, known, KNOWN):
            await fill(tenant, min(KNOWN, known - start))
            await fill(tenant, min(KNOWN, known - start), first=self.next_new + start)
        await fill(tenant, count - 2 * known, first=self.next_new + known)

    async def _reached(self, sent: int, workers: Sequence[int]) -> Moment:
        async with asyncio.timeout(SECONDS_MAX):
            while (found := await engine.sent(self.stage)) < sent:  # noqa: ASYNC110  other processes do it
                await asyncio.sleep(POLL_SECONDS)
        moment, database = time.perf_counter(), cpu_seconds(self.server, with_children=True)
        worker = sum(cpu_seconds(each) for each in workers)
        async with self.stage.pool.raw.acquire() as raw:
            commits, log_bytes = await raw.fetchrow(COUNTED)
        return Moment(moment, found, worker, database, commits, log_bytes)


@asynccontextmanager
async def ground(stage: Stage) -> AsyncGenerator[Ground, None]:
    """Three organizations whose people were asked before, and a mail server in a process of its own."""
    port = free_port()
    async with running("benchmarks.sink", str(port), settings={}), stage.pool.raw.acquire() as raw:
        await connects(port)
        tenants = [await engine.tenant(stage, name) for name in ORGANIZATIONS]
        server = parent_of(await raw.fetchval("select pg_backend_pid()"))
        yield Ground(stage, tenants, port, server)


async def mails_of_three(stage: Stage, *, mails: int, rounds: int) -> list[Figure | Ratio]:
    """The cost of a mail here, and the rate of two workers beside one."""
    async with ground(stage) as found:
        await found.send(mails)  # makes the people, and plans of full tables
        pairs = [(await found.send(mails), await found.send(mails, workers=2)) for _ in range(rounds)]
    return [
        Figure(f"{WHAT}, worker, each", median(one.worker_ms for one, _ in pairs), WORKER_MS_MAX, "ms"),
        Figure(f"{WHAT}, PostgreSQL, each", median(one.database_ms for one, _ in pairs), DATABASE_MS_MAX, "ms"),
        two_beside_one(pairs),
    ]


async def beside(stage: Stage, other: Path, *, mails: int, rounds: int) -> list[Ratio]:
    """The same by this checkout and another one, in turns; above 1 this one is the better."""
    async with ground(stage) as found:
        await found.send(mails, checkout=other)
        trios = [
            (
                await found.send(mails),
                await found.send(mails, checkout=other),
                await found.send(mails, workers=2),
            )
            for _ in range(rounds)
        ]
    rates = [(ours.rate, theirs.rate) for ours, theirs, _ in trios]
    worker = [(1 / ours.worker_ms, 1 / theirs.worker_ms) for ours, theirs, _ in trios]
    database = [(1 / ours.database_ms, 1 / theirs.database_ms) for ours, theirs, _ in trios]
    return [
        Ratio(WHAT, OTHER, "a second", rates, RATE_FLOOR),
        Ratio(f"{WHAT}, processor of the worker", OTHER, "a ms", worker, WORKER_FLOOR),
        Ratio(f"{WHAT}, processor of PostgreSQL", OTHER, "a ms", database, DATABASE_FLOOR),
        two_beside_one([(ours, two) for ours, _, two in trios]),
    ]


def two_beside_one(pairs: Sequence[tuple[Cost, Cost]]) -> Ratio:
    """The rate of two workers."""
    rates = [(two.rate, one.rate) for one, two in pairs]
    return Ratio(f"{WHAT}, two workers", "one worker", "a second", rates, SECOND_FLOOR)


def cpu_seconds(process: int, *, with_children: bool = False) -> float:
    """User and system time of a process; with that of all its children, those that have ended too."""
    mine = _fields(process)
    used = sum(map(int, mine[11:15] if with_children else mine[11:13])) / TICKS_PER_SECOND
    if not with_children:
        return used
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return used + sum(cpu_seconds(int(child)) for child in children if Path(f"/proc/{child}").exists())


def parent_of(process: int) -> int:
    """The process that started this one."""
    return int(_fields(process)[1])


def _fields(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
