"""Networks of addresses: those that our own calls may go to, and those that requests may come from."""

import ipaddress
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
NameServer = tuple[str, int]  # address and port
NETWORKS_MAX: Final = 100
NAME_SERVERS_MAX: Final = 10
NAME_SERVER_PORT: Final = 53

# Networks without customers that `is_global` calls global, or lets through in some versions of Python.
_CLOSED: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # a cloud's own services, reachable from every machine in it
        "192.0.0.0/24",  # RFC 6890, protocol assignments
        "192.88.99.0/24",  # RFC 7526, relays of 6to4
        "64:ff9b:1::/48",  # RFC 8215, local translation
        "2001::/23",  # RFC 2928, protocol assignments, Teredo among them
        "2002::/16",  # RFC 3056, 6to4: an IPv4 address in disguise
        "3fff::/20",  # RFC 9637, documentation
        "5f00::/16",  # RFC 9602, segment routing
        "fec0::/10",  # RFC 3879, once private
    )
)
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address


def networks_of(text: str) -> tuple[Network, ...]:
    """Networks or single addresses joined by commas; raises ValueError, also for a network with host bits set."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > NETWORKS_MAX:
        raise ValueError(f"There may be at most {NETWORKS_MAX} networks.")
    return tuple(ipaddress.ip_network(part) for part in parts)


def name_servers_of(text: str) -> tuple[NameServer, ...]:
    """Addresses joined by commas, each with a port if it is not 53 (`9.9.9.9,[::1]:5353`); raises ValueError."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > NAME_SERVERS_MAX:
        raise ValueError(f"There may be at most {NAME_SERVERS_MAX} name servers.")
    return tuple(map(_name_server, parts))


def _name_server(text: str) -> NameServer:
    address, colon, port = text.rpartition(":")
    if not colon or (":" in address and not address.endswith("]")):  # an IPv6 address without a port
        address, port = text, str(NAME_SERVER_PORT)
    number = int(port)
    if not 0 < number < 65_536:  # noqa: PLR2004
        raise ValueError("A port is expected.")
    return str(ipaddress.ip_address(address.strip("[]"))), number


def is_open(address: Address, allowed: Sequence[Network] = ()) -> bool:
    """Whether we may connect there: it belongs to the open internet, or lies in an allowed network."""
    plain = _plain(address)
    return is_allowed(plain, allowed) or _is_public(plain)


def is_allowed(address: Address, allowed: Sequence[Network]) -> bool:
    plain = _plain(address)
    return any(plain in network for network in allowed)


def is_within(network: str, allowed: Sequence[str]) -> bool:
    inner = ipaddress.ip_network(network)
    outer = map(ipaddress.ip_network, allowed)
    return any(inner.version == one.version and inner.subnet_of(one) for one in outer)  # pyrefly: ignore[bad-argument-type]  one version


def is_inside(address: str, allowed: Sequence[Network]) -> bool:
    """Whether an address is in one of these networks; a text that is no address is in none."""
    try:
        return is_allowed(ipaddress.ip_address(address), allowed)
    except ValueError:
        return False


def _is_public(address: Address) -> bool:
    is_odd = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not is_odd and not any(address in network for network in _CLOSED)


def _plain(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address that only carries one: the packet goes there."""
    if not isinstance(address, IPv6Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address
