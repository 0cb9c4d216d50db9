"""Disk that a sent item takes, by table: what rows and indexes grow by, with vacuums between as autovacuum has them."""

from datetime import datetime, timedelta
from typing import Final

from afterword.kit import db
from benchmarks import queue
from benchmarks.findings import Figure
from benchmarks.requests import fill
from benchmarks.stage import Stage

ITEMS: Final = 10_000
ROUND: Final = 500  # items between two vacuums
BATCH: Final = 50
LIMIT_KB: Final = 6.7  # 5 % above the 6.4 that was reached
SIZES: Final = """
select c.relname, pg_table_size(c.oid) as rows, pg_indexes_size(c.oid) as indexes
from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace"""


async def of_a_sent_item(stage: Stage) -> list[Figure]:
    """Kilobytes an item to a new person, from scheduled to sent, and the tables that take the most of them."""
    begun = stage.pool.clock.now().replace(microsecond=0) - timedelta(hours=1)
    worker = queue.worker_on(stage, stage.pool, batch=BATCH)
    await _send(worker, ROUND, first=0, begun=begun)
    before = await _sizes(stage)
    for first in range(ROUND, ROUND + ITEMS, ROUND):
        await _send(worker, ROUND, first=first, begun=begun)
    after = await _sizes(stage)
    grown = {
        name: tuple((now - then) / ITEMS for now, then in zip(sizes, before.get(name, (0, 0)), strict=True))
        for name, sizes in after.items()
    }
    for name, (rows, indexes) in sorted(grown.items(), key=lambda one: -sum(one[1])):
        if rows + indexes >= 1:
            print(f"{name:32} {rows:8,.0f} bytes of rows {indexes:8,.0f} of indexes", flush=True)
    total = sum(sum(one) for one in grown.values()) / 1000
    return [Figure("Disk of an item sent to a new person", total, LIMIT_KB, "kB")]


async def _send(worker: queue.Worker, count: int, *, first: int, begun: datetime) -> None:
    await fill(worker.stage, count, first=first, spread=begun)
    await queue.work_off(worker)
    await queue.settle(worker.stage)


async def _sizes(stage: Stage) -> dict[str, tuple[int, int]]:
    """Bytes of rows and of indexes, by table."""
    async with db.connection(stage.pool) as database:
        found = await database.fetch(SIZES)
    return {row["relname"]: (row["rows"], row["indexes"]) for row in found}
