"""Flights: claimed work of which several pieces are under way at once, each outside of any transaction."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import structlog

from afterword import errors
from afterword.run.worker.waiting import repeat

Work = TypeVar("Work")

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Flights(ABC, Generic[Work]):
    """Claims as much as there are free slots and serves it; a kind of work adds `claim` and `serve`."""

    name: ClassVar[str]
    slots: int
    poll_seconds: ClassVar[float]
    grace_seconds: ClassVar[float]  # for what is under way when the worker stops

    def __init__(self) -> None:
        self._flights: dict[asyncio.Task[Any], Work] = {}
        self._wake = asyncio.Event()

    @abstractmethod
    async def claim(self, limit: int, /) -> tuple[Sequence[Work], bool]:
        """Claim at most `limit`; also returns whether to look again at once while there are free slots."""

    @abstractmethod
    async def serve(self, work: Work, /) -> None:
        """Do the work and settle it."""

    async def run(self, stop: asyncio.Event) -> None:
        await repeat(self._take_turn, name=self.name, seconds=self.poll_seconds, stop=stop, wake=self._wake)
        await self.land(self.grace_seconds)

    async def turn(self) -> int:
        return (await self._begin())[0]

    async def land(self, seconds: float | None = None) -> None:
        """Wait for all that is under way, at most so long; then end it."""
        if self._flights:
            await asyncio.wait(self._flights, timeout=seconds)
        for flight in self._flights:
            flight.cancel()
        await asyncio.gather(*self._flights, return_exceptions=True)

    async def _take_turn(self) -> bool:
        _, has_more = await self._begin()
        return has_more and len(self._flights) < self.slots

    async def _begin(self) -> tuple[int, bool]:
        free = self.slots - len(self._flights)
        if free <= 0:
            return 0, False
        claimed, has_more = await self.claim(free)
        for work in claimed:
            flight = asyncio.create_task(self.serve(work))
            self._flights[flight] = work
            flight.add_done_callback(self._land)
        return len(claimed), has_more

    def _land(self, flight: "asyncio.Task[Any]") -> None:
        del self._flights[flight]
        self._wake.set()
        if not flight.cancelled() and (error := flight.exception()) is not None:
            if isinstance(error, errors.Unavailable):
                logger.warning("what was sent could not be settled", work=self.name)
            else:
                logger.error("what was sent could not be settled", work=self.name, exc_info=error)
