"""Runs one operation: all checks in one fixed order, the handler in its transaction, the response with its headers.

What follows from the route is decided when its `Operation` is made; a request goes through what it needs.
"""

import asyncio
import functools
import hashlib
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from datetime import datetime
from typing import Any, Final, TypeVar, cast
from urllib.parse import unquote_plus

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.reading import structs
from afterword.core.reading.findings import at_parameter
from afterword.core.reading.structs import Context
from afterword.core.wire import times
from afterword.core.wire.lists import Rows
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db.replicas import Replica
from afterword.kit.web import headers, limits, paging, parsing, query, read_only, uploads
from afterword.kit.web.fields import Resource
from afterword.kit.web.headers import Header
from afterword.kit.web.operations import Answer, Call, Download, Route, etag_of

Read = TypeVar("Read")
Sent = tuple[int, list[Header], bytes | Download]

JSON: Final = "application/json"
NO_CONTENT: Final = 204
BYTES_ON_LOOP: Final = 65_536  # records and files beyond are read in a thread
BODY_HEADERS: Final = frozenset({"content-length", "transfer-encoding", "content-encoding"})
_encode = msgspec.json.Encoder().encode
_encode_canonically = msgspec.json.Encoder(order="deterministic").encode
_NOTHING: dict[str, Any] = {}


Authenticate = Callable[..., Awaitable[Caller]]
"""Identifies the caller by headers and by the names in the query; raises Unauthorized, Forbidden."""


Replay = tuple[int, Mapping[str, str], bytes]  # status, headers and body of a first response


class OperationContext(msgspec.Struct, frozen=True):
    pool: db.Pool
    site: Site
    limiter: limits.Limiter
    authenticate: Authenticate
    claim_key: Callable[..., Awaitable[Replay | None]]  # raises Conflict while the first response is made
    keep_answer: Callable[..., Awaitable[None]]
    copy: Replica | None = None  # the pool is on a standby
    reader: Replica | None = None  # another server than the pool's, for long reads


class _Request(Call[Any]):
    """One request: what its handler gets, and what is read on the way there. Most requests have few of these."""

    sent: Mapping[str, str]  # the headers
    limit_state: limits.LimitState | None = None
    parameters: query.Parameters | None = None
    document: Any = msgspec.UNSET  # no body; null is one
    is_lax: bool = False  # a form, or JSON without its label: scalars are typed by their member
    records: paging.Records | None = None
    upload: uploads.Upload | None = None
    content: bytes | None = None  # digest of the records or of the file
    members: frozenset[str] | None = None  # response_fields
    listed: paging.PageRequest | None = None
    key: str | None = None  # Idempotency-Key
    as_of: datetime | None = None  # of the standby that answers; None: the primary does


async def identify(context: OperationContext, database: db.Database, scope: Scope) -> Caller:
    """The caller of a request by its token. Counts a failure; raises Unauthorized, Forbidden, TooMany."""
    if context.pool.clock.is_stale:
        async with db.connection(context.pool):
            pass  # taking a connection updates the clock
    raw_query: bytes = scope["query_string"]
    sent = scope["afterword.headers"]
    try:
        return await context.authenticate(
            database,
            authorization=sent.get("authorization"),
            esat_auth=sent.get("esat-auth"),
            esat_domain=sent.get("esat-domain"),
            query_names=_names_of(raw_query) if raw_query else (),
            source=scope["afterword.source"],
        )
    except errors.Unauthorized as refusal:
        if refusal.code != errors.Unauthorized.code_default:  # a request without a token is no attempt
            context.limiter.count_failure(scope["afterword.source"])
        raise


class Operation:
    def __init__(self, route: Route, context: OperationContext) -> None:
        self.route = route
        self._context = context
        self._database = db.on_demand(context.pool)
        self._reader = context.reader if route.is_long else None
        self._scopes = frozenset(route.scopes)
        self._writes = route.method != "GET"
        self._is_on_demand = bool(route.media_types) or route.waits or route.gathers
        self._is_mass = route.shared is not None and not route.acts  # so hot that the audit log has none of it
        self._is_large = route.rows_max is not None or bool(route.uploads)
        self._bytes_max = route.bytes_max or (paging.BODY_BYTES_MAX if self._is_large else parsing.BODY_BYTES_MAX)
        files = tuple(media_type.partition(";")[0] for media_type in route.media_types)
        self._media_types = ((JSON,) if route.answer is not None else ()) + files
        self._resource = cast("type[Resource]", route.answer)
        self._members = frozenset(_names(route.answer))
        self._query = frozenset(_names(route.query))
        self._lists = (
            paging.ListReader(route.listing, shape=route.shape, secret=context.site.secret, own=self._query)
            if route.listing
            else None
        )
        self._parameters = self._query | (self._lists.parameters if self._lists else structs.RESERVED)
        self._has_fields = self._writes or self._lists is not None or route.query is not None
        self._caching = headers.NO_CACHE if route.shape == "one" else headers.NO_STORE
        assert not (route.is_long and self._is_on_demand), route.path  # noqa: S101
        assert self._members.issuperset(route.secret_members), route.path  # noqa: S101
        for struct in (route.body, route.query):
            if struct is not None:
                structs.struct_reader(struct)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request: _Request | None = None
        try:
            request = await self._begin(scope)
            if not self._scopes <= request.caller.scopes:
                self._require_scopes(request)
            request.caller.require_open(self.route.for_limited)
            if request.limit_state is not None and request.limit_state.is_over:
                limits.check(request.limit_state)
            limiter, organization_id = self._context.limiter, request.caller.organization_id
            with limiter.large_body(organization_id) if self._is_large else nullcontext():
                status, more, content = await self._answer(request, scope, receive)
            chunks = None if isinstance(content, bytes) else await _open_chunks(content, scope)
        except errors.Refusal as refusal:
            if request is not None and request.limit_state is not None:
                told = {name.decode(): value.decode() for name, value in request.limit_state.headers}
                refusal.headers = {**refusal.headers, **told}
            raise
        except ClientDisconnect:
            return
        if request.limit_state is not None:
            more += request.limit_state.headers
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

    async def _begin(self, scope: Scope) -> _Request:
        context, sent = self._context, scope["afterword.headers"]
        caller = await identify(context, self._database, scope)
        request = _Request(
            caller=caller,
            site=context.site,
            now=context.pool.clock.now(),
            zone=times.zone_of(caller.time_zone),
            ids=scope["path_params"],
            body=None,
            request_id=scope["afterword.request_id"],
            if_match=sent.get("if-match"),
            if_none_match=sent.get("if-none-match"),
            source=scope["afterword.source"],
        )
        request.sent = sent
        request.limit_state = context.limiter.count_request(  # of a refused one too: its response has the headers
            token_id=caller.token_id, organization_id=caller.organization_id
        )
        return request

    def _require_scopes(self, request: _Request) -> None:
        route = self.route
        if route.own is None or not route.own(request.caller, request.ids):
            for scope in route.scopes:
                request.caller.require(scope)

    async def _answer(self, request: _Request, scope: Scope, receive: Receive) -> Sent:
        route, pool = self.route, self._context.pool
        self._read_head(request, scope)
        if self._is_large or not BODY_HEADERS.isdisjoint(request.sent):
            await self._read_body(request, receive)
        if self._has_fields or request.parameters is not None:
            await self._check_fields(request, scope["path"])
        if request.key is not None:
            return await self._run_once(request, request.key, scope["path"])
        if route.ids:
            self._check_ids(request)
        if route.shared is not None:
            return self._render(await route.shared(request, pool), request)
        if self._context.copy is not None:
            self._check_age(request, self._context.copy)
        elif self._reader is not None and (answer := await self._read_elsewhere(request, self._reader)) is not None:
            return answer
        # Chunks are read after a connection taken here would be returned, and other servers may keep us waiting.
        if self._is_on_demand:
            return self._render(await route.handler(request, self._database), request)
        async with (
            db.transaction(pool, actor=request.caller.actor) if self._writes else db.connection(pool) as database
        ):
            return self._render(await route.handler(request, database), request)

    def _check_age(self, request: _Request, copy: Replica) -> None:
        """Raise Unavailable where the cursor was made by a server that had more than this copy has."""
        request.as_of, made = copy.as_of, request.listed.made if request.listed is not None else None
        if made is not None and (request.as_of is None or made > request.as_of):
            raise read_only.behind()

    async def _read_elsewhere(self, request: _Request, reader: Replica) -> Sent | None:
        """The answer from a standby, to which all statements of the handler go; None where the primary is to answer."""

        async def read(pool: db.Pool) -> Sent:
            request.as_of = reader.as_of
            async with db.connection(pool) as database:
                return self._render(await self.route.handler(request, database), request)

        found = await reader.read(read, since=request.listed.made if request.listed is not None else None)
        if found is None:
            request.as_of = None
            return None
        (status, more, content), lag = found
        return status, [*more, read_only.lag_header(lag)], content

    def _read_head(self, request: _Request, scope: Scope) -> None:
        sent = request.sent
        raw_query: bytes = scope["query_string"]
        raw_path: bytes = scope.get("raw_path") or b""
        if len(raw_path) + len(raw_query) > parsing.TARGET_BYTES_MAX:
            raise errors.TargetTooLong(f"Path and query together may have {parsing.TARGET_BYTES_MAX:,} bytes.")
        if self._media_types and (accept := sent.get("accept", "*/*")) != "*/*":
            parsing.check_accept(accept, self._media_types)
        if "prefer" in sent:
            request.strict = headers.wants_strict(sent["prefer"])
        if raw_query:
            request.parameters = query.read(raw_query)
        if self.route.method == "POST" and "idempotency-key" in sent:
            request.key = headers.read_idempotency_key(sent["idempotency-key"])

    async def _read_body(self, request: _Request, receive: Receive) -> None:
        route, content_type = self.route, request.sent.get("content-type")
        raw = await parsing.read_body(receive, request.sent, bytes_max=self._bytes_max)
        request.now = self._context.pool.clock.now()  # a body may take its time
        if route.rows_max is not None:
            split = functools.partial(paging.split, raw, content_type, rows_max=route.rows_max)
            request.records = await _off_loop(split, len(raw))
            if request.records.requests > 1:
                caller, more = request.caller, request.records.requests - 1
                request.limit_state = self._context.limiter.count_request(
                    token_id=caller.token_id, organization_id=caller.organization_id, requests=more
                )
                limits.check(request.limit_state)
        elif route.uploads:
            read = functools.partial(uploads.read, raw, content_type, media_types=route.uploads)
            request.upload = await _off_loop(read, len(raw))
            request.parameters = query.merge(request.parameters, request.upload.fields)
        elif raw and content_type == JSON:
            request.document = parsing.read_json(raw, depth_max=route.depth_max)
        elif raw:
            request.document, request.is_lax = query.read_body(raw, content_type, depth_max=route.depth_max)
        if not self._writes and isinstance(request.document, dict):
            request.parameters = query.merge(request.parameters, request.document)

    async def _check_fields(self, request: _Request, path: str) -> None:
        wrong: list[errors.FieldError] = []
        if request.parameters is not None or self._lists is not None or self.route.query is not None:
            wrong += self._read_parameters(request, request.parameters or query.Parameters(), path)
        if self._writes:
            in_body = Context(now=request.now, zone=request.zone, lax=request.is_lax, strict=request.strict)
            self._read_members(request, in_body)
            if in_body.found:
                wrong += in_body.errors
            if wrong and self.route.also_wrong is not None:
                given = _object_of(request.document)
                wrong += await self.route.also_wrong(self._database, request.caller, request.ids, given)
            if request.records is not None and not wrong:
                await self._read_rows(request, request.records, in_body)
        if wrong:
            errors.check(wrong)
        if request.upload is not None:
            await self._prepare(request, request.upload)

    def _read_parameters(
        self, request: _Request, parameters: query.Parameters, path: str
    ) -> Sequence[errors.FieldError]:
        context = Context(now=request.now, zone=request.zone, lax=True, strict=request.strict, place=at_parameter)
        values = parameters.values
        if values:
            request.members = paging.response_fields(values, self._members, context)
        if self._lists is not None:
            request.listed = self._lists.read(parameters, context, path=path)
            request.requested = request.listed.page
        if context.strict or self.route.method != "GET":  # older clients read with parameters of their own
            for name in values:
                if name not in self._parameters:
                    context.error(f"/{name}", "unknown_member", "There is no such parameter here.")
        if self.route.query is not None:
            own = {name: value for name, value in values.items() if name in self._query}
            request.query = structs.collect(self.route.query, own, context)
        return context.errors if context.found else ()

    def _read_members(self, request: _Request, context: Context) -> None:
        route, document = self.route, _object_of(request.document)
        if self._members and not structs.RESERVED.isdisjoint(document):
            request.members = request.members or paging.response_fields(document, self._members, context)
        if route.body is None or request.records is not None:
            return
        context.partial, context.replaces = route.method == "PATCH", route.method == "PUT"
        given = _NOTHING if request.document is msgspec.UNSET else request.document
        request.body = structs.collect(route.body, given, context, read_only=self._members)

    async def _read_rows(self, request: _Request, records: paging.Records, context: Context) -> None:
        context.lax = records.is_lax
        digest = None if request.key is None else hashlib.sha256()
        note = None if digest is None else digest.update
        request.body = await paging.read(records, self.route, context, read_only=self._members, note=note)
        request.records = None  # frees memory
        request.content = None if digest is None else digest.digest()

    async def _prepare(self, request: _Request, upload: uploads.Upload) -> None:
        if request.key is not None:
            request.content = hashlib.sha256(upload.content).digest()
        request.upload = None  # frees memory
        prepare = self.route.prepare
        request.body = upload if prepare is None else await asyncio.to_thread(prepare, upload, request.query)

    async def _run_once(self, request: _Request, key: str, path: str) -> Sent:
        context, entry = self._context, {"organization_id": request.caller.organization_id, "key": key}
        actor = "" if self._is_mass else request.caller.actor
        async with db.transaction(self._context.pool, actor=actor) as database:
            digest = self._digest_of(request, path)
            replay = await context.claim_key(database, **entry, digest=digest, now=request.now)
            if replay is not None:
                status, named, content = replay
                kept = [(name.encode(), value.encode()) for name, value in named.items()]
                kept += [(b"content-length", b"%d" % len(content)), (b"idempotency-replayed", b"true")]
                return status, kept, content
            self._check_ids(request)
            if self.route.acts and self.route.shared is not None:
                result = await self.route.shared(request, self._context.pool)
            else:
                result = await self.route.handler(request, database)
            status, more, content = self._render(result, request)
            assert isinstance(content, bytes), "a POST answers with no file"  # noqa: S101
            await context.keep_answer(
                database,
                **entry,
                status=status,
                headers={name.decode(): value.decode() for name, value in more if name != b"content-length"},
                body=_without(content, self.route.secret_members),
            )
            return status, more, content

    def _digest_of(self, request: _Request, path: str) -> bytes:
        """Digest of the request's meaning: a form equals its JSON, and null an absent member.

        Includes the caller's applications and mode, so that no other caller gets a response to which it has no access.
        """
        members = sorted(request.members) if request.members else None
        reach = [sorted(request.caller.application_ids), request.caller.test]
        what = [reach, request.query, members, request.body if request.content is None else request.content]
        return hashlib.sha256(_encode_canonically([self.route.method, path, *what])).digest()

    def _check_ids(self, request: _Request) -> None:
        """Raise NotFound for what is no id, and for an organization that is not the caller's."""
        for name in self.route.ids:
            if not ids.PATTERN.match(request.ids[name]):
                raise errors.NotFound(f"There is nothing with this {name}.")
        own = request.caller.organization_id
        if request.ids.get("organization_id", own) != own:
            raise errors.NotFound("There is no such organization.")

    def _render(self, result: object, request: _Request) -> Sent:
        answer = result if isinstance(result, Answer) else Answer(record=result)
        record = answer.record
        if isinstance(record, Rows):
            answer.value = self._resource.of_rows(cast("Rows[Any]", record), request.zone)
        elif record is not None:
            answer.value, answer.version = self._resource.of(record, request.zone), getattr(record, "version", None)
        status, more = answer.status or self.route.status, [headers.VARY]
        if answer.headers:
            more += [headers.header(name, value) for name, value in answer.headers.items()]
        if answer.location is not None:
            more.append((b"location", self._context.site.api(answer.location).encode()))
        if answer.value is None and answer.download is None:
            more.append(headers.NO_STORE)
            return status, more if status == NO_CONTENT else [*more, (b"content-length", b"0")], b""
        if answer.version is not None:
            more.append((b"etag", b'"%d"' % answer.version))
            given = request.if_none_match
            if given is not None and not self._writes and headers.matches(given, etag_of(answer.version)):
                return 304, [*more, headers.NO_CACHE], b""
        if answer.download is not None:
            return status, [*more, *_file_headers(answer.download)], answer.download
        if "Cache-Control" not in answer.headers:
            more.append(self._caching)
        content = _encode(self._shown(answer.value, more, request))
        more += (headers.JSON, (b"content-length", b"%d" % len(content)))
        return status, more, content

    def _shown(self, value: object, more: list[Header], request: _Request) -> object:
        members = request.members
        if not isinstance(value, Rows):
            if isinstance(value, msgspec.Struct):
                return value if members is None else _some_of(value, members)
            return _narrowed(cast("Sequence[msgspec.Struct]", value), members)
        rows = cast("Rows[msgspec.Struct]", value)
        items = _narrowed(rows.items, members)
        if self._lists is None or request.listed is None:
            return items
        now = self._context.pool.clock.now()
        made = math.ceil(now.timestamp()) if request.as_of is None else int(min(request.as_of, now).timestamp())
        cursor = self._lists.next_cursor(request.listed, rows, made=made)
        following = self._lists.next_target(request.listed, rows, cursor)
        if following is not None:
            more.append(headers.header("link", f'<{self._context.site.public_url}{following}>; rel="next"'))
        match self.route.shape:
            case "envelope":
                return self._lists.envelope(request.listed, rows, items, cursor)
            case "cursor":
                return {"results": items, "next_cursor": cursor}
            case _:
                if rows.total is not None:
                    more.append(headers.header("x-total-count", str(rows.total)))
                return items


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


def _narrowed(items: Sequence[msgspec.Struct], members: frozenset[str] | None) -> Sequence[object]:
    return items if members is None else [_some_of(item, members) for item in items]


def _some_of(value: msgspec.Struct, members: frozenset[str]) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__struct_fields__ if name in members}


def _file_headers(file: Download) -> list[Header]:
    found = [
        headers.header("content-type", file.media_type),
        headers.header("content-disposition", headers.attachment(file.file_name)),
        headers.SANDBOX,
        headers.NO_STORE,
    ]
    return found if file.length is None else [*found, (b"content-length", b"%d" % file.length)]
