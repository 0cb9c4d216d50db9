"""The public addresses of the installation, and those of its organizations' pages; never from a request's headers."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import idna
import msgspec

from afterword.core.messaging.networks import NameServer, Network

HOST_CHARACTERS_MAX: Final = 242  # with the label of the record before it, a name of DNS
RECORD_LABEL: Final = "_afterword"
RECORD_PREFIX: Final = "afterword-domain="
_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")


def typed_host(text: str) -> str:
    """The name in a host or web address that somebody typed, as DNS has it. Raises ValueError with a sentence."""
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
        name = ascii_name(host)
    except ValueError:  # also IDNAError
        raise ValueError("This is no name of a host.") from None
    if port is not None or parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("Only the name of the host is expected, such as ask.shop.example.")
    labels = name.split(".")
    is_name = len(labels) > 1 and all(map(_LABEL.match, labels)) and not labels[-1].isdecimal()
    if not is_name or len(name) > HOST_CHARACTERS_MAX or labels[-1] == "localhost":
        raise ValueError("A name of the open internet is expected, such as ask.shop.example.")
    return name


def ascii_name(host: str) -> str:
    """As DNS and browsers have it. Raises ValueError.

    The codec of Python follows rules of 2003, which change the last letter of Greek words.
    """
    return host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")


def requested_host(header: str) -> str:
    """The name in a header `Host`, without the port."""
    return header.partition(":")[0].rstrip(".").lower()


def record_name(host: str) -> str:
    return f"{RECORD_LABEL}.{host}"


def has_record(texts: list[str] | None, value: str) -> bool:
    return any(text.strip() == value for text in texts or ())


PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\Z|\[[0-9a-f:]+\]\Z")


def origins_of(urls: Iterable[str]) -> tuple[str, ...]:
    """The origin of each address, once; addresses that have none are left out."""
    return tuple(dict.fromkeys(found for url in urls if (found := _origin_of(url))))


def _origin_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = ascii_name(parts.hostname or ""), parts.port
    except ValueError:  # also IDNAError
        return ""
    host = f"[{host}]" if ":" in host else host
    if parts.scheme not in PORTS or not _HOST.match(host):  # the text goes into a header
        return ""
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in {None, PORTS[parts.scheme]} else "")


API_PREFIX = "/v3.2"


class PublicPages(msgspec.Struct, frozen=True):
    """The addresses of an organization's pages; `public_url` has no slash at its end."""

    public_url: str

    def collection_url(self, instance_id: str) -> str:
        return f"{self.public_url}/a/{instance_id}"

    def short_url(self, short_code: str) -> str:
        return f"{self.public_url}/s/{short_code}"

    def unsubscribe_url(self, unsubscribe_id: str) -> str:
        return f"{self.public_url}/u/{unsubscribe_id}"

    def public_link_url(self, questionnaire_id: str) -> str:
        return f"{self.public_url}/p/{questionnaire_id}"

    def link_url(self, key: str) -> str:
        return f"{self.public_url}/l/{key}"


class Domains(msgspec.Struct):
    """The hosts that organizations hold, as this process read them last."""

    organizations: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # by host
    hosts: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # by organization

    def replace(self, held: Iterable[tuple[str, str, bool]]) -> None:
        """Take organizations, their hosts, and whether these lead here: addresses are built of those alone."""
        rows = list(held)
        self.organizations = {host: organization_id for organization_id, host, _ in rows}
        self.hosts = {organization_id: host for organization_id, host, is_active in rows if is_active}

    def organization_of(self, host: str) -> str | None:
        return self.organizations.get(host)


@dataclass(frozen=True, slots=True)
class Site:
    """`public_url` without a slash at its end, and the secret that keys the hashes of addresses.

    `networks`: the private ones that our own calls may go into. `name_servers`: those that are asked about domains;
    none: the machine's own. `domains`: read again every few seconds by the process that has the site. `file_folder`
    keeps the files of responses; empty: the database does. Exports on a timetable write below `export_folder`; empty:
    not to this machine. `scan_command` looks at each of them; empty: none does.
    `queue_days`: that ended items are kept, 0 for good. `sends_mail`: mails to users leave; else their operator has
    them. `has_demonstration`: there is a made-up shop to look at.
    """

    public_url: str
    secret: bytes = field(repr=False)
    networks: tuple[Network, ...] = ()
    name_servers: tuple[NameServer, ...] = ()
    domains: Domains = field(default_factory=Domains, repr=False, compare=False)
    file_folder: str = ""
    export_folder: str = ""
    scan_command: tuple[str, ...] = ()
    scan_seconds: float = 30.0
    queue_days: int = 400
    sends_mail: bool = True
    has_demonstration: bool = True

    @property
    def base_url(self) -> str:
        """The API's base address, which ends with the version segment."""
        return f"{self.public_url}{API_PREFIX}"

    @property
    def host(self) -> str:
        return urlsplit(self.public_url).hostname or ""

    def api(self, path: str) -> str:
        return f"{self.base_url}{path}"

    def pages(self, organization_id: str) -> PublicPages:
        """At the organization's own host if it has one that leads here."""
        host = self.domains.hosts.get(organization_id)
        return PublicPages(self.public_url if host is None else self.url_of(host))

    def url_of(self, host: str) -> str:
        """The address of another host, with the scheme and the port of ours."""
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")

    def inbound_url(self, inbound_id: str) -> str:
        """Where a provider reports what became of its messages."""
        return f"{self.public_url}/inbound/{inbound_id}"

    def source_url(self, source_id: str) -> str:
        """The address to which a shop or a help desk tells what happened."""
        return f"{self.public_url}/in/{source_id}"

    def problem_url(self, code: str) -> str:
        return f"{self.public_url}/problems/{code}"
