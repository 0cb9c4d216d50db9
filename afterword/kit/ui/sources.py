"""The browser and the network that a request comes from, as a person recognizes them."""

import ipaddress


def network_of(host: str) -> str:
    """The network of an address, as far as a person is behind it: 24 bits of IPv4, 56 of IPv6."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "unknown"
    return str(ipaddress.ip_network((address, 24 if address.version == 4 else 56), strict=False))  # noqa: PLR2004


def device_of(agent: str) -> str:
    """Browser and system in two words, as a person recognizes them."""
    browsers = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
    systems = (
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    )  # fmt: skip
    browser = next((name for mark, name in browsers if mark in agent), "")
    system = next((name for mark, name in systems if mark in agent), "")
    return ", ".join(filter(None, (browser, system))) or "?"
