"""Runs one operation: all checks in one fixed order, the handler in its transaction, the response's headers."""

import asyncio
import functools
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar, cast
from urllib.parse import unquote_plus

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from afterword import db, errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.reading import structs
from afterword.core.reading.findings import at_parameter
from afterword.core.reading.structs import Context
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.web import headers, limits, paging, parsing, query, rows, uploads
from afterword.web.answering import Renderer, Sent
from afterword.web.operations import Call, Download, Route

Read = TypeVar("Read")
Authenticate = Callable[[db.Database, Mapping[str, str], Sequence[str], str], Awaitable[Caller]]
"""Identifies the caller by headers and by the names in the query; raises Unauthorized, Forbidden."""

JSON: Final = "application/json"
BYTES_ON_LOOP: Final = 65_536  # records and files beyond are read in a thread
_encode_canonically = msgspec.json.Encoder(order="deterministic").encode
_NOTHING: dict[str, Any] = {}
_NO_SLOT = nullcontext()


class Idempotency(Protocol):
    """Stores first responses; both functions run in the request's own transaction."""

    async def claim_idempotency_key(
        self, db: db.Database, *, organization_id: str, key: str, digest: bytes, now: datetime
    ) -> tuple[int, Mapping[str, str], bytes] | None:
        """Claim the key, or return status, headers and body of its response; raises Conflict while that is made."""

    async def keep_idempotent_answer(
        self, db: db.Database, *, organization_id: str, key: str, status: int, headers: Mapping[str, str], body: bytes
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class OperationContext:
    pool: db.Pool
    site: Site
    limiter: limits.Limiter
    authenticate: Authenticate
    idempotency: Idempotency


@dataclass(slots=True)
class _Request:
    scope: Scope
    headers: Mapping[str, str]
    request_id: str
    strict: bool = False
    limit_state: limits.LimitState | None = None
    parameters: query.Parameters = field(default_factory=query.Parameters)
    document: Any = msgspec.UNSET  # no body; null is one
    is_lax: bool = False  # a form, or JSON without its label: scalars are typed by their member
    records: rows.Records | None = None
    upload: uploads.Upload | None = None
    content: bytes | None = None  # digest of the records or of the file
    members: frozenset[str] | None = None  # response_fields
    page: paging.PageRequest | None = None
    key: str | None = None  # Idempotency-Key


async def identify(context: OperationContext, database: db.Database, scope: Scope) -> Caller:
    """The caller of a request by its token. Counts a failure; raises Unauthorized, Forbidden, TooMany."""
    source = source_of(scope)
    if context.pool.clock.is_stale:
        async with db.connection(context.pool):
            pass  # taking a connection updates the clock
    raw_query: bytes = scope["query_string"]
    try:
        names = _names_of(raw_query) if raw_query else ()
        return await context.authenticate(database, scope["afterword.headers"], names, source)
    except errors.Unauthorized as refusal:
        if refusal.code != errors.Unauthorized.code_default:  # a request without a token is no attempt
            context.limiter.count_failure(source)
        raise


def source_of(scope: Scope) -> str:
    """The address that a request came from; behind a trusted proxy its client's."""
    client = scope.get("client")
    return client[0] if client else ""


class Operation:
    def __init__(self, route: Route, context: OperationContext) -> None:
        self.route = route
        self._context = context
        self._database = db.on_demand(context.pool)
        self._writes = route.method != "GET"
        self._is_mass = route.shared is not None and not route.acts  # so hot that the audit log has none of it
        self._is_large = route.rows_max is not None or bool(route.uploads)
        self._bytes_max = route.bytes_max or (rows.BODY_BYTES_MAX if self._is_large else parsing.BODY_BYTES_MAX)
        files = tuple(media_type.partition(";")[0] for media_type in route.media_types)
        self._media_types = ((JSON,) if route.answer is not None else ()) + files
        self._members = frozenset(_names(route.answer))
        self._query = frozenset(_names(route.query))
        self._lists = (
            paging.ListReader(route.listing, shape=route.shape, secret=context.site.secret, own=self._query)
            if route.listing
            else None
        )
        self._parameters = self._query | (self._lists.parameters if self._lists else structs.RESERVED)
        self._renderer = Renderer(route, context.site, self._lists)
        assert self._members.issuperset(route.secret_members), route.path  # noqa: S101
        for struct in (route.body, route.query):
            if struct is not None:
                structs.struct_reader(struct)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _Request(scope, scope["afterword.headers"], scope["afterword.request_id"])
        try:
            status, more, content = await self._answer(request, receive)
            chunks = None if isinstance(content, bytes) else await _open_chunks(content, scope)
        except errors.Refusal as refusal:
            if request.limit_state is not None:
                told = {name.decode(): value.decode() for name, value in headers.rate_limit(request.limit_state)}
                refusal.headers = {**refusal.headers, **told}
            raise
        except ClientDisconnect:
            return
        if request.limit_state is not None:
            more += headers.rate_limit(request.limit_state)
        if request.strict:
            more.append((b"preference-applied", b"handling=strict"))
        if chunks is not None:
            async with aclosing(chunks):
                response = StreamingResponse(chunks, status)
                response.raw_headers = more
                await response(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": more})
        await send({"type": "http.response.body", "body": content if isinstance(content, bytes) else b""})

    async def _answer(self, request: _Request, receive: Receive) -> Sent:
        caller = await self._admit(request)
        slot = self._context.limiter.large_body(caller.organization_id) if self._is_large else _NO_SLOT
        with slot:
            await self._read(request, caller, receive)
            call = await self._check_fields(request, caller)
            if request.key is not None:
                return await self._run_once(call, request, request.key)
            self._check_ids(call)
            if self.route.shared is not None:
                return self._render(await self.route.shared(call, self._context.pool), call, request)
            # Chunks are read after a connection taken here would be returned, and other servers may keep us waiting.
            if self.route.media_types or self.route.waits:
                return self._render(await self.route.handler(call, self._database), call, request)
            pool = self._context.pool
            async with db.transaction(pool, actor=caller.actor) if self._writes else db.connection(pool) as database:
                return self._render(await self.route.handler(call, database), call, request)

    # 401, 403, 429 -------------------------------------------------------------------------------------------

    async def _admit(self, request: _Request) -> Caller:
        caller = await identify(self._context, self._database, request.scope)
        self._count(request, caller, requests=1)  # a refused one too: its response has the rate-limit headers
        own = self.route.own
        if own is None or not own(caller, request.scope["path_params"]):
            for scope in self.route.scopes:
                caller.require(scope)
        limits.check(request.limit_state)
        return caller

    def _count(self, request: _Request, caller: Caller, *, requests: int) -> None:
        request.limit_state = self._context.limiter.count_request(
            token_id=caller.token_id, organization_id=caller.organization_id, requests=requests
        )

    # 400, 406, 408, 413, 414, 415 ----------------------------------------------------------------------------

    async def _read(self, request: _Request, caller: Caller, receive: Receive) -> None:
        scope, sent = request.scope, request.headers
        raw_query: bytes = scope["query_string"]
        parsing.check_target(scope.get("raw_path") or b"", raw_query)
        if self._media_types:
            parsing.check_accept(sent.get("accept"), self._media_types)
        if "prefer" in sent:
            request.strict = headers.wants_strict(sent["prefer"])
        if raw_query:
            request.parameters = query.read(raw_query)
        if self.route.method == "POST" and "idempotency-key" in sent:
            request.key = headers.read_idempotency_key(sent["idempotency-key"])
        raw = await parsing.read_body(receive, sent, bytes_max=self._bytes_max)
        content_type = sent.get("content-type")
        if self.route.rows_max is not None:
            split = functools.partial(rows.split, raw, content_type, rows_max=self.route.rows_max)
            request.records = await _off_loop(split, len(raw))
            if request.records.requests > 1:
                self._count(request, caller, requests=request.records.requests - 1)
                limits.check(request.limit_state)
        elif self.route.uploads:
            read = functools.partial(uploads.read, raw, content_type, media_types=self.route.uploads)
            request.upload = await _off_loop(read, len(raw))
            query.merge(request.parameters, request.upload.fields)
        elif raw:
            self._read_document(request, raw, content_type)

    def _read_document(self, request: _Request, raw: bytes, content_type: str | None) -> None:
        if content_type == JSON:
            request.document = parsing.read_json(raw, depth_max=self.route.depth_max)
        else:
            request.document, request.is_lax = query.read_body(raw, content_type, depth_max=self.route.depth_max)
        if not self._writes and isinstance(request.document, dict):
            query.merge(request.parameters, cast("dict[str, Any]", request.document))

    # 422 -----------------------------------------------------------------------------------------------------

    async def _check_fields(self, request: _Request, caller: Caller) -> Call[Any]:
        now, zone = self._context.pool.clock.now(), times.zone_of(caller.time_zone)
        wrong: list[errors.FieldError] = []
        asked: Any = None
        found: Any = None
        if request.parameters.values or self._lists is not None or self.route.query is not None:
            in_query = Context(now=now, zone=zone, lax=True, strict=request.strict, place=at_parameter)
            asked = self._read_parameters(request, in_query)
            wrong += in_query.errors
        if self._writes:
            in_body = Context(now=now, zone=zone, lax=request.is_lax, strict=request.strict)
            found = self._read_members(request, in_body)
            wrong += in_body.errors
            if wrong and self.route.also_wrong is not None:
                path, given = request.scope["path_params"], _object_of(request.document)
                wrong += await self.route.also_wrong(self._database, caller, path, given)
            if request.records is not None and not wrong:
                found = await self._read_rows(request, request.records, in_body)
        errors.check(wrong)
        if request.upload is not None:
            found = await self._prepared(request, request.upload, asked)
        return Call(
            caller=caller,
            site=self._context.site,
            now=now,
            zone=zone,
            ids=request.scope["path_params"],
            body=found,
            query=asked,
            request_id=request.request_id,
            strict=request.strict,
            if_match=request.headers.get("if-match"),
            source=source_of(request.scope),
            requested=request.page.page if request.page else None,
        )

    def _read_parameters(self, request: _Request, context: Context) -> Any:
        values = request.parameters.values
        request.members = paging.response_fields(values, self._members, context)
        if self._lists is not None:
            request.page = self._lists.read(request.parameters, context, path=request.scope["path"])
        if context.strict:
            for name in values:
                if name not in self._parameters:
                    context.error(f"/{name}", "unknown_member", "There is no such parameter here.")
        if self.route.query is None:
            return None
        own = {name: value for name, value in values.items() if name in self._query}
        return structs.collect(self.route.query, own, context)

    def _read_members(self, request: _Request, context: Context) -> Any:
        document = _object_of(request.document)
        if self._members and not structs.RESERVED.isdisjoint(document):
            request.members = request.members or paging.response_fields(document, self._members, context)
        if self.route.body is None or request.records is not None:
            return None
        context.partial, context.replaces = self.route.method == "PATCH", self.route.method == "PUT"
        given = _NOTHING if request.document is msgspec.UNSET else request.document
        return structs.collect(self.route.body, given, context, read_only=self._members)

    async def _read_rows(self, request: _Request, records: rows.Records, context: Context) -> Any:
        context.lax = records.is_lax
        digest = None if request.key is None else hashlib.sha256()
        note = None if digest is None else digest.update
        found = await rows.read(records, self.route, context, read_only=self._members, note=note)
        request.records = None  # frees memory
        request.content = None if digest is None else digest.digest()
        return found

    async def _prepared(self, request: _Request, upload: uploads.Upload, asked: Any) -> Any:
        if request.key is not None:
            request.content = hashlib.sha256(upload.content).digest()
        request.upload = None  # frees memory
        return upload if self.route.prepare is None else await asyncio.to_thread(self.route.prepare, upload, asked)

    # Idempotency-Key, then 404 -------------------------------------------------------------------------------

    async def _run_once(self, call: Call[Any], request: _Request, key: str) -> Sent:
        idempotency, entry = self._context.idempotency, {"organization_id": call.caller.organization_id, "key": key}
        actor = "" if self._is_mass else call.caller.actor
        async with db.transaction(self._context.pool, actor=actor) as database:
            digest = self._digest_of(call, request)
            replay = await idempotency.claim_idempotency_key(database, **entry, digest=digest, now=call.now)
            if replay is not None:
                status, named, content = replay
                kept = [(name.encode(), value.encode()) for name, value in named.items()]
                kept += [(b"content-length", b"%d" % len(content)), (b"idempotency-replayed", b"true")]
                return status, kept, content
            self._check_ids(call)
            if self.route.acts and self.route.shared is not None:
                result = await self.route.shared(call, self._context.pool)
            else:
                result = await self.route.handler(call, database)
            status, more, content = self._render(result, call, request)
            assert isinstance(content, bytes), "a POST answers with no file"  # noqa: S101
            await idempotency.keep_idempotent_answer(
                database,
                **entry,
                status=status,
                headers={name.decode(): value.decode() for name, value in more if name != b"content-length"},
                body=_without(content, self.route.secret_members),
            )
            return status, more, content

    def _digest_of(self, call: Call[Any], request: _Request) -> bytes:
        """Digest of the request's meaning: a form equals its JSON, and null an absent member.

        Includes the caller's applications and mode, so that no other caller gets a response to which it has no access.
        """
        members = sorted(request.members) if request.members else None
        reach = [sorted(call.caller.application_ids), call.caller.test]
        what = [reach, call.query, members, call.body if request.content is None else request.content]
        return hashlib.sha256(_encode_canonically([self.route.method, request.scope["path"], *what])).digest()

    def _check_ids(self, call: Call[Any]) -> None:
        """Raise NotFound for what is no id, and for an organization that is not the caller's."""
        for name in self.route.ids:
            if not ids.is_id(call.ids[name]):
                raise errors.NotFound(f"There is nothing with this {name}.")
        own = call.caller.organization_id
        if call.ids.get("organization_id", own) != own:
            raise errors.NotFound("There is no such organization.")

    # Answers -------------------------------------------------------------------------------------------------

    def _render(self, result: object, call: Call[Any], request: _Request) -> Sent:
        answer = self._renderer.answer_of(result, call.zone)
        return self._renderer.render(answer, sent=request.headers, requested=request.page, members=request.members)


async def _off_loop(read: Callable[[], Read], size: int) -> Read:
    """Read a body; a large one in a thread, as a hostile one takes half a second."""
    return read() if size <= BYTES_ON_LOOP else await asyncio.to_thread(read)


async def _open_chunks(file: Download, scope: Scope) -> AsyncGenerator[bytes, None] | None:
    """Read the first chunk while a refusal can still be sent; None for HEAD."""
    if scope.get("afterword.is_head"):
        return None
    first = await anext(file.chunks, b"")

    async def chunks() -> AsyncGenerator[bytes, None]:
        async with aclosing(file.chunks) as rest:
            yield first
            async for chunk in rest:
                yield chunk

    return chunks()


def _without(content: bytes, secret: Sequence[str]) -> bytes:
    """Replace members that are shown once by null, before the response is stored."""
    if not secret:
        return content
    document: dict[str, object] = msgspec.json.decode(content)
    return msgspec.json.encode(document | {name: None for name in secret if name in document})


def _object_of(document: Any) -> dict[str, Any]:
    return document if isinstance(document, dict) else _NOTHING


def _names(struct: type[msgspec.Struct] | None) -> tuple[str, ...]:
    return struct.__struct_encode_fields__ if struct else ()


def _names_of(raw_query: bytes) -> list[str]:
    """Names of the query in lower case, without brackets: `token[]` counts as `token`."""
    names = [unquote_plus(part.partition(b"=")[0].decode("latin-1")) for part in raw_query.split(b"&")]
    return [name.partition("[")[0].lower() for name in names]
