"""The driver's side of the gateway: which server is asked, what a new connection knows, what says that it is away.

A pooler between us and the server is recognised at each connection: it refuses settings at the start that it does not
know, or the process that answers is not the one that the start named.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import msgspec
import structlog

from afterword import errors

CONNECT_TIMEOUT_SECONDS = 5
ANSWER_SECONDS_MAX = 4  # less than one waits for a connection, so that the cause is told
TRANSACTION_TIMEOUT_VERSION_MIN = 17
STATEMENTS_MAX: Final = 100  # prepared ones of a connection, unless chosen
PASSED_ON: Final = frozenset({"application_name", "timezone"})  # settings that poolers keep for their clients
UNLIMITING: Final = ("application_name", "tcp_")  # settings whose connection is the pooler's
PROBED: Final = 3  # connections
PROBES: Final = 5  # of each
SESSION_LOCK_SECONDS: Final = 10
# Not `afterword…`: workers end sessions of that name that stand still, and a long copy waits for its reader.
SESSION_SETTINGS: Final = {
    "application_name": "copy of afterword", "timezone": "UTC", "datestyle": "ISO", "jit": "off",
    "statement_timeout": "0", "lock_timeout": f"{SESSION_LOCK_SECONDS}s", "idle_in_transaction_session_timeout": "0",
}  # fmt: skip

_JSON = msgspec.json.Encoder()
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
SAID = (  # by a server or the driver: nothing is wrong with the statement
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
)
AWAY = (*SAID, TimeoutError, OSError)
_REFUSED: Final = (asyncpg.LockNotAvailableError, asyncpg.InsufficientPrivilegeError, asyncpg.InvalidSchemaNameError)
_WITHIN: Final = (*SAID, ConnectionResetError, *_REFUSED)  # a session that is open

STARVED: Final = (
    f"The database took a connection and gave no answer on it within {ANSWER_SECONDS_MAX} seconds. A pooler before it "
    "may have no server connection left (PgBouncer: default_pool_size)."
)


class Starved(errors.Unavailable):
    """A connection was made, and no server answers on it."""


class Connection(asyncpg.Connection):
    """Sessions carry no state from one use to the next, so returning one costs no round trip."""

    limits = ""  # statements at the beginning of each transaction, where no session keeps settings

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:
        """Begin transactions with their limits, in the same round trip."""
        if self.limits and query.startswith("BEGIN"):  # the driver's own
            query += self.limits
        return await super().execute(query, *args, timeout=timeout)

    def get_reset_query(self) -> str:
        return ""

    async def reset(self, *, timeout: float | None = None) -> None:
        """Roll back what was left open; an end that was cut off is no error, as which the driver would log it."""
        if self.is_in_transaction() or self._top_xact is not None:  # else there is nothing to undo, and no need to wait
            self._top_xact = None
            await self.execute("rollback", timeout=timeout)


class Hosts:
    """The servers that a URL names, of which one takes writes: asked in turn, the last good one first.

    Each has its share of the time, so that one which is cut off cannot use up the others'. `statements_max`: prepared
    statements that a connection keeps; 0: none, as each transaction may meet another server.
    """

    def __init__(self, url: str, *, statements_max: int | None = None) -> None:
        parts = urlsplit(url)
        login, at, names = parts.netloc.rpartition("@")
        self._urls = [parts._replace(netloc=f"{login}{at}{name}").geturl() for name in names.split(",")]
        self._statements_max = statements_max
        self._finding: asyncio.Task[bool] | None = None
        self.is_pooled = False
        self.is_shared = statements_max == 0  # each transaction may meet another server

    @property
    def is_overruled(self) -> bool:
        """Whether no statements are kept although a number was chosen."""
        return self.is_shared and bool(self._statements_max)

    async def connect(self, _: str, *, server_settings: Mapping[str, str], **arguments: Any) -> Any:
        """A new connection, which has answered; raises what the last server said, or Starved."""
        if not self.is_pooled:
            with suppress(_PoolerFound):
                kept = 0 if self.is_shared else STATEMENTS_MAX if self._statements_max is None else self._statements_max
                raw = await self._connect(server_settings=server_settings, statement_cache_size=kept, **arguments)
                if await _is_server_itself(raw):
                    return raw
                raw.terminate()
            await self._take_pooler(partial(self._connect, statement_cache_size=0, **arguments))
        passed = {name: value for name, value in server_settings.items() if name in PASSED_ON}
        kept = 0 if self.is_shared else self._statements_max
        raw = await self._connect(server_settings=passed, statement_cache_size=kept, **arguments)
        await _is_server_itself(raw)
        limits = [f"{name} = '{value}';" for name, value in server_settings.items() if not name.startswith(UNLIMITING)]
        if self.is_shared:
            raw.limits = "".join(f"set local {limit}" for limit in limits)
        else:
            await raw.execute("".join(f"set {limit}" for limit in limits))
        return raw

    async def _take_pooler(self, connect: Callable[[], Awaitable[Any]]) -> None:
        """Note that there is one. Where a number of statements was chosen, it may be one that gives out sessions."""
        if self._statements_max and self._finding is None:  # once for all, also where who asks first cannot wait
            self._finding = asyncio.create_task(_is_shared(connect))
        is_shared = await asyncio.shield(self._finding) if self._finding else True
        if not self.is_pooled and self._statements_max != 0:
            tell = logger.warning if is_shared and self._statements_max else logger.info
            tell("a pooler stands before the database", statement_cache=0 if is_shared else self._statements_max)
        self.is_pooled, self.is_shared = True, is_shared

    async def _connect(self, **arguments: Any) -> Any:
        urls, failure = tuple(self._urls), ConnectionError("no server")
        arguments["timeout"] = CONNECT_TIMEOUT_SECONDS / len(urls)
        for url in urls:
            try:
                raw = await asyncpg.connect(url, **{"connection_class": Connection, **arguments})
            except (*AWAY, asyncpg.PostgresError) as error:
                if "unsupported startup parameter" in str(error) or isinstance(error, _OF_OTHERS):
                    raise _PoolerFound from error
                failure = error
            else:
                self._urls = [url, *(other for other in urls if other != url)]
                return raw
        raise failure


class _PoolerFound(Exception):
    """A pooler answers instead of a server."""


_OF_OTHERS = (asyncpg.DuplicatePreparedStatementError, asyncpg.InvalidSQLStatementNameError)  # their statements


async def _is_server_itself(raw: Any) -> bool:
    """Whether the process that the connection began with answers; a pooler makes up its number. Raises Starved."""
    try:  # in the protocol that prepares nothing
        query = f"select where pg_backend_pid() = {raw.get_server_pid()}"
        return await raw.execute(query, timeout=ANSWER_SECONDS_MAX) == "SELECT 1"
    except BaseException as error:
        raw.terminate()
        if isinstance(error, TimeoutError):
            raise Starved(STARVED) from None
        raise


async def _is_shared(connect: Callable[[], Awaitable[Any]]) -> bool:
    """Whether several connections meet one server process, or one several; in doubt True."""
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
                connections: list[Any] = []
                for _ in range(PROBED):
                    connections.append(await connect())
                    stack.callback(connections[-1].terminate)
                rounds = [
                    [await each.fetchval("select pg_backend_pid()") for each in connections] for _ in range(PROBES)
                ]
        except Exception:  # noqa: BLE001  nothing was shown
            return True
    return len(set(rounds[0])) < PROBED or any(each != rounds[0] for each in rounds)


async def limit_transactions(raw: Any, *, seconds: int) -> None:
    """End each transaction of this connection after so long. Servers before 17 have no such limit, and refuse it."""
    if raw.get_server_version().major < TRANSACTION_TIMEOUT_VERSION_MIN:
        return
    if raw.limits:
        raw.limits += f"set local transaction_timeout = '{seconds}s';"
    else:
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
async def open_session(url: str, settings: Mapping[str, str] = SESSION_SETTINGS) -> AsyncGenerator[Any, None]:
    """One connection of the driver without the timeouts of requests, for COPY and changes of the schema.

    Behind a pooler only its transactions are without them. Raises Unavailable, also for what the server refuses within.
    """
    hosts, refusals = Hosts(url, statements_max=0), (*AWAY, asyncpg.PostgresError)
    async with AsyncExitStack() as stack:
        try:
            raw = await hosts.connect(url, server_settings=settings)
            stack.callback(raw.terminate)
            refusals = _WITHIN  # other errors of files and sockets are not the database's
            await limit_transactions(raw, seconds=0)
            yield raw
        except refusals as error:
            said = str(error).partition("\n")[0].rstrip(".") or "it does not answer"  # hints follow
            raise errors.Unavailable(f"The database cannot be used: {said}.") from error


@asynccontextmanager
async def locker(raw: Any, url: str) -> AsyncGenerator[Callable[[int], Awaitable[bool]]]:
    """Yield what takes an advisory lock by its key, for as long as this lasts; it says False where another has it.

    The session of `raw` holds it, behind a pooler the transaction of a connection beside it. Raises Unavailable.
    """
    async with AsyncExitStack() as stack:
        holder, function = raw, "pg_try_advisory_lock"
        if raw.limits:
            holder, function = await stack.enter_async_context(open_session(url)), "pg_try_advisory_xact_lock"
            await stack.enter_async_context(holder.transaction())
            await _is_server_itself(raw)  # the pooler may have had only one left

        async def take(key: int) -> bool:
            # A query of the other protocol keeps its snapshot in the transaction, and indexes wait for that.
            return await holder.execute(f"select where {function}({key})") == "SELECT 1"

        yield take
