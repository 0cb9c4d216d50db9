"""One connection for long work that is no request: COPY, and changes of the schema."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg

from afterword import errors
from afterword.db.hosts import TRANSACTION_TIMEOUT_VERSION_MIN

CONNECT_SECONDS_MAX: Final = 10
LOCK_TIMEOUT_SECONDS: Final = 10
# Not `afterword…`: workers end sessions of that name that stand still, and a long copy waits for its reader.
SETTINGS: Final = {
    "application_name": "copy of afterword", "timezone": "UTC", "datestyle": "ISO", "jit": "off",
    "statement_timeout": "0", "lock_timeout": f"{LOCK_TIMEOUT_SECONDS}s", "idle_in_transaction_session_timeout": "0",
}  # fmt: skip


@asynccontextmanager
async def open_session(url: str) -> AsyncGenerator[Any, None]:
    """A connection of the driver without the timeouts of requests. Raises Unavailable."""
    try:
        raw: Any = await asyncpg.connect(url, timeout=CONNECT_SECONDS_MAX, server_settings=SETTINGS)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise errors.Unavailable(f"The database cannot be used: {str(error) or 'it does not answer'}.") from error
    try:
        if raw.get_server_version().major >= TRANSACTION_TIMEOUT_VERSION_MIN:
            await raw.execute("set transaction_timeout = 0")
        yield raw
    finally:
        raw.terminate()
