"""T17, with a dump: the database of two hours ago is restored from `pg_dump`, and nobody is mailed twice unasked."""

import asyncio
import random
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from afterword.core.scheduling.statuses import Item
from afterword.kit import db
from tests.run.worker.faults.rig import Rig, size
from tests.run.worker.faults.test_time import _confirm, _is_paused, _pass_time

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

OVERDUE = size(300, 5_000)
QUIET_SECONDS = size(3, 30)
LOOK_SECONDS = 6  # workers look every five


async def test_a_dump_is_restored(rig: Rig, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
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
        async with _again(rig, record_property) as restored, restored.workers(count=2, folder=str(tmp_path)) as crew:
            await restored.until(lambda: _is_paused(restored), seconds=60, what="sending is paused")
            await asyncio.sleep(QUIET_SECONDS)
            before = sink.count - OVERDUE
            assert {Item.SCHEDULED: OVERDUE, Item.SENT: 1} == await restored.states()
            await _confirm(restored)
            await restored.drained()
            again = sink.count - OVERDUE
            told = await restored.connection.fetchval(
                """select count(*) from (select subject_id from event where is_terminal group by subject_id
                                         having count(*) = 1) once"""
            )
            for child in crew.children:
                child.log.write_text("")  # that sending is paused is an error, and rightly logged as one
    rig.tell(
        f"T17 restored from a dump: {before} of {OVERDUE} left before it was confirmed, {again} after, 1 event each"
    )
    assert (0, OVERDUE, OVERDUE + 1) == (before, again, told)


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


@asynccontextmanager
async def _again(rig: Rig, record: Callable[[str, object], None]) -> AsyncGenerator[Rig]:
    """The same rig with connections to what stands there now."""
    async with await db.open_pool(rig.database_url, size_max=2) as pool:
        yield Rig(
            rig.server, rig.database_url, pool, rig.connection, rig.folder, random.Random(1), target=rig.target,  # noqa: S311
            record=record,
        )  # fmt: skip
