"""Flights: claimed work of which several pieces are under way at once, each outside of any transaction.

Before them: the pace of a worker, its waiting, and the text of an unexpected error.
"""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

import msgspec
import structlog

from afterword import errors
from afterword.core.messaging.addresses import mask
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.core.wire.site import Site
from afterword.kit.db import IDLE_TRANSACTION_TIMEOUT_SECONDS, Pool
from afterword.sending.channels.conversation import Timeouts

CAUSE_CHARACTERS_MAX: Final = 200


def cause_of(what: str, error: Exception, *addresses: str) -> str:
    """A short sentence: what failed, the kind of error and its own words, addresses masked."""
    words = mask(str(error), *addresses)[:CAUSE_CHARACTERS_MAX]
    return f"{what}: {type(error).__name__}: {words}" if words else f"{what}: {type(error).__name__}"


SLOTS: Final = 50
SLOTS_MAX: Final = 200
LEASE_SECONDS: Final = 60.0
HEARTBEAT_SECONDS: Final = 15.0
LEASE_MARGIN_SECONDS: Final = 5.0
POLL_SECONDS: Final = 1.0
REAP_SECONDS: Final = 2.0
REAP_ITEMS_MAX: Final = 500
BATCH_ITEMS_MAX: Final = 200
LANES_MAX: Final = 32
ROUNDS_MAX: Final = 3
SEND_SECONDS_MAX: Final = 1200.0
GRACE_SECONDS: Final = 25.0
AWAY_SECONDS_MAX: Final = 2.0  # between two tries to reach a database that is away
POOL_SIZE: Final = 8

assert HEARTBEAT_SECONDS * 3 + LEASE_MARGIN_SECONDS < LEASE_SECONDS  # noqa: S101  two lost heartbeats lose no lease
# A process that stands still while it has rows locked loses those locks before it loses their leases.
assert IDLE_TRANSACTION_TIMEOUT_SECONDS + HEARTBEAT_SECONDS * 2 + LEASE_MARGIN_SECONDS < LEASE_SECONDS  # noqa: S101
assert Timeouts().dot < SEND_SECONDS_MAX  # noqa: S101  the channel gives up before its slot does


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The limits and intervals of one worker. `backoff_factor` shortens the waits between attempts in tests."""

    slots: int = SLOTS
    pool_size: int = POOL_SIZE
    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    margin_seconds: float = LEASE_MARGIN_SECONDS
    poll_seconds: float = POLL_SECONDS
    reap_seconds: float = REAP_SECONDS
    send_seconds_max: float = SEND_SECONDS_MAX
    grace_seconds: float = GRACE_SECONDS
    stuck_seconds: float = 300.0  # an event loop that stands still for so long never goes on
    backoff_factor: float = 1.0

    def __post_init__(self) -> None:
        if self.heartbeat_seconds * 3 + self.margin_seconds >= self.lease_seconds:
            raise ValueError("A lease must outlast three heartbeats and the margin.")
        if not 1 <= self.slots <= SLOTS_MAX:
            raise ValueError(f"A worker has 1 to {SLOTS_MAX} slots.")


logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def wait(stop: asyncio.Event, seconds: float) -> None:
    await first_of(stop, seconds=seconds)


async def first_of(*events: asyncio.Event, seconds: float | None = None) -> None:
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def repeat(
    turn: Callable[[], Awaitable[bool]],
    *,
    name: str,
    seconds: float,
    stop: asyncio.Event,
    wake: asyncio.Event | None = None,
    pause: Callable[..., Awaitable[None]] | None = None,
) -> None:
    """Take turn after turn until `stop`, at once while one returns True; what it raises is logged and ends nothing.

    Else `seconds` lie between two turns, or what `pause` waits for, or less where `wake` is set.
    """
    while not stop.is_set():
        away = 0.0
        events = (stop, wake) if wake is not None else (stop,)
        if wake is not None:
            wake.clear()
        try:
            if await turn():
                continue
        except errors.Unavailable:
            away = AWAY_SECONDS_MAX
        except Exception:
            logger.exception("a turn failed", work=name)
            away = max(seconds, 1.0)
        if away or pause is None:
            await first_of(*events, seconds=(away or seconds) * jitter())
        else:
            await pause(*events)


def jitter() -> float:
    return random.uniform(JITTER_MIN, JITTER_MAX)  # noqa: S311


Work = TypeVar("Work")
Repeat = Callable[..., Coroutine[Any, Any, None]]  # `repeat`, or the one of all workers together


class Flights(ABC, Generic[Work]):
    """Claims as much as there are free slots and serves it; a kind of work adds `claim` and `serve`."""

    name: str
    slots: int
    poll_seconds: ClassVar[float]
    grace_seconds: ClassVar[float]  # for what is under way when the worker stops

    def __init__(self, *, pool: Pool, site: Site) -> None:
        self._pool = pool
        self._site = site
        self._flights: dict[asyncio.Task[Any], Work] = {}
        self._wake = asyncio.Event()

    @abstractmethod
    async def claim(self, limit: int, /) -> tuple[Sequence[Work], bool]:
        """Claim at most `limit`; also returns whether to look again at once while there are free slots."""

    @abstractmethod
    async def serve(self, work: Work, /) -> None:
        """Do the work and settle it."""

    async def run(self, stop: asyncio.Event, repeat: Repeat = repeat) -> None:
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
