"""`python -m benchmarks against PATH [part …]`: this checkout beside another, in turns, on one database.

Each process runs the code of its checkout with the interpreter of this one. The other checkout is the older: it works
on the schema of this one, as it does while a release is rolled out.
"""

import asyncio
import json
import os
import statistics
import sys
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from itertools import cycle
from pathlib import Path
from typing import Final

from benchmarks import console, engine, requests, rest, sending
from benchmarks.findings import Finding, Ratio
from benchmarks.requests import Trial
from benchmarks.stage import CHECKOUT, SECRET, Stage, running, web

PARTS: Final = ("instance", "list", "post", "queue", "memory", "wide", "console")
OTHER: Final = "the other checkout"
FLOORS: Final = {"instance": 1.6, "list": 1.5, "post": 1.1, "queue": 1.0, "memory": 1 / 0.9, "wide": 5.0}
FIRST_BYTE: Final = 1 / 0.7
# Of the first byte of a page, and the page of the other checkout that it is beside, if that is another one.
PAGES: Final[Mapping[str, tuple[float | None, str]]] = {
    console.OVERVIEW: (FIRST_BYTE, ""),
    "list": (FIRST_BYTE, ""),
    "cases": (FIRST_BYTE, ""),
    "people": (FIRST_BYTE, ""),
    "sending": (FIRST_BYTE, ""),
    "questionnaires": (FIRST_BYTE, ""),
    "editor": (FIRST_BYTE, ""),
    console.FILTERED: (1 / 0.8, ""),
    "list of another period": (1 / 0.8, console.FILTERED),
    "results": (1 / 1.2, console.OVERVIEW),
}
WEIGHT: Final = 1 / 1.5  # of a page with its scripts and styles
TIMES: Final = 8  # of each address in a round
WEB_CORE: Final = 0
SENT_AT_ONCE: Final = 100  # items that a worker sends beside the pages, each second
CEILINGS: Final = {"instance": 0.15, "list": 0.26, "post": 0.95}  # of pgbench
ITEMS: Final = 2_000


async def compare(
    stage: Stage, other: Path, parts: Collection[str], *, rounds: int, seconds: float, responses: int, mails: int
) -> list[Finding]:
    """The findings of these parts; above 1 this checkout is the better one."""
    found: list[Finding] = []
    trials = {"instance": requests.instance_trial, "list": requests.list_trial, "post": requests.post_trial}
    if "console" in parts:  # the first, as it fills an organization that has nothing
        await console.prepare(stage, responses=responses)
        async with (
            web(stage, core=WEB_CORE) as (_, port),
            web(stage, core=WEB_CORE, checkout=other) as (_, other_port),
            _sending(stage),
        ):
            found += await _pages((port, other_port), responses=responses, rounds=rounds)
    if "sending" in parts:  # takes minutes: only where it is named
        found += _told(await sending.beside(stage, other, mails=mails, rounds=rounds))
    if "wide" in parts:
        await rest.widen(stage)
        for count in (1, rest.WORKERS):
            pair = await rest.idle_workers(stage, count), await rest.idle_workers(stage, count, checkout=other)
            print(f"  {pair[0]} beside {pair[1]}", flush=True)
            what = f"PostgreSQL for idle workers: {count}"
            found.append(
                Ratio(what, OTHER, "% of a core", [(1 / pair[0].percent, 1 / pair[1].percent)], FLOORS["wide"])
            )
    if not {*parts} - {"console", "queue", "sending", "wide"}:
        return found + await _queue(stage, other, parts, rounds=rounds)
    async with web(stage) as (process, port), web(stage, checkout=other) as (other_process, other_port):
        for name, trial_of in trials.items():
            if name in parts:
                trial = await trial_of(stage, port)
                found += _told(await _rates(stage, name, trial, (port, other_port), rounds=rounds, seconds=seconds))
        if "memory" in parts:
            for one in (port, other_port):
                await requests.load_both(stage, one, seconds=seconds)
            ours, theirs = (rest.memory_mb(each.pid) or 1.0 for each in (process, other_process))
            found.append(Ratio("Memory of a web process", OTHER, "MB", [(1 / ours, 1 / theirs)], FLOORS["memory"]))
            print(f"  {ours:.1f} MB beside {theirs:.1f} MB", flush=True)
    return found + await _queue(stage, other, parts, rounds=rounds)


async def _queue(stage: Stage, other: Path, parts: Collection[str], *, rounds: int) -> list[Ratio]:
    if "queue" not in parts:
        return []
    async with _moving(stage, CHECKOUT) as ours, _moving(stage, other) as theirs:
        pairs = [(await _moved(ours), await _moved(theirs)) for _ in range(rounds)]
    return [Ratio("Claim, begin, settle", OTHER, "items a second", pairs, FLOORS["queue"])]


def _told(found: list[Ratio]) -> list[Ratio]:
    """Print each as soon as it is known."""
    for finding in found:
        print(finding.as_row(), flush=True)
    return found


async def _rates(
    stage: Stage, name: str, trial: Trial, ports: tuple[int, int], *, rounds: int, seconds: float
) -> list[Ratio]:
    for port in ports:
        await requests.load(port, trial.requests, seconds=requests.WARM_SECONDS)
    ours: list[float] = []
    theirs: list[float] = []
    database: list[float] = []
    for _ in range(rounds):
        for port, rates in zip(ports, (ours, theirs), strict=True):
            rates.append((await requests.load(port, trial.requests, seconds=seconds)).requests_per_second)
        database.append(await requests.transactions_per_second(stage, trial, seconds=seconds))
    return [
        Ratio(trial.what, OTHER, "a second", list(zip(ours, theirs, strict=True)), FLOORS[name]),
        Ratio(trial.what, "pgbench, the same SQL", "a second", list(zip(ours, database, strict=True)), CEILINGS[name]),
    ]


async def _pages(ports: tuple[int, int], *, responses: int, rounds: int) -> list[Ratio]:
    """First bytes of each page in turns, and its bytes with those of its scripts and styles."""
    found: list[Ratio] = []
    async with console.browser(ports[0]) as (ours, client), console.browser(ports[1]) as (theirs, other_client):
        addresses = await console.addresses(client)
        for name, (floor, beside) in PAGES.items():
            pages = list(zip(addresses[name] * TIMES, cycle(addresses[beside or name])))
            await _time(ours, theirs, pages)  # plans are made, and figures kept
            pairs = [await _time(ours, theirs, pages) for _ in range(rounds)]
            against = f"{OTHER}, {beside}" if beside else OTHER
            what = f"Console, first byte of {name} of {responses:,} responses"
            found += _told([Ratio(what, against, "a second", pairs, floor)])
            here, there = addresses[name][0], addresses[beside or name][0]
            sizes = float(await console.weight(other_client, there)), float(await console.weight(client, here))
            found += _told(
                [Ratio(f"Console, bytes of {name} with scripts and styles", against, "bytes", [sizes], WEIGHT)]
            )
    return found


async def _time(
    ours: console.Browser, theirs: console.Browser, pages: Sequence[tuple[str, str]]
) -> tuple[float, float]:
    """Pages a second of either, by the median of all that are asked for in turn."""
    took = [(await ours.first_byte(here), await theirs.first_byte(there)) for here, there in pages]
    here, there = (1 / statistics.median(each) for each in zip(*took, strict=True))
    return here, there


@asynccontextmanager
async def _sending(stage: Stage) -> AsyncGenerator[None, None]:
    """A worker that sends for another organization all the while."""
    other = await engine.tenant(stage, "small")
    other = replace(other, seeded=await engine.linked(other))

    async def fill() -> None:
        while True:
            await requests.fill(other, SENT_AT_ONCE)
            await asyncio.sleep(1)

    async with running("afterword", "worker", settings=engine.settings(stage)), asyncio.TaskGroup() as tasks:
        filling = tasks.create_task(fill())
        yield
        filling.cancel()


@asynccontextmanager
async def _moving(stage: Stage, checkout: Path) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(CHECKOUT / "benchmarks" / "moves.py")),  # modules beside it have names of Python's
        env={**os.environ, "PYTHONPATH": str(checkout)},
        cwd=checkout,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    order = {"url": stage.url, "secret": SECRET, "seeded": asdict(stage.seeded)}
    try:
        await _tell(process, json.dumps(order))
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _moved(process: asyncio.subprocess.Process) -> float:
    assert process.stdout is not None
    await _tell(process, str(ITEMS))
    return float(await process.stdout.readline())


async def _tell(process: asyncio.subprocess.Process, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())
    await process.stdin.drain()
