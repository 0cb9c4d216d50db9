"""The one gateway to PostgreSQL: pool, transactions, the database's clock, violations turned into refusals.

Queries are literals (`LiteralString`): the type checker refuses one that was put together at run time. The dynamic
parts of lists (filters, orders) are composed here, from a whitelist of columns, and nowhere else.
"""

import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString, Self

import asyncpg
import msgspec

from afterword import errors

STATEMENT_TIMEOUT_SECONDS = 5
LOCK_TIMEOUT_SECONDS = 1
IDLE_TRANSACTION_TIMEOUT_SECONDS = 10
CONNECT_TIMEOUT_SECONDS = 5
ACQUIRE_TIMEOUT_SECONDS = 5
COMMAND_TIMEOUT_SECONDS = 10
CLOCK_AGE_SECONDS_MAX = 10
RETRY_AFTER_SECONDS = 2
POOL_SIZE_DEFAULT = 10

Row = asyncpg.Record

_JSON = msgspec.json.Encoder()
_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.DiskFullError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InterfaceError,
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


@dataclass(frozen=True, slots=True)
class Pool:
    """Connections of one process, and the clock that they share."""

    raw: Any
    clock: Clock

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
) -> Pool:
    """Open a pool on a PostgreSQL URL, with the timeouts of the house. Raises Unavailable when it cannot be reached."""
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
            min_size=1,
            max_size=size_max,
            timeout=CONNECT_TIMEOUT_SECONDS,
            command_timeout=COMMAND_TIMEOUT_SECONDS,
            statement_cache_size=statement_cache_size,
            server_settings=settings,
            connection_class=_Connection,
            init=_initialize,
        )
    return Pool(raw, Clock())


@asynccontextmanager
async def connection(pool: Pool) -> AsyncGenerator[Database, None]:
    """A connection without a transaction, for reads: each statement sees its own moment."""
    with refusals():
        raw = await pool.raw.acquire(timeout=ACQUIRE_TIMEOUT_SECONDS)
    try:
        await _read_clock(raw, pool.clock)
        yield Database(raw, pool.clock)
    finally:
        await pool.raw.release(raw)


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncGenerator[Database, None]:
    """The one place that commits: on leaving, unless something was raised, which rolls back."""
    async with connection(pool) as database:
        raw = database._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  same module
        with refusals():
            async with raw.transaction():
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
    except _AWAY as error:
        raise errors.Unavailable("The database is not available at the moment.", headers=_retry_after()) from error


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
            database_now = await raw.fetchval("select clock_timestamp()")
        clock.set(database_now, monotonic=(before + time.monotonic()) / 2)


def _constraint(error: Exception) -> str:
    return str(getattr(error, "constraint_name", ""))


def _retry_after() -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_SECONDS)}
