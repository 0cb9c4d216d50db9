"""`afterword backup`, `restore` and `erasure`: copies of the installation, and the ledger of erasures beside them.

A backup from before an erasure still has the person. The ledger, kept apart from the backups, has ids and hashes alone;
replayed before the service starts, it erases those people again.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final
from uuid import uuid4

import cyclopts
from cyclopts import Parameter

from afterword import errors
from afterword.core.scheduling.retries import JITTER_MAX
from afterword.events import log
from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.privacy import erasure_replay, service as ledger_lines
from afterword.privacy.erasure_replay import KeptRun
from afterword.privacy.service import LedgerLine
from afterword.run import migrations
from afterword.run.backups import ledgers, manifests, service as backups
from afterword.run.backups.manifests import Manifest, Reader
from afterword.run.cli import CommandError, context, copies
from afterword.run.cli.context import open_pool, read_text
from afterword.run.cli.doctor import show_findings
from afterword.run.worker.long_work import Importer
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits

LEDGER_BYTES_MAX: Final = 1_000_000_000
REAP_ITEMS_MAX: Final = 100
WAIT_SECONDS: Final = 0.5
WORK_SECONDS_MAX: Final = 3_600.0

erasure_app = cyclopts.App(name="erasure")


@erasure_app.command
async def export() -> None:
    """Print the ledger, a line of JSON for each erasure: ids and hashes, which name nobody.

    Keep it apart from the backups, for as long as the oldest of them.
    """
    async with open_pool() as (_, pool):
        async for line in ledger_lines.lines(pool):
            print(line)


@erasure_app.command(name="replay")
async def replay(file: Path, /) -> None:
    """Erase the people again who were erased since a restored backup; before `afterword serve`. Can be repeated.

    Args:
        file: The last output of `afterword erasure export`.
    """
    kept = read_lines(file)
    async with open_pool() as (context, pool):
        done = await replay_lines(pool, kept=kept, secret=context.site.secret)
    left = len(kept) - done
    print(f"{done:,} erased again, {left:,} were erased already or belong to no organization here.")


async def replay_lines(pool: db.Pool, *, kept: Sequence[LedgerLine], secret: bytes) -> int:
    """Erase again, in a database that no worker uses yet; return the number of people.

    What ran when the backup was taken ends first, since of a person one erasure runs at a time.
    """
    done = 0
    await db.change(pool, log.adopt)  # else no reader works on what came from another cluster
    await _work(pool, secret=secret)
    for line in kept:
        async with db.transaction(pool) as database:
            is_begun = await ledger_lines.replay(database, kept=line, now=database.clock.now())
        if is_begun:
            await _work(pool, secret=secret)
            done += 1
    return done


async def _work(pool: db.Pool, *, secret: bytes) -> None:
    """Bring all erasures to their end. Raises Unavailable after an hour without one."""
    deadline = time.monotonic() + WORK_SECONDS_MAX
    while True:
        async with db.transaction(pool) as database:
            if await ledger_lines.work_next(database, now=database.clock.now()):
                continue
            if not await ledger_lines.count_running(database):
                return
            await sending.reap(database, limit=REAP_ITEMS_MAX, waits=Waits(JITTER_MAX, 1.0))
        if time.monotonic() > deadline:
            raise errors.Unavailable("An erasure waits for something that does not come to its end.")
        if not await Importer(pool, uuid4(), secret=secret).work_next(asyncio.Event()):
            await asyncio.sleep(WAIT_SECONDS)


Switch = Annotated[bool, Parameter(negative="")]


async def backup(*, organization: str | None = None, to: str | None = None, if_due: Switch = False) -> None:
    """Make a backup of the whole installation while it works: database, secret, files of responses, erasures.

    Args:
        organization: The domain of the only organization that the backup has.
        to: A folder or s3://bucket/prefix instead of AFTERWORD_BACKUP_TO.
        if_due: Keep only the ledgers while the last backup is younger than AFTERWORD_BACKUP_HOURS.
    """
    chosen = context.read_settings()
    location = manifests.location_of(to) if to else copies.location_of(chosen)
    async with context.open_pool(chosen) as (opened, pool):
        now = datetime.now(UTC)
        if if_due and not await copies.is_due(pool, chosen, now=now):
            await backups.keep_ledgers(pool, location=location, sealer=lambda: copies.sealer_of(chosen), now=now)
            return
        named = None
        if organization is not None:
            found = await db.load(pool, context.organization_of, organization)
            named = found.organization_id, found.domain
        writer = await copies.save(
            chosen,
            url=opened.database_url,
            secret=opened.site.secret,
            kind="whole" if named is None else "organization",
            location=location,
            organization=named,
            report=context.report,
        )
        await backups.keep_ledgers(pool, location=location, sealer=lambda: copies.sealer_of(chosen), now=now)
    whose = "all data" if named is None else f"all data of {named[1]}"
    words = "" if writer.sealer.recipients else f", not encrypted: it holds the secret of the installation and {whose}"
    print(f"{writer.backup_id}: {writer.size:,} bytes in {to or copies.location_name(chosen)}{words}")


async def restore(
    backup_id: str | None = None,
    /,
    *,
    source: Annotated[str | None, Parameter(name="--from")] = None,
    identity: Path | None = None,
    ledger: Path | None = None,
    show: Annotated[bool, Parameter(name="--list", negative="")] = False,
) -> None:
    """Put a backup into an empty location, forget again what was forgotten since, and pause sending.

    Args:
        backup_id: The name of the backup; the newest one without it.
        source: A folder or s3://bucket/prefix instead of AFTERWORD_BACKUP_TO.
        identity: The file of a private key of age or SSH, for a backup that was encrypted to its public key.
        ledger: An output of `afterword erasure export` that is replayed beside those that lie with the backups.
        show: Print the names of the backups, and restore none.
    """
    chosen = context.read_settings()
    location = manifests.location_of(source) if source else copies.location_of(chosen)
    if isinstance(location, manifests.Folder) and not location.path.is_dir():
        raise errors.NotFound(f"The folder {location.path} does not exist, so there is no backup in it.")
    names = manifests.list_backups(location)
    if show:
        print("\n".join(names))
        return
    if not names:
        raise errors.NotFound(f"There is no finished backup in {source or copies.location_name(chosen)}.")
    passphrase = chosen.backup_passphrase
    manifest, reader = manifests.open_backup(location, backup_id or names[-1], passphrase=passphrase, identity=identity)
    lines = ledgers.read_erasures(location, passphrase=passphrase, identity=identity)
    runs = ledgers.read_runs(location, passphrase=passphrase, identity=identity)
    if ledger is not None:
        lines += read_lines(ledger)
    async with context.open_database(chosen, join=False) as url:
        if await _load(chosen, url, manifest, reader):
            await _finish(chosen, url, manifest, lines, runs)
        print(f"The backup {manifest.backup_id} is restored. Sending is paused: look, then confirm it.")
        await show_findings(chosen, url, context.site_of(chosen))


def read_lines(file: Path) -> list[LedgerLine]:
    return list(ledger_lines.read(read_text(file, bytes_max=LEDGER_BYTES_MAX), name=str(file)))


async def _load(chosen: Settings, url: str, manifest: Manifest, reader: Reader) -> bool:
    """Rows and files, unless a restore that was interrupted has put them there; False where all of it was done."""
    state = await backups.state_of(url, manifest, file_folder=chosen.file_folder)
    if state == "done":
        return False
    if manifest.files and chosen.file_folder is None:
        raise CommandError("The backup has files of responses. Set AFTERWORD_FILE_FOLDER to an empty folder for them.")
    context.take_secret(chosen, reader.get(manifest.secret))
    if state == "empty":
        await backups.load_rows(url, manifest, reader, report=context.report)
    if chosen.file_folder is not None:
        context.report(f"{backups.write_files(manifest, reader, chosen.file_folder):,} files of responses")
    return True


async def _finish(chosen: Settings, url: str, manifest: Manifest, lines: list[LedgerLine], runs: list[KeptRun]) -> None:
    """Bring the schema up to date, erase people and forget by age again, before any release may use the database."""
    await migrations.migrate(url, is_closed=True, report=context.report)
    async with await db.open_pool(url, size_max=2, statement_cache_size=chosen.statement_cache) as pool:
        await backups.pause(pool, manifest)
        done = await replay_lines(pool, kept=lines, secret=context.site_of(chosen).secret)
        context.report(f"{done:,} of {len(lines):,} people of the ledger erased again")
        done = await erasure_replay.forget(pool, kept=runs)
        context.report(f"{done:,} of {len(runs):,} retention runs of the ledger repeated")
    await backups.reopen(url)
