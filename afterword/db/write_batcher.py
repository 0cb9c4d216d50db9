"""Combines what waits at the same moment: no timer, so idle adds no delay and load makes the batches."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from afterword import errors

RETRY_AFTER: Final = "2"  # seconds

Want = TypeVar("Want")
Outcome = TypeVar("Outcome")


class WriteBatcher(Generic[Want, Outcome]):
    """Hands what was submitted to `flush` in batches, few of them in flight; what gathers meanwhile goes with the next.

    A batch that fails is repeated one by one, so that a single bad entry hurts nobody else; except when the database is
    away, which concerns all of them alike.
    """

    def __init__(
        self,
        flush: Callable[[Sequence[Want]], Awaitable[Sequence[Outcome]]],
        *,
        batch_max: int,
        flights_max: int = 1,
        waiting_max: int | None = None,
        waiting_seconds_max: float | None = None,
    ) -> None:
        self._flush = flush
        self._batch_max = batch_max
        self._flights_max = flights_max
        self._waiting_max = waiting_max
        self._waiting_seconds_max = waiting_seconds_max
        self._waiting: deque[tuple[Want, asyncio.Future[Outcome], float]] = deque()  # with the time it began to wait
        self._flights: set[asyncio.Task[None]] = set()

    async def submit(self, want: Want) -> Outcome:
        """Submit to the next flush; raises the error of `flush`, or Unavailable when overloaded."""
        loop = asyncio.get_running_loop()
        if self._is_full(loop.time()):
            raise errors.Unavailable("Too many requests wait for the database.", headers={"Retry-After": RETRY_AFTER})
        future: asyncio.Future[Outcome] = loop.create_future()
        self._waiting.append((want, future, loop.time()))
        if len(self._flights) < self._flights_max:
            self._flights.add(asyncio.create_task(self._fly()))
        return await future

    def _is_full(self, now: float) -> bool:
        if self._waiting_max is not None and len(self._waiting) >= self._waiting_max:
            return True
        longest = self._waiting_seconds_max
        return longest is not None and bool(self._waiting) and now - self._waiting[0][2] > longest

    async def _fly(self) -> None:
        try:
            while self._waiting:
                taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._batch_max))]
                batch = [(want, future) for want, future, _ in taken if not future.cancelled()]
                if batch:
                    await self._carry(batch)
        finally:
            # Here, and not in a callback of the task: that runs a turn of the loop later, and who submits in between
            # would count on a flight that has ended, and wait for as long as nobody else comes.
            self._flights.discard(asyncio.current_task())

    async def _carry(self, batch: Sequence[tuple[Want, asyncio.Future[Outcome]]]) -> None:
        try:
            outcomes = await self._flush([want for want, _ in batch])
        except errors.Unavailable as error:
            for _, future in batch:
                _fail(future, error)
        except Exception as error:  # noqa: BLE001  whatever it is, it belongs to those who wait
            if len(batch) == 1:
                _fail(batch[0][1], error)
            else:
                for one in batch:
                    await self._carry([one])
        else:
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if not future.done():
                    future.set_result(outcome)


def _fail(future: "asyncio.Future[Outcome]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
