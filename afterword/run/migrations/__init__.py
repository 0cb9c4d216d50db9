"""Schema changes: forward only, numbered, in SQL. Compares the revisions of code and database, and migrates.

A change is `NNNN_name.sql`, one transaction; `-- no transaction` on its first line runs it outside of one, as
`create index concurrently` needs (each statement ends a line with its semicolon, and may be repeated). Older code must
work on the changed schema; a change that prevents it has `-- needs NNNN` on its first line, and code of an older
revision is refused from then on.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import asyncpg

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import AWAY, locker, open_session
from afterword.run.migrations import store

FOLDER = Path(__file__).parent
LOCK_KEY = 4_612_305_177_261  # of the advisory lock of the migrating node
LOCK_WAIT_SECONDS = 600
LOCK_POLL_SECONDS = 0.1
STATEMENT_LOCK_TIMEOUT_SECONDS = 0.5  # other sessions queue behind our lock request for this long
BUSY_SECONDS_MAX = 300.0  # then an operator must find the session that holds the table
TRY_PAUSE_SECONDS = 1.0
WATCH_SECONDS = 0.1
ENCODING: Final = "UTF8"
WRONG_ENCODING: Final = "The database has the encoding {}, which cannot keep all texts."
NO_TRANSACTION = "-- no transaction"
CLOSED: Final = "9999"  # needed by a database that no release may use: half restored, or moved elsewhere

_NEEDS: Final = re.compile(r"-- needs (\d{4})\b")
_NEEDED: Final = re.compile(r"needs (\d{4})")  # the comment of the table that keeps the revision
_OWN_LOCK_TIMEOUT: Final = re.compile(r"^set local lock_timeout = '[^']*';$", re.MULTILINE)  # in the first files
_INDEX: Final = re.compile(r"create (?:unique )?index concurrently (?:if not exists )?(\w+)")

assert WATCH_SECONDS < STATEMENT_LOCK_TIMEOUT_SECONDS < db.LOCK_TIMEOUT_SECONDS  # noqa: S101


FetchValue = Callable[..., Awaitable[Any]]  # of a Database, or of a connection of the driver


class MigrationError(errors.Conflict):
    """The schema could not be migrated to this code's revision; the message names the remedy."""


class DatabaseIsNewer(MigrationError):
    """The database was migrated by a newer release, with which this one is incompatible."""


class DatabaseIsClosed(MigrationError):
    """A restore of it is unfinished, or it was moved elsewhere."""


class _Busy(Exception):
    """A table stayed locked too long."""


def head() -> str:
    """The revision that this code needs: the number of the last SQL file."""
    return _revision_of(_files()[-1])


async def current(fetch_value: FetchValue) -> str | None:
    """The revision that the database has, None when it is empty."""
    if await fetch_value("select to_regclass('alembic_version')::text") is None:
        return None
    return await fetch_value("table alembic_version")


async def is_usable(database: db.Database) -> bool:
    """True where this code works on the database's schema: its own, or a newer compatible one."""
    found = await current(database.fetch_value)
    return found is not None and found >= head() >= await _needed(database.fetch_value)


async def close(connection: Any, *, reason: str) -> None:
    """Refuse the database to every release from the end of this transaction on; `reason` says what to do."""
    await _comment(connection, needs=f"needs {CLOSED}", reason=reason)


async def reopen(connection: Any) -> None:
    """Let releases use the database again, if its schema is one that they work on."""
    found = await current(connection.fetchval) or ""
    needs = [_NEEDS.match(file.read_text(encoding="utf-8")) for file in _files() if _revision_of(file) <= found]
    last = max((match[1] for match in needs if match is not None), default="")
    await _comment(connection, needs=f"needs {last}" if last else "", reason="")


async def reason_closed(fetch_value: FetchValue) -> str | None:
    """Why no release may use the database, None where they may."""
    is_closed = await _needed(fetch_value) == CLOSED
    if not is_closed:
        return None
    return await fetch_value("select col_description(to_regclass('alembic_version'), 1)") or None


async def _comment(connection: Any, *, needs: str, reason: str) -> None:
    for statement in await store.list_comments(connection, needs=needs, reason=reason):
        await connection.execute(statement)


async def migrate(
    url: str,
    *,
    to: str = "",
    is_closed: bool = False,
    wait_seconds: float = LOCK_WAIT_SECONDS,
    busy_seconds: float = BUSY_SECONDS_MAX,
    report: Callable[[str], object] = lambda _: None,
) -> str:
    """Bring the database to `head()`, or to the revision `to`, unless it is ahead; return its revision.

    Several nodes may call this at once: one migrates. `report` gets messages about blocking sessions meanwhile.
    `is_closed`: also a closed one, which stays closed. Raises DatabaseIsNewer, DatabaseIsClosed, and MigrationError
    where the database is unreachable, or the lock or a table stays busy.
    """
    deadline = time.monotonic() + busy_seconds
    given: Any = {"url": url, "to": to or head(), "is_closed": is_closed, "wait_seconds": wait_seconds}
    while True:
        try:
            async with open_session(url, _SESSION) as connection:  # the lock goes with it, whatever state it is in
                return await _migrate(connection, **given)
        except _Busy as busy:
            # Our lock request must not block other sessions for long: give up, then try again.
            if time.monotonic() >= deadline:
                raise MigrationError(
                    f"A table stayed busy for {busy_seconds:g} seconds: {busy}. The schema is as it was before the "
                    "change that needs it. End the session that holds it (pg_terminate_backend), then migrate again."
                ) from busy
            report(f"A change of the schema waits for a table and tries again: {busy}.")
        except (errors.Unavailable, *AWAY) as error:
            raise MigrationError(f"{str(error).rstrip('.')}. afterword doctor says what to do.") from error
        await asyncio.sleep(TRY_PAUSE_SECONDS)


_NAME: Final = "afterword migrate"
_SESSION = {"application_name": _NAME, "timezone": "UTC", "jit": "off", "statement_timeout": "0"}


async def _migrate(connection: Any, *, url: str, to: str, is_closed: bool, wait_seconds: float) -> str:
    if (found := await _revision_reached(connection, to=to, is_closed=is_closed)) is not None:
        return found
    if (encoding := await connection.fetchval("show server_encoding")) != ENCODING:
        raise MigrationError(f"{WRONG_ENCODING.format(encoding)} afterword doctor says what to do.")
    async with locker(connection, url) as take:
        await _lock(take, wait_seconds=wait_seconds)
        if (found := await _revision_reached(connection, to=to, is_closed=is_closed)) is not None:  # another was first
            return found
        async with _blockers(url) as blockers:
            try:
                await _upgrade(connection, to=to)
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
                raise _Busy(", ".join(blockers) or "whoever held it is gone") from error
    return to


async def _revision_reached(connection: Any, *, to: str, is_closed: bool) -> str | None:
    """The database's revision, if this code can work on it; None: it is behind."""
    found, own, needed = await current(connection.fetchval), head(), await _needed(connection.fetchval)
    reason = await reason_closed(connection.fetchval)
    if reason is not None and not is_closed:
        raise DatabaseIsClosed(reason)
    if reason is None and needed > own:
        raise DatabaseIsNewer(
            f"The database is at revision {found}, which is incompatible with releases before {needed}; this one has "
            f"{own}. Start the newer release, or restore the backup from before the upgrade."
        )
    return found if found is not None and found >= to else None


@asynccontextmanager
async def _blockers(url: str) -> AsyncGenerator[list[str]]:
    """Sessions that blocked a migration, as of the last check that found any."""
    found: list[str] = []
    watching = asyncio.create_task(_watch(url, found))
    try:
        yield found
    finally:
        watching.cancel()
        with suppress(
            asyncio.CancelledError, errors.Unavailable, OSError, asyncpg.PostgresError, asyncpg.InterfaceError
        ):
            await watching  # without it the message is only shorter


async def _watch(url: str, found: list[str]) -> None:
    async with open_session(url, _SESSION) as session:
        while True:
            found[:] = await store.list_blockers(session, application_name=_NAME) or found
            await asyncio.sleep(WATCH_SECONDS)


async def _needed(fetch_value: FetchValue) -> str:
    """The oldest revision that is compatible with the schema; empty: any."""
    said = await fetch_value("select obj_description(to_regclass('alembic_version'), 'pg_class')")
    needs = _NEEDED.fullmatch(said or "")
    return needs[1] if needs else ""


async def _lock(take: Callable[[int], Awaitable[bool]], *, wait_seconds: float) -> None:
    # Polled, since a waiting statement holds a snapshot, and `create index concurrently` in the session that has the
    # lock would wait for that snapshot forever.
    deadline = time.monotonic() + wait_seconds
    while not await take(LOCK_KEY):
        if time.monotonic() > deadline:
            raise MigrationError(
                f"Another process has been migrating this database for more than {wait_seconds:g} seconds. "
                f"Wait for it, or end its session (application_name '{_NAME}', behind a pooler 'copy of afterword')."
            )
        await asyncio.sleep(LOCK_POLL_SECONDS)


def _files() -> list[Path]:
    return sorted(FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))


def _revision_of(file: Path) -> str:
    return file.name.partition("_")[0]


async def _upgrade(connection: Any, *, to: str) -> None:
    found = await current(connection.fetchval)
    for file in _files():
        if _revision_of(file) <= to and (found is None or _revision_of(file) > found):
            await _run(connection, file.read_text(encoding="utf-8"), revision=_revision_of(file))


async def _run(connection: Any, sql: str, *, revision: str) -> None:
    is_alone = sql.startswith(NO_TRANSACTION)
    if is_alone:
        for statement in filter(str.strip, sql.split(";\n") if _INDEX.search(sql) else [sql]):
            index = _INDEX.search(statement)
            if index is not None:
                await connection.execute(_DROP_INVALID.format(index=index[1], seconds=STATEMENT_LOCK_TIMEOUT_SECONDS))
                # A process that was killed after the statement has not written the revision.
                if await connection.fetchval("select to_regclass($1) is not null", index[1]):
                    continue
            await connection.execute(statement)
    async with connection.transaction():
        if not is_alone:
            await connection.execute(f"set local lock_timeout = '{STATEMENT_LOCK_TIMEOUT_SECONDS}s'")
            await connection.execute(_OWN_LOCK_TIMEOUT.sub("", sql))
        await store.update_revision(connection, revision=revision)
        if (needs := _NEEDS.match(sql)) is not None and await _needed(connection.fetchval) != CLOSED:
            await connection.execute(f"comment on table alembic_version is 'needs {needs[1]}'")


# An interrupted `create index concurrently` leaves an invalid index, which blocks the next try.
_DROP_INVALID: Final = """do $$ begin
  perform set_config('lock_timeout', '{seconds}s', true);
  if exists (select from pg_index where indexrelid = to_regclass('{index}') and not indisvalid) then
    drop index {index};
  end if;
end $$"""
