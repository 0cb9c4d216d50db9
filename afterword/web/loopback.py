"""Whether a request comes from this very machine, for what operators look at and nobody else."""

import ipaddress
from typing import Any, Final
from urllib.parse import urlsplit

from litestar import Request

FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def is_local(request: Request[Any, Any, Any]) -> bool:
    """A loopback client that asked for a loopback name, and no proxy that says whom it speaks for.

    A proxy on the same machine makes every client loopback: most give themselves away by a header or keep the name
    that the client asked for.
    """
    client = request.client.host if request.client else ""
    is_forwarded = any(name in request.headers for name in FORWARDED)
    return not is_forwarded and is_loopback(client) and is_loopback(host_of(f"//{request.headers.get('host', '')}"))


def host_of(address: str) -> str:
    """The name or number in an address; empty where there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    """Whether a host's name or number always means the machine itself."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
