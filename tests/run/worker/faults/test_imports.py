"""A file that is imported while workers are killed: every row once, and memory that does not grow with the file."""

from pathlib import Path

import pytest

from afterword.core.wire import imports
from afterword.kit import db
from afterword.sending.intake.imports import service
from tests.dates import YEAR
from tests.journeys.processes import Child
from tests.run.worker.faults.rig import SECRET, Rig, size

pytestmark = pytest.mark.faults

HEADER = "responder_channel_identifier,send_time,external_reference,metadata.questionnaire.transaction_id"
LATER = f"{YEAR}-07-01T09:00:00Z"  # nothing is sent meanwhile
GROWTH_BYTES_MAX = 200_000_000  # the file takes 40 MB in memory as text; worked off, some pieces of it
DONE_SECONDS_MAX = float(size(120, 900))


async def send(rig: Rig, rows: int) -> str:
    """The import's id."""
    [house] = rig.houses
    table = (f"person{n}@example.com,{LATER},order-{n},{'t' * 60}{n}" for n in range(rows))
    async with db.transaction(rig.pool) as database:
        job = await service.create(
            database,
            caller=house.caller,
            questionnaire_id=house.questionnaire_id,
            pipeline_id=house.pipeline_id,
            cut=imports.cut("\n".join([HEADER, *table]), fields=service.FIELDS, separator=",", mapping={}),
            secret=SECRET.encode(),
            now=database.clock.now(),
        )
    return job.import_id


async def settled(rig: Rig) -> int:
    return await rig.connection.fetchval("select rows_created + rows_failed from queue_import")


def peak_bytes(child: Child) -> int:
    """The most memory that a process ever had."""
    status = Path(f"/proc/{child.process.pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


async def test_killed_while_importing(rig: Rig) -> None:
    """`kill -9` between and within pieces; leases run out early too, so that two work on the same piece."""
    rows, kills = size(10_000, 200_000), size(5, 30)
    await rig.fill(organizations=1, lanes=1, items=0)
    async with rig.sink(), rig.workers(2) as workers:
        await send(rig, rows)
        for number in range(1, kills + 1):
            goal = rows * number // (kills + 2)

            async def has_come_so_far(goal: int = goal) -> bool:
                return await settled(rig) >= goal

            await rig.until(has_come_so_far, seconds=DONE_SECONDS_MAX, what=f"{goal} rows")
            workers.kill(workers.one())
            workers.start_one()
            await rig.connection.execute("update queue_import set lease_until = now() where owner is not null")

        async def is_done() -> bool:
            return "done" == await rig.connection.fetchval("select state from queue_import")

        await rig.until(is_done, seconds=DONE_SECONDS_MAX, what="the import is done")
    counted = await rig.connection.fetchrow(
        """select (select count(*) from queue_item) as items,
             (select count(distinct external_reference) from queue_item) as references,
             (select count(*) from queue_import_row where state = 'created') as rows,
             (select count(*) from event where type = 'queue_item.created') as told,
             (select count(*) from event where type = 'import.finished') as finished,
             (select count(*) from queue_import_piece) as pieces"""
    )
    rig.tell(f"imports: {rows} rows, {kills} kills: lost {rows - counted['items']}, doubled 0")
    assert (rows, rows, rows, rows, 1, 0) == tuple(counted)
    assert rows == await settled(rig)


async def test_memory(rig: Rig) -> None:
    """Working off a file takes a worker no more than some of its pieces."""
    rows = size(10_000, 200_000)
    await rig.fill(organizations=1, lanes=1, items=0)
    async with rig.sink(), rig.workers(1, is_apart=True) as workers:
        [child] = workers.working
        await rig.until(lambda: bool(child.told("run_id")), seconds=60, what="the worker is up")
        before = peak_bytes(child)
        await send(rig, rows)

        async def is_done() -> bool:
            return "done" == await rig.connection.fetchval("select state from queue_import")

        await rig.until(is_done, seconds=DONE_SECONDS_MAX, what="the import is done")
        growth = peak_bytes(child) - before
    rig.tell(f"imports: a worker grew by {growth / 1e6:.0f} MB over {rows} rows")
    assert growth < GROWTH_BYTES_MAX
