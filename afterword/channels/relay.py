"""The mail server for all mail, read from one address: `smtps://user:password@mail.example.org`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

Starttls = Literal["offered", "required", "never"]
_PORTS: Final = {"smtp": 25, "smtps": 465}
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
        """True for a connection that never leaves this machine."""
        return self.host in {"localhost", "127.0.0.1", "::1"}

    @property
    def needs_tls(self) -> bool:
        """A password does not travel in the clear, unless the address says `starttls=never` or stays on the machine."""
        return self.starttls == "required" or (
            self.starttls == "offered" and self.username is not None and not self.is_local
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
