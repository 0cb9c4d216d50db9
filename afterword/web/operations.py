'''Routes as tables: declarations of a package's routes, and the arguments and result of a handler.

A slice's whole `api.py` looks like this (`app.py` mounts `routes` below /v3.2):

    """Routes of the queue."""

    routes = Routes(tag="Queue")

    class QueueItemRequest(fields.Request):           # required: no default; null = absent unless `| None`
        responder_channel_identifier: fields.Text320
        locale: fields.Locale | None = None
        send_time: fields.Moment | None = None
        metadata: fields.MetadataGroups | None = None

    class QueueItemUpdate(fields.Request):            # PATCH: absent is UNSET; null only where `| None`
        locale: fields.Locale | None | UnsetType = UNSET
        status_id: Literal[1, 2, 3, 4, 5, 6] | UnsetType = UNSET

    class QueueItem(fields.Resource):                 # every member, no defaults; `of` maps a record by their names
        item_id: fields.Id
        status_id: int
        locale: str | None
        send_time: fields.DateTime

    @routes.get("/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item", scope="Queue.Read",
                answer=QueueItem, shape="array", listing=listing_of(QueueItem), summary="Queue Item List")
    async def list_items(call: Call[None], db: Database) -> Answer:
        rows = await store.list_items(db, organization_id=call.caller.organization_id,
                                      pipeline_id=call.ids["pipeline_id"], page=call.page)
        return Answer(QueueItem.of_rows(rows, call.zone))                        # envelope, cursors, Link: done here

    @routes.get("/q/queue/item/{item_id}", scope="Queue.Read", answer=QueueItem, summary="Get Queue Item")
    async def get_item(call: Call[None], db: Database) -> Answer:
        item = await store.get_item(db, organization_id=call.caller.organization_id, item_id=call.ids["item_id"])
        return Answer(QueueItem.of(item, call.zone), version=item.version)       # version -> ETag, If-None-Match

    @routes.post("/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item", scope="Queue.Create",
                 body=QueueItemRequest, answer=QueueItem, summary="Create new queue item",
                 refusals=("questionnaire_not_published",))
    async def schedule_item(call: Call[QueueItemRequest], db: Database) -> Answer:     # db: one transaction
        item = await service.schedule(db, caller=call.caller, …, now=call.now)
        return Answer(QueueItem.of(item, call.zone), version=item.version, location=f"/q/queue/item/{item.item_id}")

    @routes.patch("/q/queue/item/{item_id}", scope="Queue.Update", body=QueueItemUpdate, answer=QueueItem, …)
    async def change_item(call: Call[QueueItemUpdate], db: Database) -> Answer:
        current = await store.get_item(db, …)         # raises NotFound
        call.check_version(current.version)           # If-Match -> 412, when the header was sent
        changes = call.body.named()                   # the members that were sent
        …

    @routes.delete("/q/queue/item/{item_id}", scope="Queue.Delete", summary="Delete Queue Item")
    async def delete_item(call: Call[None], db: Database) -> Answer:
        await service.delete(db, …)
        return Answer()                               # 204

Query parameters of a route's own, on any method: `query=SomeStruct` (a fields.Request); they arrive in `call.query`.
A secret that is shown once is a member `fields.ShownOnce` of the answer; kept for an Idempotency-Key it is null.
Many records in one POST: `rows_max=10_000`; the body is a JSON array or lines of JSON (`application/x-ndjson`) of
`body` structs, `call.body` the list of them in order with an errors.Invalid in place of each that is wrong. Status 200.
A file as body: `uploads=("text/csv", "multipart/form-data")` on a POST; `call.body` is an `uploads.Upload`, of up to
32 MB, and the fields of its form are parameters like those of the query. `prepare=function` takes it and
the query, in a thread and before the transaction; its result is `call.body`.
A file as answer: `media_types=("text/csv",)` on a GET whose handler returns `Answer(download=Download(…))`; its
Database takes a connection for each query, so that chunks may be read while they are sent.
A list whose rows come from no `db.fetch_list` (bounded, shape="array", no listing): `Answer([Group.of(g) for g in …])`.
Most routes need no more than this; `Options` lists in a line each what else a route may declare.
In the store: see `Database.fetch_list` in db.py and `core/lists.py`.
'''

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, Generic, Literal, TypedDict, TypeVar, Unpack, cast

import msgspec

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Listing, Page, Rows
from afterword.core.wire.site import Site
from afterword.db import Database, Pool
from afterword.web import headers
from afterword.web.members import secrets_of

Body = TypeVar("Body")
Shape = Literal["one", "array", "envelope", "cursor"]
Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
Handler = Callable[["Call[Any]", Database], Awaitable["Answer"]]
SharedHandler = Callable[["Call[Any]", Pool], Awaitable["Answer"]]
Own = Callable[[Caller, Mapping[str, str]], bool]
Prepare = Callable[[Any, Any], Any]
AlsoWrong = Callable[
    [Database, Caller, Mapping[str, str], Mapping[str, object]], Awaitable[Sequence[errors.FieldError]]
]

DEPTH_MAX = 16
ACT_SECONDS_MAX = 8  # with an Idempotency-Key its row waits in an open transaction, which the database ends after 10
_PARAMETER = re.compile(r"\{([a-z_]+)\}")
_STATUS: dict[Method, int] = {"GET": 200, "POST": 201, "PATCH": 200, "PUT": 200, "DELETE": 204}


@dataclass(slots=True)
class Call(Generic[Body]):
    """One request after all checks that need no row; the argument of a handler."""

    caller: Caller
    site: Site
    now: datetime  # the database's clock, read once
    zone: tzinfo  # the organization's, in which recorded times are shown
    ids: Mapping[str, str]  # the path's parameters; those that are ids have the shape of one
    body: Body  # validated; of a route with `rows_max` a list
    request_id: str
    strict: bool = False  # Prefer: handling=strict
    if_match: str | None = None
    requested: Page | None = None
    query: Any = None  # the route's own query parameters, validated

    @property
    def page(self) -> Page:
        """The requested page of a list route that declares its listing."""
        assert self.requested is not None, "the route declares no listing"  # noqa: S101
        return self.requested

    def check_version(self, version: int) -> None:
        """Raise Stale (412) when `If-Match` was sent and names another version."""
        if self.if_match is None:
            return
        if not headers.matches(self.if_match, etag_of(version)):
            raise errors.Stale("It was changed since you read it; read it again.")


@dataclass(frozen=True, slots=True)
class Download:
    """A file: `chunks` are read while they are sent, and closed when the client leaves; `length` in bytes, if known."""

    media_type: str
    file_name: str
    length: int | None
    chunks: AsyncGenerator[bytes, None]


@dataclass(slots=True)
class Answer:
    """Result of a handler: a Struct, a list of Structs, Rows of Structs, a file, or nothing (204)."""

    value: msgspec.Struct | Sequence[msgspec.Struct] | Rows[Any] | None = None
    version: int | None = None  # of the row, for the strong ETag
    location: str | None = None  # below the base address: "/q/queue/item/…"
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    download: Download | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """One operation; the runner, the OpenAPI document and the reference are derived from it."""

    method: Method
    path: str
    handler: Handler
    shared: SharedHandler | None
    scope: str | None
    more_scopes: tuple[str, ...]
    body: type[msgspec.Struct] | None
    query: type[msgspec.Struct] | None
    answer: type[msgspec.Struct] | None
    shape: Shape
    listing: Listing | None
    status: int
    summary: str
    description: str
    tag: str
    refusals: tuple[str, ...]
    texts: tuple[str, ...]  # path parameters that are no ids
    own: Own | None
    depth_max: int
    rows_max: int | None
    uploads: tuple[str, ...]
    prepare: Prepare | None
    also_wrong: AlsoWrong | None
    media_types: tuple[str, ...]
    other_statuses: tuple[int, ...]
    secret_members: tuple[str, ...]
    acts: bool = False  # on an external system: `shared` is called with and without an Idempotency-Key

    @property
    def about(self) -> str:
        """The description, extended by the options that concern clients."""
        if not self.secret_members:
            return self.description
        members = ", ".join(f"`{name}`" for name in self.secret_members)
        return f"{self.description} Repeated with its `Idempotency-Key` the answer has null in {members}.".strip()

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(_PARAMETER.findall(self.path))

    @property
    def operation_id(self) -> str:
        """The handler's name: unique in a tag, stable for generated clients."""
        return str(getattr(self.handler, "__name__", "operation"))


class Options(TypedDict, total=False):
    description: str  # one or two sentences for the reference
    refusals: Sequence[str]  # codes of 409 and 422 of its own; those of every route are known
    more_scopes: Sequence[str]  # needed besides `scope`
    texts: Sequence[str]  # path parameters that are no ids
    own: Own  # callers that need no scope, by the path's parameters: for their own objects
    query: type[msgspec.Struct]  # query parameters of its own
    status: int  # where it is not 200, 201 or 204 as the method has it
    other_statuses: Sequence[int]  # of success, that the handler's answers may have besides
    depth_max: int  # of the body's JSON
    rows_max: int  # on POST: the body is a list of at most so many `body` structs
    uploads: Sequence[str]  # on POST: the body is a file of one of these types
    prepare: Prepare  # converts the file and the query, in a thread, for the handler
    also_wrong: AlsoWrong  # by path and body: further errors of a body with wrong members, found in the database
    media_types: Sequence[str]  # on GET: of the files that it answers with


class Routes:
    def __init__(self, *, tag: str) -> None:
        self.tag = tag
        self.all: list[Route] = []

    def get(
        self,
        path: str,
        *,
        scope: str | None,
        answer: type[msgspec.Struct] | None,
        summary: str,
        shape: Shape = "one",
        listing: Listing | None = None,
        **options: Unpack[Options],
    ) -> Callable[[Handler], Handler]:
        """Declare a read; its handler gets a connection without a transaction. Lists declare shape and listing."""
        return self._add("GET", path, scope, summary, options, answer=answer, shape=shape, listing=listing)

    def post(
        self,
        path: str,
        *,
        scope: str | None,
        summary: str,
        answer: type[msgspec.Struct] | None = None,
        body: type[msgspec.Struct] | None = None,
        shape: Shape = "one",
        shared: SharedHandler | None = None,
        **options: Unpack[Options],
    ) -> Callable[[Handler], Handler]:
        """Declare a creation (201), inside one transaction.

        `shared`, for hot writes, is called in place of the handler when no Idempotency-Key was sent: it gets the pool
        and commits its own transaction before it returns.
        """
        return self._add("POST", path, scope, summary, options, answer=answer, body=body, shape=shape, shared=shared)

    def act(
        self,
        path: str,
        *,
        scope: str | None,
        summary: str,
        answer: type[msgspec.Struct],
        body: type[msgspec.Struct],
        **options: Unpack[Options],
    ) -> Callable[[SharedHandler], SharedHandler]:
        """Declare a POST that acts on an external system and creates nothing here (200).

        Its handler gets the pool, opens its own transactions, and has none open while it waits, at most
        `ACT_SECONDS_MAX`. The external action is not undone where storing the response for a key fails.
        """

        def declare(handler: SharedHandler) -> SharedHandler:
            stand_in = cast("Handler", handler)  # the handler gives the operation its name and is never called
            self._add("POST", path, scope, summary, options, answer=answer, body=body, shared=handler)(stand_in)
            self.all[-1] = replace(self.all[-1], acts=True, status=options.get("status", 200))
            return handler

        return declare

    def patch(
        self,
        path: str,
        *,
        scope: str | None,
        summary: str,
        body: type[msgspec.Struct],
        answer: type[msgspec.Struct],
        **options: Unpack[Options],
    ) -> Callable[[Handler], Handler]:
        """Declare a change of the members that are sent, inside one transaction."""
        return self._add("PATCH", path, scope, summary, options, answer=answer, body=body)

    def put(
        self,
        path: str,
        *,
        scope: str | None,
        summary: str,
        body: type[msgspec.Struct],
        answer: type[msgspec.Struct],
        **options: Unpack[Options],
    ) -> Callable[[Handler], Handler]:
        """Declare the replacement of a whole document, inside one transaction."""
        return self._add("PUT", path, scope, summary, options, answer=answer, body=body)

    def delete(
        self, path: str, *, scope: str | None, summary: str, **options: Unpack[Options]
    ) -> Callable[[Handler], Handler]:
        """Declare a deletion (204), inside one transaction."""
        return self._add("DELETE", path, scope, summary, options)

    def _add(
        self,
        method: Method,
        path: str,
        scope: str | None,
        summary: str,
        options: Options,
        *,
        answer: type[msgspec.Struct] | None = None,
        body: type[msgspec.Struct] | None = None,
        shape: Shape = "one",
        listing: Listing | None = None,
        shared: SharedHandler | None = None,
    ) -> Callable[[Handler], Handler]:
        rows_max = options.get("rows_max")
        status = 200 if rows_max is not None else _STATUS[method]

        def declare(handler: Handler) -> Handler:
            self.all.append(
                Route(
                    method=method,
                    path=path,
                    handler=handler,
                    shared=shared,
                    scope=scope,
                    more_scopes=tuple(options.get("more_scopes", ())),
                    body=body,
                    query=options.get("query"),
                    answer=answer,
                    shape=shape,
                    listing=listing,
                    status=options.get("status", status),
                    summary=summary,
                    description=options.get("description", ""),
                    tag=self.tag,
                    refusals=tuple(options.get("refusals", ())),
                    texts=tuple(options.get("texts", ())),
                    own=options.get("own"),
                    depth_max=options.get("depth_max", DEPTH_MAX),
                    rows_max=rows_max,
                    uploads=tuple(options.get("uploads", ())),
                    prepare=options.get("prepare"),
                    also_wrong=options.get("also_wrong"),
                    media_types=tuple(options.get("media_types", ())),
                    other_statuses=tuple(options.get("other_statuses", (201,) if method == "PUT" else ())),
                    secret_members=secrets_of(answer) if answer is not None and method == "POST" else (),
                )
            )
            return handler

        return declare


def etag_of(version: int) -> str:
    return f'"{version}"'
