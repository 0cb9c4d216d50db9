from datetime import UTC, datetime, timedelta

import pytest

from afterword.core.answers.instances import STATES, state_of

NOW = datetime(2026, 11, 26, 8, tzinfo=UTC)
BEFORE, AFTER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("active", "opens", "closes", "state"),
    [
        (True, None, None, "open"),
        (True, NOW, AFTER, "open"),
        (True, AFTER, None, "scheduled"),
        (True, None, NOW, "over"),
        (True, BEFORE, BEFORE, "over"),
        (False, None, None, "off"),
        (False, AFTER, BEFORE, "off"),
    ],
)
def test_state(active: bool, opens: datetime | None, closes: datetime | None, state: str) -> None:  # noqa: FBT001
    assert state == state_of(active=active, opens_time=opens, closes_time=closes, now=NOW)
    assert state in STATES
