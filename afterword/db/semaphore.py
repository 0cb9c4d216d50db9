"""A semaphore that serves its waiters in their order, and lets each wait for a limited time."""

import asyncio
from collections import deque


class TooManyWait(Exception):
    """As many wait as may wait."""


class FifoSemaphore:
    """One timer serves all waiters: a timer for each would cost more than the wait itself."""

    def __init__(self, places: int, *, waiting_max: int, seconds: float) -> None:
        self._free = places
        self._waiting_max = waiting_max
        self._seconds = seconds
        self._line: deque[tuple[float, asyncio.Future[None]]] = deque()  # by deadline, the earliest first
        self._timer: asyncio.TimerHandle | None = None
        self.waiting = 0

    def take_at_once(self) -> bool:
        """Take a place if one is free: then nobody waits for it."""
        if not self._free:
            return False
        self._free -= 1
        return True

    async def take(self) -> None:
        """Wait for a place. Raises TooManyWait at once, TimeoutError after that many seconds."""
        if self.take_at_once():
            return
        if self.waiting >= self._waiting_max:
            raise TooManyWait
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        until = loop.time() + self._seconds
        self._line.append((until, turn))
        if self._timer is None:
            self._timer = loop.call_at(until, self._sweep)
        self.waiting += 1
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.give_back()  # served and cancelled in the same turn of the loop
            else:
                turn.cancel()
            raise
        finally:
            self.waiting -= 1

    def give_back(self) -> None:
        while self._line:
            _, turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _sweep(self) -> None:
        """End the waits that are past their deadline, and set the timer to the next deadline."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._line and (self._line[0][0] <= now or self._line[0][1].done()):
            _, turn = self._line.popleft()
            if not turn.done():
                turn.set_exception(TimeoutError())
        self._timer = loop.call_at(self._line[0][0], self._sweep) if self._line else None
