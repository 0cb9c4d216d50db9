"""The ground that every command stands on: settings, logs, secret, and a migrated database."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from afterword import db, embedded, log, migrations, settings
from afterword.commands import CommandError
from afterword.core.site import Site

SECRET_FILE = "secret"  # noqa: S105  a file's name
logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a root passes on: the settings, the database's address, the site."""

    settings: settings.Settings
    database_url: str = field(repr=False)
    site: Site = field(repr=False)
    revision: str | None = None  # of the schema, where it was brought up to date


def read_settings() -> settings.Settings:
    """Read the settings and set up the logs; raises settings.SettingError."""
    file = os.environ.get(settings.CONFIG_VARIABLE)
    chosen = settings.read(os.environ, Path(file) if file else None)
    log.set_up(level=chosen.log_level, as_json=chosen.log_format == "json")
    return chosen


@asynccontextmanager
async def stand(chosen: settings.Settings, *, migrate: bool = True, join: bool = True) -> AsyncGenerator[Ground, None]:
    """Yield the ground, with an embedded PostgreSQL under it when no database URL is given.

    With `join`, a server that already runs on the data folder (under `afterword serve`) is used. Whoever stands for
    long must not: the other server may be that of a short command and vanish with it.
    """
    async with _database(chosen, join=join) as url:
        revision = await _migrated(url) if migrate else None
        yield Ground(chosen, url, Site(chosen.site_url, _secret(chosen)), revision)


@asynccontextmanager
async def pooled(chosen: settings.Settings) -> AsyncGenerator[tuple[Ground, db.Pool], None]:
    """Yield the ground and a small pool on it, for commands that do one thing and end."""
    async with (
        stand(chosen) as ground,
        await db.open_pool(ground.database_url, size_max=2, application_name="afterword command") as pool,
    ):
        yield ground, pool


@asynccontextmanager
async def _database(chosen: settings.Settings, *, join: bool) -> AsyncGenerator[str, None]:
    running = chosen.database_url or (embedded.running_url(chosen.data_dir) if join else None)
    if running is not None:
        yield running
        return
    try:
        server = await embedded.start(chosen.data_dir, bin_folder=chosen.postgres_bin)
    except embedded.EmbeddedError as error:
        raise CommandError(str(error)) from error
    keeping = asyncio.create_task(server.keep_running(report=logger.error))
    try:
        yield server.url
    finally:
        await server.stop()
        await keeping


async def _migrated(url: str) -> str:
    try:
        return await migrations.migrate(url)
    except migrations.MigrationError as error:
        raise CommandError(str(error)) from error


def _secret(chosen: settings.Settings) -> bytes:
    """Take the secret of the settings, else the one in the data folder, made at the first start."""
    if chosen.secret is not None:
        return chosen.secret.encode()
    file = chosen.data_dir / SECRET_FILE
    if not file.exists():
        chosen.data_dir.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
            handle.write(secrets.token_hex(32))
    return file.read_text(encoding="ascii").strip().encode()
