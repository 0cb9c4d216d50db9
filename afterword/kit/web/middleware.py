"""Outermost middleware: canonical paths, HEAD, OPTIONS, request ids, headers of every response, overload, traces."""

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextvars import ContextVar
from typing import Any, Final

import msgspec
import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterword import errors
from afterword.core.wire.site import API_PREFIX, Site, requested_host
from afterword.kit.telemetry import Telemetry
from afterword.kit.web import headers, problems, public
from afterword.kit.web.loopback import untrusted_proxy
from afterword.kit.web.metrics import Metrics
from afterword.kit.web.routing import FOR_PEOPLE

ALIASES: Final = ("/v3.0", "/v3.1")
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
CORS_SECONDS = 600
REQUEST_ID_BITS = 88  # unlikely to repeat; no secret
HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
NO_SNIFF: Final = (b"x-content-type-options", b"nosniff")
EXPOSED: Final = (
    b"ETag, Link, Location, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, "
    b"X-Total-Count, Idempotency-Replayed, Afterword-Replica-Lag"
)
ALLOWED_HEADERS: Final = (
    b"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id, "
    b"esat-auth, esat-domain"
)
PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})
REQUESTS_MIN: Final = 40  # at once, always admitted
WAIT_SECONDS: Final = 0.015
QUIET_SECONDS: Final = 60.0  # between two lines of the log about what is away
INTERVAL_SECONDS: Final = 0.02  # also the length of a burst that is no overload
CALM_SECONDS: Final = 1.0  # without a refusal end the overload
OLD_SHARE: Final = 0.9  # smoothing factor of the moving average of completions
TRACE_PARENTS: Final = frozenset({b"traceparent", b"tracestate"})
SERVER_ERROR: Final = 500
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


class LoadShedder:
    """Detects overload of a process, and then admits no more requests than it answers in time.

    A request waits for those admitted before it: their number divided by the requests answered a second, whether
    processor, connections or disk are short (Little's law). Under overload a process therefore admits as many at once
    as it answers in `WAIT_SECONDS`. A short burst is no overload; requests that wait for a slow client do not count.
    """

    def __init__(self) -> None:
        self._under_way = 0
        self._least = 0  # minimum of concurrent requests in this interval
        self._finished = 0
        self._limit = REQUESTS_MIN
        self._rate = 0.0
        self._started: float | None = None  # start of this interval; None: not measuring, as there are few requests
        self._strict_until = 0.0

    @property
    def is_high(self) -> bool:
        """True while requests are to be refused; each refusal prolongs it."""
        if self._under_way < self._limit or not self._strict_until:
            return False
        self._strict_until = asyncio.get_running_loop().time() + CALM_SECONDS
        return True

    def enter(self) -> None:
        self._under_way += 1
        if self._started is None and self._under_way >= REQUESTS_MIN:
            self._started = asyncio.get_running_loop().time()
            self._finished, self._rate, self._limit = 0, 0.0, REQUESTS_MIN
            self._start_interval()

    def leave(self) -> None:
        self._finished += 1
        self._pause()

    def untimed(self, receive: Receive) -> Receive:
        """Exclude a request while it waits for its client."""

        async def wait() -> Message:
            self._pause()
            try:
                return await receive()
            finally:
                self._under_way += 1

        return wait

    def _pause(self) -> None:
        self._under_way -= 1
        self._least = min(self._least, self._under_way)

    def _start_interval(self) -> None:
        self._least = self._under_way
        asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._end_interval)

    def _end_interval(self) -> None:
        now = asyncio.get_running_loop().time()
        rate = self._finished / max(now - (self._started or 0.0), INTERVAL_SECONDS)
        self._rate = OLD_SHARE * self._rate + (1 - OLD_SHARE) * rate if self._rate else rate
        self._limit = max(REQUESTS_MIN, int(self._rate * WAIT_SECONDS))
        if self._least >= self._limit:  # during the whole interval: overload
            self._strict_until = now + CALM_SECONDS
        elif now > self._strict_until:
            self._strict_until = 0.0
        if self._under_way < REQUESTS_MIN and not self._strict_until:
            self._started = None
            return
        self._started, self._finished = now, 0
        self._start_interval()


class Middleware:
    def __init__(
        self,
        app: ASGIApp,
        *,
        site: Site,
        metrics: Metrics,
        origins: Collection[str] = (),
        load_shedder: LoadShedder | None = None,
        gate: PageGate,
    ) -> None:
        self._app = app
        self._gate = gate
        self._load_shedder = load_shedder
        self._site = site
        self._metrics = metrics
        self._has_warned = False
        self._quiet_until = 0.0
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
            self._tell(refusal)
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
            logger.warning(
                "a proxy is not trusted: all its clients count as one source",
                peer=peer,
                setting="AFTERWORD_TRUSTED_PROXIES",
            )
        if answer.is_preflight:
            return answer, answer.send_preflight
        return answer, self._pass_gate if self._site.domains.organizations else self._app

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
        scope["path"] = await self._gate.path(scope, scope["afterword.headers"])
        await self._app(scope, receive, send)

    def _tell(self, refusal: errors.Refusal) -> None:
        """Log why: a database or folder whose disk is full still serves what only reads, and is ready."""
        cause, now = refusal.__cause__, asyncio.get_running_loop().time()
        if isinstance(refusal, errors.Unavailable) and cause is not None and now >= self._quiet_until:
            self._quiet_until = now + QUIET_SECONDS
            logger.warning("a request is refused for now", cause=str(cause).partition("\n")[0])

    async def _refuse(self, refusal: errors.Refusal, scope: Scope, answer: "_Answer") -> None:
        if _is_page(scope):
            request = Request(scope)
            await public.refusal_page(request, refusal)(scope, request.receive, answer)
            return
        content = msgspec.json.encode(problems.document_of(refusal, site=self._site, request_id=answer.request_id))
        more = [*headers.of_refusal(refusal), (b"content-length", b"%d" % len(content))]
        await answer({"type": "http.response.start", "status": refusal.status, "headers": more})
        await answer({"type": "http.response.body", "body": content})


class _Answer(msgspec.Struct):
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


class Tracing:
    """A span and a duration for each request, outside of everything else; only where telemetry is on."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        parent = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name in TRACE_PARENTS
        }
        attributes: dict[str, Any] = {"http.request.method": method}
        start = time.perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                attributes["http.response.status_code"] = message["status"]
            await send(message)

        with self._telemetry.span(method, kind="SERVER", parent=parent) as span:
            try:
                await self._app(scope, receive, noted)
            finally:
                attributes["http.route"] = route = scope.get("path_template") or "unknown"
                span.update_name(f"{method} {route}")
                span.set_attributes(attributes)
                if attributes.get("http.response.status_code", SERVER_ERROR) >= SERVER_ERROR:
                    self._telemetry.fail(span)
                self._telemetry.observe_request(time.perf_counter() - start, attributes)
