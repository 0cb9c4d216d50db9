"""Origins of websites, as headers name them."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from afterword.core.wire.hosts import ascii_name

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
