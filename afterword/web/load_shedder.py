"""Detects overload of a process, and then admits no more requests than it answers in time.

A request waits for those admitted before it: their number divided by the requests answered a second, whether processor,
connections or disk are short (Little's law). Under overload a process therefore admits as many at once as it answers in
`WAIT_SECONDS`. A short burst is no overload, and requests that wait for a slow client are not counted.
"""

import asyncio
from typing import Final

from starlette.types import Message, Receive

REQUESTS_MIN: Final = 40  # at once, always admitted
WAIT_SECONDS: Final = 0.015
INTERVAL_SECONDS: Final = 0.02  # also the length of a burst that is no overload
CALM_SECONDS: Final = 1.0  # without a refusal end the overload
OLD_SHARE: Final = 0.9  # smoothing factor of the moving average of completions


class LoadShedder:
    """Counts concurrent requests; while there are many, measures the completions of each interval."""

    def __init__(self) -> None:
        self._under_way = 0
        self._least = 0  # minimum of concurrent requests in this interval
        self._finished = 0
        self._limit = REQUESTS_MIN
        self._rate = 0.0
        self._started: float | None = None  # start of this interval; None: not measuring, as there are few requests
        self._strict_until = 0.0

    @property
    def is_high(self) -> bool:
        """True while requests are to be refused; each refusal prolongs it."""
        if self._under_way < self._limit or not self._strict_until:
            return False
        self._strict_until = asyncio.get_running_loop().time() + CALM_SECONDS
        return True

    def enter(self) -> None:
        self._under_way += 1
        if self._started is None and self._under_way >= REQUESTS_MIN:
            self._started = asyncio.get_running_loop().time()
            self._finished, self._rate, self._limit = 0, 0.0, REQUESTS_MIN
            self._start_interval()

    def leave(self) -> None:
        self._finished += 1
        self._pause()

    def untimed(self, receive: Receive) -> Receive:
        """Exclude a request while it waits for its client."""

        async def wait() -> Message:
            self._pause()
            try:
                return await receive()
            finally:
                self._under_way += 1

        return wait

    def _pause(self) -> None:
        self._under_way -= 1
        self._least = min(self._least, self._under_way)

    def _start_interval(self) -> None:
        self._least = self._under_way
        asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._end_interval)

    def _end_interval(self) -> None:
        now = asyncio.get_running_loop().time()
        rate = self._finished / max(now - (self._started or 0.0), INTERVAL_SECONDS)
        self._rate = OLD_SHARE * self._rate + (1 - OLD_SHARE) * rate if self._rate else rate
        self._limit = max(REQUESTS_MIN, int(self._rate * WAIT_SECONDS))
        if self._least >= self._limit:  # during the whole interval: overload
            self._strict_until = now + CALM_SECONDS
        elif now > self._strict_until:
            self._strict_until = 0.0
        if self._under_way < REQUESTS_MIN and not self._strict_until:
            self._started = None
            return
        self._started, self._finished = now, 0
        self._start_interval()
