"""The jobs of a worker: each named once, with a limit, and on an empty database none has anything to do."""

import random
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from afterword.kit import db
from afterword.run.worker import jobs
from afterword.run.worker.flights import Pace
from afterword.run.worker.jobs import MARGIN, SLOW_SECONDS, WHOLE_SECONDS, LowWaterMarks, jobs_of
from afterword.sending.queue import restores
from afterword.sending.queue.sending.service import Lease
from tests.conftest import House


async def test_jobs(pool: db.Pool, house: House) -> None:
    lease = Lease(owner=uuid.uuid4(), seconds=60.0, margin_seconds=5.0)
    jobs = jobs_of(lease=lease, site=house.site, pace=Pace(), draw=random.random, queue_days=30)
    assert len(jobs) == len({job.name for job in jobs})
    for job in jobs:
        async with db.transaction(pool) as database:
            assert 0 <= await job.run(database) <= job.batch, job.name
        assert job.seconds > 0


async def test_nothing_is_removed_by_a_clock_that_jumped(pool: db.Pool) -> None:
    """By 400 days: a wrong clock would remove everything at once. Set right, it removes at once what is due."""
    ran = list[str]()

    async def remove(database: db.Database) -> int:
        ran.append("removed")
        return 1

    job = jobs.removal(jobs.Job("remove", 1.0, 1, remove))
    for days, is_seen, count in ((6, False, 1), (400, False, 0), (400, True, 0), (-400, True, 1), (-2, True, 1)):
        async with db.transaction(pool) as database:
            await database.execute(
                """update sending_guard set watched_time = watched_time - make_interval(days => $1),
                     jumped_time = jumped_time - make_interval(days => $1)""",
                days,
            )
            if is_seen:
                view = await restores.check_log(database, mark=None, is_first=False)
                assert view.has_jumped == (days == 400)
            assert count == await job.run(database), days
            if days == 6:
                await restores.check_log(database, mark=None, is_first=False)


async def test_a_clock_that_jumped_is_believed_after_a_day(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute("update sending_guard set jumped_time = now() - interval '1 hour'")
        until = await restores.get_removals_time(database)
        assert until is not None
        assert timedelta(hours=23) == until - await database.fetch_value("select now()")
        await database.execute("update sending_guard set jumped_time = now() - interval '25 hours'")
        assert await restores.get_removals_time(database) is None


LANE = "organization", "pipeline"
DUE = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the worker, for tests to move."""
    moment = [0.0]
    monkeypatch.setattr(jobs.time, "monotonic", lambda: moment[0])
    return moment


def look(heads: LowWaterMarks, seconds: float) -> None:
    heads.begin()
    heads.looked(seconds)
    heads.reached({LANE: DUE})


class TestWhole:
    def test_quick_looks(self, clock: list[float]) -> None:
        heads = LowWaterMarks()
        look(heads, SLOW_SECONDS / 2)
        assert {} == heads.begin()

    def test_once_a_second(self, clock: list[float]) -> None:
        heads = LowWaterMarks()
        look(heads, SLOW_SECONDS * 2)
        clock[0] += WHOLE_SECONDS
        assert {} == heads.begin()

    def test_quick_again(self, clock: list[float]) -> None:
        heads = LowWaterMarks()
        look(heads, SLOW_SECONDS * 2)
        clock[0] += WHOLE_SECONDS
        look(heads, SLOW_SECONDS / 2)
        assert {} == heads.begin()


class TestShort:
    def test_shortly_before_what_was_claimed(self, clock: list[float]) -> None:
        heads = LowWaterMarks()
        look(heads, SLOW_SECONDS * 2)
        assert {LANE: DUE - MARGIN} == heads.begin()

    def test_being_quick_now_says_nothing(self, clock: list[float]) -> None:
        heads = LowWaterMarks()
        look(heads, SLOW_SECONDS * 2)
        look(heads, SLOW_SECONDS / 10)
        assert {LANE: DUE - MARGIN} == heads.begin()
