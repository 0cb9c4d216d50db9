"""Looks at what stands beside an installation's database: certificate, DNS of its sender, files and their scan."""

import asyncio
import errno
import os
import shutil
import socket
import ssl
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from afterword.asking.instances import files
from afterword.core.messaging.networks import NameServer
from afterword.kit import zones
from afterword.sending.providers import domains
from afterword.sending.providers.domains import SenderRoute

CERTIFICATE_DAYS_MIN: Final = 14  # authorities renew after two thirds of 90 days
CONNECT_SECONDS_MAX: Final = 10.0
FREE_BYTES_MIN: Final = 1_000_000_000
WRONG: Final = frozenset({"missing", "wrong"})
SAMPLE: Final = b"%PDF-1.4\n%%EOF\n"  # nothing that a scan should refuse
HTTPS_PORT: Final = 443
SENDERS_MAX: Final = 20
SENDER: Final = "DNS of sender"
REMOTE: Final = "s3://"
REFUSED: Final = frozenset({errno.EACCES, errno.EPERM})
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
ZONES_YEARS_MAX: Final = 2
PATCHES_MIN: Final[dict[tuple[int, ...], int]] = {(3, 11): 10, (3, 12): 6}


@dataclass(frozen=True, slots=True)
class Finding:
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
    """The time zone data that are read, of the system or of the package."""
    found = releases or zones.use_newest()
    source = "the system" if found.system >= found.package else "the package tzdata"
    other = (
        f"the package tzdata has {found.package}"
        if found.system >= found.package
        else (
            f"the system has {found.system}, which is older" if found.system else "the system does not say which it has"
        )
    )
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


def host_of(smtp_url: str | None) -> str | None:
    try:
        return urlsplit(smtp_url or "").hostname
    except ValueError:
        return None


def judge_proxies(url: str, trusted: str, forwarded: str | None) -> Sequence[Finding]:
    """`trusted`: the setting; `forwarded`: what /healthz said of X-Forwarded-For, asked at the public address."""
    name = "trusted proxies"
    is_https = url.startswith("https:")  # we speak no TLS ourselves
    if forwarded == "ignored" or (is_https and not trusted):
        held = f"not the one in AFTERWORD_TRUSTED_PROXIES ({trusted})" if trusted else "unknown"
        detail = f"The proxy is {held}: all clients have its address, and share the limits of one."
        advice = (
            "Write the address of the proxy, as the log of `afterword web` names it, into AFTERWORD_TRUSTED_PROXIES."
        )
        return [Finding(name, False, detail, advice)]
    if is_https and forwarded == "missing":
        detail = "The proxy does not say for whom it asks: all clients have its address, and share the limits of one."
        return [Finding(name, False, detail, "Let the proxy set the header X-Forwarded-For.")]
    return []


def look_at_backup_folder(place: str) -> Sequence[Finding]:
    """The folder of backups, or the one that it is made in; nothing where they lie in a store elsewhere."""
    if not place or place.startswith(REMOTE):
        return []
    return [look_at_folder("backup folder", standing(Path(place).expanduser()), setting="AFTERWORD_BACKUP_TO")]


def look_at_file_folder(folder: Path | None) -> Sequence[Finding]:
    return [] if folder is None else [look_at_folder("file folder", folder, setting="AFTERWORD_FILE_FOLDER")]


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
