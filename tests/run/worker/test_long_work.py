"""Long work under a lease: what it raises decides whether it is tried again, failed, or left to another."""

import asyncio
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db.leases import ATTEMPTS_MAX, LeaseLost
from afterword.run.worker.long_work import LongWorker


@dataclass
class Job:
    attempts: int = 1


@dataclass
class Held:
    """One job, and how it was given back."""

    job: Job | None
    released: list[bool]
    table: str = "test"

    async def claim(self, *_: Any, **__: Any) -> Job | None:
        return self.job

    async def release(self, *_: Any, is_tried: bool, **__: Any) -> None:
        self.released.append(is_tried)


class Work(LongWorker[Any]):
    def __init__(self, pool: db.Pool, job: Job | None, error: Exception | None = None) -> None:
        self.held, self.error, self.failed = Held(job, []), error, list[str | None]()
        super().__init__(pool, uuid.uuid4())
        self.leases = cast("Any", self.held)

    async def work(self, job: Any, stop: asyncio.Event) -> None:
        if self.error is not None:
            raise self.error

    async def fail(self, database: db.Database, job: Any, error: str | None, now: datetime) -> None:
        self.failed.append(error)


@pytest.mark.parametrize(
    ("error", "is_done", "released", "failed"),
    [
        (None, True, [False], []),
        (LeaseLost(), False, [], []),
        (errors.NotFound("It is gone."), True, [], ["It is gone."]),
    ],
)
async def test_ends(
    pool: db.Pool, error: Exception | None, released: list[bool], failed: list[str], *, is_done: bool
) -> None:
    work = Work(pool, Job(), error)
    assert is_done is await work.work_next(asyncio.Event())
    assert (released, failed) == (work.held.released, work.failed)


@pytest.mark.parametrize(("error", "is_tried"), [(errors.Unavailable("away"), False), (RuntimeError("a bug"), True)])
async def test_is_tried_again(pool: db.Pool, error: Exception, *, is_tried: bool) -> None:
    work = Work(pool, Job(), error)
    with pytest.raises(type(error)):
        await work.work_next(asyncio.Event())
    assert ([is_tried], []) == (work.held.released, work.failed)


async def test_nothing_and_too_often(pool: db.Pool) -> None:
    assert not await Work(pool, None).work_next(asyncio.Event())
    work = Work(pool, Job(ATTEMPTS_MAX + 1))
    assert await work.work_next(asyncio.Event())
    assert ([], [None]) == (work.held.released, work.failed)
