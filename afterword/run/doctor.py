"""Looks at an installation from outside and says, for each fault, what to do; changes nothing.

It looks at the database, and at what stands beside it: certificate, DNS of senders, files and their scan.
"""

import asyncio
import errno
import os
import shutil
import socket
import ssl
import stat
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import asyncpg
import msgspec

from afterword import errors
from afterword.asking.instances import files
from afterword.cases import mailboxes
from afterword.core.messaging.networks import NameServer
from afterword.core.wire.site import Site
from afterword.kit import db, zones
from afterword.kit.db.hosts import Starved
from afterword.kit.web.loopback import host_of, is_loopback
from afterword.kit.web.metrics import FORWARDED_FOR
from afterword.listening.reports import comparison
from afterword.listening.responses import rows
from afterword.run import migrations
from afterword.run.backups import manifests, store as backups_store
from afterword.run.embedded import VERSION_MIN
from afterword.run.worker import timeouts
from afterword.run.worker.guard import FILE_NAME as MARK_FILE, read_mark
from afterword.sending.pipelines import service as pipelines
from afterword.sending.providers import domains, health, service as providers
from afterword.sending.providers.domains import SenderRoute
from afterword.sending.queue import lanes, restores

CERTIFICATE_DAYS_MIN: Final = 14  # authorities renew after two thirds of 90 days
CONNECT_SECONDS_MAX: Final = 10.0
FREE_BYTES_MIN: Final = 1_000_000_000
WRONG: Final = frozenset({"missing", "wrong"})
SAMPLE: Final = b"%PDF-1.4\n%%EOF\n"  # nothing that a scan should refuse
HTTPS_PORT: Final = 443
SENDERS_MAX: Final = 20
SENDER: Final = "DNS of sender"
GRANT: Final = "Give the user rights on the database and its schema: `grant all on schema public to <user>`."
REFUSED: Final = frozenset({errno.EACCES, errno.EPERM})
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
ZONES_YEARS_MAX: Final = 2
JOBS_SINCE: Final = timedelta(days=1)
PATCHES_MIN: Final[dict[tuple[int, ...], int]] = {(3, 11): 10, (3, 12): 6}


class Finding(msgspec.Struct, frozen=True):
    """One thing looked at: what was found and, when it is wrong, what to do. A warning is no fault."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    is_warning: bool = False


def look_at_python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    """Older patch releases read some headers and mails very slowly. Distributions mend them under the old number."""
    text, least = ".".join(map(str, version)), PATCHES_MIN.get(version[:2], 0)
    if version[2] >= least:
        return Finding("Python", True, f"It is {text}.")
    detail = f"Python {text} lacks security fixes, unless your distribution added them."
    advice = f"Upgrade to Python {version[0]}.{version[1]}.{least} or newer."
    return Finding("Python", True, detail, advice, is_warning=True)


def look_at_zones(releases: zones.Releases | None = None, *, now: datetime) -> Finding:
    found = releases or zones.use_newest()
    source, other = "the package tzdata", "the system does not say which it has"
    if found.system >= found.package:
        source, other = "the system", f"the package tzdata has {found.package}"
    elif found.system:
        other = f"the system has {found.system}, which is older"
    detail = f"Release {found.newest} of {source} is read; {other}."
    is_old = int(found.newest[:4]) <= now.year - ZONES_YEARS_MAX
    advice = "Countries change their clocks each year: install a newer tzdata." if is_old else ""
    return Finding("time zones", True, detail, advice, is_warning=is_old)


def look_at_certificate(url: str, *, now: datetime) -> Sequence[Finding]:
    """The certificate of a public address that speaks TLS. One that is not good is reported with the address itself."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        if parts.scheme != "https" or not host:
            return []
        with (
            socket.create_connection((host, parts.port or HTTPS_PORT), timeout=CONNECT_SECONDS_MAX) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secured,
        ):
            certificate = secured.getpeercert() or {}
    except (OSError, ValueError):
        return []
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), tz=UTC)
    detail = f"It is good until {until:%Y-%m-%d}."
    if until - now >= timedelta(days=CERTIFICATE_DAYS_MIN):
        return [Finding("certificate", True, detail)]
    advice = "Renew it: look into the log of the proxy, and whether its port 80 can be reached from outside."
    return [Finding("certificate", False, detail, advice)]


async def look_at_senders(ways: Iterable[SenderRoute], *, name_servers: tuple[NameServer, ...]) -> Sequence[Finding]:
    """The records of domains that mails come from, as their mail servers need them."""
    asked = sorted({way for way in ways if "." in way.domain})[:SENDERS_MAX]
    return await asyncio.gather(*(_look_at_sender(way, name_servers) for way in asked))


async def _look_at_sender(way: SenderRoute, name_servers: tuple[NameServer, ...]) -> Finding:
    records = await domains.check_domain(way.domain, host=way.host, name_servers=name_servers)
    wrong = [record for record in records if record.state in WRONG]
    if wrong:
        to_set = [f"{record.name} TXT {record.record}" for record in wrong if record.record]
        advice = f"Set in your DNS: {'; '.join(to_set)}." if to_set else "Your mail provider names the records."
        return Finding(SENDER, False, f"{way.domain}: {' '.join(record.message for record in wrong)}", advice)
    if any(record.state == "unknown" for record in records):
        advice = "Set AFTERWORD_NAME_SERVERS to servers that this machine reaches, or try again later."
        return Finding(SENDER, True, f"{way.domain}: name servers did not answer.", advice, is_warning=True)
    return Finding(SENDER, True, f"{way.domain} has the records of a sender.")


def judge_proxies(url: str, trusted: str, forwarded: str | None) -> Sequence[Finding]:
    """`trusted`: the setting; `forwarded`: what /healthz said of X-Forwarded-For, asked at the public address."""
    name = "trusted proxies"
    is_https = url.startswith("https:")  # we speak no TLS ourselves
    if forwarded == "ignored" or (is_https and not trusted):
        held = f"not the one in AFTERWORD_TRUSTED_PROXIES ({trusted})" if trusted else "unknown"
        detail = f"The proxy is {held}: all clients have its address, and share the limits of one."
        advice = "The log of `afterword web` names its address: write that into AFTERWORD_TRUSTED_PROXIES."
        return [Finding(name, False, detail, advice)]
    if is_https and forwarded == "missing":
        detail = "The proxy does not say for whom it asks: all clients have its address, and share the limits of one."
        return [Finding(name, False, detail, "Let the proxy set the header X-Forwarded-For.")]
    return []


def look_at_backup_folder(place: str, *, is_encrypted: bool = True) -> Sequence[Finding]:
    """The folder of backups, or the one that it is made in; of a store elsewhere what it needs and was not given."""
    if place.startswith(manifests.S3_PREFIX):
        try:
            manifests.location_of(place)
        except manifests.CannotUse as error:
            return [Finding("backup store", False, str(error))]
        return [] if is_encrypted else [Finding("backup store", False, manifests.NOT_ENCRYPTED)]
    if not place:
        return []
    return [look_at_folder("backup folder", standing(Path(place).expanduser()), setting="AFTERWORD_BACKUP_TO")]


def look_at_shared_folder(folder: Path | None, *, name: str = "file") -> Sequence[Finding]:
    setting = f"AFTERWORD_{name.upper()}_FOLDER"
    return [] if folder is None else [look_at_folder(f"{name} folder", folder, setting=setting)]


def standing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())


def look_at_folder(name: str, folder: Path, *, setting: str) -> Finding:
    """This user can write there, and the disk has room."""
    free = 0
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(SAMPLE)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        if error.errno not in FULL:
            advice = f"Set {setting} to a folder that this user can write."
            if error.errno in REFUSED:
                advice = f"Give it to the user that runs Afterword (`chown {os.geteuid()} {folder}`), or set {setting}."
            return Finding(name, False, f"{folder} cannot be written: {error.strerror}.", advice)
    if free < FREE_BYTES_MIN:
        detail = f"The disk of {folder} has {free / 1e6:.0f} MB left."
        return Finding(name, False, detail, f"Make room there, or set {setting} to a folder on a larger disk.")
    return Finding(name, True, f"{folder} can be written.")


async def look_at_scan(command: Sequence[str], *, seconds: float) -> Sequence[Finding]:
    """Whether the scan calls a harmless file clean."""
    if not command:
        return []
    match await files.scan(command, SAMPLE, seconds=seconds):
        case "clean":
            return [Finding("scan of files", True, f"{command[0]} works.")]
        case "harmful":
            detail = f"{command[0]} calls a harmless file harmful: people cannot send files."
        case "unchecked":
            detail = f"{command[0]} does not work: people cannot send files."
    advice = "Run AFTERWORD_SCAN_COMMAND as the user of the service with a file as its input: 0 is clean, 1 is harmful."
    return [Finding("scan of files", False, detail, advice)]


BACKUP_SECONDS_MAX = 8 * 86_400  # since the last one that somebody asked for
LOSS_SECONDS = 7 * 86_400.0  # in which a loss is told
UNSAVED_SECONDS_MAX = 86_400  # of a new installation
CLOCK_SKEW_SECONDS_MAX = 5
TRANSACTION_SECONDS_MAX = 60
WEB_SECONDS_MAX = 10
SMTP_STEP_SECONDS_MAX = 10.0
OVERDUE_SECONDS_MAX = 900
SHOWN_MAX = 20  # of one kind
WRONG_DAYS_SHOWN_MAX = 10
POOLS: Final = "AFTERWORD_DATABASE_POOL and AFTERWORD_WORKER_POOL"
HEALTH_PATH = "/healthz"
REQUEST_ID = "X-Request-Id"  # on every answer of ours
BODY_BYTES_MAX = 2000
Asked = TypeVar("Asked")


class Services(msgspec.Struct, frozen=True):
    mail_from: str = ""
    name_servers: tuple[NameServer, ...] = ()
    file_folder: Path | None = None
    export_folder: Path | None = None
    site: Site | None = None  # with the secret that opens the settings of accounts
    scan: Sequence[str] = ()
    scan_seconds: float = 30.0
    statement_cache: int | None = None
    encrypts_backups: bool = False
    port: int = 0  # of the web process here; 0: it is not known


async def examine(
    *,
    database_url: str | None,
    smtp_url: str | None,
    public_url: str,
    trusted_proxies: str,
    data_folder: Path,
    clock: Callable[[], datetime],
    backup_to: str = "",
    backup_hours: int = 24,
    services: Services = Services(),  # noqa: B008  frozen
) -> list[Finding]:
    """Look at everything at once, in at most about 30 seconds; never raises for what is wrong with the installation.

    `database_url` is None where an embedded database does not run: the caller says why.
    `clock` gives this process's time.
    `backup_hours`: backups go to `backup_to` this often; empty: somebody else makes them.
    """
    every, statement_cache = timedelta(hours=backup_hours) if backup_to else None, services.statement_cache
    found = await asyncio.gather(
        _look_at_database(database_url, clock, data_folder, every, statement_cache=statement_cache),
        _look_at_mail(smtp_url, database_url),
        asyncio.to_thread(_look_at_public_url, public_url, trusted_proxies, services.port),
        asyncio.to_thread(_look_at_folder, data_folder),
        asyncio.to_thread(look_at_certificate, public_url, now=clock()),
        _look_at_senders(database_url, smtp_url, services),
        asyncio.to_thread(look_at_backup_folder, backup_to, is_encrypted=services.encrypts_backups),
        asyncio.to_thread(look_at_shared_folder, services.file_folder),
        asyncio.to_thread(look_at_shared_folder, services.export_folder, name="export"),
        look_at_scan(services.scan, seconds=services.scan_seconds),
    )
    return [*(finding for findings in found for finding in findings), look_at_python(), look_at_zones(now=clock())]


async def _look_at_database(
    url: str | None,
    clock: Callable[[], datetime],
    data_folder: Path,
    backup_every: timedelta | None,
    *,
    statement_cache: int | None,
) -> Sequence[Finding]:
    if url is None:
        return []
    try:
        async with (
            await db.open_pool(url, size_max=1, statement_cache_size=statement_cache) as pool,
            db.connection(pool) as database,
        ):
            version = await database.fetch_value("show server_version")
            revision = await _revision(database)
            return [
                Finding("database", True, f"It answers; PostgreSQL {version}."),
                *_pooler(pool),
                await _version(database),
                revision,
                *(await _installation(database, clock, data_folder, backup_every) if revision.ok else ()),
                *([await _transactions(database)] if revision.ok else ()),
                await _clock(database, clock),
            ]
    except (errors.Unavailable, asyncpg.PostgresError, OSError, ValueError) as error:
        return [_away(error.__cause__ or error)]


async def _installation(
    database: db.Database, clock: Callable[[], datetime], folder: Path, backup_every: timedelta | None
) -> Sequence[Finding]:
    return (
        await _accounts(database),
        await _lanes(database),
        await _senders(database),
        await _mailboxes(database, clock),
        await _guard(database, folder),
        await _backup(database, backup_every),
        await _figures(database, clock),
        await _responses(database, clock),
        await _jobs(database, clock),
    )


def _pooler(pool: db.Pool) -> Sequence[Finding]:
    is_overruled = pool.hosts.is_overruled
    advice = "It is one of transactions: AFTERWORD_STATEMENT_CACHE is not used. Unset it." if is_overruled else ""
    return [Finding("pooler", True, pool.pooler, advice, is_warning=is_overruled)] if pool.pooler else []


def _away(cause: BaseException) -> Finding:
    advice = "Look into the log of PostgreSQL."
    match cause:
        case asyncpg.InvalidAuthorizationSpecificationError():
            advice = "Check the user and the password in AFTERWORD_DATABASE_URL, and pg_hba.conf of the server."
        case asyncpg.InvalidCatalogNameError():
            advice = "Make the database that AFTERWORD_DATABASE_URL names: `createdb <name>`."
        case asyncpg.InsufficientPrivilegeError():
            advice = GRANT
        case asyncpg.TooManyConnectionsError():
            advice = f"Raise max_connections, or lower {POOLS} in all processes."
        case socket.gaierror():
            advice = "The host in AFTERWORD_DATABASE_URL is not known: check its spelling and the name server."
        case ConnectionRefusedError() | FileNotFoundError():
            advice = "Nothing listens there: start PostgreSQL, and check host and port in AFTERWORD_DATABASE_URL."
        case Starved():
            advice = f"Raise the pool of the pooler, or lower {POOLS} in all processes."
        case TimeoutError():
            advice = "No answer: check host and port in AFTERWORD_DATABASE_URL and the firewall between the two."
        case ValueError():  # its words may repeat the address, and with it the password
            return Finding("database", False, "Its address cannot be read.", "Check AFTERWORD_DATABASE_URL.")
        case _:
            pass
    return Finding("database", False, f"It cannot be used: {str(cause) or type(cause).__name__}.", advice)


async def _version(database: db.Database) -> Finding:
    major = int(await database.fetch_value("show server_version_num")) // 10_000
    if major < VERSION_MIN:
        advice = f"Upgrade the server to PostgreSQL {VERSION_MIN} or newer."
        return Finding("database version", False, f"PostgreSQL {major} is too old.", advice)
    return Finding("database version", True, f"PostgreSQL {major}, at least {VERSION_MIN} is needed.")


async def _revision(database: db.Database) -> Finding:
    wanted, found = migrations.head(), await migrations.current(database.fetch_value)
    if (reason := await migrations.reason_closed(database.fetch_value)) is not None:
        return Finding("migrations", False, f"No release may use the database. {reason}", "Do what the reason says.")
    if found == wanted:
        return Finding("migrations", True, f"The schema is at revision {wanted}.")
    if await migrations.is_usable(database):
        detail = f"The schema is at {found}, newer than this release's {wanted}, and serves it."
        return Finding("migrations", True, detail)
    if found is not None and found > wanted:
        advice = "Start the newer release that migrated it, or restore the backup from before."
        return Finding("migrations", False, f"The schema is at {found}, newer than this release's {wanted}.", advice)
    detail = "The database is empty." if found is None else f"The schema is at {found}, this release needs {wanted}."
    encoding, advice = await database.fetch_value("show server_encoding"), "Run `afterword migrate`."
    if encoding != migrations.ENCODING:
        detail += f" {migrations.WRONG_ENCODING.format(encoding)}"
        advice = "Make another with `createdb --encoding UTF8 --template template0 <name>`, for AFTERWORD_DATABASE_URL."
    elif not await database.fetch_value("select has_schema_privilege(coalesce(current_schema(), 'public'), 'create')"):
        detail, advice = f"{detail} The user may make no tables in it.", GRANT
    return Finding("migrations", False, detail, advice)


async def _accounts(database: db.Database) -> Finding:
    paused = await health.list_paused_accounts(database, limit=SHOWN_MAX)
    if not paused:
        return Finding("sending", True, "No account is paused.")
    names = ", ".join(f"{one.domain} (account {one.account_id}: {one.paused_reason})" for one in paused)
    advice = (
        "Mend a login that was refused; leave a pause that a person wants. Then run `afterword account resume ID`, "
        "or `afterword resume` for all."
    )
    return Finding("sending", False, f"Paused: {names}.", advice)


async def _lanes(database: db.Database) -> Finding:
    stuck = await lanes.list_stuck_lanes(database, seconds=OVERDUE_SECONDS_MAX, limit=SHOWN_MAX)
    if not stuck:
        return Finding("queue", True, "No pipeline has messages that should have been sent long ago.")
    names = ", ".join(f"{domain} (pipeline {pipeline_id})" for domain, pipeline_id in stuck)
    detail = f"Messages have been due for more than {OVERDUE_SECONDS_MAX // 60} minutes: {names}."
    advice = "Start `afterword worker`. Where one runs, open the item in the console: it says what it waits for."
    return Finding("queue", False, detail, advice)


async def _senders(database: db.Database) -> Finding:
    refused = await pipelines.list_refused_senders(database)
    if not refused:
        return Finding("senders", True, "Every pipeline may send from its sender_address.")
    shown = ", ".join(f"{one.domain} (pipeline {one.pipeline_id}: {one.sender_address})" for one in refused[:SHOWN_MAX])
    advice = "Allow the domain with `afterword sender add`, or change sender_address of the pipeline."
    return Finding("senders", False, f"Organizations may not send from these domains: {shown}.", advice)


async def _mailboxes(database: db.Database, clock: Callable[[], datetime]) -> Finding:
    wrong = await mailboxes.list_problems(database, now=clock(), limit=SHOWN_MAX)
    if not wrong:
        return Finding("mailboxes", True, "Every mailbox of answers can be read.")
    names = ", ".join(f"{domain} ({problem})" for domain, problem in wrong)
    advice = "Open Settings, Mailbox in the console of the organization: it says what to do."
    return Finding("mailboxes", False, f"Answers of customers cannot be read: {names}.", advice)


async def _guard(database: db.Database, data_folder: Path) -> Finding:
    reason = await restores.went_back(database, mark=read_mark(data_folder / MARK_FILE))
    lost = await restores.get_loss(database, seconds=LOSS_SECONDS) if reason is None else None
    if lost is not None:
        return Finding("past", True, lost, "What is gone must be asked for again.", is_warning=True)
    if reason is None:
        return Finding("past", True, "The database was not put back to an earlier moment.")
    advice = (
        "Items that went out since that moment may be waiting again: cancel those, then run "
        "`afterword doctor --confirm-sending`. What is too late is skipped, the rest goes."
    )
    return Finding("past", False, reason, advice)


async def _backup(database: db.Database, every: timedelta | None) -> Finding:
    seconds = await backups_store.get_age_seconds(database) or 0.0
    last = await backups_store.get_last_time(database)
    when = f"The last one was begun {last:%Y-%m-%d %H:%M} UTC." if last else "There is none yet."
    if every is None:
        is_old = seconds > (BACKUP_SECONDS_MAX if last else UNSAVED_SECONDS_MAX)
        advice = "Run `afterword backup`. To have them made every day, set AFTERWORD_BACKUP_TO."
        return Finding("backups", True, f"None is made by itself. {when}", advice, is_warning=is_old)
    if not manifests.seconds_late(seconds, every=every):
        return Finding("backups", True, when)
    advice = "Run `afterword backup`: it says why it fails. Workers make backups, and log the reason each time."
    return Finding("backups", False, f"A backup is late. {when}", advice)


async def _figures(database: db.Database, clock: Callable[[], datetime]) -> Finding:
    found = await comparison.compare(database, now=clock())
    skipped = f" {found.skipped} of {found.spans} were not looked at." if found.skipped else ""
    if not found.wrong:
        return Finding("figures", True, f"Kept counts of the last {comparison.DAYS} days equal the answers.{skipped}")
    shown = sorted({f"{day} of questionnaire {span.questionnaire_id}" for span, day in found.wrong})
    more = f" and {len(shown) - WRONG_DAYS_SHOWN_MAX} more" if len(shown) > WRONG_DAYS_SHOWN_MAX else ""
    detail = f"Kept counts differ from the answers: {', '.join(shown[:WRONG_DAYS_SHOWN_MAX])}{more}.{skipped}"
    return Finding("figures", False, detail, "Run `afterword doctor --recount`; reports are right from then on.")


async def _responses(database: db.Database, clock: Callable[[], datetime]) -> Finding:
    found = await rows.compare(database, now=clock())
    if not found.is_filled:
        return Finding("responses", True, "The rows of the list of responses are still to be made by a worker.")
    if not found.wrong:
        return Finding("responses", True, f"The rows of {found.compared:,} responses equal their answers.")
    detail = f"{len(found.wrong):,} of {found.compared:,} rows of the list of responses differ from their answers."
    return Finding("responses", False, detail, "Run `afterword doctor --refill-responses`; workers make them anew.")


async def _jobs(database: db.Database, clock: Callable[[], datetime]) -> Finding:
    late = [row for row in await timeouts.list_timeouts(database) if clock() - row["last_time"] < JOBS_SINCE]
    if not late:
        return Finding("jobs", True, "None took longer than a statement may.")
    names = ", ".join(f"“{row['name']}” at {row['last_time']:%Y-%m-%d %H:%M}" for row in late)
    detail = f"Jobs of workers took longer than a statement may, so their work waits: {names}."
    return Finding("jobs", False, detail, "Look into the log of PostgreSQL for the statements, and `vacuum analyze`.")


async def _transactions(database: db.Database) -> Finding:
    seconds, whose = await restores.get_oldest_transaction(database)
    if seconds <= TRANSACTION_SECONDS_MAX:
        return Finding("transactions", True, "None is open for long.")
    detail = (
        f"The oldest, of {whose}, is open for {timedelta(seconds=round(seconds))}: dead rows pile up, sending gets "
        "slower, and readers of the event log wait."
    )
    advice = "Find it (`select * from pg_stat_activity order by xact_start`) and end it, with pg_terminate_backend."
    return Finding("transactions", False, detail, advice)


async def _clock(database: db.Database, clock: Callable[[], datetime]) -> Finding:
    before = clock()
    database_now: datetime = await database.fetch_value("select clock_timestamp()")
    skew = abs((database_now - (before + (clock() - before) / 2)).total_seconds())
    if skew > CLOCK_SKEW_SECONDS_MAX:
        detail = f"The clocks of this machine and of the database differ by {timedelta(seconds=round(skew))}."
        return Finding("clock", False, detail, "Let both follow a time server: `timedatectl set-ntp true` on each.")
    return Finding("clock", True, f"This machine and the database differ by {skew:.2f} seconds.")


async def _look_at_mail(url: str | None, database_url: str | None) -> Sequence[Finding]:
    if url is None:
        detail = "None is set: invitations, new passwords and notices stay in the operator's outbox and reach nobody."
        sends = await ask(database_url, providers.get_has_own_accounts, otherwise=False)
        advice = "Accounts of organizations do not send them. " if sends else ""
        return [Finding("mail server", not sends, detail, f"{advice}To send, set AFTERWORD_SMTP_URL.")]
    from afterword.sending.channels import email  # noqa: PLC0415  an installation without mail does not load it

    try:
        return [Finding("mail server", True, f"{await email.check_login(url, step_seconds=SMTP_STEP_SECONDS_MAX)}.")]
    except email.CannotLoginError as error:
        advice = (
            "Check host, port, user and password in AFTERWORD_SMTP_URL; smtps:// is for port 465, smtp:// for 587. "
            "Where the network blocks these ports, ask its provider."
        )
        return [Finding("mail server", False, f"It cannot be used: {error}", advice)]
    except ValueError as error:  # of a UnicodeError the words may repeat a part of the password
        detail = "Its address cannot be read." if isinstance(error, UnicodeError) else str(error)
        return [Finding("mail server", False, detail, "Write AFTERWORD_SMTP_URL as smtp://user:password@host:587.")]


async def ask(database_url: str | None, query: Callable[[db.Database], Awaitable[Asked]], otherwise: Asked) -> Asked:
    """The answer of a query, else `otherwise`: another finding says what is wrong with the database."""
    if database_url is not None:
        with suppress(errors.Refusal, asyncpg.PostgresError, OSError, ValueError):
            async with (
                await db.open_pool(database_url, size_max=1, statement_cache_size=0) as pool,
                db.connection(pool) as database,
            ):
                return await query(database)
    return otherwise


async def _look_at_senders(database_url: str | None, smtp_url: str | None, services: Services) -> Sequence[Finding]:
    host = host_of(smtp_url or "") or None
    ways = [SenderRoute(services.mail_from.rpartition("@")[2].lower(), host)] if host else []
    if services.site is not None:
        given: dict[str, Any] = {"site": services.site, "mail_from": services.mail_from, "host": host}
        ways += await ask(database_url, partial(domains.list_ways, **given, limit=SENDERS_MAX), [])
    return await look_at_senders(ways, name_servers=services.name_servers)


def _look_at_public_url(url: str, trusted: str, port: int) -> Sequence[Finding]:
    name, setting = "public address", "AFTERWORD_PUBLIC_URL"
    host = urlsplit(url).hostname or ""
    if url.startswith("http:") and not is_loopback(host):
        advice = f"Serve it behind a proxy that speaks TLS and write {setting} with https://."
        return [Finding(name, False, f"{url} is not encrypted; answers and tokens could be read on the way.", advice)]
    try:
        status, is_ours, forwarded = _fetch(f"{url.rstrip('/')}{HEALTH_PATH}")
    except (OSError, HTTPException, ValueError) as error:
        if is_loopback(host) and _answers(port):  # a container: its engine publishes the port outside
            return [Finding(name, True, f"The web process answers at port {port}; {url} cannot be tried from here.")]
        return [_unreachable(name, url, error), *judge_proxies(url, trusted, None)]
    proxies = judge_proxies(url, trusted, forwarded if is_ours else None)
    if not is_ours:
        advice = f"Let the proxy forward every path of {host} to Afterword, or correct {setting}."
        return [Finding(name, False, f"{url} is answered by another program, with status {status}.", advice), *proxies]
    if status != 200:  # noqa: PLR2004
        detail = f"{url} answers with status {status}."
        return [Finding(name, False, detail, "Look into the log of `afterword web`."), *proxies]
    detail = f"{url} reaches us."
    advice = "Nobody outside this machine can open the links in mails." if is_loopback(host) else ""
    return [Finding(name, True, detail, advice), *proxies]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:  # pyrefly: ignore[bad-override]
        return None


def _fetch(url: str) -> tuple[int, bool, str | None]:
    """The status, whether we answered, and what we say of X-Forwarded-For."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    try:
        with opener.open(url, timeout=WEB_SECONDS_MAX) as answer:
            return answer.status, _is_ours(answer), answer.headers.get(FORWARDED_FOR)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _is_ours(error), error.headers.get(FORWARDED_FOR)


def _answers(port: int) -> bool:
    with suppress(OSError, HTTPException, ValueError):
        return _fetch(f"http://127.0.0.1:{port}{HEALTH_PATH}")[1]
    return False


def _is_ours(answer: Any) -> bool:
    return REQUEST_ID in answer.headers and b'"status"' in answer.read(BODY_BYTES_MAX)


def _unreachable(name: str, url: str, error: Exception) -> Finding:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    advice = "Start `afterword serve`, and let the proxy forward to it."
    match cause:
        case ssl.SSLError():
            advice = "Its certificate is not good: renew it, or let the proxy send the whole chain."
        case socket.gaierror():
            advice = "Its host name is not known: make a DNS record that points here, or correct AFTERWORD_PUBLIC_URL."
        case TimeoutError():
            advice = "No answer: open the port in the firewall. Some networks cannot reach themselves from inside."
        case _:
            pass
    return Finding(name, False, f"{url} cannot be reached: {cause}.", advice)


def _look_at_folder(folder: Path) -> Sequence[Finding]:
    found = look_at_folder("data folder", standing(folder), setting="AFTERWORD_DATA_DIR")
    open_secrets = [str(path) for path in (folder / "secret", *folder.glob("postgresql/*.password")) if _is_open(path)]
    if found.ok and open_secrets:
        advice = f"Run `chmod 600 {' '.join(open_secrets)}`, and make new tokens if others have accounts here."
        return [Finding("data folder", False, f"Others can read the secrets in {folder}.", advice)]
    if found.ok and not folder.exists():
        return [Finding("data folder", True, f"{folder} is made at the first start.")]
    return [found]


def _is_open(path: Path) -> bool:
    return path.exists() and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
