"""The one gateway to PostgreSQL: pool, transactions, the database's clock, violations turned into refusals.

Queries are literals (`LiteralString`): the type checker refuses one that was put together at run time. The dynamic
parts of lists (filters, orders) are composed here, from a whitelist of columns, and nowhere else.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString, Self

import asyncpg
import msgspec

from afterword import errors
from afterword.core.lists import Column, Criterion, Kind, Order, Page, Rows

STATEMENT_TIMEOUT_SECONDS = 5
LOCK_TIMEOUT_SECONDS = 1
IDLE_TRANSACTION_TIMEOUT_SECONDS = 10
CONNECT_TIMEOUT_SECONDS = 5
ACQUIRE_TIMEOUT_SECONDS = 5
RELEASE_TIMEOUT_SECONDS = 1
CLOCK_TIMEOUT_SECONDS = 1
COMMAND_TIMEOUT_SECONDS = 6  # beyond the statement's own: then the server is stuck, not the statement slow
CLOCK_AGE_SECONDS_MAX = 10
STATEMENT_SECONDS_MAX = 300
RETRY_AFTER_SECONDS = 2
POOL_SIZE_DEFAULT = 10

assert COMMAND_TIMEOUT_SECONDS > STATEMENT_TIMEOUT_SECONDS  # noqa: S101

Row = asyncpg.Record

_JSON = msgspec.json.Encoder()
_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.QueryCanceledError,
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.DiskFullError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # an exchange was cut while the server went away
    ConnectionError,
    TimeoutError,
    OSError,
)


class Taken(errors.Conflict):
    """A unique key holds this value already; `constraint` names the key."""

    constraint: str = ""


class Dangling(errors.Conflict):
    """A foreign key points at nothing, or something still points at what goes; `constraint` names the key."""

    code_default = "in_use"
    constraint: str = ""


class LockTimeout(errors.Unavailable):
    """Another transaction held a lock for longer than this one may wait."""


class Clock:
    """The database's clock, read without a round trip: its last answer plus what the monotonic clock counted since.

    The wall clocks of processes take no part in any decision; this one differs from the database's by the length of
    one round trip and the drift of `CLOCK_AGE_SECONDS_MAX`.
    """

    def __init__(self) -> None:
        self._database: datetime | None = None
        self._monotonic = 0.0

    def set(self, database_now: datetime, *, monotonic: float) -> None:
        """Take `database_now` as the time at the moment `monotonic` (seconds of `time.monotonic`)."""
        self._database, self._monotonic = database_now, monotonic

    @property
    def is_stale(self) -> bool:
        """Whether the database should be asked again."""
        return self._database is None or time.monotonic() - self._monotonic > CLOCK_AGE_SECONDS_MAX

    def now(self) -> datetime:
        """The database's time, aware, in UTC."""
        if self._database is None:
            raise errors.Unavailable("The database's clock is not known yet.", headers=_retry_after())
        return self._database + timedelta(seconds=time.monotonic() - self._monotonic)


class Database:
    """A connection, in a transaction or not. All queries of the product pass through these four functions."""

    def __init__(self, connection: Any, clock: Clock) -> None:
        self._connection = connection
        self.clock = clock

    async def fetch(self, query: LiteralString, *values: object) -> list[Row]:
        """All rows."""
        with refusals():
            return await self._connection.fetch(query, *values)

    async def fetch_row(self, query: LiteralString, *values: object) -> Row | None:
        """The first row, or None."""
        with refusals():
            return await self._connection.fetchrow(query, *values)

    async def fetch_value(self, query: LiteralString, *values: object) -> Any:
        """The first column of the first row, or None."""
        with refusals():
            return await self._connection.fetchval(query, *values)

    async def execute(self, query: LiteralString, *values: object) -> int:
        """Run it and say how many rows it touched."""
        with refusals():
            tag: str = await self._connection.execute(query, *values)
        count = tag.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def fetch_list(self, base: LiteralString, *values: object, page: Page) -> Rows[Row]:
        """The page that a client asked for of the rows of `base`, a select without order and limit.

        `base` names its output columns as the page's Listing does; PostgreSQL flattens the outer select, so indexes on
        (…, created_time desc, id) serve the order. In the store: `rows = await db.fetch_list("select … from queue_item
        where organization_id = $1", organization_id, page=page); return rows.map(_item)`.
        """
        parameters = list(values)
        where = _criteria(page.criteria, parameters)
        total: int | None = None
        with refusals():
            if page.with_total:
                count = f"select count(*) from ({base}) listed{where}"
                total = await self._connection.fetchval(count, *parameters)
            if not page.with_results or (total is not None and page.offset >= total):
                return Rows([], total)
            after = await self._key(base, values, page)
            query = f"select * from ({base}) listed{_window(page, after, where, parameters)}"
            rows: list[Row] = await self._connection.fetch(query, *parameters)
        has_more = len(rows) > page.limit
        items = rows[: page.limit]
        names = (*(step.column.name for step in page.order), page.listing.id)
        key = tuple(items[-1][name] for name in names) if has_more else None
        return Rows(items, total, key, has_more)

    async def _key(self, base: LiteralString, values: Sequence[object], page: Page) -> tuple[object, ...] | None:
        """The key that the page starts behind; one that was too long for a cursor is read again, from the id alone."""
        after = page.after
        if after is None or len(after) == len(page.order) + 1:
            return after
        query = f"select * from ({base}) listed where listed.{page.listing.id} = ${len(values) + 1}::text"
        row: Row | None = await self._connection.fetchrow(query, *values, after[-1])
        if row is None:
            message = "The row that this cursor stood on is gone; start again."
            raise errors.Invalid.of(errors.FieldError("invalid_cursor", message, parameter="cursor"))
        return (*(row[step.column.name] for step in page.order), after[-1])


@dataclass(frozen=True, slots=True)
class Pool:
    """Connections of one process, and the clock that they share."""

    raw: Any
    clock: Clock
    turns: asyncio.Semaphore  # one a connection, first come, first served: the driver's own queue lets some starve
    acquire_seconds: float = ACQUIRE_TIMEOUT_SECONDS

    async def close(self) -> None:
        """Wait for the connections in use, then close all."""
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
    statement_cache_size: int = 100,
    statement_seconds_max: int = STATEMENT_SECONDS_MAX,
    acquire_seconds: float = ACQUIRE_TIMEOUT_SECONDS,
) -> Pool:
    """Open a pool on a PostgreSQL URL, with the timeouts of the house. Raises Unavailable when it cannot be reached.

    `statement_seconds_max`: how long a prepared statement is kept, and with it a plan that was made for smaller tables.
    `acquire_seconds`: how long one waits for a connection, a new one or another's, before it is Unavailable.
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
    with refusals():
        raw = await asyncpg.create_pool(
            url,
            min_size=0,  # a process starts, and says that it is not ready, while the database is away
            max_size=size_max,
            timeout=CONNECT_TIMEOUT_SECONDS,
            command_timeout=COMMAND_TIMEOUT_SECONDS,
            statement_cache_size=statement_cache_size,
            max_cached_statement_lifetime=statement_seconds_max,
            server_settings=settings,
            connection_class=_Connection,
            init=_initialize,
        )
    return Pool(raw, Clock(), asyncio.Semaphore(size_max), acquire_seconds)


@asynccontextmanager
async def connection(pool: Pool) -> AsyncGenerator[Database, None]:
    """A connection without a transaction, for reads: each statement sees its own moment."""
    raw = await _acquired(pool)
    try:
        await _read_clock(raw, pool.clock)
        yield Database(raw, pool.clock)
    finally:
        await _release(pool, raw)


async def _acquired(pool: Pool) -> Any:
    try:
        with refusals():
            async with asyncio.timeout(pool.acquire_seconds):
                await pool.turns.acquire()
                try:
                    return await pool.raw.acquire()
                except BaseException:
                    pool.turns.release()
                    raise
    except asyncpg.PostgresError as error:  # whatever a server says instead of letting us in, it is away
        raise errors.Unavailable("The database is not available at the moment.", headers=_retry_after()) from error


async def _release(pool: Pool, raw: Any) -> None:
    try:
        # A server that hangs: whoever asked it has been told, and the driver ends the connection.
        with suppress(*_AWAY):
            await pool.raw.release(raw, timeout=RELEASE_TIMEOUT_SECONDS)
    finally:
        pool.turns.release()


def on_demand(pool: Pool) -> Database:
    """A database for those who mostly need none: each query takes a connection for itself and gives it back."""
    return Database(_OnDemand(pool), pool.clock)


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncGenerator[Database, None]:
    """The one place that commits: on leaving, unless something was raised, which rolls back."""
    async with connection(pool) as database:
        with refusals():
            async with _driver(database).transaction():
                yield database


@contextmanager
def refusals() -> Generator[None, None, None]:
    """Turn what the driver raises into refusals: taken and dangling keys, a database that is away."""
    try:
        yield
    except errors.Refusal:
        raise
    except asyncpg.UniqueViolationError as error:
        refusal = Taken("There is one with this key already.")
        refusal.constraint = _constraint(error)
        raise refusal from error
    except (asyncpg.ForeignKeyViolationError, asyncpg.RestrictViolationError) as error:
        dangling = Dangling("Something else refers to it, or it refers to something that is not there.")
        dangling.constraint = _constraint(error)
        raise dangling from error
    except asyncpg.LockNotAvailableError as error:
        raise LockTimeout("Somebody else is changing the same thing.", headers=_retry_after()) from error
    except _AWAY as error:
        raise errors.Unavailable("The database is not available at the moment.", headers=_retry_after()) from error


def _driver(database: Database) -> Any:
    """The driver's connection, which only this module may touch."""
    return database._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  the same module


class _OnDemand:
    """The four methods of a connection, each on a connection of the pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def fetch(self, query: str, *values: object) -> Any:
        async with connection(self._pool) as database:
            return await _driver(database).fetch(query, *values)

    async def fetchrow(self, query: str, *values: object) -> Any:
        async with connection(self._pool) as database:
            return await _driver(database).fetchrow(query, *values)

    async def fetchval(self, query: str, *values: object) -> Any:
        async with connection(self._pool) as database:
            return await _driver(database).fetchval(query, *values)

    async def execute(self, query: str, *values: object) -> Any:
        async with connection(self._pool) as database:
            return await _driver(database).execute(query, *values)


class _Connection(asyncpg.Connection):  # type: ignore[type-arg]
    """Sessions carry no state from one use to the next, so returning one costs no round trip."""

    def get_reset_query(self) -> str:
        return ""


async def _initialize(raw: Any) -> None:
    for name in ("json", "jsonb"):
        await raw.set_type_codec(
            name, schema="pg_catalog", encoder=lambda value: _JSON.encode(value).decode(), decoder=msgspec.json.decode
        )


async def _read_clock(raw: Any, clock: Clock) -> None:
    if clock.is_stale:
        with refusals():
            before = time.monotonic()
            database_now = await raw.fetchval("select clock_timestamp()", timeout=CLOCK_TIMEOUT_SECONDS)
        clock.set(database_now, monotonic=(before + time.monotonic()) / 2)


def _constraint(error: Exception) -> str:
    return str(getattr(error, "constraint_name", ""))


def _retry_after() -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_SECONDS)}


# Lists: the only place where a query is put together at run time. Names come from the stores' Listings, which are
# literals; everything that a client sent travels as a parameter.

_TYPE: dict[Kind, str] = {
    "text": "text",
    "id": "text",
    "integer": "bigint",
    "number": "double precision",
    "boolean": "boolean",
    "time": "timestamptz",
    "date": "date",
}
_SHOWN_SECOND = timedelta(seconds=1)
_OPERATOR = {
    "EQUAL": "=",
    "NOT_EQUAL": "<>",
    "ALT_NOT_EQUAL": "<>",
    "GREATER_THAN": ">",
    "GREATER_EQUAL": ">=",
    "LESS_THAN": "<",
    "LESS_EQUAL": "<=",
    "LIKE": "ilike",
    "NOT_LIKE": "not ilike",
}


def _criteria(criteria: Sequence[Criterion], parameters: list[object]) -> str:
    """The where clause of the criteria, empty without one; appends their values to `parameters`."""
    tests = [_test(criterion, parameters) for criterion in criteria]
    return f" where {' and '.join(tests)}" if tests else ""


def _test(criterion: Criterion, parameters: list[object]) -> str:
    column, value = criterion.column, criterion.value
    place = _expression(column)
    match criterion.operator:
        case "NULL" | "NOT_NULL" as operator:
            return f"{place} is {'not ' if operator == 'NOT_NULL' else ''}null"
        case operator if column.kind == "time":
            return _time_test(operator, column, value, parameters)
        case "IN":
            return f"{place} = any({_bind(column, value, parameters)}[])"
        case "NOT_IN":
            return f"({place} is not null and {place} <> all({_bind(column, value, parameters)}[]))"
        case "LIKE" | "NOT_LIKE" as operator:  # in the database's collation: in "C" only ASCII letters have two cases
            return f"listed.{column.name} {_OPERATOR[operator]} {_bind(column, value, parameters)}"
        case operator:
            return f"{place} {_OPERATOR[operator]} {_bind(column, value, parameters)}"


def _time_test(operator: str, column: Column, value: Any, parameters: list[object]) -> str:
    """Times are shown, and so compared, in whole seconds, but kept finer: a value stands for its whole second.

    Bounds of the bare column, so that indexes serve them; `date_trunc` of it would hide it from them.
    """
    place = _expression(column)
    match operator:
        case "IN" | "NOT_IN":
            seconds = " or ".join(_time_test("EQUAL", column, one, parameters) for one in value) or "false"
            return f"({seconds})" if operator == "IN" else f"({place} is not null and not ({seconds}))"
        case "EQUAL":
            return f"({place} >= {_bind(column, value, parameters)} and {place} < {_after(column, value, parameters)})"
        case "NOT_EQUAL" | "ALT_NOT_EQUAL":
            return f"({place} < {_bind(column, value, parameters)} or {place} >= {_after(column, value, parameters)})"
        case "GREATER_THAN":
            return f"{place} >= {_after(column, value, parameters)}"
        case "LESS_EQUAL":
            return f"{place} < {_after(column, value, parameters)}"
        case _:
            return f"{place} {_OPERATOR[operator]} {_bind(column, value, parameters)}"


def _window(page: Page, after: tuple[object, ...] | None, where: str, parameters: list[object]) -> str:
    """Where, order and limit (one row more than wanted, to know whether there are more) of the page."""
    if after is not None:
        where += (" and " if where else " where ") + _behind(page, after, parameters)
    order = ", ".join(
        f"{_expression(step.column)} {step.direction}{' nulls last' if step.column.nullable else ''}"
        for step in page.order
    )
    order = f"{order}, listed.{page.listing.id}" if order else f"listed.{page.listing.id}"
    parameters.append(page.limit + 1)
    limit = f" limit ${len(parameters)}"
    if page.offset:
        parameters.append(page.offset)
        limit += f" offset ${len(parameters)}"
    return f"{where} order by {order}{limit}"


def _behind(page: Page, after: Sequence[object], parameters: list[object]) -> str:
    """The rows behind the key: behind in the first column, or equal there and behind in what follows."""
    identity = Column(page.listing.id, "id")
    parameters.append(after[-1])
    test = f"{_expression(identity)} > ${len(parameters)}::text"
    for step, value in reversed(list(zip(page.order, after, strict=False))):
        test = _behind_step(step, value, test, parameters)
    return test


def _behind_step(step: Order, value: object, rest: str, parameters: list[object]) -> str:
    column = _expression(step.column)
    if value is None:  # nulls are last: behind them is only what is null too
        return f"({column} is null and {rest})"
    place = _bind(step.column, value, parameters)
    sign = ">" if step.direction == "asc" else "<"
    if step.column.nullable:
        return f"({column} {sign} {place} or {column} is null or ({column} = {place} and {rest}))"
    # The first half is what an index scan can start from.
    return f"({column} {sign}= {place} and ({column} {sign} {place} or {rest}))"


def _expression(column: Column) -> str:
    return f'listed.{column.name} collate "C"' if column.kind == "text" else f"listed.{column.name}"


def _after(column: Column, value: datetime, parameters: list[object]) -> str:
    """The first moment that does not look like `value` any more."""
    return _bind(column, value + _SHOWN_SECOND, parameters)


def _bind(column: Column, value: object, parameters: list[object]) -> str:
    parameters.append(value)
    return f"${len(parameters)}::{_TYPE[column.kind]}"
