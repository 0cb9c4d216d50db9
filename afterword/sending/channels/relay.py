"""The mail server for all mail, read from one address: `smtps://user:password@mail.example.org`."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from msgspec import Meta

Starttls = Literal["offered", "required", "never"]
Security = Literal["tls", "starttls", "none"]
_PORTS: Final = {"smtp": 25, "smtps": 465}
_PORTS_OF: Final[dict[Security, int]] = {"tls": 465, "starttls": 587, "none": 25}
_PORT_LOGIN: Final = 587  # submission, RFC 6409: the default with a login
_OPTIONS: Final = ("starttls", "ca", "name")


@dataclass(frozen=True, slots=True)
class Relay:
    """Address of a relay. `implicit_tls`: from the first byte; otherwise `starttls` decides."""

    host: str
    port: int
    implicit_tls: bool
    starttls: Starttls
    username: str | None
    password: str = field(repr=False, default="")
    ca_file: Path | None = None  # besides the system's authorities
    name: str | None = None  # ours, as EHLO says it; null: the machine's

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_verified(self) -> bool:
        """False for an upgrade that is only offered, on this machine, where mail may go in the clear as well.

        Mail servers offer it with a certificate that they made themselves, and some refuse mail without it.
        """
        return self.implicit_tls or self.starttls != "offered" or not self.is_local or self.ca_file is not None

    @property
    def needs_tls(self) -> bool:
        """A password does not travel in the clear, unless the address says `starttls=never` or stays on the machine."""
        return self.starttls == "required" or (
            self.starttls == "offered" and self.username is not None and not self.is_local
        )


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A relay in parts. Without a port: 465 with tls, 587 with starttls, 25 with none."""

    host: Annotated[str, Meta(min_length=1, max_length=253)]
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    security: Security = "starttls"
    username: Annotated[str, Meta(max_length=320)] = ""
    password: Annotated[str, Meta(max_length=500)] = ""


def relay_of(login: Login) -> Relay:
    """Raises ValueError with a sentence that repeats no secret."""
    if not login.host.isascii() or not all(c.isalnum() or c in "-_.:" for c in login.host):
        raise ValueError("The host must be a name such as smtp.example.com, or an address.")
    if login.password and not login.username:
        raise ValueError("There is a password without a username.")
    if login.username and login.security == "none":
        raise ValueError("A password is never sent unencrypted: choose starttls or tls.")
    return Relay(
        host=login.host,
        port=login.port or _PORTS_OF[login.security],
        implicit_tls=login.security == "tls",
        starttls="never" if login.security == "none" else "required",
        username=login.username or None,
        password=login.password,
    )


def parse_url(url: str) -> Relay:
    """Read `smtp[s]://[user:password@]host[:port][?starttls=offered|required|never][&ca=FILE][&name=OUR-NAME]`.

    Raises ValueError with a sentence that repeats no secret.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("The mail server's address cannot be read; its port must be a number below 65536.") from None
    if parts.scheme not in _PORTS:
        raise ValueError("The mail server's address must begin with smtp:// or smtps://.")
    if not parts.hostname or parts.path not in {"", "/"} or parts.fragment:
        raise ValueError(
            "The mail server's address must be smtp://user:password@host:port; "
            "write @ : / ? # in user or password as %40 %3A %2F %3F %23."
        )
    options = _options(parts.query)
    username = unquote(parts.username) if parts.username else None
    if username is None and parts.password:
        raise ValueError("The mail server's address has a password without a user.")
    ca_file = Path(options["ca"]) if options.get("ca") else None
    if ca_file is not None and not ca_file.is_file():
        raise ValueError("The file that “ca” names in the mail server's address cannot be found.")
    implicit_tls = parts.scheme == "smtps"
    return Relay(
        host=parts.hostname,
        port=port or (_PORT_LOGIN if username and not implicit_tls else _PORTS[parts.scheme]),
        implicit_tls=implicit_tls,
        starttls=_starttls(options.get("starttls", "offered")),
        username=username,
        password=unquote(parts.password or ""),
        ca_file=ca_file,
        name=options.get("name"),
    )


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(options.keys() - set(_OPTIONS))
    if unknown:
        raise ValueError(f"The mail server's address has an unknown option; known are {', '.join(_OPTIONS)}.")
    return options


def _starttls(value: str) -> Starttls:
    for known in get_args(Starttls):
        if value == known:
            return known
    raise ValueError("“starttls” in the mail server's address must be offered, required or never.")
