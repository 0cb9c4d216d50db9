"""Pauses of a worker that found nothing: in proportion to a poll's cost, and never long after one slow poll."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from afterword.run.worker import Pace, sender
from afterword.run.worker.flights import POLL_CIRCLES_SECONDS_MAX, first_of, idle_seconds
from afterword.sending.queue import lanes
from afterword.sending.queue.lanes import Lane
from tests.run.worker.conftest import DEADLINE_SECONDS, RIG, Bench

SLOW_SECONDS = 0.3


@pytest.mark.parametrize(
    ("circle", "before", "seconds"),
    [
        (0.0001, 0.0001, 0.25),  # two lanes
        (0.005, 0.005, 0.25),  # two thousand
        (0.061, 0.060, 1.2),  # twenty thousand
        (0.3, 0.0001, 0.25),  # the machine stood still for a moment
        (0.0001, 0.3, 0.25),
        (0.3, 0.0, 0.25),  # the first look
        (0.3, 0.3, 2.0),  # it goes on: look seldom, but look
        (60.0, 60.0, 2.0),
    ],
)
def test_idle_seconds(circle: float, before: float, seconds: float) -> None:
    assert pytest.approx(seconds) == idle_seconds(0.25, circle=circle, before=before)


def test_what_operators_make_rarer_stays_so() -> None:
    assert 30.0 == idle_seconds(30.0, circle=0.3, before=0.3)


async def test_a_slow_look_is_no_reason_to_look_away(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty times as long as it took would be a time in which nothing is sent."""
    pauses: list[float] = []
    left, real = [2], lanes.list_lanes  # a look asks twice: behind its cursor, and before it

    async def short(*events: asyncio.Event, seconds: float | None = None) -> None:
        pauses.extend([] if seconds is None else [seconds])
        await first_of(*events, seconds=None if seconds is None else 0.01)

    async def slow(*values: Any, **named: Any) -> Sequence[Lane]:
        if left[0]:
            left[0] -= 1
            await asyncio.sleep(SLOW_SECONDS)
        return await real(*values, **named)

    monkeypatch.setattr(sender, "first_of", short)
    monkeypatch.setattr(lanes, "list_lanes", slow)
    async with bench.worker(), asyncio.timeout(DEADLINE_SECONDS):
        while len(pauses) < 4:
            await asyncio.sleep(0.01)
    assert pauses[0] <= RIG.poll_seconds * 1.2
    assert max(pauses) <= POLL_CIRCLES_SECONDS_MAX


class TestPace:
    @pytest.mark.parametrize(
        "values", [{"lease_seconds": 50.0}, {"heartbeat_seconds": 19.0}, {"slots": 0}, {"slots": 201}]
    )
    def test_limits_that_depend_on_each_other(self, values: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"A (lease|worker)"):
            Pace(**values)
