"""Two queues in PostgreSQL that others use, each with an async task that does nothing, beside our worker.

`python -m benchmarks.rivals procrastinate <url> <jobs>` is one of them, in a process of its own. They are installed
apart from the product (`make bench-rivals`), so they are imported where they are used, and nowhere else.
"""

import asyncio
import importlib
import json
import sys
import time
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg

from afterword.run.worker.flights import SLOTS_MAX
from benchmarks import engine, queue
from benchmarks.findings import Ratio
from benchmarks.stage import Stage

CONCURRENCY: Final = 50  # as many as our worker has slots
JOBS: Final = {"procrastinate": 3_000, "pgqueuer": 40_000}
ITEMS: Final = 20_000
CONNECTIONS, BATCH = 4, SLOTS_MAX  # procrastinate's pool has four as well, the worker's eight
PROCRASTINATE_FLOOR: Final = 8.0
SECONDS_MAX: Final = 300.0


async def compare(stage: Stage, *, rounds: int) -> list[Ratio]:
    """Items a second, by the moves alone and by one worker on the channel without a wire, against the jobs of each."""
    linked = replace(stage, seeded=await engine.linked(stage))
    await engine.rate_of_worker(linked, ITEMS)  # makes the people: who is asked the first time costs more
    moves: dict[str, list[tuple[float, float]]] = {name: [] for name in JOBS}
    worker: dict[str, list[tuple[float, float]]] = {name: [] for name in JOBS}
    for _ in range(rounds):
        by_moves = await queue.rate_of_moves(stage, ITEMS, batch=BATCH, loops=CONNECTIONS)
        by_worker = await engine.rate_of_worker(linked, ITEMS)
        for name, jobs in JOBS.items():
            theirs = await _rate_of(stage, name, jobs)
            moves[name].append((by_moves, theirs))
            worker[name].append((by_worker, theirs))
    await queue.empty(stage)
    unit, floors = "items a second", {"procrastinate": PROCRASTINATE_FLOOR}
    what = f"Claim, begin, settle, batches of {BATCH}, {CONNECTIONS} connections"
    against = {name: f"{name}, {CONCURRENCY} at a time" for name in JOBS}
    return [
        *(Ratio(what, against[name], unit, rates, floors.get(name)) for name, rates in moves.items()),
        *(
            Ratio(f"One worker, {CONCURRENCY} slots, channel `link`", against[name], unit, rates)
            for name, rates in worker.items()
        ),
    ]


async def _rate_of(stage: Stage, name: str, jobs: int) -> float:
    """The rate that a process of its own measured, on a new database of the same server."""
    connection: Any = await asyncpg.connect(stage.url)
    try:
        await connection.execute(f"drop database if exists {name}")
        await connection.execute(f"create database {name}")
    finally:
        await connection.close()
    url = urlsplit(stage.url)._replace(path=f"/{name}").geturl()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.rivals", name, url, str(jobs)), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), SECONDS_MAX)
    if process.returncode:
        raise RuntimeError(f"{name} ended with exit code {process.returncode}.")
    return float(json.loads(output.splitlines()[-1]))


async def _procrastinate(url: str, jobs: int) -> float:
    procrastinate: Any = importlib.import_module("procrastinate")
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    @app.task(name="nothing")
    async def nothing() -> None:
        """Nothing."""

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await nothing.batch_defer_async(*({} for _ in range(jobs)))
        begun = time.perf_counter()
        await app.run_worker_async(wait=False, concurrency=CONCURRENCY, install_signal_handlers=False)
        return jobs / (time.perf_counter() - begun)


async def _pgqueuer(url: str, jobs: int) -> float:
    pgqueuer: Any = importlib.import_module("pgqueuer")
    types: Any = importlib.import_module("pgqueuer.types")
    queries = pgqueuer.Queries(pgqueuer.AsyncpgDriver(await asyncpg.connect(url)))
    await queries.install()
    manager = pgqueuer.QueueManager(queries)

    @manager.entrypoint("nothing")
    async def nothing(_job: object) -> None:
        """Nothing."""

    await queries.enqueue(["nothing"] * jobs, [None] * jobs, [0] * jobs)
    begun = time.perf_counter()
    await manager.run(batch_size=CONCURRENCY, mode=types.QueueExecutionMode.drain)
    return jobs / (time.perf_counter() - begun)


def main() -> None:
    """Measure the one that the command line names."""
    name, url, jobs = sys.argv[1:]
    measure = {"procrastinate": _procrastinate, "pgqueuer": _pgqueuer}[name]
    print(json.dumps(asyncio.run(measure(url, int(jobs)))))


if __name__ == "__main__":
    main()
