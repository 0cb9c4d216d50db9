"""Outermost middleware: canonical paths, HEAD and OPTIONS, the request id, headers of every response."""

import random
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import msgspec
import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterword import errors
from afterword.core.wire.hosts import requested_host
from afterword.core.wire.site import API_PREFIX, Site
from afterword.web import headers, problems, public
from afterword.web.load_shedder import LoadShedder
from afterword.web.loopback import untrusted_proxy
from afterword.web.metrics import Metrics
from afterword.web.routing import FOR_PEOPLE

ALIASES: Final = ("/v3.0", "/v3.1")
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
CORS_SECONDS = 600
REQUEST_ID_BITS = 88  # unlikely to repeat; no secret
HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
NO_SNIFF: Final = (b"x-content-type-options", b"nosniff")
EXPOSED: Final = (
    b"ETag, Link, Location, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, "
    b"X-Total-Count, Idempotency-Replayed"
)
ALLOWED_HEADERS: Final = (
    b"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id, "
    b"esat-auth, esat-domain"
)
PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})
TRUSTED: Final = "AFTERWORD_TRUSTED_PROXIES"
NOWHERE: Final = "/%2F"  # no route has it
NOTHING: Final = "-"  # no page has it as its key
_PAGE: Final = re.compile(r"/(?P<kind>a|asset|l|p|s|u)/(?P<key>[^/]+)(?P<rest>/.*)?\Z", re.DOTALL)
_COMMON: Final = ("/static/public/", "/theme/", "/domains/")
_INSIDE: Final = f"{API_PREFIX}/"

OwnersOf = Callable[[str, str], Awaitable[set[str]]]
"""The organizations to which the page `/{kind}/{key}` belongs."""

# Each task has its own context, so nothing is reset; structlog's own function takes ten times as long.
_logged_id: Final = ContextVar[str](f"{structlog.contextvars.STRUCTLOG_KEY_PREFIX}request_id")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SLASHES = re.compile(r"/{2,}")
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class PageGate:
    """The hosts of organizations serve the public pages of their organization, and nothing else."""

    def __init__(self, site: Site, owners_of: OwnersOf) -> None:
        self._site = site
        self._owners_of = owners_of

    async def path(self, scope: Scope, sent: Mapping[str, str]) -> str:
        """The path to serve: on an organization's host, one that is not found in place of what is not its own.

        Pages of others are then refused by their own handler, as unknown ones are, which also counts who tries.
        """
        path: str = scope["path"]
        organization_id = self._site.domains.organization_of(requested_host(sent.get("host", "")))
        if organization_id is None or path in {"/healthz", "/readyz"} or path.startswith(_COMMON):
            return path
        page = _PAGE.match(path)
        if page is None:
            return NOWHERE
        owners = await self._owners_of(page["kind"], page["key"])
        if not owners or organization_id in owners:
            return path
        return f"/{page['kind']}/{NOTHING}{page['rest'] or ''}"


class Middleware:
    def __init__(
        self,
        app: ASGIApp,
        *,
        site: Site,
        metrics: Metrics,
        origins: Collection[str] = (),
        load_shedder: LoadShedder | None = None,
        gate: PageGate | None = None,
    ) -> None:
        self._app = app
        self._gate = gate
        self._load_shedder = load_shedder
        self._site = site
        self._metrics = metrics
        self._has_warned = False
        self._origins = frozenset(origins)
        self._always = [NO_SNIFF, HSTS] if site.public_url.startswith("https://") else [NO_SNIFF]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        method: str = scope["method"]
        if method == "HEAD":
            scope = {**scope, "method": "GET"}  # a copy: the server reads its own scope
        answer, app = self._begin(method, scope, send)
        try:
            if self._load_shedder is None:
                await app(scope, receive, answer)
            else:
                await self._pass(self._load_shedder, app, scope, receive, answer)
        except errors.Refusal as refusal:
            if answer.has_started:
                raise
            await self._refuse(refusal, scope, answer)
        except Exception:
            logger.exception("request failed", method=method)
            if answer.has_started:
                raise
            await self._refuse(problems.InternalError(), scope, answer)
        finally:
            label = method if method in METHODS else "other"  # else clients could create any number of series
            template = scope.get("path_template", "unknown")
            self._metrics.count_request(label, template, answer.status, time.perf_counter() - start)

    def _begin(self, method: str, scope: Scope, send: Send) -> "tuple[_Answer, ASGIApp]":
        sent: dict[str, str] = {}
        for name, value in scope["headers"]:
            key, text = str(name, "latin-1"), str(value, "latin-1")
            sent[key] = f"{sent[key]}, {text}" if key in sent else text  # repeated ones are joined (RFC 9110, 5.3)
        request_id = sent.get("x-request-id")
        if request_id is None or not _REQUEST_ID.fullmatch(request_id):
            request_id = f"{random.getrandbits(REQUEST_ID_BITS):022x}"
        _logged_id.set(request_id)
        scope["path"] = canonical_path(scope["path"], scope.get("raw_path"))
        scope["afterword.headers"], scope["afterword.request_id"] = sent, request_id
        scope["afterword.is_head"] = method == "HEAD"
        client = scope.get("client")
        scope["afterword.source"] = client[0] if client else ""  # behind a trusted proxy its client's
        answer = _Answer(method, request_id, send, [*self._always, (b"x-request-id", request_id.encode())])
        if self._origins and not scope["path"].startswith("/oauth/"):
            answer.add_cors(sent, self._origins)
        if not self._has_warned and "x-forwarded-for" in sent and (peer := untrusted_proxy(scope, sent)) is not None:
            self._has_warned = True
            logger.warning("a proxy is not trusted: all its clients count as one source", peer=peer, setting=TRUSTED)
        if answer.is_preflight:
            return answer, answer.send_preflight
        is_gated = self._gate is not None and self._site.domains.organizations
        return answer, self._pass_gate if is_gated else self._app

    async def _pass(
        self, load_shedder: LoadShedder, app: ASGIApp, scope: Scope, receive: Receive, answer: "_Answer"
    ) -> None:
        if load_shedder.is_high and scope["path"] not in PROBES:  # before the body is read
            raise errors.Unavailable("Too many requests at once.", headers={"Retry-After": "2"})
        load_shedder.enter()
        try:
            await app(scope, load_shedder.untimed(receive), answer)
        finally:
            load_shedder.leave()

    async def _pass_gate(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._gate is not None:
            scope["path"] = await self._gate.path(scope, scope["afterword.headers"])
        await self._app(scope, receive, send)

    async def _refuse(self, refusal: errors.Refusal, scope: Scope, answer: "_Answer") -> None:
        if _is_page(scope):
            request = Request(scope)
            await public.refusal_page(request, refusal)(scope, request.receive, answer)
            return
        content = msgspec.json.encode(problems.document_of(refusal, site=self._site, request_id=answer.request_id))
        more = [*headers.of_refusal(refusal), (b"content-length", b"%d" % len(content))]
        await answer({"type": "http.response.start", "status": refusal.status, "headers": more})
        await answer({"type": "http.response.body", "body": content})


@dataclass(slots=True)
class _Answer:
    """The `send` of one request: adds the headers of every response, drops the body for HEAD."""

    method: str
    request_id: str
    _send: Send
    _more: list[headers.Header]
    status: int = 0
    has_started: bool = False
    is_preflight: bool = False

    def __call__(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            self.has_started = True
            self.status = message["status"]
            given: list[headers.Header] = message.get("headers", [])
            if self.status in {405, 204}:
                given = [_with_head(name, value) for name, value in given]
            message["headers"] = [*given, *self._more]
        elif self.method == "HEAD":
            message = {"type": "http.response.body", "body": b"", "more_body": message.get("more_body", False)}
        return self._send(message)

    def add_cors(self, sent: Mapping[str, str], origins: Collection[str]) -> None:
        origin = sent.get("origin", "")
        if origin in origins:
            self._more += [
                (b"access-control-allow-origin", origin.encode()),
                (b"access-control-expose-headers", EXPOSED),
            ]
            self.is_preflight = self.method == "OPTIONS" and "access-control-request-method" in sent

    async def send_preflight(self, _scope: Scope, _receive: Receive, _send: Send) -> None:
        self._more += [
            (b"access-control-allow-methods", b"GET, POST, PATCH, PUT, DELETE"),
            (b"access-control-allow-headers", ALLOWED_HEADERS),
            (b"access-control-max-age", b"%d" % CORS_SECONDS),
            headers.VARY,
        ]
        await self({"type": "http.response.start", "status": 204, "headers": []})
        await self({"type": "http.response.body", "body": b""})


def canonical_path(path: str, raw_path: bytes | None) -> str:
    """Normalize a path: single slashes, none at the end, `/v3.2` for its aliases.

    A path with an encoded slash is not found, nor one with a line feed at the end, which the router's patterns
    overlook. No request is answered by a redirect.
    """
    if path.endswith("\n") or (raw_path and b"%2" in raw_path and b"%2f" in raw_path.lower()):
        return NOWHERE
    if "//" in path:
        path = _SLASHES.sub("/", path)
    if len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    if path.startswith(_INSIDE):
        return path
    for alias in ALIASES:
        if path.startswith(alias) and path[len(alias) : len(alias) + 1] in {"", "/"}:
            return API_PREFIX + path[len(alias) :]
    return path


def _is_page(scope: Scope) -> bool:
    if scope["path"].startswith(_INSIDE):
        return False
    return scope.get(FOR_PEOPLE) or "text/html" in scope["afterword.headers"].get("accept", "")


def _with_head(name: bytes, value: bytes) -> headers.Header:
    """Add HEAD (beside GET) and OPTIONS to `Allow`, which the router does not know."""
    if name != b"allow":
        return name, value
    methods = {method.strip() for method in value.split(b",") if method.strip()} | {b"OPTIONS"}
    if b"GET" in methods:
        methods.add(b"HEAD")
    return name, b", ".join(sorted(methods))
