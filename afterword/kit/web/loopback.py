"""Tells local requests from others, and admits operators to /metrics and the outbox."""

import hmac
import ipaddress
from collections.abc import Mapping, MutableMapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request

from afterword.core import keys
from afterword.core.answers.suspicion import token_of
from afterword.core.wire.site import Site

FORWARDED: Final = (
    "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "x-client-ip",
    "cf-connecting-ip", "via",
)  # fmt: skip


def url_with_key(site: Site, name: str) -> str:
    return f"{site.public_url}/{name}?{urlencode({'key': token_of(site.secret, name, '')})}"


def is_admitted(request: Request, name: str) -> bool:
    """True with the key of `name`, or for a local request to an installation for this machine alone.

    A proxy on this machine may forward any Host, so only the key identifies the operator then.
    """
    site: Site = request.state.site
    key = request.query_params.get("key", "")
    if keys.find(site.secret, lambda one: hmac.compare_digest(key.encode(), token_of(one, name, "").encode())):
        return True
    return is_local(request) and is_loopback(host_of(site.public_url))


def untrusted_proxy(scope: MutableMapping[str, Any], sent: Mapping[str, str]) -> str | None:
    """The peer whose X-Forwarded-For was ignored; for a trusted proxy the server reports its client as the peer."""
    client: tuple[str, int] | None = scope.get("client")
    forwarded = sent.get("x-forwarded-for")
    return None if forwarded is None or client is None or client[0] in forwarded else client[0]


def fate_of_forwarded(scope: MutableMapping[str, Any], sent: Mapping[str, str]) -> str | None:
    """`missing` without X-Forwarded-For, `ignored` where its sender is not trusted, None where it is used."""
    if "x-forwarded-for" not in sent:
        return "missing"
    return "ignored" if untrusted_proxy(scope, sent) else None


def is_local(request: Request) -> bool:
    """True for a loopback client that asked for a loopback name and is no proxy.

    A proxy on the same machine makes every client loopback; most add a header or keep the Host of the client.
    """
    client = request.client.host if request.client else ""
    is_forwarded = any(name in request.headers for name in FORWARDED)
    return not is_forwarded and is_loopback(client) and is_loopback(host_of(f"//{request.headers.get('host', '')}"))


def host_of(address: str) -> str:
    """Host name or IP address of a URL; empty where there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
