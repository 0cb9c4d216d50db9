"""The one gateway to PostgreSQL: pool, transactions, the database's clock, violations turned into refusals.

Queries are literals (`LiteralString`): the type checker refuses one that was put together at run time. The dynamic
parts of lists (filters, orders) are composed here, from a whitelist of columns, and nowhere else.
"""

import asyncio
import io
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any, Concatenate, Final, Generic, LiteralString, ParamSpec, Self, TypeVar, cast

import asyncpg
import msgspec

from afterword import errors
from afterword.core.wire import times
from afterword.core.wire.lists import Page, Rows
from afterword.kit import telemetry
from afterword.kit.db import list_queries
from afterword.kit.db.hosts import AWAY, CONNECT_TIMEOUT_SECONDS, Connection, Hosts, initialize, limit_transactions

STATEMENT_TIMEOUT_SECONDS = 5
LOCK_TIMEOUT_SECONDS = 1
IDLE_TRANSACTION_TIMEOUT_SECONDS = 10
TRANSACTION_TIMEOUT_SECONDS = 60  # of one that is neither idle nor in a statement: its client stopped in between
ACQUIRE_TIMEOUT_SECONDS = 5
RELEASE_TIMEOUT_SECONDS = 1
CLOCK_ROUND_TRIP_SECONDS_MAX = 1  # an answer that took longer is used once: the next use asks again
COMMAND_TIMEOUT_SECONDS = 6  # beyond the statement's own: then the server is stuck, not the statement slow
CLOCK_AGE_SECONDS_MAX = 10
STATEMENT_SECONDS_MAX = 300
RETRY_AFTER_SECONDS = 2
POOL_SIZE_DEFAULT = 10
WAITING_MAX_DEFAULT = 10_000
BATCHERS_MAX = 1_000  # kept for the next that asks
# Of reads by id: ids in one statement, statements of one kind at once, ids that wait meanwhile.
GATHERED: Final[Mapping[str, Any]] = {"batch_max": 200, "flights_max": 2, "waiting_max": 1_000}
_first: Final = itemgetter(0)
TRACED: Final = frozenset({"execute", "fetch", "fetchrow", "fetchval"})  # where telemetry is on

assert COMMAND_TIMEOUT_SECONDS > STATEMENT_TIMEOUT_SECONDS  # noqa: S101

Want = TypeVar("Want")
Outcome = TypeVar("Outcome")
Kind = TypeVar("Kind")
With = ParamSpec("With")
Step = Callable[Concatenate["Database", With], Awaitable[Outcome]]  # of a service, which takes a connection first
Row = Mapping[Any, Any]  # by name or place; the driver's own type is no Mapping, so type checkers refuse `**row`


class Taken(errors.Conflict):
    """A unique key holds this value already."""


class Dangling(errors.Conflict):
    """A foreign key points at nothing, or something still points at what goes."""

    code_default = "in_use"


class LockTimeout(errors.Unavailable):
    """Another transaction held a lock for longer than this one may wait."""


class Slow(errors.Unavailable):
    """The server ended a statement that took longer than it may."""


class TakesNoWrites(errors.Unavailable):
    """The server is a standby, or was told to be read only."""


class Clock:
    """The database's clock, read without a round trip: its last answer plus what the monotonic clock counted since.

    The wall clocks of processes take no part in any decision; this one differs from the database's by the length of
    one round trip and the drift of `CLOCK_AGE_SECONDS_MAX`.
    """

    def __init__(self) -> None:
        self._database: datetime | None = None
        self._monotonic = 0.0
        self._is_rough = False

    def set(self, database_now: datetime, *, monotonic: float, is_rough: bool = False) -> None:
        """Take `database_now` as the time at the moment `monotonic` (seconds of `time.monotonic`)."""
        self._database, self._monotonic, self._is_rough = database_now, monotonic, is_rough

    @property
    def is_stale(self) -> bool:
        return self._database is None or self._is_rough or time.monotonic() - self._monotonic > CLOCK_AGE_SECONDS_MAX

    def now(self) -> datetime:
        """The database's time, aware, in UTC."""
        if self._database is None:
            raise errors.Unavailable("The database's clock is not known yet.", headers=_retry_after())
        return self._database + timedelta(seconds=time.monotonic() - self._monotonic)


@dataclass(slots=True, eq=False)
class Database:
    """A connection, in a transaction or not. All queries of the product pass through these functions."""

    _connection: Any
    clock: Clock

    def records(self, make: Callable[..., Kind]) -> "Records[Kind]":
        """Queries whose rows become records, of a class with the columns as members, or by a function of the row."""
        return Records(self, (lambda row: make(**dict(row))) if isinstance(make, type) else make)

    async def fetch(self, query: LiteralString, *values: object) -> list[Row]:
        try:
            return await self._connection.fetch(query, *values)
        except Exception as error:
            _refuse(error)
            raise

    async def fetch_row(self, query: LiteralString, *values: object) -> Row | None:
        try:
            return await self._connection.fetchrow(query, *values)
        except Exception as error:
            _refuse(error)
            raise

    async def fetch_one(self, query: LiteralString, *values: object) -> Row:
        """The first row of a statement that has one, such as an insert. Raises Unavailable where there is none."""
        row = await self.fetch_row(query, *values)
        if row is None:
            raise errors.Unavailable("The database gave no row.", headers=_retry_after())
        return row

    async def fetch_by_id(self, query: LiteralString, *values: object, id: str) -> Row | None:  # noqa: A002
        """The row with this id, of a query whose last parameter is an array of ids and whose first column is the id.

        On demand (`on_demand`) a statement serves all that ask this with the same values at the same moment.
        """
        return next(iter(await self.fetch(query, *values, [id])), None)

    async def fetch_value(self, query: LiteralString, *values: object) -> Any:
        with _refusals():
            return await self._connection.fetchval(query, *values)

    async def fetch_column(self, query: LiteralString, *values: object) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in await self.fetch(query, *values)]

    async def fetch_tuples(self, query: LiteralString, *values: object) -> list[Any]:
        """The columns of each row, in their order."""
        return [tuple(row.values()) for row in await self.fetch(query, *values)]

    async def fetch_pairs(self, query: LiteralString, *values: object) -> dict[Any, Any]:
        """The second column of all rows by the first."""
        return dict(await self.fetch_tuples(query, *values))

    async def touches(self, query: LiteralString, *values: object) -> bool:
        """Run it and say whether it touched a row."""
        return bool(await self.execute(query, *values))

    async def execute(self, query: LiteralString, *values: object, seconds: float | None = None) -> int:
        """Run it and say how many rows it touched. `seconds`: how long we wait for it, if not as long as usual."""
        longer = {} if seconds is None else {"timeout": seconds}
        with _refusals():
            tag: str = await self._connection.execute(query, *values, **longer)
        count = tag.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def claim_key(self, key: str) -> None:
        """Let one transaction at a time pass with this key; others wait until it ends."""
        await self.execute("select pg_advisory_xact_lock(hashtextextended($1, 0))", key)

    async def copy(self, table: LiteralString, columns: LiteralString, rows: bytes) -> None:
        """Insert rows of CSV with these columns; an empty value is null. The rows may be made in a thread."""
        names = [name.strip() for name in columns.split(",")]
        with _refusals():
            await self._connection.copy_to_table(table, columns=names, source=io.BytesIO(rows), format="csv")

    async def fetch_list(self, base: LiteralString, *values: object, page: Page) -> Rows[Row]:
        """The page that a client asked for of the rows of `base`, a select without order and limit.

        `base` names its output columns as the page's Listing does; PostgreSQL flattens the outer select, so indexes on
        (…, created_time desc, id) serve the order. In the store: `rows = await db.fetch_list("select … from queue_item
        where organization_id = $1", organization_id, page=page); return rows.map(_item)`.
        """
        parameters = list(values)
        chosen = list_queries.where(page.criteria, parameters)
        count, counted = f"select count(*) from ({base}) listed{chosen}", list(parameters)
        is_start = page.with_results and page.after is None and page.offset == 0
        total: int | None = None
        with _refusals():
            if page.with_total and not is_start:
                total = await self._connection.fetchval(count, *counted)
            if not page.with_results or (total is not None and page.offset >= total):
                return Rows([], total)
            after = await self._key(base, values, page)
            window = list_queries.window(page, after, chosen, parameters)
            query = f"select {list_queries.output(page.listing)} from ({base}) listed{window}"
            rows: list[Row] = await self._connection.fetch(query, *parameters)
            has_more = len(rows) > page.limit
            if page.with_total and is_start:  # few rows are counted without another statement
                total = await self._connection.fetchval(count, *counted) if has_more else len(rows)
        items = rows[: page.limit]
        return Rows(items, total, _key_of(items[-1], page) if has_more else None, has_more)

    async def _key(self, base: LiteralString, values: Sequence[object], page: Page) -> tuple[object, ...] | None:
        """The key that the page starts behind; one that was too long for a cursor is read again, from the id alone."""
        after = page.after
        if after is None or len(after) == len(page.order) + 1:
            return after
        parameters = list(values)
        where = list_queries.identity(page.listing, after[-1], parameters)
        row: Row | None = await self._connection.fetchrow(f"select * from ({base}) listed{where}", *parameters)
        if row is None:
            message = "The row that this cursor stood on is gone; start again."
            raise errors.Invalid.in_query("cursor", "invalid_cursor", message)
        return (*(row[step.column.name] for step in page.order), after[-1])


class Records(msgspec.Struct, Generic[Kind], frozen=True):
    """The queries of a Database whose rows become records."""

    _db: Database
    _make: Callable[[Row], Kind]

    async def fetch(self, query: LiteralString, *values: object) -> list[Kind]:
        return [*map(self._make, await self._db.fetch(query, *values))]

    async def fetch_row(self, query: LiteralString, *values: object) -> Kind | None:
        row = await self._db.fetch_row(query, *values)
        return None if row is None else self._make(row)

    async def fetch_one(self, query: LiteralString, *values: object) -> Kind:
        return self._make(await self._db.fetch_one(query, *values))

    async def fetch_list(self, base: LiteralString, *values: object, page: Page) -> Rows[Kind]:
        return (await self._db.fetch_list(base, *values, page=page)).map(self._make)


class TooManyWait(Exception):
    """As many wait as may wait."""


class FifoSemaphore:
    """A semaphore that serves its waiters in their order, and lets each wait for a limited time.

    One timer serves all waiters: a timer for each would cost more than the wait itself.
    """

    def __init__(self, places: int, *, waiting_max: int, seconds: float) -> None:
        self.free = places  # while some are, nobody waits
        self._waiting_max = waiting_max
        self._seconds = seconds
        self._line: deque[tuple[float, asyncio.Future[None]]] = deque()  # by deadline, the earliest first
        self._timer: asyncio.TimerHandle | None = None
        self.waiting = 0

    def take_at_once(self) -> bool:
        """Take a place if one is free: then nobody waits for it."""
        if not self.free:
            return False
        self.free -= 1
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
        self.free += 1

    def _sweep(self) -> None:
        """End the waits that are past their deadline, and set the timer to the next deadline."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._line and (self._line[0][0] <= now or self._line[0][1].done()):
            _, turn = self._line.popleft()
            if not turn.done():
                turn.set_exception(TimeoutError())
        self._timer = loop.call_at(self._line[0][0], self._sweep) if self._line else None


class Batcher(Generic[Want, Outcome]):
    """Hands what was submitted to `flush` in batches, few of them in flight; what gathers meanwhile goes with the next.

    Idle adds no delay, and load makes the batches. A batch that fails is repeated one by one, so that a single bad
    entry hurts nobody else; except when the database is away, which concerns all of them alike. `linger`: the seconds
    until a flight looks for more again, 0 to go, given how many it has and how long it has waited.
    """

    def __init__(
        self,
        flush: Callable[[Sequence[Want]], Awaitable[Sequence[Outcome]]],
        *,
        batch_max: int,
        flights_max: int = 1,
        waiting_max: float = math.inf,
        waiting_seconds_max: float = math.inf,
        linger: Callable[[int, float], float] | None = None,
    ) -> None:
        self._flush = flush
        self._linger = linger
        self._batch_max = batch_max
        self._flights_max = flights_max
        self._waiting_max = waiting_max
        self._waiting_seconds_max = waiting_seconds_max
        self._waiting: deque[tuple[Want, asyncio.Future[Outcome], float]] = deque()  # with the time it began to wait
        self._flights: set[asyncio.Task[None]] = set()

    @property
    def is_idle(self) -> bool:
        return not self._flights

    async def submit(self, want: Want) -> Outcome:
        """Submit to the next flush; raises the error of `flush`, or Unavailable when overloaded."""
        loop, waiting = asyncio.get_running_loop(), self._waiting
        now = loop.time()
        if waiting and (len(waiting) >= self._waiting_max or now - waiting[0][2] > self._waiting_seconds_max):
            raise errors.Unavailable("Too many requests wait for the database.", headers=_retry_after())
        future: asyncio.Future[Outcome] = loop.create_future()
        waiting.append((want, future, now))
        if len(self._flights) < self._flights_max:
            self._flights.add(asyncio.create_task(self._fly()))
        return await future

    async def _fly(self) -> None:
        try:
            while self._waiting:
                await self._gather()
                batch: list[tuple[Want, asyncio.Future[Outcome], float]] = []
                while self._waiting and len(batch) < self._batch_max:
                    entry = self._waiting.popleft()
                    if not entry[1].cancelled():
                        batch.append(entry)
                if batch:
                    await self._carry(batch)
        finally:
            # Here, and not in a callback of the task: that runs a turn of the loop later, and who submits in between
            # would count on a flight that has ended, and wait for as long as nobody else comes.
            self._flights.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _gather(self) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        while self._linger is not None:
            seconds = self._linger(len(self._waiting), loop.time() - began)
            if not seconds:
                return
            await asyncio.sleep(seconds)

    async def _carry(self, batch: Sequence[tuple[Want, "asyncio.Future[Outcome]", float]]) -> None:
        try:
            outcomes = await self._flush(list(map(_first, batch)))
        except errors.Unavailable as error:
            for _, future, _ in batch:  # each has a refusal of its own, as each is answered with headers of its own
                _fail(future, errors.Unavailable(error.detail, headers=error.headers))
        except Exception as error:  # noqa: BLE001  whatever it is, it belongs to those who wait
            if len(batch) == 1:
                _fail(batch[0][1], error)
            else:
                for one in batch:
                    await self._carry([one])
        else:
            for (_, future, _), outcome in zip(batch, outcomes, strict=True):
                if not future.done():
                    future.set_result(outcome)


def _fail(future: "asyncio.Future[Any]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


@dataclass(slots=True)
class Pool:
    raw: Any
    clock: Clock
    turns: FifoSemaphore  # one a connection: the driver's own queue lets some starve
    hosts: Hosts
    acquire_seconds: float = ACQUIRE_TIMEOUT_SECONDS
    idle: list[Any] = field(default_factory=list[Any])  # sound ones, kept here: the driver's pool takes a task for each
    is_closing: bool = False  # then all go back to the driver's pool, which waits for them
    batchers: dict[object, Batcher[Any, Any]] = field(init=False, default_factory=dict[object, Batcher[Any, Any]])

    @property
    def waiting(self) -> int:
        return self.turns.waiting

    @property
    def pooler(self) -> str:
        """The difference that a pooler before the database makes; empty: none was found."""
        if not self.hosts.is_pooled:
            return ""
        how = "No statements are prepared, and each transaction sets its limits"
        return f"A pooler stands before the database. {how if self.hosts.is_shared else 'It gives out sessions'}."

    def keep_batcher(self, key: object, batcher: Batcher[Any, Any]) -> Batcher[Any, Any]:
        if len(self.batchers) >= BATCHERS_MAX:
            self.batchers = {key: one for key, one in self.batchers.items() if not one.is_idle}
        self.batchers[key] = batcher
        return batcher

    async def close(self) -> None:
        self.is_closing = True
        while self.idle:
            await self.raw.release(self.idle.pop())
        await self.raw.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def open_pool(
    url: str,
    *,
    size_max: int = POOL_SIZE_DEFAULT,
    application_name: str = "afterword",
    server_settings: Mapping[str, str] | None = None,
    statement_cache_size: int | None = None,
    statement_seconds_max: int = STATEMENT_SECONDS_MAX,
    acquire_seconds: float = ACQUIRE_TIMEOUT_SECONDS,
    waiting_max: int = WAITING_MAX_DEFAULT,
    transaction_seconds: int = TRANSACTION_TIMEOUT_SECONDS,
    command_seconds: float | None = None,
) -> Pool:
    """Open a pool on a PostgreSQL URL, with the timeouts of the house. Raises Unavailable when it cannot be reached.

    `statement_cache_size`: prepared statements a connection. None: 100, and 0 behind a pooler, where even reads are
    transactions, as it may give each to another server. A number also holds behind a pooler that gives out sessions.
    `statement_seconds_max`: how long a prepared statement is kept, and with it a plan that was made for smaller tables.
    `acquire_seconds`: how long one waits for a connection, a new one or another's, before it is Unavailable;
    `waiting_max`: how many may wait for that, before the next one is Unavailable at once.
    `transaction_seconds`: how long a transaction may last; not before PostgreSQL 17. `command_seconds`: a statement.
    """
    settings = {
        "application_name": application_name,
        "timezone": "UTC",
        "statement_timeout": f"{STATEMENT_TIMEOUT_SECONDS}s",
        "lock_timeout": f"{LOCK_TIMEOUT_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{IDLE_TRANSACTION_TIMEOUT_SECONDS}s",
        "tcp_user_timeout": "10000",
        "tcp_keepalives_idle": "30",
        "jit": "off",
        **(server_settings or {}),
    }
    hosts = Hosts(url, statements_max=statement_cache_size)

    async def prepare(raw: Any) -> None:
        await limit_transactions(raw, seconds=transaction_seconds)
        await initialize(raw)

    with _refusals():
        raw = await asyncpg.create_pool(
            url,
            connect=hosts.connect,
            min_size=0,  # a process starts, and says that it is not ready, while the database is away
            max_size=size_max,
            timeout=CONNECT_TIMEOUT_SECONDS,
            command_timeout=command_seconds or COMMAND_TIMEOUT_SECONDS,
            max_cached_statement_lifetime=statement_seconds_max,
            server_settings=settings,
            connection_class=Connection,
            init=prepare,
        )
    turns = FifoSemaphore(size_max, waiting_max=waiting_max, seconds=acquire_seconds)
    return Pool(raw, Clock(), turns, hosts, acquire_seconds)


def connection(pool: Pool) -> AbstractAsyncContextManager[Database]:
    """A connection without a transaction, for reads: each statement sees its own moment."""
    return _Loan(pool, is_bare=True)


class _Loan(msgspec.Struct):
    """A connection of the pool for as long as it is used; a class, as every request takes one."""

    _pool: Pool
    is_bare: bool = False  # statements follow without a transaction of their own
    _raw: Any = None
    _around: Any = None

    async def __aenter__(self) -> Database:
        pool = self._pool
        turns, clock, raw = pool.turns, pool.clock, None
        if pool.idle and turns.free:  # nobody waits
            turns.free -= 1
            raw = pool.idle.pop()
            if _is_gone(raw):
                pool.idle.append(raw)  # the next that waits for one releases it
                turns.give_back()
                raw = None
        self._raw = raw = raw or await _acquired(pool)
        needs_transaction = self.is_bare and pool.hosts.is_shared  # known once there is a connection
        if clock.is_stale or needs_transaction:
            try:
                if clock.is_stale:
                    await _read_clock(raw, pool)
                if needs_transaction:
                    self._around = raw.transaction()
                    with _refusals():
                        await self._around.__aenter__()
            except BaseException:
                await _discard(pool, raw)
                raise
        return Database(raw if telemetry.active is None else _Traced(raw, telemetry.active), clock)

    async def __aexit__(self, kind: object, *about: object) -> None:
        pool, raw = self._pool, self._raw
        if self._around is not None:
            try:
                with _refusals():
                    await self._around.__aexit__(kind, *about)
            except BaseException:
                await _discard(pool, raw)
                raise
        if kind is None and not pool.is_closing and not _is_gone(raw) and not raw.is_in_transaction():
            pool.idle.append(raw)
            if pool.turns.waiting:
                pool.turns.give_back()
            else:
                pool.turns.free += 1
        else:
            await _discard(pool, raw)


def _is_gone(raw: Any) -> bool:
    """True if closed; the driver's pool has taken back a connection that broke while idle."""
    try:
        return bool(raw.is_closed())
    except asyncpg.InterfaceError:
        return True


async def _acquired(pool: Pool) -> Any:
    until = asyncio.get_running_loop().time() + pool.acquire_seconds
    try:
        with _refusals():
            await pool.turns.take()
            try:
                while pool.idle:
                    raw = pool.idle.pop()
                    if not _is_gone(raw):
                        return raw
                    await pool.raw.release(raw)  # the driver's pool forgets it, and opens another when it needs one
                async with asyncio.timeout_at(until):
                    return await pool.raw.acquire()
            except BaseException:
                pool.turns.give_back()
                raise
    except TooManyWait:
        raise errors.Unavailable("Too many requests wait for the database.", headers=_retry_after()) from None
    except asyncpg.PostgresError as error:  # whatever a server says instead of letting us in, it is away
        raise errors.Unavailable(AWAY_SENTENCE, headers=_retry_after()) from error


async def _discard(pool: Pool, raw: Any) -> None:
    """Give back a connection after a failure: the driver's pool ends what is left open on it."""
    try:
        # The server may hang: its caller has the error already, and the driver ends the connection.
        with suppress(*AWAY):
            await pool.raw.release(raw, timeout=RELEASE_TIMEOUT_SECONDS)
    finally:
        pool.turns.give_back()


def on_demand(pool: Pool) -> Database:
    """A database for callers that mostly need none: each query takes a connection and gives it back."""
    return _OnDemand(_Connections(pool), pool.clock, pool)


@asynccontextmanager
async def transaction(pool: Pool, *, actor: str = "") -> AsyncGenerator[Database, None]:
    """The one place that commits: on leaving, unless something was raised, which rolls back.

    `actor`: the author of its changes for the audit log, as `Caller.actor` has it.
    """
    async with _Loan(pool) as database:
        with _refusals():
            async with _driver(database).transaction():
                if actor:
                    await database.execute("select set_config('afterword.actor', $1, true)", actor)
                yield database


async def takes_writes(database: Database) -> bool:
    """False on a standby, and where the server or the role was told to be read only."""
    return await database.fetch_value("select current_setting('transaction_read_only') = 'off'")


async def load(pool: Pool, step: Step[With, Outcome], *args: With.args, **kwargs: With.kwargs) -> Outcome:
    """The outcome of a step that reads, on a connection of its own."""
    async with connection(pool) as database:
        return await step(database, *args, **kwargs)


async def change(pool: Pool, step: Step[With, Outcome], *args: With.args, **kwargs: With.kwargs) -> Outcome:
    async with transaction(pool) as database:
        return await step(database, *args, **kwargs)


async def change_by_key(pool: Pool, step: Step[With, Outcome], *args: With.args, **kwargs: With.kwargs) -> Outcome:
    """As `change`, for steps that find all rows by keys: each statement has one plan, whatever its values are."""
    async with transaction(pool) as database:
        await database.execute("set local plan_cache_mode = force_generic_plan")
        return await step(database, *args, **kwargs)


@asynccontextmanager
async def savepoint(database: Database) -> AsyncGenerator[None, None]:
    """A part of a transaction that may fail alone: an exception undoes this part, and is raised on."""
    with _refusals():
        async with _driver(database).transaction():
            yield


@contextmanager
def _refusals() -> Generator[None, None, None]:
    try:
        yield
    except Exception as error:
        _refuse(error)
        raise


def _refuse(error: BaseException) -> None:
    """Raise the refusal that the driver's exception stands for: a taken or dangling key, a database that is away."""
    refusal = None if isinstance(error, errors.Refusal) else _refusal_of(error)
    if refusal is not None:
        raise refusal from error


def _refusal_of(error: BaseException) -> errors.Refusal | None:
    match error:
        case asyncpg.UniqueViolationError():
            return Taken("There is one with this key already.")
        case asyncpg.ForeignKeyViolationError() | asyncpg.RestrictViolationError():
            return Dangling("Something else refers to it, or it refers to something that is not there.")
        case asyncpg.LockNotAvailableError():
            return LockTimeout("Somebody else is changing the same thing.", headers=_retry_after())
        case asyncpg.InvalidCachedStatementError() | asyncpg.OutdatedSchemaCacheError():
            # A migration changed a column that the statement gives. The driver prepares it anew for the next try.
            return errors.Unavailable("The database was changed at this moment.", headers=_retry_after())
        case _ if isinstance(error, AWAY):
            kind, sentence = _SAID.get(type(error), (errors.Unavailable, AWAY_SENTENCE))
            return kind(sentence, headers=_retry_after())
        case _:
            return None


AWAY_SENTENCE: Final = "The database is not available at the moment."
_SAID: Final[Mapping[type[BaseException], tuple[type[errors.Unavailable], str]]] = {
    asyncpg.QueryCanceledError: (Slow, AWAY_SENTENCE),
    asyncpg.ReadOnlySQLTransactionError: (
        TakesNoWrites,
        "The database takes no writes: it is a standby, or read only.",
    ),
}


def _driver(database: Database) -> Any:
    """The driver's connection, which only this module may touch."""
    return database._connection  # noqa: SLF001  the same module


class _Traced:
    """A connection whose statements are spans. Statements are literals, and values stay out."""

    __slots__ = ("_collecting", "_raw")

    def __init__(self, raw: Any, collecting: telemetry.Telemetry) -> None:
        self._raw = raw
        self._collecting = collecting

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._raw, name)
        if name not in TRACED:
            return method

        async def run(query: str, *values: object, **options: Any) -> Any:
            with self._collecting.statement(query):
                return await method(query, *values, **options)

        return run


@dataclass(slots=True, eq=False)
class _OnDemand(Database):
    _pool: Pool

    def fetch_by_id(  # it is the batcher's own coroutine
        self,
        query: LiteralString,
        *values: object,
        id: str,  # noqa: A002
    ) -> Coroutine[Any, Any, Row | None]:
        """The values are hashable, as they tell who may share a statement."""
        pool, key = self._pool, (query, *values)

        async def fetch_rows(ids: Sequence[str]) -> Sequence[Row | None]:
            async with connection(pool) as database:
                rows = await database.fetch(query, *values, ids)
            return [*map(dict(zip(map(_first, rows), rows, strict=True)).get, ids)]

        return (
            pool.batchers.get(key)
            or pool.keep_batcher(key, Batcher(fetch_rows, **GATHERED, waiting_seconds_max=pool.acquire_seconds))
        ).submit(id)


class _Connections:
    """The methods of a connection, each on a connection of the pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def run(query: str, *values: object) -> Any:
            async with connection(self._pool) as database:
                return await getattr(_driver(database), name)(query, *values)

        return run


def _key_of(row: Row, page: Page) -> tuple[object, ...]:
    values = [(step.column.kind, row[step.column.name]) for step in page.order]
    key = [times.datetime_of(value) if kind == "time" and value is not None else value for kind, value in values]
    return (*key, row[page.listing.id])


async def _read_clock(raw: Any, pool: Pool) -> None:
    with _refusals():
        async with raw.transaction() if pool.hosts.is_shared else nullcontext():
            before = time.monotonic()
            database_now = await raw.fetchval("select clock_timestamp()")
            after = time.monotonic()
    is_rough = after - before > CLOCK_ROUND_TRIP_SECONDS_MAX
    pool.clock.set(database_now, monotonic=(before + after) / 2, is_rough=is_rough)


def _retry_after() -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_SECONDS)}
