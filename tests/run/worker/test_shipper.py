"""A worker that is killed in the middle of an export on a timetable, or that is told to stop, and the next one."""

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest

from afterword.core.answers.values import Given
from afterword.kit.transport import stores
from afterword.listening.exports import datasets
from afterword.run.worker.long_work import Shipper
from tests.listening.exports.conftest import (
    CSAT,
    Timetable,
    timetable as timetable,  # noqa: PLC0414  a fixture
)
from tests.listening.exports.test_datasets import read


async def test_killed_and_resumed(timetable: Timetable, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day that was kept is not written twice, and one that was begun is written again under its name."""
    ids = [await timetable.respond({CSAT: Given(n)}) for n in (1, 2, 3)]
    for days, instance_id in enumerate(ids):
        await timetable.shift(instance_id, 2 * days)
    schedule = await timetable.schedule()
    put, count = stores._Folder.put, 0

    async def killed(self: Any, name: str, content: Path) -> None:
        nonlocal count
        await put(self, name, content)
        count += 1
        if count == 3:  # the code book, a day, another that is not kept
            raise asyncio.CancelledError

    monkeypatch.setattr(stores._Folder, "put", killed)
    await timetable.send("POST", f"/export/schedule/{schedule['schedule_id']}/run", status=201)
    with pytest.raises(asyncio.CancelledError):
        await timetable.ship()
    run = await timetable.last_run(schedule)
    assert ("queued", 1, 3) == (run["state"], run["days_written"], run["day_count"])
    before = set(timetable.files)
    await timetable.ship()
    run = await timetable.last_run(schedule)
    assert ("done", 3, 3, 3) == tuple(run[name] for name in ("state", "days_written", "day_count", "row_count"))
    assert before < set(timetable.files)
    rows = read(timetable.folder / "delivery", "parquet")
    assert sorted(ids) == sorted(one["instance_id"] for one in rows)


async def test_told_to_stop(timetable: Timetable) -> None:
    """The run waits for the next worker, and has not failed."""
    await timetable.respond({CSAT: Given(1)})
    schedule = await timetable.schedule()
    await timetable.send("POST", f"/export/schedule/{schedule['schedule_id']}/run", status=201)
    stop = asyncio.Event()
    stop.set()
    await Shipper(timetable.pool, uuid.uuid4(), timetable.site).work_next(stop)
    assert "queued" == (await timetable.last_run(schedule))["state"]
    await timetable.ship()
    assert "done" == (await timetable.last_run(schedule))["state"]


async def test_given_up(timetable: Timetable, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of ours is tried again, and a run that never gets further ends."""

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    schedule = await timetable.schedule()
    monkeypatch.setattr(datasets, "take_fingerprints", broken)
    await timetable.send("POST", f"/export/schedule/{schedule['schedule_id']}/run", status=201)
    for _ in range(5):
        with pytest.raises(RuntimeError):
            await timetable.ship()
    await timetable.ship()
    run = await timetable.last_run(schedule)
    assert ("failed", "given_up") == (run["state"], run["error"])
