"""Moves a database into an empty one of another server or version. Killed at any moment, it goes on when asked again.

The source is only read until the target has every row. Then the source is closed for good, and the target is opened:
at no moment may both be used.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, Final

import asyncpg

from afterword import errors
from afterword.kit.db.hosts import open_session
from afterword.run import migrations
from afterword.run.backups import service, store
from afterword.run.backups.service import NotEmpty, Report
from afterword.run.backups.store import Table

MOVING: Final = "A move into this database is unfinished. Repeat the command that began it."
MOVED: Final = "This database was moved: {} has the data now. Start Afterword with that one."
PIECES_HELD_MAX: Final = 8


class InUse(errors.Conflict):
    """Somebody uses the database that is to be moved."""


async def move(source: str, target: str, *, target_name: str, report: Report) -> None:
    """Move all rows from one address to another; `target_name` is shown to whoever starts the old one.

    Raises InUse, NotEmpty, Conflict, NotFound, Incomplete.
    """
    async with open_session(source) as session:
        reason = await migrations.reason_closed(session.fetchval)
        if reason != MOVED.format(target_name):
            revision = await _movable_revision(session, reason)
            await _require_empty(target)
            await _copy(session, target, target_name=target_name, revision=revision, report=report)
    async with open_session(target) as session:
        is_unfinished = await migrations.reason_closed(session.fetchval) == MOVING
    if is_unfinished:
        await service.reopen(target)


async def _movable_revision(session: Any, reason: str | None) -> str:
    revision = await migrations.current(session.fetchval)
    if reason is not None:
        raise errors.Conflict(reason)
    if revision is None:
        raise errors.NotFound("The database is empty: there is nothing to move.")
    if revision > migrations.head():
        raise errors.Conflict(f"A newer release made the schema (revision {revision}). Move it with that one.")
    if programs := await store.list_other_sessions(session):
        raise InUse(f"Stop Afterword first: the database is used by {', '.join(programs)}.")
    return revision


async def _require_empty(target: str) -> None:
    async with open_session(target) as session:
        reason = await migrations.reason_closed(session.fetchval)
        if reason != MOVING and (reason is not None or not await store.get_is_empty(session)):
            raise NotEmpty(reason or "The database to move into has data. A move needs an empty one.")


async def _copy(session: Any, target: str, *, target_name: str, revision: str, report: Report) -> None:
    """Fill the target, and close the source in the transaction that kept others from writing to it."""
    tables = await store.list_tables(session)
    counts: Counter[str] = Counter()
    async with session.transaction(isolation="repeatable_read"):
        try:
            await store.get_share(session, tables=tables, is_exclusive=True)
        except asyncpg.LockNotAvailableError as error:
            raise InUse("Another session holds a table of the database. End it, then repeat this.") from error
        sequences = await store.list_sequences(session)
        await service.load(
            target,
            revision=revision,
            tables=tables,
            rows_of=lambda table: _rows(session, table, counts),
            counts=lambda: counts,
            sequences=lambda: sequences,
            reason=MOVING,
            report=report,
        )
        await migrations.close(session, reason=MOVED.format(target_name))


async def _rows(session: Any, table: Table, counts: Counter[str]) -> AsyncGenerator[bytes]:
    """The rows of a table, read while the ones before are written."""
    pieces: asyncio.Queue[bytes | None] = asyncio.Queue(PIECES_HELD_MAX)

    async def read() -> None:
        try:
            await store.list_rows(session, table=table, only=None, output=pieces.put)
        finally:
            await pieces.put(None)

    reading = asyncio.create_task(read())
    try:
        while (piece := await pieces.get()) is not None:
            counts[table.name] += piece.count(b"\n")
            yield piece
        await reading
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
