"""The public addresses of the installation; built from one setting, never from a request's headers."""

from dataclasses import dataclass, field

from afterword.core.messaging.networks import NameServer, Network

API_PREFIX = "/v3.2"


@dataclass(frozen=True, slots=True)
class Site:
    """`public_url` without a slash at its end, and the secret that keys the hashes of addresses.

    `networks`: the private ones that our own calls may go into. `name_servers`: those that are asked about sender
    domains; none: the machine's own.
    """

    public_url: str
    secret: bytes = field(repr=False)
    networks: tuple[Network, ...] = ()
    name_servers: tuple[NameServer, ...] = ()

    @property
    def base_url(self) -> str:
        """The API's base address, which ends with the version segment."""
        return f"{self.public_url}{API_PREFIX}"

    def api(self, path: str) -> str:
        return f"{self.base_url}{path}"

    def collection_url(self, instance_id: str) -> str:
        return f"{self.public_url}/a/{instance_id}"

    def short_url(self, short_code: str) -> str:
        return f"{self.public_url}/s/{short_code}"

    def unsubscribe_url(self, unsubscribe_id: str) -> str:
        return f"{self.public_url}/u/{unsubscribe_id}"

    def inbound_url(self, inbound_id: str) -> str:
        """Where a provider reports what became of its messages."""
        return f"{self.public_url}/inbound/{inbound_id}"

    def public_link_url(self, questionnaire_id: str) -> str:
        return f"{self.public_url}/p/{questionnaire_id}"

    def link_url(self, key: str) -> str:
        """A public link."""
        return f"{self.public_url}/l/{key}"

    def problem_url(self, code: str) -> str:
        return f"{self.public_url}/problems/{code}"
