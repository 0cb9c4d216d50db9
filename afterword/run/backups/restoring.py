"""Restores a backup into an empty place: rows, files, then the newest schema. Killed, it goes on when asked again."""

import asyncio
import io
import tarfile
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Final, Literal

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import open_session
from afterword.run import migrations
from afterword.run.backups import service, store
from afterword.run.backups.manifests import Manifest, Reader
from afterword.run.backups.service import NotEmpty, Report
from afterword.run.backups.store import Table
from afterword.sending.queue import restores

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
        reason = await migrations.reason_closed(session)
        if reason == _reason(manifest):
            return "begun"
        is_empty = await store.get_is_empty(session)
        if not is_empty and await store.get_paused_reason(session) == PAUSED.format(manifest.backup_id):
            return "done"
        if reason is not None or not is_empty:
            raise NotEmpty(reason or "This database has data. A restore needs an empty one.")
    if file_folder is not None and await asyncio.to_thread(_has_files, file_folder):
        raise NotEmpty(f"The folder {file_folder} has files. A restore needs an empty one.")
    return "empty"


async def load_rows(url: str, manifest: Manifest, reader: Reader, *, report: Report) -> None:
    """Put the rows into the database, which stays closed to all but this restore."""
    parts = {table.name: table for table in manifest.tables}

    def rows_of(table: Table) -> AsyncIterable[bytes]:
        return reader.rows(parts[table.name])

    await service.load(
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
    """Write the files of responses; return their number."""
    count = 0
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for part in manifest.files:
        with tarfile.open(fileobj=io.BytesIO(reader.get(part))) as archive:
            archive.extractall(folder, filter="data")
            count += len(archive.getnames())
    return count


async def pause(pool: db.Pool, manifest: Manifest) -> None:
    async with db.transaction(pool) as database:
        await restores.pause(database, reason=PAUSED.format(manifest.backup_id))


def _has_files(folder: Path) -> bool:
    return folder.exists() and any(folder.iterdir())


def _reason(manifest: Manifest) -> str:
    return UNFINISHED.format(manifest.backup_id, manifest.backup_id)
