"""`afterword backup` and `afterword restore`."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from afterword import errors
from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.privacy import erasure_replay
from afterword.privacy import service as ledger_lines
from afterword.privacy.erasure_replay import KeptRun
from afterword.privacy.service import LedgerLine
from afterword.run import migrations
from afterword.run.backups import ledgers, manifests, service
from afterword.run.backups.manifests import Manifest, Reader
from afterword.run.cli import CommandError, context, copies
from afterword.run.cli.doctor import show_findings
from afterword.run.cli.erasures import LEDGER_BYTES_MAX, replay_lines

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
            await service.keep_ledgers(pool, location=location, sealer=lambda: copies.sealer_of(chosen), now=now)
            return
        named = None
        if organization is not None:
            async with db.connection(pool) as database:
                found = await context.organization_of(database, organization)
            named = found.organization_id, found.domain
        writer = await copies.save(
            chosen,
            url=opened.database_url,
            secret=opened.site.secret,
            kind="whole" if named is None else "organization",
            location=location,
            organization=named,
            report=_report,
        )
        await service.keep_ledgers(pool, location=location, sealer=lambda: copies.sealer_of(chosen), now=now)
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
    return list(ledger_lines.read(context.read_text(file, bytes_max=LEDGER_BYTES_MAX), name=str(file)))


async def _load(chosen: Settings, url: str, manifest: Manifest, reader: Reader) -> bool:
    """Rows and files, unless a restore that was interrupted has put them there; False where all of it was done."""
    state = await service.state_of(url, manifest, file_folder=chosen.file_folder)
    if state == "done":
        return False
    if manifest.files and chosen.file_folder is None:
        raise CommandError("The backup has files of responses. Set AFTERWORD_FILE_FOLDER to an empty folder for them.")
    context.take_secret(chosen, reader.get(manifest.secret))
    if state == "empty":
        await service.load_rows(url, manifest, reader, report=_report)
    if chosen.file_folder is not None:
        _report(f"{service.write_files(manifest, reader, chosen.file_folder):,} files of responses")
    return True


async def _finish(chosen: Settings, url: str, manifest: Manifest, lines: list[LedgerLine], runs: list[KeptRun]) -> None:
    """Bring the schema up to date, erase people and forget by age again, before any release may use the database."""
    await migrations.migrate(url, is_closed=True, report=_report)
    async with await db.open_pool(url, size_max=2, statement_cache_size=chosen.statement_cache) as pool:
        await service.pause(pool, manifest)
        done = await replay_lines(pool, kept=lines, secret=context.site_of(chosen).secret)
        _report(f"{done:,} of {len(lines):,} people of the ledger erased again")
        done = await erasure_replay.forget(pool, kept=runs)
        _report(f"{done:,} of {len(runs):,} retention runs of the ledger repeated")
    await service.reopen(url)


def _report(text: str) -> None:
    print(text, file=sys.stderr)
