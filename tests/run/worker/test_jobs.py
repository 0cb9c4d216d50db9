"""The jobs of a worker: each named once, with a limit, and on an empty database none has anything to do."""

import random
import uuid
from datetime import UTC, datetime

import pytest

from afterword.kit import db
from afterword.run.worker import jobs
from afterword.run.worker.flights import Pace
from afterword.run.worker.jobs import MARGIN, SLOW_SECONDS, WHOLE_SECONDS, LowWaterMarks, jobs_of
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
