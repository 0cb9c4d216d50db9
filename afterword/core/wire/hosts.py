"""Names of hosts: as people type them, as headers send them, and the DNS record that proves who holds one."""

import re
from typing import Final
from urllib.parse import urlsplit

import idna

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
