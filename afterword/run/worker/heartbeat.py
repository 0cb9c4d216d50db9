"""Renews the leases of items in flight, in a thread with its own loop and connection, so also while a loop blocks."""

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from afterword import errors
from afterword.kit import db
from afterword.run.worker.flights import BATCH_ITEMS_MAX, Pace
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.store import LeaseKey

AGAIN_SECONDS: Final = 0.25
JOIN_SECONDS: Final = 5.0

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass(kw_only=True)
class Heartbeat:
    """Renews all leases every few seconds; those that the database no longer grants are reported as lost.

    It connects at once, and sets `connected`, before which nothing is claimed. `lease_keys`, `lose` and `watch` are
    called from the thread.
    """

    database_url: str = field(repr=False)
    pace: Pace
    lease_keys: Callable[[], Sequence[LeaseKey]]
    lose: Callable[[Collection[LeaseKey]], None]
    watch: Callable[[], None]
    connected: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Connect, and begin to beat; called in the loop where `connected` is waited for."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        self._stopped.set()
        await asyncio.to_thread(self._thread.join, JOIN_SECONDS)

    def _run(self) -> None:
        asyncio.run(self._beat())

    async def _beat(self) -> None:
        pool = await self._opened()
        if pool is None:
            return
        self._loop.call_soon_threadsafe(self.connected.set)
        wait = self.pace.heartbeat_seconds
        renewed = time.monotonic()
        while not await asyncio.to_thread(self._stopped.wait, wait):
            started = time.monotonic()
            self.watch()
            wait = min(AGAIN_SECONDS, self.pace.heartbeat_seconds)
            try:
                await self._renew(pool)
            except errors.Unavailable:
                logger.warning("leases could not be renewed")
            except Exception:
                logger.exception("leases could not be renewed")
            else:
                now = time.monotonic()
                if now - renewed > 2 * self.pace.heartbeat_seconds:
                    logger.warning("leases were renewed late", seconds=round(now - renewed, 1))
                renewed = now
                wait = max(self.pace.heartbeat_seconds - (now - started), 0.0)
        await pool.close()

    async def _opened(self) -> db.Pool | None:
        """A pool whose connection is open, however long that takes; None when the worker stops before."""
        pool, is_told = None, False
        while not self._stopped.is_set():
            self.watch()
            try:
                pool = pool or await db.open_pool(
                    self.database_url, size_max=1, application_name="afterword heartbeat", statement_cache_size=0
                )
                async with db.transaction(pool):
                    return pool
            except errors.Unavailable as error:
                if not is_told:
                    cause = str(error.__cause__ or error)
                    logger.warning("nothing is claimed: the heartbeat has no connection", cause=cause)
                is_told = True
            except Exception:
                if not is_told:
                    logger.exception("nothing is claimed: the heartbeat has no connection")
                is_told = True
            await asyncio.to_thread(self._stopped.wait, min(AGAIN_SECONDS, self.pace.heartbeat_seconds))
        if pool is not None:
            await pool.close()
        return None

    async def _renew(self, pool: db.Pool) -> None:
        lease_keys = self.lease_keys()
        for start in range(0, len(lease_keys), BATCH_ITEMS_MAX):
            batch = lease_keys[start : start + BATCH_ITEMS_MAX]
            kept = await db.change(pool, sending.renew, lease_keys=batch, lease_seconds=self.pace.lease_seconds)
            lost = [lease_key for lease_key in batch if lease_key not in kept]
            if lost:
                self.lose(lost)
