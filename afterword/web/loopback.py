"""Where a request comes from; and who may see what is the operator's: /metrics and the outbox."""

import hmac
import ipaddress
from collections.abc import MutableMapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request

from afterword.core.answers.form_tokens import token_of
from afterword.core.wire.site import Site

FORWARDED: Final = (
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "x-client-ip",
    "cf-connecting-ip",
    "via",
)


def url_with_key(site: Site, name: str) -> str:
    """The address of /metrics or /outbox with its key, for the operator's terminal."""
    return f"{site.public_url}/{name}?{urlencode({'key': _key(site, name)})}"


def is_admitted(request: Request, name: str) -> bool:
    """Whether the request has the key of `name`, or is local to an installation that is for this machine alone.

    A proxy on this machine may pass on any Host: then only the key tells the operator from a stranger.
    """
    site: Site = request.state.site
    key = request.query_params.get("key", "")
    if hmac.compare_digest(key.encode(), _key(site, name).encode()):
        return True
    return is_local(request) and is_loopback(host_of(site.public_url))


def untrusted_proxy(scope: MutableMapping[str, Any]) -> str | None:
    """The peer whose X-Forwarded-For was not heard; the server puts the client of a trusted one in the peer's place."""
    forwarded = next((value for name, value in scope["headers"] if name == b"x-forwarded-for"), None)
    client = scope.get("client")
    if forwarded is None or client is None or client[0].encode() in forwarded:
        return None
    peer: str = client[0]
    return peer


def is_local(request: Request) -> bool:
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


def _key(site: Site, name: str) -> str:
    return token_of(site.secret, name, "")
