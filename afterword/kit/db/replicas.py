"""A server that is read from while another one takes the writes: how far it is behind, looked at once a second."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final, TypeVar

import asyncpg
import structlog

from afterword import errors
from afterword.kit.db import Pool, Slow, connection

Found = TypeVar("Found")

LOOK_SECONDS: Final = 1.0
AWAY_SECONDS: Final = 5.0  # until one that did not answer is asked again: whoever asks waits for it
LAG_SECONDS_DEFAULT: Final = 30
ALWAYS: Final = datetime.max.replace(tzinfo=UTC)
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Replica:
    """A pool on a standby, and the time up to which it has what was committed.

    The lag is what it may be at most: the time since the last commit that the standby has. Workers commit every few
    seconds, so it says little more than the truth; where nothing reaches the standby any more, it grows.
    """

    def __init__(self, pool: Pool, *, lag_seconds_max: float = LAG_SECONDS_DEFAULT) -> None:
        self.pool = pool
        self.lag_seconds_max = lag_seconds_max
        self.as_of: datetime | None = None  # by the primary's clock, ALWAYS of a primary; None: nobody knows
        self._next = 0.0
        self._wrong: str | None = None
        self._turn = asyncio.Lock()

    async def lag(self) -> int | None:
        """Seconds, at most; 0 for a server that takes writes, None where nobody knows."""
        if time.monotonic() >= self._next:
            async with self._turn:
                if time.monotonic() >= self._next:
                    await self._look()
        lag = None if self.as_of is None else max(0, math.ceil((self.pool.clock.now() - self.as_of).total_seconds()))
        if bool(wrong := self.what_is_wrong(lag)) != bool(self._wrong):
            event = "the standby is not read from" if wrong else "the standby is read from again"
            logger.warning(event, cause=wrong)
        self._wrong = wrong
        return lag

    async def lag_within(self, *, since: datetime | None = None) -> int | None:
        """As `lag`, but None also where it is too much, or where the server may lack commits before `since`."""
        lag = await self.lag()
        if lag is None or self.as_of is None or lag > self.lag_seconds_max:
            return None
        return None if since is not None and since > self.as_of else lag

    async def read(
        self, step: Callable[[Pool], Awaitable[Found]], *, since: datetime | None = None
    ) -> tuple[Found, int] | None:
        """The outcome of a step that only reads, and the lag; None where the primary is to answer.

        That is so if this server is away, too far behind, or lacks what is asked for, be it a row or a column.
        """
        lag = await self.lag_within(since=since)
        if lag is None:
            return None
        try:
            return await step(self.pool), lag
        except Slow:
            raise  # it would take as long there
        except (errors.Refusal, asyncpg.SyntaxOrAccessError):
            return None

    def what_is_wrong(self, lag: int | None) -> str | None:
        """Why the server should not be read from; None: it is good."""
        if lag is None:
            return "How far the copy is behind is not known."
        most = self.lag_seconds_max
        return None if lag <= most else f"The copy is up to {lag} seconds behind, and {most:g} are allowed."

    async def _look(self) -> None:
        try:
            async with connection(self.pool) as database:
                row = await database.fetch_one(
                    "select pg_is_in_recovery() as is_standby, pg_last_xact_replay_timestamp() as replayed"
                )
                self.as_of = row["replayed"] if row["is_standby"] else ALWAYS
        except errors.Unavailable:
            self.as_of = None
            self._next = time.monotonic() + AWAY_SECONDS
        else:
            self._next = time.monotonic() + LOOK_SECONDS
