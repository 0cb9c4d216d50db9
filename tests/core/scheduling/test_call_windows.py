"""The times at which a customer can ask to be called."""

from datetime import datetime, time
from zoneinfo import ZoneInfo

import pytest

from afterword.core.scheduling import windows
from afterword.core.scheduling.windows import Calendar, Hours

ATHENS = ZoneInfo("Europe/Athens")
OFFICE = Calendar(ATHENS, Hours(time(8), time(18)), frozenset({1, 2, 3, 4, 5}))
UNSET = Calendar(ATHENS)
SHORT = Calendar(ATHENS, Hours(time(10), time(13)), frozenset({6}))
NEVER = Calendar(ATHENS, Hours(time(9), time(17)), quiet=Hours(time(8), time(18)))


@pytest.mark.parametrize(
    ("calendar", "now", "first"),
    [
        (OFFICE, "2026-11-27T11:00", ["Fri 08-13", "Fri 13-18", "Mon 08-13", "Mon 13-18", "Tue 08-13", "Tue 13-18"]),
        (OFFICE, "2026-11-27T12:01", ["Fri 13-18", "Mon 08-13"]),
        (OFFICE, "2026-11-27T20:00", ["Mon 08-13"]),
        (UNSET, "2026-11-28T03:00", ["Mon 09-13", "Mon 13-17"]),
        (SHORT, "2026-11-27T20:00", ["Sat 10-13", "Sat 10-13"]),
        (NEVER, "2026-11-27T20:00", []),
    ],
)
def test_offered(calendar: Calendar, now: str, first: list[str]) -> None:
    found = windows.offered(calendar, now=datetime.fromisoformat(now).replace(tzinfo=ATHENS))
    said = [f"{start.astimezone(ATHENS):%a %H}-{end.astimezone(ATHENS):%H}" for start, end in found]
    assert first == said[: len(first)]
    assert (len(said) <= windows.WINDOWS_MAX, bool(first)) == (True, bool(said))
