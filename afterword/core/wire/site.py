"""The public addresses of the installation, and those of its organizations' pages; never from a request's headers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from afterword.core.messaging.networks import NameServer, Network

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


@dataclass(slots=True)
class Domains:
    """The hosts that organizations hold, as this process read them last."""

    organizations: Mapping[str, str] = field(default_factory=dict[str, str])  # by host
    hosts: Mapping[str, str] = field(default_factory=dict[str, str])  # by organization

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
    keeps the files of responses; empty: the database does. `scan_command` looks at each of them; empty: none does.
    `queue_days`: that ended items are kept, 0 for good. `sends_mail`: mails to users leave; else their operator has
    them.
    """

    public_url: str
    secret: bytes = field(repr=False)
    networks: tuple[Network, ...] = ()
    name_servers: tuple[NameServer, ...] = ()
    domains: Domains = field(default_factory=Domains, repr=False, compare=False)
    file_folder: str = ""
    scan_command: tuple[str, ...] = ()
    scan_seconds: float = 30.0
    queue_days: int = 400
    sends_mail: bool = True

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

    def problem_url(self, code: str) -> str:
        return f"{self.public_url}/problems/{code}"
