"""Leases: one worker has a job at a time, attempts are counted, and nothing of another organization is touched."""

import uuid
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db import Database, leases
from afterword.kit.db.leases import LEASE_SECONDS, Leases, StepResult, take

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
LATER = NOW + timedelta(seconds=LEASE_SECONDS + 1)
OURS, THEIRS = uuid.uuid4(), uuid.uuid4()


@dataclass(frozen=True, slots=True)
class Job:
    organization_id: str
    job_id: str
    state: str
    attempts: int
    error: str | None
    finished_time: datetime | None


JOBS = Leases(
    record=Job,
    table="job",
    id="job_id",
    columns="organization_id, job_id, state, attempts, error, finished_time",
    turn="place",
    resumable="state = 'failed'",
)


@pytest.fixture
async def database(pool: db.Pool) -> AsyncGenerator[Database, None]:
    """Jobs 1 and 2 of organization A, and 3 of B."""
    async with db.transaction(pool) as database:
        await database.execute(
            """create temporary table job (organization_id text, job_id text, place timestamptz,
                 state text default 'queued', owner uuid, lease_until timestamptz, finished_time timestamptz,
                 error text, attempts integer default 0, version integer default 1) on commit drop"""
        )
        await database.execute(
            "insert into job values ('A', '1', '2026-11-01'), ('A', '2', '2026-11-02'), ('B', '3', '2026-11-03')"
        )
        yield database


async def claim(database: Database, *, owner: uuid.UUID = OURS, now: datetime = NOW) -> Job:
    job = await JOBS.claim(database, owner=owner, now=now)
    assert job is not None
    return job


async def state(database: Database, job: Job) -> tuple[str, int]:
    row = await database.fetch_row("select state, attempts from job where job_id = $1", job.job_id)
    assert row is not None
    return tuple(row)


class TestClaim:
    async def test_one_of_an_organization_at_a_time(self, database: Database) -> None:
        assert ["1", "3"] == [(await claim(database)).job_id for _ in range(2)]
        assert await JOBS.claim(database, owner=THEIRS, now=NOW) is None

    async def test_after_the_lease(self, database: Database) -> None:
        first = await claim(database)
        assert (first.job_id, 2) == ((again := await claim(database, owner=THEIRS, now=LATER)).job_id, again.attempts)

    async def test_renewed(self, database: Database) -> None:
        first = await claim(database)
        await JOBS.renew(database, job=first, owner=OURS, now=LATER)
        assert "3" == (await claim(database, owner=THEIRS, now=LATER)).job_id

    async def test_by_another_who_had_it(self, database: Database) -> None:
        first = await claim(database)
        await JOBS.renew(database, job=first, owner=THEIRS, now=LATER)
        assert "1" == (await claim(database, owner=THEIRS, now=LATER)).job_id


class TestRelease:
    @pytest.mark.parametrize(("is_tried", "attempts"), [(True, 1), (False, 0)])
    async def test_counts(self, database: Database, *, is_tried: bool, attempts: int) -> None:
        job = await claim(database)
        await JOBS.release(database, job=job, owner=OURS, is_tried=is_tried)
        assert ("running", attempts) == await state(database, job)
        assert "1" == (await claim(database, owner=THEIRS)).job_id

    async def test_lost(self, database: Database) -> None:
        job = await claim(database)
        await JOBS.release(database, job=job, owner=THEIRS, is_tried=False)
        assert ("running", 1) == await state(database, job)
        assert "3" == (await claim(database, owner=THEIRS)).job_id


class TestResume:
    async def test_failed(self, database: Database) -> None:
        job = await claim(database)
        assert job == await JOBS.resume(database, job=job, now=NOW, refusal="It is done.")
        failed = await JOBS.end(database, job=job, owner=OURS, state="failed", now=NOW, error="no")
        assert failed is not None
        again = await JOBS.resume(database, job=failed, now=NOW, refusal="It is done.")
        assert replace(failed, state="queued", attempts=0, error=None, finished_time=None) == again

    async def test_done(self, database: Database) -> None:
        done = await JOBS.end(database, job=await claim(database), owner=OURS, state="done", now=NOW)
        assert done is not None
        with pytest.raises(errors.Conflict, match="It is done"):
            await JOBS.resume(database, job=done, now=NOW, refusal="It is done.")
        await JOBS.delete(database, job=done)
        assert [("2",), ("3",)] == await database.fetch_tuples("select job_id from job order by 1")


class TestEnd:
    async def test_done(self, database: Database) -> None:
        job = await claim(database)
        ended = await JOBS.end(database, job=job, owner=OURS, state="done", now=NOW)
        assert replace(job, state="done", finished_time=NOW) == ended
        assert await JOBS.end(database, job=job, owner=None, state="cancelled", now=NOW) is None

    async def test_lost(self, database: Database) -> None:
        job = await claim(database)
        assert await JOBS.end(database, job=job, owner=THEIRS, state="failed", now=NOW, error="no") is None
        assert ("running", 1) == await state(database, job)

    async def test_cancelled_by_nobody_in_particular(self, database: Database) -> None:
        job = await claim(database)
        assert await JOBS.end(database, job=job, owner=None, state="cancelled", now=NOW)
        assert ("cancelled", 1) == await state(database, job)

    async def test_another_organization(self, database: Database) -> None:
        job = replace(await claim(database), organization_id="B")
        await JOBS.renew(database, job=job, owner=OURS, now=LATER)
        await JOBS.release(database, job=job, owner=OURS, is_tried=False)
        for owner in (OURS, None):
            assert await JOBS.end(database, job=job, owner=owner, state="failed", now=NOW) is None
        assert ("running", 1) == await state(database, job)
        assert "1" == (await claim(database, owner=THEIRS, now=LATER)).job_id


async def test_capacity(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "OPEN_MAX", 2)
    await JOBS.require_capacity(database, organization_id="B", noun="jobs")
    with pytest.raises(errors.TooMany, match="2 jobs are waiting"):
        await JOBS.require_capacity(database, organization_id="A", noun="jobs")


async def test_ok(pool: db.Pool) -> None:
    async def work() -> StepResult:
        return StepResult(counts=Counter(rows=2), mark="b")

    async with db.transaction(pool) as database:
        found = await take(database, work())
    assert (Counter(rows=2), "b", False) == (found.counts, found.mark, found.waits)


async def test_failure_is_undone(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute("create temporary table shelf (shelf_id int)")

        async def work() -> StepResult:
            await database.execute("insert into shelf values (1)")
            raise ValueError

        assert (await take(database, work(), organization_id="a")).waits
        assert 0 == await database.fetch_value("select count(*) from shelf")


async def test_database_away(pool: db.Pool) -> None:
    async def work() -> StepResult:
        raise errors.Unavailable("It is away.")

    async with db.transaction(pool) as database:
        with pytest.raises(errors.Unavailable):
            await take(database, work())
