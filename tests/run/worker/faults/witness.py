"""Watches whether the machine itself stood still: leases that ran out then are nobody's fault.

A thread writes the database's time into a row again and again, as a heartbeat does. Where two of these are much further
apart than it waits between them, no process got its turn or the disk took no write, and no worker could have renewed.
"""

import asyncio
import threading
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

import asyncpg

BEAT_SECONDS: Final = 0.2
_AWAY: Final = (
    asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError,
)  # fmt: skip


class Witness:
    """Beats until it is stopped; remembers the gaps of at least `gap_seconds`, in the database's time."""

    def __init__(self, database_url: str, *, gap_seconds: float) -> None:
        self.gaps: list[tuple[datetime, datetime]] = []
        self._database_url = database_url
        self._gap = timedelta(seconds=gap_seconds + BEAT_SECONDS)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="witness", daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def stop(self) -> None:
        self._stopped.set()
        await asyncio.to_thread(self._thread.join)

    def excused(self, times: Iterable[datetime], *, within_seconds: float) -> int:
        """The number of these moments that lie in a gap, or so shortly behind one that it can be their cause."""
        after = timedelta(seconds=within_seconds)
        return sum(any(begin <= time <= end + after for begin, end in self.gaps) for time in times)

    def _run(self) -> None:
        asyncio.run(self._beat())

    async def _beat(self) -> None:
        connection: Any = None
        before: datetime | None = None
        while not self._stopped.wait(BEAT_SECONDS):
            try:
                if connection is None:
                    connection = await asyncpg.connect(self._database_url)
                    await connection.execute("create table if not exists pulse (beat_time timestamptz)")
                    await connection.execute("insert into pulse select now() where not exists (select from pulse)")
                now = await connection.fetchval("update pulse set beat_time = clock_timestamp() returning beat_time")
            except _AWAY:  # a test that takes the database away counts that itself
                connection, before = None, None
                continue
            if before is not None and now - before > self._gap:
                self.gaps.append((before, now))
            before = now
        if connection is not None:
            connection.terminate()
