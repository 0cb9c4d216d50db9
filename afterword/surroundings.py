"""Looks at what stands beside an installation's database: certificate, DNS of its sender, files and their scan."""

import os
import shutil
import socket
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from afterword.core.messaging.networks import NameServer
from afterword.instances.files import scanning
from afterword.providers.domains import service as domains

CERTIFICATE_DAYS_MIN: Final = 14  # authorities renew after two thirds of 90 days
CONNECT_SECONDS_MAX: Final = 10.0
FREE_BYTES_MIN: Final = 1_000_000_000
WRONG: Final = frozenset({"missing", "wrong"})
SAMPLE: Final = b"%PDF-1.4\n%%EOF\n"  # nothing that a scan should refuse
HTTPS_PORT: Final = 443


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: what was found and, when it is wrong, what to do."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


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


async def look_at_sender(
    sender: str, *, smtp_url: str | None, name_servers: tuple[NameServer, ...]
) -> Sequence[Finding]:
    """The records of the domain of the installation's sender, as its mail server needs them."""
    domain = sender.rpartition("@")[2].lower()
    host = _host_of(smtp_url)
    if host is None or "." not in domain:
        return []
    records = await domains.check_domain(domain, host=host, name_servers=name_servers)
    wrong = [record for record in records if record.state in WRONG]
    if not wrong:
        return [Finding("DNS of sender", True, f"{domain} has the records of a sender.")]
    to_set = [f"{record.name} TXT {record.record}" for record in wrong if record.record]
    advice = f"Set in your DNS: {'; '.join(to_set)}." if to_set else "Your mail provider names the records."
    return [Finding("DNS of sender", False, f"{domain}: {' '.join(record.message for record in wrong)}", advice)]


def _host_of(smtp_url: str | None) -> str | None:
    try:
        return urlsplit(smtp_url or "").hostname
    except ValueError:
        return None


def look_at_file_folder(folder: Path | None) -> Sequence[Finding]:
    """The folder for files of responses: this user can write there, and the disk has room."""
    if folder is None:
        return []
    name = "file folder"
    advice = f"Give it to the user that runs Afterword (`chown {os.geteuid()} {folder}`), or set AFTERWORD_FILE_FOLDER."
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(SAMPLE)
    except OSError as error:
        return [Finding(name, False, f"{folder} cannot be written: {error.strerror}.", advice)]
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES_MIN:
        detail = f"The disk of {folder} has {free / 1e6:.0f} MB left."
        return [Finding(name, False, detail, "Make room there, or move the folder and set AFTERWORD_FILE_FOLDER.")]
    return [Finding(name, True, f"{folder} can be written.")]


async def look_at_scan(command: Sequence[str], *, seconds: float) -> Sequence[Finding]:
    """Whether the scan calls a harmless file clean."""
    if not command:
        return []
    match await scanning.scan(command, SAMPLE, seconds=seconds):
        case "clean":
            return [Finding("scan of files", True, f"{command[0]} works.")]
        case "harmful":
            detail = f"{command[0]} calls a harmless file harmful: people cannot send files."
        case "unchecked":
            detail = f"{command[0]} does not work: people cannot send files."
    advice = "Run AFTERWORD_SCAN_COMMAND as the user of the service with a file as its input: 0 is clean, 1 is harmful."
    return [Finding("scan of files", False, detail, advice)]
