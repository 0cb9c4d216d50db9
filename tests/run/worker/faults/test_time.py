"""Items that follow one another, items that are too late, and a database that goes back in time."""

import asyncio
import random
import shutil
import subprocess
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from afterword.core.scheduling.statuses import Item
from afterword.kit import db
from afterword.run import migrations
from tests.journeys import processes
from tests.run.worker.faults import nodes
from tests.run.worker.faults.rig import SECRET, SLOTS, Crew, Rig, size, start_cluster
from tests.sending.channels.sink import Fault, Phase

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

PAIRS = size(150, 5_000)
KILLS = size(3, 30)
ORPHANS = size(2, 10)  # workers that die with items in their hands
OVERDUE = size(300, 5_000)
QUIET_SECONDS = size(3, 30)
LOOK_SECONDS = 6  # workers look every five
RATE = 20  # a second
BURST = RATE * 10  # what a bucket holds
WITHIN = BURST + RATE * size(3, 60)
TOO_LATE = size(100, 5_000)


async def test_order(rig: Rig) -> None:
    """T09: B names A, A's worker dies, B is due all the time, and others come later."""
    await rig.fill(organizations=2, lanes=2, items=PAIRS)
    await rig.connection.execute("create temporary table a as select * from queue_item")
    await rig.schedule(PAIRS)
    await rig.connection.execute(
        """update queue_item b set previous_item_id = a.item_id
           from (select *, row_number() over (partition by organization_id order by item_id) as place from a) a,
             (select *, row_number() over (partition by organization_id order by item_id) as place from queue_item
              where item_id not in (select item_id from a)) free
           where a.organization_id = free.organization_id and a.place = free.place and b.item_id = free.item_id"""
    )
    done = asyncio.Event()
    async with rig.sink(pause=0.01), rig.workers() as workers, asyncio.TaskGroup() as group:
        hurrying = group.create_task(_hurry(rig, done))
        for _ in range(KILLS):
            await rig.gap(mails=PAIRS / (KILLS + 2))
            await rig.schedule(5)
            workers.kill(workers.one())
            workers.start_one()
        await rig.drained()
        done.set()
    await rig.reconcile(unknown_max=rig.hits * SLOTS)
    overtaken, pairs = await rig.connection.fetchrow(
        """select count(*) filter (where exists (select from attempt x
               where x.organization_id = b.organization_id and x.item_id = b.item_id
                 and x.begin_time < a.dispatched_time)), count(*)
           from queue_item b join queue_item a on a.organization_id = b.organization_id
             and a.item_id = b.previous_item_id
           where a.status = $1""",
        Item.SENT,
    )
    rig.tell(f"T09 {overtaken} of {pairs} overtook; {hurrying.result()} times one was made due while held")
    assert (0, PAIRS) == (overtaken, pairs)
    assert hurrying.result()


async def _hurry(rig: Rig, done: asyncio.Event) -> int:
    """Time passes: what waits for the one before it is due again and again; how often that was."""
    count = 0
    async with await db.open_pool(rig.database_url, size_max=1) as pool:
        while not done.is_set():
            async with db.transaction(pool) as database:
                count += await database.execute(
                    """update queue_item set due_time = now() where (organization_id, item_id) in (
                         select organization_id, item_id from queue_item
                         where status = 1 and reason = 'previous_open' for update skip locked)"""
                )
            await asyncio.sleep(0.05)
    return count


@pytest.mark.parametrize("phase", ["greeting", "dot"])
async def test_too_late_when_found(rig: Rig, phase: Phase) -> None:
    """T09: a worker dies, claimed or sending; when others take its items they are too late, and nobody sends them."""
    await rig.fill(organizations=2, lanes=2, items=ORPHANS * SLOTS)
    async with rig.sink(faults={phase: Fault("silence")}) as sink:
        async with rig.workers(count=ORPHANS, dot_seconds=60.0) as workers:

            async def all_held() -> bool:
                return {Item.CLAIMED if phase == "greeting" else Item.SENDING: ORPHANS * SLOTS} == await rig.states()

            await rig.until(all_held, seconds=20, what="everything is held")
            for child in workers.working:
                workers.kill(child)
        await rig.connection.execute("update queue_item set not_after = now()")
        sink.faults = {}
        async with rig.workers(count=1):
            await rig.drained()
        reasons = await rig.connection.fetch("select status, reason, count(*) from queue_item group by 1, 2")
        await rig.reconcile(unknown_max=ORPHANS * SLOTS if phase == "dot" else 0)
        rig.tell(f"T09 orphaned at {phase} and too late: {[tuple(row) for row in reasons]}, {sink.count} mails")
        end = (Item.IGNORED, "too_late") if phase == "greeting" else (Item.FAILED, "outcome_unknown")
        assert [(*end, ORPHANS * SLOTS)] == [tuple(row) for row in reasons]
        assert 0 == sink.count


async def test_outage(rig: Rig, tmp_path: Path) -> None:
    """T17: nobody works for six hours. What is still worth it goes at its rate, the rest ends, each told once."""
    await rig.fill(organizations=1, lanes=1, items=1)
    async with rig.sink() as sink:
        async with rig.workers(count=1, folder=str(tmp_path)):
            await rig.drained()
        await rig.schedule(WITHIN + TOO_LATE)
        await rig.connection.execute("update channel_account set rate = $1, rate_ceiling = $1", RATE)
        await _pass_time(rig.connection, hours=6)
        await rig.connection.execute(
            """update queue_item set not_after = now() - interval '1 hour' where item_id in (
                 select item_id from queue_item where status = 1 order by item_id limit $1)""",
            TOO_LATE,
        )
        began = time.monotonic()
        async with rig.workers(count=2, folder=str(tmp_path), slots=50):
            await rig.drained()
        seconds = time.monotonic() - began
        states = await rig.states()
        await rig.reconcile(unknown_max=0)
        rig.tell(
            f"T17 after 6 h without workers: {sink.count - 1} sent in {seconds:.1f} s at {RATE}/s and a burst of "
            f"{BURST}, {states.get(Item.IGNORED)} too late, 1 event each"
        )
    assert {Item.SENT: WITHIN + 1, Item.IGNORED: TOO_LATE} == states
    assert seconds >= 0.8 * (WITHIN - BURST) / RATE


async def test_database_goes_back(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """T17: a base backup of two hours ago is put in place and started, under the workers that knew the later one."""
    async with _own_rig(tmp_path, record_property) as rig:
        await rig.fill(organizations=4, lanes=2, items=1)
        server, backup = rig.server, rig.server.home / "backup"
        socket = Path(parse_qs(urlsplit(server.url).query)["host"][0])
        async with rig.sink(), rig.workers(count=1, folder=str(tmp_path)):
            await rig.drained()
        await rig.schedule(OVERDUE)
        await _pass_time(rig.connection, hours=2)
        await asyncio.to_thread(nodes.back_up, server, socket=socket, folder=backup)
        async with rig.sink() as sink, rig.workers(count=2, folder=str(tmp_path)) as workers:
            await rig.drained()
            assert OVERDUE == sink.count
            await asyncio.sleep(LOOK_SECONDS)
            await rig.crash_database()
            server.cluster.rename(server.home / "later")
            backup.rename(server.cluster)
            await rig.revive_database()
            workers.start_one()
            await _judge(rig, workers, "went back two hours")


async def _judge(rig: Rig, crew: Crew, what: str) -> None:
    """Nothing is sent again before it is confirmed; then all of it is, and each item has one end."""
    target = rig.target
    assert target is not None
    await rig.until(lambda: _is_paused(rig), seconds=60, what="sending is paused")
    await asyncio.sleep(QUIET_SECONDS)
    before = target.count - OVERDUE
    assert {Item.SCHEDULED: OVERDUE, Item.SENT: 1} == await rig.states()
    await _confirm(rig)
    await rig.drained()
    again = target.count - OVERDUE
    told = await rig.connection.fetchval(
        """select count(*) from (select subject_id from event where is_terminal group by subject_id
                                 having count(*) = 1) once"""
    )
    for child in crew.children:
        child.log.write_text("")  # that sending is paused is an error, and rightly logged as one
    rig.tell(f"T17 {what}: {before} of {OVERDUE} left before it was confirmed, {again} after, 1 event each")
    assert (0, OVERDUE, OVERDUE + 1) == (before, again, told)


async def _is_paused(rig: Rig) -> bool:
    return await rig.connection.fetchval("select exists(select from sending_guard where paused_time is not null)")


async def _confirm(rig: Rig) -> None:
    """Confirm as a person does."""
    child = processes.start(
        ["-m", "afterword", "doctor", "--confirm-sending"],
        env=processes.environment(database_url=rig.database_url, secret=SECRET, data_dir=rig.folder / "data"),
        log=rig.folder / "doctor.log",
        name="doctor",
    )
    await child.ended(seconds=60)  # other things may be wrong with this installation
    assert not await _is_paused(rig), child.tail()


async def _pass_time(connection: Any, *, hours: int) -> None:
    """Move everything that is stored into the past."""
    await connection.execute(
        """update queue_item set due_time = due_time - make_interval(hours => $1),
             not_after = not_after - make_interval(hours => $1), send_time = send_time - make_interval(hours => $1)""",
        hours,
    )
    await connection.execute("update sending_guard set watched_time = watched_time - make_interval(hours => $1)", hours)


@asynccontextmanager
async def _own_rig(folder: Path, record: Callable[[str, object], None]) -> AsyncGenerator[Rig]:
    """A rig on a cluster of its own, which a test may exchange."""
    server, home = await asyncio.to_thread(start_cluster, {"wal_level": "replica", "max_wal_senders": "4"})
    try:
        await migrations.migrate(server.url)
        async with await db.open_pool(server.url, size_max=2) as pool:
            connection: Any = await asyncpg.connect(server.url)
            rig = Rig(server, server.url, pool, connection, folder, random.Random(1))  # noqa: S311
            rig.record = record
            yield rig
            rig.connection.terminate()
    finally:
        await server.stop()
        shutil.rmtree(home)


async def test_a_dump_is_restored(rig: Rig, tmp_path: Path) -> None:
    """Dumped with everything overdue, sent, dropped, restored: workers that knew the later one wait for a person."""
    await rig.fill(organizations=4, lanes=2, items=1)
    async with rig.sink(), rig.workers(count=1, folder=str(tmp_path)):
        await rig.drained()
    await rig.schedule(OVERDUE)
    await _pass_time(rig.connection, hours=2)
    dump = tmp_path / "afterword.dump"
    await asyncio.to_thread(_run, rig, "pg_dump", "--format=custom", f"--file={dump}", rig.database_url)
    async with rig.sink() as sink:
        async with rig.workers(count=2, folder=str(tmp_path)):
            await rig.drained()
            assert OVERDUE == sink.count
            await asyncio.sleep(LOOK_SECONDS)
        await _put_back(rig, dump)
        async with await db.open_pool(rig.database_url, size_max=2) as pool:  # connections to what stands there now
            restored = replace(rig, pool=pool)
            async with restored.workers(count=2, folder=str(tmp_path)) as crew:
                await _judge(restored, crew, "restored from a dump")


def _run(rig: Rig, program: str, *words: str) -> None:
    run = subprocess.run(
        [str(rig.server.binaries.folder / program), *words], check=False, capture_output=True, text=True
    )
    assert 0 == run.returncode, run.stderr


async def _put_back(rig: Rig, dump: Path) -> None:
    """As an operator does: an empty database under the same name, and the dump into it."""
    name = await rig.connection.fetchval("select current_database()")
    await rig.pool.raw.expire_connections()
    await rig.connection.close()
    admin: Any = await asyncpg.connect(rig.server.url)
    try:
        await admin.execute(f"drop database {name} with (force)")
        await admin.execute(f"create database {name}")
    finally:
        await admin.close()
    await asyncio.to_thread(
        _run, rig, "pg_restore", "--exit-on-error", "--no-owner", f"--dbname={rig.database_url}", str(dump)
    )
    rig.connection = await asyncpg.connect(rig.database_url)
