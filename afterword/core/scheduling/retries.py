"""Waits before the next try: after a temporary refusal, a throttle, a broken connection."""

from datetime import timedelta
from typing import Final

BACKOFF_MINUTES: Final = (1, 5, 15, 60, 180, 360, 720, 1440)
BACKOFF_HOURS_MAX: Final = 72  # all waits of an item together, before jitter
JITTER_MIN: Final = 0.8
JITTER_MAX: Final = 1.2
WAIT_SECONDS_MIN: Final = 1
WAIT_SECONDS_MAX: Final = 3600
THROTTLE_SECONDS: Final = 1
THROTTLE_SECONDS_MAX: Final = 300
BREAKER_FAILURES: Final = 5
BREAKER_WINDOW: Final = 20
BREAKER_SHARE: Final = 0.5
BREAKER_SECONDS: Final = 30
BREAKER_SECONDS_MAX: Final = 600


def backoff(retries: int, *, jitter: float) -> timedelta:
    """The wait before retry number `retries` (from 1). `jitter`: uniform in 0.8 to 1.2."""
    return timedelta(minutes=_minutes(retries - 1)) * jitter


def is_used_up(attempts: int, *, attempts_max: int) -> bool:
    """Whether no further try is allowed: by number, or because all waits together would last more than 72 hours."""
    if attempts >= attempts_max:
        return True
    return sum(map(_minutes, range(attempts))) > BACKOFF_HOURS_MAX * 60


def _minutes(retry: int) -> int:
    return BACKOFF_MINUTES[min(max(retry, 0), len(BACKOFF_MINUTES) - 1)]


def throttle_wait(throttled: int, *, jitter: float) -> timedelta:
    """The wait of an item after its throttle number `throttled` (from 1): short, since the account slows down too."""
    seconds = min(THROTTLE_SECONDS * 2.0 ** min(max(throttled, 1) - 1, 20), THROTTLE_SECONDS_MAX)
    return timedelta(seconds=seconds * jitter)


def clamped(after_seconds: float | None) -> timedelta:
    """The wait that the other side asks for, bounded: nothing, or 1 second to 1 hour."""
    if after_seconds is None:
        return timedelta(0)
    return timedelta(seconds=min(max(after_seconds, WAIT_SECONDS_MIN), WAIT_SECONDS_MAX))


def breaker_seconds(failures: int) -> float:
    """The seconds that an account rests after this many failures in a row; 0 below the threshold."""
    if failures < BREAKER_FAILURES:
        return 0.0
    return float(min(BREAKER_SECONDS * 2 ** min(failures - BREAKER_FAILURES, 20), BREAKER_SECONDS_MAX))


def is_failing(last: tuple[bool, ...]) -> bool:
    """Whether at least half of the last 20 conversations with an account failed (True: it failed)."""
    return len(last) >= BREAKER_WINDOW and sum(last[-BREAKER_WINDOW:]) >= BREAKER_WINDOW * BREAKER_SHARE
