"""Turns of periodic work: each is a row of the database, and goes to one worker when it is due.

A worker asks once a poll for all that waits in it, in one statement. Whoever had a turn last is preferred for a poll:
so one worker has the idle work, and the others only ask. A worker that dies in its turn, or is busy, is passed over.
"""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from uuid import UUID

import msgspec
import structlog

from afterword import errors
from afterword.kit import db
from afterword.kit.db import Database, Pool
from afterword.kit.db.columns import arrays
from afterword.run.worker import flights
from afterword.run.worker.flights import first_of, wait

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class _Waiter(msgspec.Struct, eq=False):
    seconds: float
    given: asyncio.Event = msgspec.field(default_factory=asyncio.Event)


class Rota:
    """The turns that a run of a worker waits for."""

    def __init__(self, *, pool: Pool, poll_seconds: float, run_id: UUID | None = None) -> None:
        self.run_id = run_id or uuid.uuid4()
        self._pool = pool
        self._poll_seconds = poll_seconds
        self._readers: Mapping[str, str] = {}
        self._waiters: dict[str, list[_Waiter]] = {}
        self._handed_on: dict[str, float] = {}

    async def run(self, stop: asyncio.Event, readers: Mapping[str, str]) -> None:
        """Ask until `stop`. `readers`: of the event log, by their turns, which are due while one has not read all."""
        self._readers = readers
        is_away = False
        while not stop.is_set():
            try:
                await self._ask()
            except errors.Unavailable as error:
                if not is_away:
                    logger.warning("the database is away", cause=str(error.__cause__ or error))
                is_away = True
            except Exception:
                logger.exception("turns could not be asked for")
            else:
                if is_away:
                    logger.info("the database is back")
                is_away = False
            await wait(stop, self._poll_seconds)

    async def wait(self, name: str, seconds: float, *events: asyncio.Event) -> None:
        """Wait for a turn that comes every `seconds`, or for one of the events."""
        waiters, waiter = self._waiters.setdefault(name, []), _Waiter(seconds)
        waiters.append(waiter)
        try:
            await first_of(waiter.given, *events)
        finally:
            waiters.remove(waiter)

    async def repeat(
        self,
        turn: Callable[[], Awaitable[bool]],
        *,
        name: str,
        seconds: float,
        stop: asyncio.Event,
        wake: asyncio.Event | None = None,
    ) -> None:
        """As `flights.repeat`, but all workers together take a turn every `seconds`."""
        pause = partial(self.wait, name, seconds)
        await pause(stop)
        await flights.repeat(turn, name=name, seconds=seconds, stop=stop, wake=wake, pause=pause)

    async def hand_on(self, name: str) -> None:
        """Let the turn be due again for others, who may have more to do in it than this worker can; once a poll."""
        now = time.monotonic()
        if now - self._handed_on.get(name, float("-inf")) >= self._poll_seconds:
            self._handed_on[name] = now
            await db.change(self._pool, _update_to_due, name=name)

    async def _ask(self) -> None:
        first = {name: waiters[0] for name, waiters in self._waiters.items() if waiters}
        if not first:
            return
        wanted = [(name, waiter.seconds, self._readers.get(name)) for name, waiter in first.items()]
        async with db.connection(self._pool) as database:
            taken = await _claim_turns(database, wanted=wanted, owner=self.run_id, poll_seconds=self._poll_seconds)
        for name in taken:
            first[name].given.set()


async def _claim_turns(  # any tenant: periodic work is the installation's
    db: Database, *, wanted: Sequence[tuple[str, float, str | None]], owner: UUID, poll_seconds: float
) -> list[str]:
    """The turns that are due and that nobody else takes; without any, nothing is written.

    One that is due later than it can be is due too: the clock was set back. They come half a poll early, so that who
    asks at the moment when they are due is not a poll late.
    """
    return await db.fetch_column(
        """with w as materialized (
             select * from unnest($1::text[], $2::float8[], $3::text[]) as w (name, seconds, reader)),
           log as materialized (select xid, seq from event order by xid desc, seq desc limit 1),
           added as (
             insert into job_timeout (name) select name from w
             where not exists (select from job_timeout t where t.name = w.name)
             on conflict do nothing),
           due as (
             select t.name, w.seconds from w join job_timeout t on t.name = w.name
             where (t.next_time <= now() - case when t.owner <> $4 then make_interval(secs => $5::float8)
                 else interval '0' end
               or t.next_time > now() + make_interval(secs => w.seconds))
               and (w.reader is null or not exists (
                 select from event_cursor c where c.reader = w.reader
                   and not exists (select from log where (log.xid, log.seq) > (c.xid, c.seq))))
             for update of t skip locked)
           update job_timeout t
           set next_time = now() + make_interval(secs => greatest(d.seconds - $5 / 2, 0)), owner = $4
           from due d where t.name = d.name
           returning t.name""",
        *arrays(wanted, 3),
        owner,
        poll_seconds,
    )


async def _update_to_due(db: Database, *, name: str) -> None:  # any tenant: periodic work is the installation's
    await db.execute("update job_timeout set next_time = now(), owner = null where name = $1", name)
