"""Notices when a process has more requests than it can bear, and then lets in no more than it answers in time.

Whoever is let in waits behind all who were let in before: so many, divided by how many are answered in a second, is
how long, whatever it is that is short: the processor, connections or the disk. While more and more wait, a process
therefore holds as many at once as it answers in `WAIT_SECONDS`. A burst that it has caught up with after a moment is
no such case, and who waits for a slow client does not count.
"""

import asyncio
from typing import Final

REQUESTS_MIN: Final = 40  # at once, which are always let in
WAIT_SECONDS: Final = 0.015
TURN_SECONDS: Final = 0.02  # a burst may take as long as this
CALM_SECONDS: Final = 1.0  # without a refusal: then it is over
OLD_SHARE: Final = 0.9  # of a mean that goes by the last turns: so much each turn leaves of it


class LoadShedder:
    """Counts the requests under way; while they are many, looks each turn how many are answered."""

    def __init__(self) -> None:
        self._under_way = 0
        self._least = 0  # that were under way at one moment of this turn
        self._finished = 0
        self._limit = REQUESTS_MIN
        self._rate = 0.0
        self._turned: float | None = None  # when this turn began; None: nobody measures, as few are under way
        self._strict_until = 0.0

    @property
    def is_high(self) -> bool:
        """Whether the next request had better come back later; asking is what it takes to stay so."""
        if self._under_way < self._limit or not self._strict_until:
            return False
        self._strict_until = asyncio.get_running_loop().time() + CALM_SECONDS
        return True

    def enter(self) -> None:
        """A request is let in."""
        self._under_way += 1
        if self._turned is None and self._under_way >= REQUESTS_MIN:
            self._turned = asyncio.get_running_loop().time()
            self._finished, self._rate, self._limit = 0, 0.0, REQUESTS_MIN
            self._wait_for_turn()

    def leave(self) -> None:
        """It is answered."""
        self._finished += 1
        self.pause()

    def pause(self) -> None:
        """It waits for its client."""
        self._under_way -= 1
        self._least = min(self._least, self._under_way)

    def resume(self) -> None:
        """It does no longer."""
        self._under_way += 1

    def _wait_for_turn(self) -> None:
        self._least = self._under_way
        asyncio.get_running_loop().call_later(TURN_SECONDS, self._turn)

    def _turn(self) -> None:
        now = asyncio.get_running_loop().time()
        rate = self._finished / max(now - (self._turned or 0.0), TURN_SECONDS)
        self._rate = OLD_SHARE * self._rate + (1 - OLD_SHARE) * rate if self._rate else rate
        self._limit = max(REQUESTS_MIN, int(self._rate * WAIT_SECONDS))
        if self._least >= self._limit:  # all the time: it does not catch up
            self._strict_until = now + CALM_SECONDS
        elif now > self._strict_until:
            self._strict_until = 0.0
        if self._under_way < REQUESTS_MIN and not self._strict_until:
            self._turned = None
            return
        self._turned, self._finished = now, 0
        self._wait_for_turn()
