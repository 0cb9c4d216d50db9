from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from afterword.core.scheduling import retries

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("number", "minutes"),
    [(0, 1), (1, 1), (2, 5), (3, 15), (4, 60), (5, 180), (6, 360), (7, 720), (8, 1440), (20, 1440)],
)
def test_backoff(number: int, minutes: int) -> None:
    assert minutes * MINUTE == retries.backoff(number, jitter=1.0)
    assert minutes * MINUTE * 0.8 == retries.backoff(number, jitter=0.8)


@pytest.mark.parametrize(
    ("attempts", "attempts_max", "used_up"),
    [(1, 1, True), (1, 9, False), (8, 9, False), (9, 9, True), (9, 21, False), (10, 21, True), (10, 9, True)],
)
def test_is_used_up(*, attempts: int, attempts_max: int, used_up: bool) -> None:
    assert used_up is retries.is_used_up(attempts, attempts_max=attempts_max)


@pytest.mark.parametrize(("number", "seconds"), [(1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (10_000, 300)])
def test_throttle_wait(number: int, seconds: int) -> None:
    assert timedelta(seconds=seconds) == retries.throttle_wait(number, jitter=1.0)


@pytest.mark.parametrize(
    ("asked", "seconds"), [(None, 0), (-5, 1), (0, 1), (1, 1), (90.5, 90.5), (3600, 3600), (1e9, 3600)]
)
def test_clamped(asked: float | None, seconds: float) -> None:
    assert timedelta(seconds=seconds) == retries.clamped(asked)


@pytest.mark.parametrize(("failures", "seconds"), [(0, 0), (4, 0), (5, 30), (6, 60), (9, 480), (10, 600), (10**9, 600)])
def test_breaker_seconds(failures: int, seconds: int) -> None:
    assert seconds == retries.breaker_seconds(failures)


@pytest.mark.parametrize(
    ("last", "failing"),
    [
        ((True,) * 4, False),
        ((True,) * 19, False),
        ((True, False) * 10, True),
        ((True,) * 9 + (False,) * 11, False),
        ((True,) * 20 + (False,) * 20, False),
    ],
)
def test_is_failing(*, last: tuple[bool, ...], failing: bool) -> None:
    assert failing is retries.is_failing(last)


@given(st.integers(1, 30), st.floats(0.8, 1.2))
def test_backoff_grows_by_more_than_its_jitter(number: int, jitter: float) -> None:
    assert retries.backoff(number, jitter=jitter) <= retries.backoff(number + 1, jitter=jitter)
    assert MINUTE * 0.8 <= retries.backoff(number, jitter=jitter) <= 1440 * MINUTE * 1.2
