"""The driver's side of the gateway: which server is asked, what a new connection knows, what says that it is away."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import msgspec

from afterword import errors

CONNECT_TIMEOUT_SECONDS = 5
TRANSACTION_TIMEOUT_VERSION_MIN = 17
SESSION_CONNECT_SECONDS_MAX: Final = 10
SESSION_LOCK_SECONDS: Final = 10
# Not `afterword…`: workers end sessions of that name that stand still, and a long copy waits for its reader.
SESSION_SETTINGS: Final = {
    "application_name": "copy of afterword", "timezone": "UTC", "datestyle": "ISO", "jit": "off",
    "statement_timeout": "0", "lock_timeout": f"{SESSION_LOCK_SECONDS}s", "idle_in_transaction_session_timeout": "0",
}  # fmt: skip

_JSON = msgspec.json.Encoder()
AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.QueryCanceledError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionTimeoutError,
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


class Connection(asyncpg.Connection):
    """Sessions carry no state from one use to the next, so returning one costs no round trip."""

    def get_reset_query(self) -> str:
        """Nothing to ask for."""
        return ""

    async def reset(self, *, timeout: float | None = None) -> None:
        """End what was left open."""
        if self.is_in_transaction() or self._top_xact is not None:  # else there is nothing to undo, and no need to wait
            await super().reset(timeout=timeout)


class Hosts:
    """The servers that a URL names, of which one takes writes: asked in turn, the last good one first.

    Each has its share of the time, so that one which is cut off cannot use up the others'.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        login, at, names = parts.netloc.rpartition("@")
        self._urls = [parts._replace(netloc=f"{login}{at}{name}").geturl() for name in names.split(",")]

    async def connect(self, _: str, **arguments: Any) -> Any:
        """A new connection, as the driver opens one; raises what the last server said."""
        urls, failure = tuple(self._urls), ConnectionError("no server")
        arguments["timeout"] = CONNECT_TIMEOUT_SECONDS / len(urls)
        for url in urls:
            try:
                raw = await asyncpg.connect(url, **arguments)
            except (*AWAY, asyncpg.PostgresError) as error:
                failure = error
            else:
                self._urls = [url, *(other for other in urls if other != url)]
                return raw
        raise failure


async def limit_transactions(raw: Any, *, seconds: int) -> None:
    """End each transaction of this connection after so long. Servers before 17 have no such limit, and refuse it."""
    if raw.get_server_version().major >= TRANSACTION_TIMEOUT_VERSION_MIN:
        await raw.execute("select set_config('transaction_timeout', $1, false)", f"{seconds}s")


async def initialize(raw: Any) -> None:
    """Teach a new connection our types: JSON, and times without a zone as lists read them."""
    async with raw.transaction():  # these ask for the types, and behind a pooler each exchange may meet another server
        for name in ("json", "jsonb"):
            await raw.set_type_codec(
                name,
                schema="pg_catalog",
                encoder=lambda value: _JSON.encode(value).decode(),
                decoder=msgspec.json.decode,
            )
        # Only lean lists have times without a zone: as the database counts them; objects made of them cost too much.
        await raw.set_builtin_type_codec("timestamp", schema="pg_catalog", codec_name="int8")
        # The driver knows no lists: it would ask anew, for milliseconds, at the first statement with each of these.
        await raw.fetchrow(
            """select null::boolean[], null::smallint[], null::integer[], null::bigint[], null::double precision[],
                 null::bytea[], null::jsonb[], null::date[], null::timestamptz[]"""
        )


@asynccontextmanager
async def open_session(url: str) -> AsyncGenerator[Any, None]:
    """One connection of the driver without the timeouts of requests, for COPY and changes of the schema.

    Raises Unavailable.
    """
    try:
        raw: Any = await asyncpg.connect(url, timeout=SESSION_CONNECT_SECONDS_MAX, server_settings=SESSION_SETTINGS)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise errors.Unavailable(f"The database cannot be used: {str(error) or 'it does not answer'}.") from error
    try:
        if raw.get_server_version().major >= TRANSACTION_TIMEOUT_VERSION_MIN:
            await raw.execute("set transaction_timeout = 0")
        yield raw
    finally:
        raw.terminate()
