"""Where a worker's looks begin, once dead rows have made them slow."""

from datetime import UTC, datetime

import pytest

from afterword.run.worker import jobs
from afterword.run.worker.jobs import MARGIN, SLOW_SECONDS, WHOLE_SECONDS, LowWaterMarks

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
