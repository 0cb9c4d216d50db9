"""The context of every command: settings, logs, secret, and a migrated database."""

import asyncio
import os
import secrets
import shlex
import stat
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, Literal

import structlog

from afterword import __version__, errors
from afterword.core import keys
from afterword.core.keys import Secret
from afterword.core.wire.site import Site
from afterword.kit import db, files, log, settings, telemetry as collecting
from afterword.kit.db.replicas import Replica
from afterword.run import embedded, migrations
from afterword.run.cli import CommandError
from afterword.tenants.organizations import service as organizations
from afterword.tenants.organizations.service import Organization

SECRET_FILE = "secret"  # noqa: S105  a file's name
BEFORE_FILE = "secret.before"
SECRET_BYTES: Final = 32
OTHERS = 0o077
SERVICE_DATA = Path("/var/lib/afterword")
logger = structlog.get_logger(__name__)

ChannelName = Literal["email", "sms", "webhook"]
CHANNELS: Final[Mapping[ChannelName, Literal[1, 2, 3]]] = {"email": 1, "sms": 2, "webhook": 3}


@dataclass(frozen=True, slots=True)
class Context:
    settings: settings.Settings
    database_url: str = field(repr=False)
    site: Site = field(repr=False)
    revision: str | None = None  # of the schema, where it was brought up to date


def read_settings() -> settings.Settings:
    """Read the settings and set up the logs; raises settings.SettingError, and Invalid for keys that age refuses."""
    file = os.environ.get(settings.CONFIG_VARIABLE)
    chosen = settings.read(os.environ, Path(file) if file else None)
    log.set_up(level=chosen.log_level, as_json=chosen.log_format == "json")
    if chosen.backup_keys:
        from afterword.run.backups import manifests  # noqa: PLC0415  most processes make no backups

        manifests.recipients_of(chosen.backup_keys)
    return replace(chosen, data_dir=data_folder(chosen.data_dir, here=Path.cwd(), is_root=os.geteuid() == 0))


@asynccontextmanager
async def telemetry(role: str) -> AsyncGenerator[collecting.Telemetry | None, None]:
    """Collect traces and metrics of this process, where OpenTelemetry's variables say so."""
    try:
        with collecting.started(role, os.environ, version=__version__) as found:
            yield found
    except collecting.MissingExtra as error:
        raise CommandError(str(error)) from error


def data_folder(chosen: Path, *, here: Path, is_root: bool) -> Path:
    """The chosen data folder; the default one moves to where services keep their data when PostgreSQL cannot reach it.

    Root's own folder is closed to the user that PostgreSQL must run as, and we change no rights outside our folder.
    """
    is_closed = any(not folder.stat().st_mode & stat.S_IXOTH for folder in (here, *here.parents))
    if not is_root or not is_closed or chosen != settings.Settings().data_dir:
        return chosen
    logger.warning("the data folder is not below this one, which only root may pass", data_folder=str(SERVICE_DATA))
    return SERVICE_DATA


@asynccontextmanager
async def open_context(
    chosen: settings.Settings, *, migrate: bool = True, join: bool = True, create: bool = False
) -> AsyncGenerator[Context, None]:
    """Yield the context, with an embedded PostgreSQL when no database URL is given.

    With `join`, a server that already runs on the data folder (under `afterword serve`) is used. Commands that run
    for long must not: the other server may end with the short command that started it. Only with `create` is a new
    installation made where there is none; else CommandError.
    """
    if not create and chosen.database_url is None and not embedded.is_made(chosen.data_dir):
        raise CommandError(
            f"There is no installation here: {chosen.data_dir.absolute()} holds no database, and "
            "AFTERWORD_DATABASE_URL is not set. Run this with the settings of the service (AFTERWORD_CONFIG or "
            "AFTERWORD_DATA_DIR), or make an installation: afterword migrate."
        )
    async with open_database(chosen, join=join) as url:
        revision = await _migrated(chosen, url) if migrate else None
        yield Context(chosen, url, site_of(chosen), revision)


def site_of(chosen: settings.Settings) -> Site:
    return Site(
        chosen.site_url,
        secret_of(chosen),
        chosen.networks,
        chosen.resolvers,
        file_folder=str(chosen.file_folder.absolute()) if chosen.file_folder else "",
        export_folder=str(chosen.export_folder.absolute()) if chosen.export_folder else "",
        scan_command=chosen.scan,
        scan_seconds=chosen.scan_seconds,
        queue_days=chosen.queue_retention_days,
        sends_mail=chosen.smtp_url is not None,
        has_demonstration=chosen.demonstration,
    )


@asynccontextmanager
async def open_pool(
    chosen: settings.Settings | None = None, *, create: bool = False
) -> AsyncGenerator[tuple[Context, db.Pool], None]:
    """Yield the context and a small pool, for commands that do one thing and end."""
    async with (
        open_context(chosen or read_settings(), create=create) as context,
        await db.open_pool(
            context.database_url,
            size_max=2,
            application_name="afterword command",
            statement_cache_size=context.settings.statement_cache,
        ) as pool,
    ):
        yield context, pool


@asynccontextmanager
async def open_reader(
    chosen: settings.Settings, *, acquire_seconds: float = db.ACQUIRE_TIMEOUT_SECONDS
) -> AsyncGenerator[Replica | None, None]:
    """Yield the standby for long reads; None where no setting names one."""
    if chosen.database_read_url is None:
        yield None
        return
    async with await db.open_pool(
        chosen.database_read_url,
        size_max=chosen.database_pool,
        application_name="afterword reader",
        statement_cache_size=chosen.statement_cache,
        acquire_seconds=acquire_seconds,
    ) as pool:
        yield Replica(pool, lag_seconds_max=chosen.database_read_lag_seconds)


@asynccontextmanager
async def open_transaction(
    chosen: settings.Settings | None = None,
) -> AsyncGenerator[tuple[Context, db.Database], None]:
    """Yield the context and one transaction, which is all that most commands need."""
    async with open_pool(chosen) as (context, pool), db.transaction(pool) as database:
        yield context, database


@asynccontextmanager
async def open_organization(domain: str | None) -> AsyncGenerator[tuple[Context, db.Database, Organization], None]:
    """Yield the context, one transaction and an organization, as `organization_of` finds it. Raises NotFound."""
    async with open_transaction() as (context, database):
        yield context, database, await organization_of(database, domain)


async def organization_of(database: db.Database, domain: str | None) -> Organization:
    """The organization of a domain; without one, the only one of the installation. Raises NotFound."""
    if domain is not None:
        found = await organizations.get_organization_by_domain(database, domain=domain)
        if found is None:
            raise errors.NotFound(f"There is no organization with the domain “{domain}”.")
        return found
    first, *others = await organizations.list_organizations(database, limit=2) or [None]
    if others:
        raise errors.NotFound("There are several organizations. Name one with --organization DOMAIN.")
    return errors.found(
        first,
        "There is no organization yet. “afterword organization create” makes one, “afterword seed” a demonstration.",
    )


def opened(file: Path) -> AbstractContextManager[BinaryIO]:
    """The file, or standard input where it is `-`. Raises Invalid."""
    try:
        return nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb")
    except OSError as error:
        raise errors.Invalid(f"{file} cannot be read: {error.strerror}.") from error


def read_text(file: Path, *, bytes_max: int) -> str:
    """The text of a file or of standard input. Raises Invalid, which quotes nothing of the text."""
    with opened(file) as source:
        content = source.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise errors.Invalid(f"{file} has more than {bytes_max:,} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.Invalid(f"{file} is not UTF-8 text (byte {error.start}).") from error


def shell_lines(document: Mapping[str, str]) -> str:
    """Assignments that a shell can `eval`."""
    return "\n".join(f"{name.upper()}={shlex.quote(value)}" for name, value in document.items())


@asynccontextmanager
async def open_database(chosen: settings.Settings, *, join: bool) -> AsyncGenerator[str, None]:
    """Yield the address of the database; an embedded one is made where there is none. Raises CommandError."""
    running = chosen.database_url or (embedded.running_url(chosen.data_dir) if join else None)
    if running is not None:
        yield running
        return
    server = await started(chosen.data_dir, chosen.postgres_bin)
    keeping = asyncio.create_task(server.keep_running(report=logger.error))
    try:
        yield server.url
    finally:
        await server.stop()
        await keeping


async def started(folder: Path, bin_folder: Path | None) -> embedded.Server:
    """Raises CommandError."""
    try:
        return await embedded.start(folder, bin_folder=bin_folder)
    except embedded.EmbeddedError as error:
        raise CommandError(str(error)) from error


async def _migrated(chosen: settings.Settings, url: str) -> str:
    from afterword.run.cli import copies  # noqa: PLC0415  backups, which web processes never make

    await copies.save_before_migration(chosen, url=url, secret=lambda: secret_of(chosen), report=logger.info)
    return await migrations.migrate(url, report=logger.warning)


def secret_of(chosen: settings.Settings) -> Secret:
    """Take the secret of the settings, else the one in the data folder, made at the first start."""
    current, before = _current_secret(chosen), _text_before(chosen)
    try:
        opening, addresses = keys.read_before(before)
    except ValueError:
        raise CommandError(f"{chosen.data_dir / BEFORE_FILE} cannot be read. Put it back from your backup.") from None
    return Secret(current, before=opening, addresses=addresses, again=_Again(chosen))


class _Again:
    """All secrets that open something by the files of this moment, read again when one of them has changed."""

    def __init__(self, chosen: settings.Settings) -> None:
        self._chosen, self._seen, self._found = chosen, self._times(chosen), list[bytes]()

    def __call__(self) -> Sequence[bytes]:
        times = self._times(self._chosen)
        if self._chosen.secret is None and times != self._seen:
            with suppress(OSError, ValueError, CommandError):
                current = _current_secret(self._chosen)
                self._found = [current, *keys.read_before(_text_before(self._chosen))[0]]
                self._seen = times
        return self._found

    @staticmethod
    def _times(chosen: settings.Settings) -> list[int]:
        files = (chosen.data_dir / SECRET_FILE, chosen.data_dir / BEFORE_FILE)
        return [file.stat().st_mtime_ns for file in files if file.exists()]


def _current_secret(chosen: settings.Settings) -> bytes:
    if chosen.secret is not None:
        return chosen.secret.encode()
    file = chosen.data_dir / SECRET_FILE
    try:
        return _read_secret(file) or _make_secret(file)
    except OSError as error:
        raise CommandError(f"{file} cannot be used: {error.strerror}.") from error


def _text_before(chosen: settings.Settings) -> str:
    """Read after the current secret: whoever makes a new one writes these first."""
    if chosen.secret is not None:
        return chosen.secret_before
    try:
        return (chosen.data_dir / BEFORE_FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return ""


def take_secret(chosen: settings.Settings, packed: bytes) -> None:
    """Keep the secret of a backup, and those before it. Raises CommandError where there is another one."""
    secret, _, before = packed.partition(keys.SEPARATOR)
    own, file = chosen.secret, chosen.data_dir / SECRET_FILE
    if own is None:
        file.parent.mkdir(parents=True, exist_ok=True)
        if before and not file.exists():
            write_whole(chosen.data_dir / BEFORE_FILE, before.decode())
        own = (_read_secret(file) or _make_secret(file, secret)).decode()
    if own.encode() != secret:
        raise CommandError(
            "The backup was made with another secret than this place has. Remove AFTERWORD_SECRET, or the file "
            f"{file}, so that the backup's own is put there."
        )
    is_known = chosen.secret is None or keys.read_before(chosen.secret_before) == keys.read_before(before.decode())
    if before and not is_known:
        lines = ",".join(before.decode().split())
        raise CommandError(f"The backup has secrets of before. Set AFTERWORD_SECRET_BEFORE={lines}")


def report(text: str) -> None:
    print(text, file=sys.stderr)


def new_secret() -> str:
    return secrets.token_hex(SECRET_BYTES)


def write_whole(file: Path, text: str) -> None:
    """Raises CommandError."""
    try:
        files.write_whole(file, text.encode())
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error


def _read_secret(file: Path) -> bytes | None:
    try:
        secret = file.read_bytes().strip()
    except FileNotFoundError:
        return None
    if len(secret) < settings.SECRET_CHARACTERS_MIN:
        raise CommandError(f"{file} holds no secret. Put back the one from your backup, or remove it to begin anew.")
    if file.stat().st_mode & OTHERS:
        raise CommandError(f"{file} can be read by others. Run: chmod 600 {shlex.quote(str(file))}")
    return secret


def _make_secret(file: Path, secret: bytes | None = None) -> bytes:
    """Write it whole or not at all: of processes that start together one writes, and all read the same."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, encoding="ascii") as made:  # readable by its owner alone
        made.write(secret.decode() if secret is not None else new_secret())
        made.flush()
        os.fsync(made.fileno())
        with suppress(FileExistsError):
            file.hardlink_to(made.name)
    return _read_secret(file) or b""
