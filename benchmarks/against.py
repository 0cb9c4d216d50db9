"""`python -m benchmarks against PATH [part …]`: this checkout beside another, in turns, on one database.

Each process runs the code of its checkout with the interpreter of this one. The other checkout is the older: it works
on the schema of this one, as it does while a release is rolled out.
"""

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

import httpx2

from benchmarks import console, requests, rest
from benchmarks.findings import Finding, Ratio
from benchmarks.requests import Trial
from benchmarks.stage import CHECKOUT, SECRET, Stage, web

PARTS: Final = ("instance", "list", "post", "queue", "memory", "console")
OTHER: Final = "the other checkout"
FLOORS: Final = {"instance": 1.6, "list": 1.5, "post": 1.1, "queue": 1.0, "memory": 1 / 0.9, "console": 1 / 0.7}
CEILINGS: Final = {"instance": 0.15, "list": 0.26, "post": 0.95}  # of pgbench
ITEMS: Final = 2_000


async def compare(
    stage: Stage, other: Path, parts: Collection[str], *, rounds: int, seconds: float, responses: int
) -> list[Finding]:
    """The findings of these parts; above 1 this checkout is the better one."""
    found: list[Finding] = []
    trials = {"instance": requests.instance_trial, "list": requests.list_trial, "post": requests.post_trial}
    async with web(stage) as (process, port), web(stage, checkout=other) as (other_process, other_port):
        if "console" in parts:  # the first, as it fills an organization that has nothing
            found += _told(await _pages(stage, (port, other_port), responses=responses, rounds=rounds))
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
    if "queue" in parts:
        async with _moving(stage, CHECKOUT) as ours, _moving(stage, other) as theirs:
            pairs = [(await _moved(ours), await _moved(theirs)) for _ in range(rounds)]
        found.append(Ratio("Claim, begin, settle", OTHER, "items a second", pairs, FLOORS["queue"]))
    return found


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


async def _pages(stage: Stage, ports: tuple[int, int], *, responses: int, rounds: int) -> list[Ratio]:
    """Each page of the console's list and of its overview, as often as rounds, by one process and then the other."""
    await console.prepare(stage, responses=responses)
    base_urls = [f"http://127.0.0.1:{port}" for port in ports]
    found: list[Ratio] = []
    async with console.visitor(base_url=base_urls[0]) as ours, console.visitor(base_url=base_urls[1]) as theirs:
        for name, addresses in (await console.addresses(ours)).items():
            for client in (ours, theirs):
                await _time(client, addresses)  # plans are made, and figures kept
            pairs = [(1 / await _time(ours, addresses), 1 / await _time(theirs, addresses)) for _ in range(rounds)]
            floor = FLOORS["console"] if name in {"list", "overview"} else None
            found.append(Ratio(f"Console, {name} of {responses:,} responses", OTHER, "a second", pairs, floor))
    return found


async def _time(client: httpx2.AsyncClient, addresses: Sequence[str]) -> float:
    """Seconds for one page, the median of a few of each address."""
    took: list[float] = []
    for address in list(addresses) * 3:
        began = time.perf_counter()
        (await client.get(address)).raise_for_status()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


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
