"""The next day of a digest, in the organization's time zone, also across a change of its clocks."""

from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from afterword.core.figures.periods import next_due

ATHENS = ZoneInfo("Europe/Athens")


@pytest.mark.parametrize(
    ("frequency", "day", "now", "due"),
    [
        ("weekly", 1, "2026-11-25T19:00Z", "2026-11-30T06:00Z"),
        ("weekly", 3, "2026-11-25T05:59Z", "2026-11-25T06:00Z"),
        ("weekly", 3, "2026-11-25T06:00Z", "2026-12-02T06:00Z"),  # never twice at once
        ("weekly", 7, "2026-10-24T12:00Z", "2026-10-25T06:00Z"),  # winter time begins that night
        ("monthly", 1, "2026-12-01T06:00Z", "2027-01-01T06:00Z"),
        ("monthly", 28, "2027-02-01T00:00Z", "2027-02-28T06:00Z"),
        ("monthly", 1, "2026-06-30T23:00Z", "2026-07-01T05:00Z"),  # already July there
    ],
)
def test_next_due(frequency: Literal["weekly", "monthly"], day: int, now: str, due: str) -> None:
    moment = next_due(datetime.fromisoformat(now), frequency=frequency, day=day, hour=8, zone=ATHENS)
    assert datetime.fromisoformat(due) == moment
