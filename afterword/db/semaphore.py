"""Places for some at once: whoever finds none waits for their turn, first come, first served, and not for ever."""

import asyncio
from collections import deque


class TooManyWait(Exception):
    """There are as many waiting as may wait."""


class FifoSemaphore:
    """A semaphore with one timer for all who wait, as each of them would pay more for one than for the waiting."""

    def __init__(self, places: int, *, waiting_max: int, seconds: float) -> None:
        self._free = places
        self._waiting_max = waiting_max
        self._seconds = seconds
        self._line: deque[tuple[float, asyncio.Future[None]]] = deque()  # by the end of their patience, the next first
        self._timer: asyncio.TimerHandle | None = None
        self.waiting = 0

    def take_at_once(self) -> bool:
        """Take a place if there is one, which means that nobody waits for it."""
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
                self.give_back()  # it came in the moment in which nobody wanted it any more
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
        """Tell those whose patience is over, and look again when the next one's is."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._line and (self._line[0][0] <= now or self._line[0][1].done()):
            _, turn = self._line.popleft()
            if not turn.done():
                turn.set_exception(TimeoutError())
        self._timer = loop.call_at(self._line[0][0], self._sweep) if self._line else None
