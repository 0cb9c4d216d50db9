"""One frozen Settings, read once by the roots: AFTERWORD_* variables over a TOML file over the defaults."""

import difflib
import ipaddress
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints
from urllib.parse import parse_qsl, urlsplit

import msgspec

from afterword.core.keys import read_before
from afterword.core.messaging.networks import NameServer, Network, name_servers_of, networks_of

PREFIX = "AFTERWORD_"
SECRET_CHARACTERS_MIN = 32
WORDS = {"`int`": "a whole number", "`float`": "a number", "`str`": "a text", "`bool`": "true or false"}
ADDRESSES = "addresses or networks without host bits, as in 127.0.0.1 or 10.0.0.0/8"
URL_CHOICES: Final = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "target_session_attrs": ("any", "primary", "standby", "prefer-standby", "read-write", "read-only"),
}
LEASE_MARGIN_SECONDS = 5  # what a lease must have left when a mail is handed over, as in run/worker/flights.py

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Days = Annotated[int, msgspec.Meta(ge=0, le=36_500)]
Hours = Annotated[int, msgspec.Meta(ge=1, le=8_760)]
Slots = Annotated[int, msgspec.Meta(ge=1, le=200)]
PoolSize = Annotated[int, msgspec.Meta(ge=1, le=500)]
WorkerPool = Annotated[int, msgspec.Meta(ge=2, le=500)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400)]


class SettingError(Exception):
    """A setting that stops the program; the sentence names it and says what it takes, never its value."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's settings. Each field is the variable AFTERWORD_<FIELD> and the TOML key <field>."""

    database_url: str | None = field(default=None, repr=False)
    """`postgresql://…`; unset: an embedded PostgreSQL in the data folder."""
    database_read_url: str | None = field(default=None, repr=False)
    """A standby that long reads of web processes and the reading of exports go to; unset: the database does all."""
    database_read_lag_seconds: Seconds = 30.0
    """A standby that may be further behind than this is not read from, and `web --read-only` there is not ready."""
    data_dir: Path = Path("data")
    """Folder of the embedded database, its password and our secret. Nothing outside it is touched."""
    host: str = "127.0.0.1"
    port: Port = 8080
    public_url: str = ""
    """The address that the outside world uses, without a path; unset: http://localhost:<port>."""
    smtp_url: str | None = field(default=None, repr=False)
    """`smtp://user:password@host:587` or `smtps://…:465`; unset: mails stay in the captured outbox."""
    mail_from: str = "survey@localhost"
    """The sender of mails whose pipeline names none."""
    secret: Annotated[str, msgspec.Meta(min_length=SECRET_CHARACTERS_MIN)] | None = field(default=None, repr=False)
    """Keys the hashes of addresses and the forms of public pages; unset: made once and kept in the data folder."""
    secret_before: str = field(default="", repr=False)
    """Secrets that were in use before and still open what they sealed, as `afterword secret rotate` prints them."""
    postgres_bin: Path | None = None
    """The folder of initdb and postgres for the embedded database; unset: the wheel's, else the system's."""
    log_level: str = "info"
    log_format: str = "json"
    """`json` (one object a line) or `text`."""
    metrics: str = "loopback"
    """Clients that may read /metrics: `loopback`, `all` or `off`."""
    trusted_proxies: str = ""
    """Addresses of reverse proxies, joined by commas, whose X-Forwarded-For names the client; unset: none."""
    outbound_networks: str = ""
    """Private networks, joined by commas, that webhooks and gateways may be in, and speak http there; unset: none."""
    name_servers: str = ""
    """Addresses of the name servers that are asked about sender domains, joined by commas; unset: the machine's own."""
    cors_origins: str = ""
    """Origins, joined by commas, whose pages may call the API from a browser; unset: none."""
    database_pool: PoolSize = 10
    statement_cache: Count | None = None
    """Prepared statements kept a connection; unset: 100, and 0 behind a pooler."""
    token_requests_per_minute: Count = 6_000
    organization_requests_per_minute: Count = 24_000
    failed_authentications_per_minute: Count = 60
    link_starts_per_minute: Count = 120
    """Starts on public links from one source address; 0: no limit."""
    link_burst_per_minute: Count = 30
    """Starts on one questionnaire's public links from one network; more are held back. 0: none, however fast."""
    file_folder: Path | None = None
    """Folder for the files of responses, shared by all processes; unset: the database keeps them."""
    export_folder: Path | None = None
    """Folder below which exports on a timetable may write, shared by all processes; unset: none does."""
    scan_command: str = ""
    """Command that scans each file of a response from its input: 0 is clean, 1 is harmful; unset: none does."""
    scan_seconds: Seconds = 30.0
    """The scan of a file may take this long."""
    demonstration: bool = True
    """Whoever has no answers yet may look at a shop with made-up data, which all organizations share."""
    mcp: bool = False
    """Tools for assistants at /mcp, for tokens of the API; needs the extra “mcp”."""
    backup_to: str = ""
    """A folder, or `s3://bucket/prefix`, where workers put a backup by themselves; unset: none is made unasked."""
    backup_hours: Hours = 24
    """Workers make a backup when the last one is older than this."""
    backup_keep_days: Days = 30
    """Older backups are removed, but never the newest three; 0: for ever."""
    backup_passphrase: Annotated[str, msgspec.Meta(min_length=16)] | None = field(default=None, repr=False)
    """Encrypts backups; restores need it."""
    backup_recipients: str = ""
    """Public keys of age or SSH, joined by commas, that backups are encrypted to; restores need a private one."""
    queue_retention_days: Days = 400
    """Ended queue items are kept this long with their attempts; failed ones 30 days at least; 0: for ever."""
    worker_slots: Slots = 50
    worker_pool: WorkerPool = 8
    """Connections of a worker, beside one for its heartbeat."""
    worker_poll_seconds: Seconds = 1.0
    worker_lease_seconds: Seconds = 60.0
    worker_heartbeat_seconds: Seconds = 15.0

    @property
    def site_url(self) -> str:
        return (self.public_url or f"http://localhost:{self.port}").rstrip("/")

    @property
    def networks(self) -> tuple[Network, ...]:
        return networks_of(self.outbound_networks)

    @property
    def resolvers(self) -> tuple[NameServer, ...]:
        return name_servers_of(self.name_servers)

    @property
    def scan(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.scan_command))

    @property
    def backup_every(self) -> timedelta | None:
        """None: workers make no backups."""
        return timedelta(hours=self.backup_hours) if self.backup_to else None

    @property
    def backup_keys(self) -> list[str]:
        return _listed(self.backup_recipients)

    @property
    def origins(self) -> list[str]:
        return _listed(self.cors_origins)


def read(environment: Mapping[str, str], file: Path | None = None) -> Settings:
    """Read the settings; raises SettingError that names the first bad one and where it stands."""
    wanted = {each.name for each in fields(Settings)}
    types = get_type_hints(Settings, include_extras=True)
    values: dict[str, Any] = {}
    for name, value in (given := _of_file(file)).items():
        if name not in wanted:
            raise SettingError(f"{name} in {file} is not a setting. {_known(name, wanted, str)}")
        values[name] = _value(f"{name} in {file}", types[name], value)
    for variable, text in environment.items():
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and name in wanted and text != "":
            values[name] = _value(variable, types[name], text)
        elif variable.startswith(PREFIX) and variable not in OTHER_VARIABLES and text != "":
            raise SettingError(f"{variable} is not a setting. {_known(name, wanted, lambda one: PREFIX + one.upper())}")
    settings = Settings(**values)
    try:
        _check(settings)
    except SettingError as error:  # which begins with the variable
        variable, _, said = str(error).partition(" ")
        name = variable.removeprefix(PREFIX).lower()
        is_of_file = name in given and not environment.get(variable)
        raise SettingError(f"{name} in {file} {said}" if is_of_file else str(error)) from error
    return settings


CONFIG_VARIABLE = "AFTERWORD_CONFIG"
SUPERVISED_VARIABLE = "AFTERWORD_SUPERVISED"
URL_VARIABLE = "AFTERWORD_URL"  # of `afterword mcp`, a client of some installation
TOKEN_VARIABLE = "AFTERWORD_TOKEN"  # noqa: S105  a variable's name
OTHER_VARIABLES = {CONFIG_VARIABLE, SUPERVISED_VARIABLE, URL_VARIABLE, TOKEN_VARIABLE}


def _of_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{CONFIG_VARIABLE}: {file} cannot be read ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{CONFIG_VARIABLE}: {file} is not a TOML file ({error}).") from error


def _value(place: str, wanted: Any, value: object) -> Any:
    try:
        return msgspec.convert(value, wanted, strict=False, dec_hook=_path)
    except msgspec.ValidationError as error:
        expected = str(error).partition(", got")[0].removeprefix("Expected ")
        for name, words in WORDS.items():
            expected = expected.replace(name, words)
        raise SettingError(f"{place}: {expected[:1].upper()}{expected[1:]} is expected.") from error


def _path(wanted: type, value: object) -> object:
    if wanted is Path and isinstance(value, str):
        return Path(value).expanduser()
    raise NotImplementedError


def _check(settings: Settings) -> None:
    choices = {
        "log_level": {"debug", "info", "warning", "error"},
        "log_format": {"json", "text"},
        "metrics": {"loopback", "all", "off"},
    }
    for name, allowed in choices.items():
        if getattr(settings, name) not in allowed:
            raise SettingError(f"{PREFIX}{name.upper()} must be one of {', '.join(sorted(allowed))}.")
    for name in ("DATABASE_URL", "DATABASE_READ_URL"):
        _check_url(name, getattr(settings, name.lower()), {"postgresql", "postgres"})
    _check_url("SMTP_URL", settings.smtp_url, {"smtp", "smtps"})
    _check_origins("PUBLIC_URL", [settings.site_url])
    _check_origins("CORS_ORIGINS", settings.origins)
    _check_backups(settings)
    try:
        read_before(settings.secret_before)
    except ValueError as error:
        raise SettingError(f"{PREFIX}SECRET_BEFORE must be what `afterword secret rotate` printed.") from error
    if settings.mail_from.count("@") != 1 or any(c.isspace() for c in settings.mail_from):
        raise SettingError(f"{PREFIX}MAIL_FROM must be one e-mail address, as in survey@example.com.")
    proxies = _listed(settings.trusted_proxies)
    readers: Mapping[str, tuple[Callable[[], object], str]] = {
        "TRUSTED_PROXIES": (lambda: [*map(ipaddress.ip_network, proxies)], f"{ADDRESSES}, joined by commas"),
        "OUTBOUND_NETWORKS": (lambda: settings.networks, "networks, joined by commas, as in 10.0.0.0/8"),
        "NAME_SERVERS": (lambda: settings.resolvers, "addresses, joined by commas, as in 9.9.9.9"),
        "SCAN_COMMAND": (lambda: settings.scan, "a command with its arguments, quoted as in a shell"),
    }
    for name, (read_value, expected) in readers.items():
        try:
            read_value()
        except ValueError as error:
            raise SettingError(f"{PREFIX}{name} must be {expected}.") from error
    if settings.worker_heartbeat_seconds * 3 + LEASE_MARGIN_SECONDS >= settings.worker_lease_seconds:
        least = f"three times the heartbeat and {LEASE_MARGIN_SECONDS} seconds"
        raise SettingError(f"{PREFIX}WORKER_LEASE_SECONDS must be more than {least}.")


def _check_backups(settings: Settings) -> None:
    to = settings.backup_to
    if ":/" in to and not (to.startswith("s3://") and urlsplit(to).netloc):
        raise SettingError(f"{PREFIX}BACKUP_TO must be a folder, or as in s3://bucket/prefix.")
    if not all(key.startswith(("age1", "ssh-")) for key in settings.backup_keys):
        raise SettingError(f"{PREFIX}BACKUP_RECIPIENTS must be public keys (age1…, ssh-…), joined by commas.")


def _check_url(name: str, value: str | None, schemes: set[str]) -> Any:
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        _ = [urlsplit(f"//{server}").port for server in parts.netloc.rpartition("@")[2].split(",")]
    except ValueError as error:
        words = "is not an address: write @ : / ? # % [ ] in its user and password as %40 %3A %2F %3F %23 %25 %5B %5D"
        raise SettingError(f"{PREFIX}{name} {words if 'https' not in schemes else 'is not an address'}.") from error
    if parts.scheme not in schemes:
        raise SettingError(f"{PREFIX}{name} must begin with {' or '.join(f'{s}://' for s in sorted(schemes))}.")
    for parameter, given in parse_qsl(parts.query):
        if given not in (allowed := URL_CHOICES.get(parameter, (given,))):
            raise SettingError(f"{PREFIX}{name} has a wrong {parameter}: it is one of {', '.join(allowed)}.")
        if parameter in {"sslcert", "sslcrl", "sslkey", "sslrootcert"} and not Path(given).is_file():
            raise SettingError(f"{PREFIX}{name} has a wrong {parameter}: there is no such file.")
    return parts


def _check_origins(name: str, values: list[str]) -> None:
    for value in values:
        parts = _check_url(name, value, {"http", "https"})
        if not parts.hostname or not re.fullmatch(r"[\w.:\[\]-]+", parts.netloc) or any(parts[2:]):
            raise SettingError(f"{PREFIX}{name} must be a scheme and a host alone, as in https://survey.example.com.")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _known(name: str, wanted: set[str], spelled: Callable[[str], str]) -> str:
    close = difflib.get_close_matches(name, wanted, n=1)
    return f"Do you mean {spelled(close[0])}?" if close else f"There are: {', '.join(map(spelled, sorted(wanted)))}."
