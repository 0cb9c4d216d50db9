"""Runs one operation: all checks in one fixed order, the handler in its transaction, the answer's headers."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast
from urllib.parse import unquote_plus

import msgspec

from afterword import db, errors, ids
from afterword.core import times
from afterword.core.access import Caller
from afterword.core.lists import Rows
from afterword.core.site import API_PREFIX, Site
from afterword.web import body, edge, headers, limits, paging, problems, query
from afterword.web.operations import Answer, Call, Route, etag_of
from afterword.web.scalars import Context

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]

_encode = msgspec.json.Encoder().encode
_encode_canonically = msgspec.json.Encoder(order="deterministic").encode
_NOTHING: dict[str, object] = {}


class Authenticate(Protocol):
    """Who calls; raises Unauthorized, Forbidden."""

    def __call__(
        self,
        database: db.Database,
        /,
        *,
        authorization: str | None,
        esat_auth: str | None,
        esat_domain: str | None,
        query_names: Sequence[str],
    ) -> Awaitable[Caller]:
        """The caller whom these headers name."""
        ...


class Replay(Protocol):
    """The answer that a request got when it was sent first."""

    @property
    def status(self) -> int:
        """Of the first answer, a 2xx."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Of the first answer."""
        ...

    @property
    def body(self) -> bytes:
        """Of the first answer, byte by byte."""
        ...


class Idempotency(Protocol):
    """Where first answers are kept; both run in the request's own transaction."""

    async def claim(self, database: db.Database, /, *, organization_id: str, key: str, digest: bytes) -> Replay | None:
        """Take the key, or give the answer that it got; raises Conflict while the first request runs."""
        ...

    async def keep(
        self,
        database: db.Database,
        /,
        *,
        organization_id: str,
        key: str,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
    ) -> None:
        """Keep the answer of the request that took the key."""
        ...


@dataclass(frozen=True, slots=True)
class Ground:
    """What all operations stand on; the composition root makes one."""

    pool: db.Pool
    site: Site
    limiter: limits.Limiter
    authenticate: Authenticate
    idempotency: Idempotency


@dataclass(slots=True)
class _Request:
    """A request on its way through the checks."""

    scope: Scope
    headers: Mapping[str, str]
    request_id: str
    strict: bool = False
    standing: limits.Standing | None = None
    parameters: query.Parameters = field(default_factory=query.Parameters)
    document: Any = msgspec.UNSET  # no body; null is one
    members: frozenset[str] | None = None  # response_fields
    wanted: paging.Wanted | None = None
    key: str | None = None  # Idempotency-Key


class Operation:
    """One route, prepared at start-up; an instance answers the requests of its route."""

    def __init__(self, route: Route, ground: Ground) -> None:
        self.route = route
        self._ground = ground
        self._database = db.on_demand(ground.pool)
        self._takes_body = route.body is not None
        self._writes = route.method != "GET"
        self._is_single = route.shape == "one"
        self._scopes = ((route.scope,) if route.scope else ()) + route.more_scopes
        self._ids = tuple(name for name in route.parameters if name.endswith("_id") and name not in route.texts)
        self._members = frozenset(_names(route.answer))
        self._parameters = frozenset(_names(route.query)) | (paging.PARAMETERS if route.listing else body.RESERVED)
        self._lists = (
            paging.ListReader(route.listing, is_array=route.shape == "array", secret=ground.site.secret)
            if route.listing
            else None
        )
        for struct in (route.body, route.query):
            if struct is not None:
                body.warm(struct)

    async def __call__(self, scope: Scope, receive: edge.Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        request = _Request(scope, headers.read(scope["headers"]), scope["afterword.request_id"])
        try:
            status, more, content = await self._run(request, receive)
        except errors.Refusal as refusal:
            await self._refuse(refusal, request, send)
            return
        except edge.Disconnected:
            return
        if request.standing is not None:
            more += headers.rate_limit(request.standing)
        if request.strict:
            more.append((b"preference-applied", b"handling=strict"))
        await send({"type": "http.response.start", "status": status, "headers": more})
        await send({"type": "http.response.body", "body": content})

    async def _run(self, request: _Request, receive: edge.Receive) -> tuple[int, list[Header], bytes]:
        caller = await self._admit(request)
        await self._read(request, receive)
        call = self._check_fields(request, caller)
        if not self._writes:
            async with db.connection(self._ground.pool) as database:
                self._check_ids(call.ids)
                answer = await self.route.handler(call, database)
            return self._render(answer, request)
        if self.route.shared is not None and request.key is None:
            self._check_ids(call.ids)
            return self._render(await self.route.shared(call, self._ground.pool), request)
        async with db.transaction(self._ground.pool) as database:
            if request.key is not None:
                return await self._run_once(call, request, request.key, database)
            self._check_ids(call.ids)
            return self._render(await self.route.handler(call, database), request)

    # 401, 403, 429 -------------------------------------------------------------------------------------------

    async def _admit(self, request: _Request) -> Caller:
        ground, sent = self._ground, request.headers
        client = request.scope.get("client")
        source: str = client[0] if client else ""
        ground.limiter.check_source(source)
        if ground.pool.clock.is_stale:
            async with db.connection(ground.pool):
                pass  # taking it reads the clock
        raw_query: bytes = request.scope["query_string"]
        try:
            caller = await ground.authenticate(
                self._database,
                authorization=sent.get("authorization"),
                esat_auth=sent.get("esat-auth"),
                esat_domain=sent.get("esat-domain"),
                query_names=_names_of(raw_query) if raw_query else (),
            )
        except errors.Unauthorized as refusal:
            if refusal.code != errors.Unauthorized.code_default:  # nothing was tried without a token
                ground.limiter.count_failure(source)
            raise
        for scope in self._scopes:
            caller.require(scope)
        standing = request.standing = ground.limiter.count_request(
            token_id=caller.token_id, organization_id=caller.organization_id
        )
        if standing is not None and standing.is_over:
            raise limits.over(standing)
        return caller

    # 400, 406, 408, 413, 414, 415 ----------------------------------------------------------------------------

    async def _read(self, request: _Request, receive: edge.Receive) -> None:
        scope, sent = request.scope, request.headers
        raw_query: bytes = scope["query_string"]
        edge.check_target(scope.get("raw_path") or b"", raw_query)
        if self.route.answer is not None:
            edge.check_accept(sent.get("accept"))
        if "prefer" in sent:
            request.strict = headers.wants_strict(sent["prefer"])
        if raw_query:
            request.parameters = query.read(raw_query)
        if self.route.method == "POST" and "idempotency-key" in sent:
            request.key = headers.read_idempotency_key(sent["idempotency-key"])
        raw = await edge.read_body(receive, sent)
        if raw:
            request.document = self._read_document(raw, sent.get("content-type"))
        if not self._writes and isinstance(request.document, dict):
            query.merge(request.parameters, cast("dict[str, Any]", request.document))

    def _read_document(self, raw: bytes, content_type: str | None) -> Any:
        if edge.is_json(content_type) or (content_type is None and raw.lstrip()[:1] in {b"{", b"["}):
            return edge.read_json(raw, depth_max=self.route.depth_max)
        if not self._takes_body and edge.is_form(content_type):
            return None  # ignored, as old clients send it with a DELETE
        raise errors.UnsupportedMedia("This operation reads application/json.", headers={"Accept": "application/json"})

    # 422 -----------------------------------------------------------------------------------------------------

    def _check_fields(self, request: _Request, caller: Caller) -> Call[Any]:
        now, zone = self._ground.pool.clock.now(), times.zone_of(caller.time_zone)
        parameters = request.parameters
        wrong: list[errors.FieldError] = []
        found: Any = None
        if parameters.values or self._lists is not None or self.route.query is not None:
            in_query = Context(now, zone, lax=True, strict=request.strict, as_parameter=True, wrong=wrong)
            found = self._read_parameters(request, in_query)
        document: dict[str, object] = request.document if isinstance(request.document, dict) else _NOTHING
        if document and request.members is None and not body.RESERVED.isdisjoint(document):
            context = Context(now, zone, wrong=wrong)
            request.members = paging.response_fields(document, self._members, context)
        if self.route.body is not None:
            in_body = Context(now, zone, partial=self.route.method == "PATCH", strict=request.strict, wrong=wrong)
            given = _NOTHING if request.document is msgspec.UNSET else request.document
            found = body.read(self.route.body, given, in_body, read_only=self._members)
        if wrong:
            raise errors.Invalid.of(*wrong)
        return Call(
            caller=caller,
            site=self._ground.site,
            now=now,
            zone=zone,
            ids=request.scope["path_params"],
            body=found,
            headers=request.headers,
            request_id=request.request_id,
            strict=request.strict,
            if_match=request.headers.get("if-match"),
            requested=request.wanted.page if request.wanted else None,
            document=document,
        )

    def _read_parameters(self, request: _Request, context: Context) -> Any:
        values = request.parameters.values
        request.members = paging.response_fields(values, self._members, context)
        if self._lists is not None:
            request.wanted = self._lists.read(request.parameters, context, path=_path_of(request.scope))
        if context.strict:
            for name in values:
                if name not in self._parameters:
                    context.add(f"/{name}", "unknown_member", "There is no such parameter here.")
        if self.route.query is None or context.wrong:
            return None
        own = {name: value for name, value in values.items() if name not in paging.PARAMETERS}
        return body.read(self.route.query, own, context)

    # Idempotency-Key, then 404 -------------------------------------------------------------------------------

    async def _run_once(
        self, call: Call[Any], request: _Request, key: str, database: db.Database
    ) -> tuple[int, list[Header], bytes]:
        digest = hashlib.sha256(
            _encode_canonically([self.route.method, _path_of(request.scope), request.document or None])
        ).digest()
        organization_id = call.caller.organization_id
        idempotency = self._ground.idempotency
        replay = await idempotency.claim(database, organization_id=organization_id, key=key, digest=digest)
        if replay is not None:
            kept = [(name.lower().encode(), value.encode()) for name, value in replay.headers.items()]
            return replay.status, [*kept, (b"idempotency-replayed", b"true")], replay.body
        self._check_ids(call.ids)
        status, more, content = self._render(await self.route.handler(call, database), request)
        await idempotency.keep(
            database,
            organization_id=organization_id,
            key=key,
            status=status,
            headers={name.decode(): value.decode() for name, value in more},
            body=content,
        )
        return status, more, content

    def _check_ids(self, given: Mapping[str, str]) -> None:
        for name in self._ids:
            if not ids.is_id(given[name]):
                raise errors.NotFound("There is nothing with this id.")

    # Answers -------------------------------------------------------------------------------------------------

    def _render(self, answer: Answer, request: _Request) -> tuple[int, list[Header], bytes]:
        more: list[Header] = [headers.VARY]
        for name, value in answer.headers.items():
            more.append(headers.header(name, value))
        if answer.location is not None:
            more.append((b"location", self._ground.site.api(answer.location).encode()))
        status = answer.status or self.route.status
        if answer.value is None:
            more.append(headers.NO_STORE)
            if status != 204:  # noqa: PLR2004
                more.append((b"content-length", b"0"))
            return status, more, b""
        if answer.version is not None:
            etag = etag_of(answer.version)
            more.append((b"etag", etag.encode()))
            given = request.headers.get("if-none-match")
            if given is not None and not self._writes and headers.matches(given, etag):
                return 304, [*more, headers.NO_CACHE], b""
        more.append(headers.NO_CACHE if self._is_single else headers.NO_STORE)
        content = _encode(self._shown(answer.value, request, more))
        more.append(headers.JSON)
        more.append((b"content-length", b"%d" % len(content)))
        return status, more, content

    def _shown(self, value: object, request: _Request, more: list[Header]) -> object:
        if isinstance(value, Rows):
            rows = cast("Rows[msgspec.Struct]", value)
            lists, wanted = self._lists, request.wanted
            items = self._narrowed(rows.items, request)
            if lists is None or wanted is None:
                return items
            following = lists.next_query(wanted, rows, request.parameters)
            if following is not None:
                address = f"{self._ground.site.public_url}{_path_of(request.scope)}"
                more.append(headers.header("link", f'<{address}?{following}>; rel="next"'))
            match self.route.shape:
                case "envelope":
                    return lists.envelope(wanted, rows, items)
                case "cursor":
                    return {"results": items, "next_cursor": lists.next_cursor(wanted, rows)}
                case _:
                    return items
        if isinstance(value, msgspec.Struct):
            return value if request.members is None else _some_of(value, request.members)
        return self._narrowed(cast("Sequence[msgspec.Struct]", value), request)

    @staticmethod
    def _narrowed(items: Sequence[msgspec.Struct], request: _Request) -> Sequence[object]:
        members = request.members
        return items if members is None else [_some_of(item, members) for item in items]

    async def _refuse(self, refusal: errors.Refusal, request: _Request, send: Send) -> None:
        more = headers.of_refusal(refusal)
        if request.standing is not None:
            more += headers.rate_limit(request.standing)
        content = problems.body_of(refusal, site=self._ground.site, request_id=request.request_id)
        more.append((b"content-length", b"%d" % len(content)))
        await send({"type": "http.response.start", "status": refusal.status, "headers": more})
        await send({"type": "http.response.body", "body": content})


def _some_of(value: msgspec.Struct, members: frozenset[str]) -> dict[str, object]:
    return {
        each.encode_name: getattr(value, each.name)
        for each in msgspec.structs.fields(value)
        if each.encode_name in members
    }


def _names(struct: type[msgspec.Struct] | None) -> list[str]:
    return [each.encode_name for each in msgspec.structs.fields(struct)] if struct else []


def _names_of(raw_query: bytes) -> list[str]:
    return [unquote_plus(part.partition(b"=")[0].decode("latin-1")).lower() for part in raw_query.split(b"&")]


def _path_of(scope: Scope) -> str:
    path: str = scope["path"].rstrip("/")
    return path if path.startswith(API_PREFIX) else API_PREFIX + path
