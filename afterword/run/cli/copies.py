"""Backups as the settings want them: their location, their encryption, and the one before each migration."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import open_session
from afterword.kit.settings import Settings
from afterword.run import migrations
from afterword.run.backups import manifests, service as backups, store
from afterword.run.backups.manifests import Location, Sealer, Writer
from afterword.run.cli import CommandError

FOLDER: Final = "backups"
OTHER_SECONDS_MAX: Final = 3_600
POLL_SECONDS: Final = 1.0
Report = Callable[[str], object]


def location_name(chosen: Settings) -> str:
    return chosen.backup_to or str(chosen.data_dir.absolute() / FOLDER)


def location_of(chosen: Settings) -> Location:
    """Raises CannotUse."""
    return manifests.location_of(location_name(chosen))


def sealer_of(chosen: Settings) -> Sealer:
    """Raises Invalid."""
    return manifests.sealer_of(passphrase=chosen.backup_passphrase, recipients=chosen.backup_keys)


async def save(
    chosen: Settings,
    *,
    url: str,
    secret: bytes,
    kind: str,
    location: Location | None = None,
    organization: tuple[str, str] | None = None,
    report: Report = lambda _: None,
) -> Writer:
    """Make a backup now, of an organization (id, domain) where one is given, and remove old ones."""
    now, location = datetime.now(UTC), location or location_of(chosen)
    suffix = organization[1] if organization else "" if kind == "whole" else kind
    writer = await backups.save(
        url=url,
        location=location,
        sealer=sealer_of(chosen),
        backup_id=manifests.backup_id_of(now, suffix=suffix),
        kind=kind,
        secret=secret,
        file_folder=chosen.file_folder,
        now=now,
        organization_id=organization[0] if organization else None,
        report=report,
    )
    for old in backups.rotate(location, keep_days=chosen.backup_keep_days, now=now):
        report(f"removed {old}")
    return writer


async def is_due(pool: db.Pool, chosen: Settings, *, now: datetime) -> bool:
    """Whether the last backup of all is older than it should be."""
    last = await db.load(pool, store.get_last_time)
    return last is None or now - last >= timedelta(hours=chosen.backup_hours)


async def save_before_migration(chosen: Settings, *, url: str, secret: Callable[[], bytes], report: Report) -> None:
    """Make a backup where the schema is about to change. Raises CommandError where that fails.

    One's own server without a place for backups is left to its operator.
    """
    deadline = time.monotonic() + OTHER_SECONDS_MAX
    while await _is_behind(url) and (chosen.backup_to or chosen.database_url is None):
        try:
            writer = await save(chosen, url=url, secret=secret(), kind="migration")
        except backups.UnderWay:
            if time.monotonic() > deadline:
                raise CommandError("Another process has made a backup for an hour. Wait for it, or end it.") from None
            await asyncio.sleep(POLL_SECONDS)
        except errors.Refusal as refusal:
            words = f"The schema is not changed, as the backup before that failed: {refusal.detail}"
            raise CommandError(words) from refusal
        else:
            report(f"backup {writer.backup_id} made before the schema changes")
            return


async def _is_behind(url: str) -> bool:
    """Whether there is data, under an older schema."""
    try:
        async with open_session(url) as session:
            revision = await migrations.current(session.fetchval)
            if revision is None or await migrations.reason_closed(session.fetchval) is not None:
                return False
            return revision < migrations.head() and not await store.get_is_empty(session)
    except errors.Unavailable:
        return False  # the migration says so
