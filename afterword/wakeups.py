"""Wake-ups: who writes something that is due at once tells the workers, so that none waits for the next poll.

Optional, and never relied on: the poll finds everything that a lost wake-up would have told. One side speaks after its
commit, on a connection of its own, at most ten times a second; the other listens, and probes whether it still hears.
"""

import asyncio
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

import asyncpg
import structlog

from afterword import db, errors

CHANNEL: Final = "afterword_due"
EVERY_SECONDS: Final = 0.1
CONNECT_SECONDS: Final = 5
SPEAK_SECONDS: Final = 2.0
SILENT_SECONDS: Final = 5.0  # after a failure; the poll does its work meanwhile
PROBE_SECONDS: Final = 30.0
ANSWER_SECONDS: Final = 5.0
AWAY_SECONDS_MAX: Final = 10.0
_KEPT: Final = {"tcp_keepalives_idle": "30", "tcp_user_timeout": "10000"}
_TROUBLES: Final = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # an exchange was cut while the server went away
    OSError,
    TimeoutError,
)

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Speaker:
    """Tells the workers, at most once in `EVERY_SECONDS`, of what is due before they wake by themselves."""

    def __init__(self, *, url: str, clock: db.Clock, horizon_seconds: float) -> None:
        self._url = url
        self._clock = clock
        self._horizon = timedelta(seconds=horizon_seconds)
        self._connection: Any = None
        self._task: asyncio.Task[None] | None = None
        self._spoke = float("-inf")
        self.count = 0

    def announce(self, due_time: datetime) -> None:
        """Something that is due then was committed. What a poll will find in time is not worth a word."""
        if due_time > self._clock.now() + self._horizon or (self._task is not None and not self._task.done()):
            return
        wait = self._spoke + EVERY_SECONDS - asyncio.get_running_loop().time()
        self._task = asyncio.create_task(self._speak(max(wait, 0.0)))

    async def close(self) -> None:
        """Speak no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._connection is not None:
            self._connection.terminate()

    async def _speak(self, wait: float) -> None:
        await asyncio.sleep(wait)
        self._spoke = asyncio.get_running_loop().time()
        try:
            if self._connection is None or self._connection.is_closed():
                self._connection = await _connect(self._url, "afterword speaker")
            async with asyncio.timeout(SPEAK_SECONDS):
                await self._connection.execute(f"notify {CHANNEL}")  # in one exchange: there may be a pooler
            self.count += 1
        except _TROUBLES:
            self._spoke += SILENT_SECONDS
            if self._connection is not None:
                self._connection.terminate()


class Ear:
    """Sets `woken` whenever a wake-up is heard; says once when it has become deaf."""

    def __init__(
        self, *, url: str, pool: db.Pool, probe_seconds: float = PROBE_SECONDS, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self.woken = asyncio.Event()
        self.is_deaf = False
        self._url = url
        self._pool = pool
        self._probe_seconds = probe_seconds
        self._answer_seconds = answer_seconds
        self._word = uuid.uuid4().hex
        self._answered = asyncio.Event()
        self._ended = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until `stop`, again and again, whatever becomes of the connection."""
        away = 0.1
        while not stop.is_set():
            connection: Any = None
            try:
                connection = await _connect(self._url, "afterword ear")
                self._ended.clear()
                connection.add_termination_listener(lambda _: self._ended.set())
                async with connection.transaction():  # or a pooler may run it on another server than it was prepared on
                    await connection.add_listener(CHANNEL, self._heard)
                self.woken.set()  # whatever was told while nobody listened
                while await self._probe():
                    away = 0.1
                    await _any_of(stop, self._ended, seconds=self._probe_seconds)
                    if stop.is_set() or self._ended.is_set():
                        break
                else:
                    self._tell()
            except errors.Unavailable:
                pass  # the database itself is away, which others say
            except _TROUBLES as error:
                logger.debug("the listening connection failed", cause=str(error))
            finally:
                if connection is not None:
                    connection.terminate()
            await _any_of(stop, seconds=away)
            away = min(away * 2, AWAY_SECONDS_MAX)

    def _heard(self, _connection: object, _pid: int, _channel: str, word: str) -> None:
        if word == self._word:
            self._answered.set()
        elif not word:
            self.woken.set()

    async def _probe(self) -> bool:
        """Speak on another connection, and say whether it was heard; behind a transaction pooler nothing ever is."""
        self._answered.clear()
        async with db.connection(self._pool) as database:
            await database.fetch_value("select pg_notify($1, $2)", CHANNEL, self._word)
        await _any_of(self._answered, self._ended, seconds=self._answer_seconds)
        if self._answered.is_set() and self.is_deaf:
            self.is_deaf = False
            logger.info("wake-ups are heard again")
        return self._answered.is_set() or self._ended.is_set()

    def _tell(self) -> None:
        if not self.is_deaf:
            self.is_deaf = True
            logger.warning("wake-ups are not heard; is there a transaction pooler? the poll finds everything anyway")


def speak(pool: db.Pool, *, url: str, horizon_seconds: float) -> Speaker:
    """Let every commit on this pool that makes something due tell the workers. The caller closes it."""
    speaker = Speaker(url=url, clock=pool.clock, horizon_seconds=horizon_seconds)
    listen: Callable[[datetime], None] = speaker.announce
    pool.told.append(listen)
    return speaker


async def _connect(url: str, name: str) -> Any:
    return await asyncpg.connect(
        url,
        timeout=CONNECT_SECONDS,
        command_timeout=CONNECT_SECONDS,
        statement_cache_size=0,
        server_settings={"application_name": name, **_KEPT},
    )


async def _any_of(*events: asyncio.Event, seconds: float) -> None:
    """Until one of the events is set, at most so long."""
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        with suppress(TimeoutError):
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
