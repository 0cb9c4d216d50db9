"""Schema changes: forward only, numbered, in SQL. Here: which revision this code and a database have, and `migrate`.

Start-up imports nothing but asyncpg; alembic and SQLAlchemy are loaded only when there is something to do.
A change is `NNNN_name.sql` with a line in `versions/`; `-- no transaction` on its first line runs it outside of one,
as `create index concurrently` needs (one statement to a file then).
"""

import asyncio
import time
from pathlib import Path
from typing import Any

import asyncpg

from afterword import db

FOLDER = Path(__file__).parent
LOCK_KEY = 4_612_305_177_261  # of the advisory lock that one node holds while it migrates
LOCK_WAIT_SECONDS = 600
LOCK_POLL_SECONDS = 0.1
STATEMENT_LOCK_TIMEOUT_SECONDS = 4
TRIES_MAX = 5
TRY_PAUSE_SECONDS = 2
CONNECT_TIMEOUT_SECONDS = 10
NO_TRANSACTION = "-- no transaction"


class MigrationError(Exception):
    """The schema could not be brought to this code's revision; the sentence says what to do."""


class DatabaseIsNewer(MigrationError):
    """The database was migrated by a newer release than this one."""


def head() -> str:
    """The revision that this code needs: the number of the last SQL file."""
    return max(path.name.partition("_")[0] for path in FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))


async def current(database: db.Database) -> str | None:
    """The revision that the database has, None when it is empty."""
    return await _revision(database.fetch_value)


async def migrate(url: str, *, wait_seconds: float = LOCK_WAIT_SECONDS) -> str:
    """Bring the database to `head()` and return it. Any number of nodes may call this at once: one does the work.

    Needs a session of its own, so a direct address and not a transaction pooler's. Raises DatabaseIsNewer when the
    database is ahead of this code, MigrationError when it is away, or the lock or a table stayed busy.
    """
    for attempt in range(1, TRIES_MAX + 1):
        connection = await _connected(url)
        try:
            return await _migrate(connection, wait_seconds=wait_seconds)
        except asyncpg.LockNotAvailableError as error:
            # A busy table must not queue everybody behind us: give way, then try again.
            if attempt == TRIES_MAX:
                raise MigrationError(
                    f"A table stayed busy in {TRIES_MAX} tries. Stop the processes that hold it, then migrate again."
                ) from error
        finally:
            connection.terminate()  # the lock goes with the session, whatever state it is in
        await asyncio.sleep(TRY_PAUSE_SECONDS)
    raise AssertionError


_SESSION = {"application_name": "afterword migrate", "timezone": "UTC", "jit": "off", "statement_timeout": "0"}


async def _connected(url: str) -> Any:
    try:
        return await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_SECONDS, server_settings=_SESSION)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise MigrationError(
            f"The database cannot be used: {str(error) or 'it does not answer'}. afterword doctor says what to do."
        ) from error


async def _migrate(connection: Any, *, wait_seconds: float) -> str:
    wanted = head()
    if await _is_at(connection, wanted):
        return wanted
    await _lock(connection, wait_seconds=wait_seconds)
    if not await _is_at(connection, wanted):  # another node may have been first
        await _upgrade(connection)
    return wanted


async def _is_at(connection: Any, wanted: str) -> bool:
    found = await _revision(connection.fetchval)
    if found is not None and found > wanted:
        raise DatabaseIsNewer(
            f"The database is at revision {found}, this release knows up to {wanted}. "
            "Start the newer release, or restore the backup from before the upgrade."
        )
    return found == wanted


async def _revision(fetch_value: Any) -> str | None:
    if await fetch_value("select to_regclass('alembic_version')::text") is None:
        return None
    return await fetch_value("table alembic_version")


async def _lock(connection: Any, *, wait_seconds: float) -> None:
    # Asked again and again instead of waited for: a waiting statement holds a snapshot, and `create index
    # concurrently` in the session that has the lock would wait for that snapshot for ever.
    deadline = time.monotonic() + wait_seconds
    while not await connection.fetchval("select pg_try_advisory_lock($1)", LOCK_KEY):
        if time.monotonic() > deadline:
            raise MigrationError(
                f"Another process has been migrating this database for more than {wait_seconds:g} seconds. "
                "Wait for it, or end its session (application_name 'afterword migrate')."
            )
        await asyncio.sleep(LOCK_POLL_SECONDS)


async def _upgrade(connection: Any) -> None:
    from alembic import command  # noqa: PLC0415  heavy, and mostly there is nothing to migrate
    from alembic.config import Config  # noqa: PLC0415
    from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415
    from sqlalchemy.pool import StaticPool  # noqa: PLC0415

    async def creator() -> Any:
        return connection  # the session that holds the lock

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")

    def upgrade(sync_connection: Any) -> None:
        config.attributes["connection"] = sync_connection
        command.upgrade(config, "head")

    engine = create_async_engine("postgresql+asyncpg://", async_creator=creator, poolclass=StaticPool)
    async with engine.connect() as session:
        await session.run_sync(upgrade)


def run_file(name: str) -> None:
    """Run one SQL file inside a migration; called by the modules of `versions/` alone."""
    from alembic import op  # noqa: PLC0415

    sql = (FOLDER / name).read_text(encoding="utf-8")
    if sql.startswith(NO_TRANSACTION):
        with op.get_context().autocommit_block():
            _run(op.get_bind(), sql)
        return
    # Through SQLAlchemy, so that its transaction has begun before the driver gets the whole file.
    op.execute(f"set local lock_timeout = '{STATEMENT_LOCK_TIMEOUT_SECONDS}s'")
    _run(op.get_bind(), sql)


def _run(bind: Any, sql: str) -> None:
    bind.connection.dbapi_connection.run_async(lambda driver: driver.execute(sql))
