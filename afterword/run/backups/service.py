"""Copies out of a database in use, as one snapshot sees it, and into an empty one, all of it or nothing."""

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncIterable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from afterword import __version__, errors
from afterword.core import keys
from afterword.kit import db
from afterword.kit.db.hosts import locker, open_session
from afterword.run import migrations
from afterword.run.backups import ledgers, manifests, store
from afterword.run.backups.manifests import Location, Manifest, Part, Reader, Sealer, TableParts, TableWriter, Writer
from afterword.run.backups.store import Table
from afterword.sending.queue import restores

KEPT_MIN: Final = 3
INDEX_MEMORY: Final = "256MB"  # to make an index; the default takes three times as long
Report = Callable[[str], object]
RowsOf = Callable[[Table], AsyncIterable[bytes]]


class NotEmpty(errors.Conflict):
    """There are organizations in the database already."""


class Incomplete(errors.Invalid):
    """Rows or columns are missing; nothing was kept."""


class UnderWay(errors.Conflict):
    """Another process makes a backup."""


async def save(
    *,
    url: str,
    location: Location,
    sealer: Sealer,
    backup_id: str,
    kind: str,
    secret: bytes,
    file_folder: Path | None,
    now: datetime,
    organization_id: str | None = None,
    report: Report = lambda _: None,
) -> Writer:
    """Make a backup of the installation, or of one organization, while others use it; return its writer with its size.

    A store elsewhere takes encrypted backups alone. Raises UnderWay, Invalid, CannotUse.
    """
    if location.is_remote and not sealer.recipients:
        raise errors.Invalid(manifests.NOT_ENCRYPTED)
    async with open_session(url) as session, locker(session, url) as take:
        if not await take(store.LOCK_KEY):
            raise UnderWay("Another process makes a backup of this database.")
        is_listed = await store.get_has_table(session, name="backup")  # not before its migration
        if is_listed:
            await store.insert_backup(session, backup_id=backup_id, kind=kind)
        writer = Writer(location, backup_id, sealer)
        tables, sequences, revision = await _save_tables(
            session, writer, organization_id=organization_id, report=report
        )
        with manifests.using(f"The folder of files {file_folder}"):
            files = list(_save_files(writer, file_folder, organization_id)) if file_folder is not None else []
        report(f"{sum(part.bytes for part in files):,} bytes of files of responses")
        writer.put_manifest(
            Manifest(
                format=manifests.FORMAT,
                backup_id=backup_id,
                version=__version__,
                revision=revision,
                started_time=now,
                organization_id=organization_id,
                tables=tables,
                sequences=sequences,
                secret=writer.put("secret", keys.packed(secret)),
                files=files,
            )
        )
        if is_listed:
            await store.settle_backup(session, backup_id=backup_id, size=writer.size)
    return writer


def rotate(location: Location, *, keep_days: int, now: datetime) -> list[str]:
    """Remove backups older than so many days, but never the newest three, and what killed ones left; 0: for ever."""
    finished = manifests.list_backups(location)
    started = {name.partition("/")[0] for name in location.list_names()}
    newest = finished[-1] if finished else ""
    old = [each for each in started if manifests.ID.fullmatch(each) and each not in finished and each < newest]
    if keep_days:
        limit = now - timedelta(days=keep_days)
        old += [each for each in finished[:-KEPT_MIN] if manifests.time_of(each) < limit]
    for each in old:
        location.delete(each)
    return sorted(old)


async def get_ledger_times(pool: db.Pool) -> tuple[datetime | None, datetime | None]:
    """The last changes of the ledgers of erasures and of retention runs."""
    async with db.connection(pool) as database:
        return await store.get_erased_time(database), await store.get_forgotten_time(database)


async def keep_ledgers(pool: db.Pool, *, location: Location, sealer: Callable[[], Sealer], now: datetime) -> list[str]:
    """Write the ledgers beside the backups, unless the newest there have all; the folders of those that were written.

    The sealer is asked for each: deriving a key takes long, and often there is nothing to write.
    """
    erased, forgotten = await get_ledger_times(pool)
    written: list[str] = []
    for folder, changed, write in (
        (ledgers.ERASURES, erased, ledgers.write_erasures),
        (ledgers.RUNS, forgotten, ledgers.write_runs),
    ):
        if changed is not None and ledgers.is_behind(location, folder=folder, changed=changed):
            await write(pool, location=location, sealer=sealer(), now=now)
            written.append(folder)
    return written


async def _save_tables(
    session: Any, writer: Writer, *, organization_id: str | None, report: Report
) -> tuple[list[TableParts], dict[str, int], str]:
    known = await store.list_tables(session)
    if await migrations.current(session.fetchval) is None:
        raise errors.NotFound("The database is empty: there is nothing to back up.")
    async with session.transaction(isolation="repeatable_read", readonly=True):
        # Before the snapshot, which the next query takes: no table changes its columns between it and its copy.
        await store.get_share(session, tables=known)
        revision = await migrations.current(session.fetchval) or ""
        of_one = {"organization_id", "login_id"}  # such rows are an organization's, or of a person who works for it
        wanted = [
            table
            for table in await store.list_tables(session)
            if organization_id is None or of_one & {*table.columns} or table.name in store.OF_INSTALLATION
        ]
        saved = [
            await _save_table(session, writer, table, organization_id=organization_id, report=report)
            for table in wanted
        ]
        return saved, await store.list_sequences(session), revision


async def _save_table(
    session: Any, writer: Writer, table: Table, *, organization_id: str | None, report: Report
) -> TableParts:
    taking = TableWriter(writer, table.name)
    await store.list_rows(session, table=table, only=organization_id, output=taking.take)
    taking.flush()
    if taking.rows:
        report(f"{taking.rows:,} rows of {table.name}")
    return TableParts(table.name, table.columns, taking.rows, taking.parts)


def _save_files(writer: Writer, folder: Path, organization_id: str | None) -> Iterator[Part]:
    """Archives of files, each of a bounded size; what is deleted meanwhile was deleted after the snapshot."""
    held: list[tuple[str, bytes]] = []
    for path in list_files(folder / organization_id if organization_id else folder):
        with suppress(FileNotFoundError):
            held.append((str(path.relative_to(folder)), path.read_bytes()))
        if sum(len(content) for _, content in held) >= manifests.PART_BYTES:
            yield writer.put("files.tar", _archive(held))
            held = []
    if held:
        yield writer.put("files.tar", _archive(held))


def list_files(folder: Path) -> Iterator[Path]:
    """Files that are complete, also in folders below. Raises OSError for a folder that cannot be read."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        yield from (Path(place, name) for name in sorted(names) if not name.endswith(".part"))


def _archive(held: Sequence[tuple[str, bytes]]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in held:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o600
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()


async def load(
    url: str,
    *,
    revision: str,
    tables: Sequence[Table],
    rows_of: RowsOf,
    counts: Callable[[], Mapping[str, int]],
    sequences: Callable[[], Mapping[str, int]],
    reason: str,
    report: Report,
) -> None:
    """Make the schema of `revision`, close the database for `reason`, and fill these tables; it stays closed.

    `counts` and `sequences` are asked once all rows were read. Raises Incomplete.
    """
    await migrations.migrate(url, to=revision, is_closed=True)
    async with open_session(url) as session:
        await migrations.close(session, reason=reason)
    async with open_session(url) as session, session.transaction():
        _require_columns(tables, await store.list_tables(session))
        constraints = await store.list_constraints(session)
        await store.update_memory(session, memory=INDEX_MEMORY)
        for away, _ in constraints:
            await session.execute(away)
        await store.delete_rows(session, tables=tables)
        for table in tables:
            count = await store.insert_rows(session, table=table, source=rows_of(table))
            if count != counts()[table.name]:
                raise Incomplete(f"Of {counts()[table.name]:,} rows of {table.name} {count:,} came in.")
            if count:
                report(f"{count:,} rows of {table.name}")
        await store.update_sequences(session, sequences=sequences())
        report("indexes and foreign keys")
        for _, again in constraints:
            await session.execute(again)
        await store.update_triggers(session, tables=tables)


async def reopen(url: str) -> None:
    """Let releases use the database again, with statistics for the planner."""
    async with open_session(url) as session:
        await store.update_statistics(session)
        await migrations.reopen(session)


def _require_columns(tables: Sequence[Table], here: Sequence[Table]) -> None:
    known = {table.name: set(table.columns) for table in here}
    for table in tables:
        if missing := set(table.columns) - known.get(table.name, set()):
            raise Incomplete(f"The schema has no {', '.join(sorted(missing))} in {table.name}.")


UNFINISHED: Final = "The restore of the backup {} is unfinished. Run `afterword restore {}` again."
PAUSED: Final = "The database was restored from the backup {} and may have items that went out since."


State = Literal["empty", "begun", "done"]


async def state_of(url: str, manifest: Manifest, *, file_folder: Path | None) -> State:
    """The progress of a restore of this backup: `begun` has the rows. Raises NotEmpty where anything else is there."""
    if manifest.revision > migrations.head():
        raise errors.Conflict(
            f"The backup was made by a newer release ({manifest.version}, with revision {manifest.revision}). "
            "Restore it with that one."
        )
    async with open_session(url) as session:
        reason = await migrations.reason_closed(session.fetchval)
        is_empty = await store.get_is_empty(session)
        if reason == _reason(manifest) and not is_empty:
            return "begun"
        if not is_empty and await store.get_paused_reason(session) == PAUSED.format(manifest.backup_id):
            return "done"
        if not is_empty:
            raise NotEmpty(reason or "This database has data. A restore needs an empty one.")
    if file_folder is not None and await asyncio.to_thread(lambda: file_folder.exists() and any(file_folder.iterdir())):
        raise NotEmpty(f"The folder {file_folder} has files. A restore needs an empty one.")
    return "empty"


async def load_rows(url: str, manifest: Manifest, reader: Reader, *, report: Report) -> None:
    """Put the rows into the database, which stays closed to all but this restore."""
    parts = {table.name: table for table in manifest.tables}

    def rows_of(table: Table) -> AsyncIterable[bytes]:
        return reader.rows(parts[table.name])

    await load(
        url,
        revision=manifest.revision,
        tables=[Table(table.name, table.columns) for table in manifest.tables],
        rows_of=rows_of,
        counts=lambda: {name: table.rows for name, table in parts.items()},
        sequences=lambda: manifest.sequences,
        reason=_reason(manifest),
        report=report,
    )


def write_files(manifest: Manifest, reader: Reader, folder: Path) -> int:
    count = 0
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for part in manifest.files:
        with tarfile.open(fileobj=io.BytesIO(reader.get(part))) as archive:
            archive.extractall(folder, filter="data")
            count += len(archive.getnames())
    return count


async def pause(pool: db.Pool, manifest: Manifest) -> None:
    await db.change(pool, restores.update_to_paused, reason=PAUSED.format(manifest.backup_id))


def _reason(manifest: Manifest) -> str:
    return UNFINISHED.format(manifest.backup_id, manifest.backup_id)
