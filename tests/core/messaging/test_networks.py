"""Where our own calls may go: public addresses, and the private networks that operators name."""

from ipaddress import ip_address

import pytest

from afterword.core.messaging.networks import NETWORKS_MAX, is_allowed, is_open, networks_of

PRIVATE = networks_of("10.0.0.0/8, fd00::/8, 192.0.2.7")


@pytest.mark.parametrize(
    ("address", "open_to_all", "allowed"),
    [
        ("8.8.8.8", True, False),
        ("2001:4860:4860::8888", True, False),
        ("64:ff9b::8.8.8.8", True, False),  # a translated address is judged as the IPv4 address in it
        ("::ffff:8.8.8.8", True, False),
        ("10.1.2.3", False, True),
        ("::ffff:10.1.2.3", False, True),
        ("64:ff9b::10.1.2.3", False, True),
        ("fd00::1", False, True),
        ("192.0.2.7", False, True),
        ("192.0.2.8", False, False),
        ("127.0.0.1", False, False),
        ("::1", False, False),
        ("0.0.0.0", False, False),  # noqa: S104
        ("224.0.0.1", False, False),
        ("168.63.129.16", False, False),
        ("2002:808:808::", False, False),
        ("2001:0:808:808::1", False, False),
        ("fec0::1", False, False),
        ("3fff::1", False, False),
    ],
)
def test_addresses(address: str, *, open_to_all: bool, allowed: bool) -> None:
    found = ip_address(address)
    assert open_to_all is is_open(found)
    assert allowed is is_allowed(found, PRIVATE)
    assert (open_to_all or allowed) is is_open(found, PRIVATE)


@pytest.mark.parametrize(
    "text", ["10.0.0.1/8", "10.0.0.0/33", "intranet", ",".join(["10.0.0.0/8"] * (NETWORKS_MAX + 1))]
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError):
        networks_of(text)


def test_none() -> None:
    assert () == networks_of(" , ")
