"""Routes as tables: declarations of a package's routes, and the arguments and result of a handler.

`app.py` mounts each package's `routes` below /v3.2. `Options` lists all that a route may declare.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from typing import Any, Final, Generic, Literal, Required, TypedDict, TypeVar, Unpack, cast, get_args

import msgspec

from afterword import errors
from afterword.core.organizations.access import Caller, ForLimited
from afterword.core.wire.lists import Listing, Page, Rows
from afterword.core.wire.site import PublicPages, Site
from afterword.kit.db import Database, Pool
from afterword.kit.web import headers as web_headers
from afterword.kit.web.fields import listing_of, secrets_of

Body = TypeVar("Body")
Shape = Literal["one", "array", "envelope", "cursor"]
Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
Handler = Callable[["Call[Any]", Database], Awaitable[object]]
SharedHandler = Callable[["Call[Any]", Pool], Awaitable[object]]
Own = Callable[[Caller, Mapping[str, str]], bool]
Prepare = Callable[[Any, Any], Any]
AlsoWrong = Callable[
    [Database, Caller, Mapping[str, str], Mapping[str, object]], Awaitable[Sequence[errors.FieldError]]
]

RIGHTS: Final[Mapping[Method, str]] = {
    "GET": "Read", "POST": "Create", "PATCH": "Update", "PUT": "Update", "DELETE": "Delete",
}  # fmt: skip
DEPTH_MAX = 16
ACT_SECONDS_MAX = 8  # with an Idempotency-Key its row waits in an open transaction, which the database ends after 10
_PARAMETER = re.compile(r"\{([a-z_]+)\}")


@dataclass(slots=True)
class Call(Generic[Body]):
    """One request after all checks that need no row; the argument of a handler."""

    caller: Caller
    site: Site
    now: datetime  # the database's clock, read once
    zone: tzinfo  # the organization's, in which recorded times are shown
    ids: Mapping[str, Any]  # the path's parameters, texts, as services name them; ids have the shape of one
    body: Body  # validated; of a route with `rows_max` a list
    request_id: str
    strict: bool = False  # Prefer: handling=strict
    if_match: str | None = None
    if_none_match: str | None = None
    source: str = ""  # the client's address
    requested: Page | None = None
    query: Any = None  # the route's own query parameters, validated

    @property
    def page(self) -> Page:
        """The requested page of a list route that declares its listing."""
        assert self.requested is not None, "the route declares no listing"  # noqa: S101
        return self.requested

    @property
    def acting(self) -> dict[str, Any]:
        """The arguments that every change of a noun takes."""
        return {"caller": self.caller, "site": self.site, "now": self.now}

    @property
    def public_pages(self) -> PublicPages:
        return self.site.pages(self.caller.organization_id)

    @property
    def expect(self) -> errors.Expect:
        """The check of `If-Match` and `If-None-Match`, which raises Stale (412) where one of them does not hold."""
        return errors.ANY if self.if_match is None and self.if_none_match is None else self._check_version

    def _check_version(self, version: int) -> None:
        tag, is_there = etag_of(version), version != errors.ABSENT
        if self.if_match is not None and not web_headers.matches(self.if_match, tag, is_there=is_there):
            raise errors.Stale("It was changed since you read it; read it again." if is_there else "There is none yet.")
        if web_headers.matches(self.if_none_match or "", tag, is_there=is_there):
            raise errors.Stale("There is one here already, which If-None-Match rules out.")


class Download(msgspec.Struct, frozen=True):
    """A file: `chunks` are read while they are sent, and closed when the client leaves; `length` in bytes, if known."""

    media_type: str
    file_name: str
    length: int | None
    chunks: AsyncGenerator[bytes, None]

    @classmethod
    def of(cls, media_type: str, file_name: str, content: bytes) -> "Download":
        async def whole() -> AsyncGenerator[bytes, None]:
            yield content

        return cls(media_type, file_name, len(content), whole())


class Answer(msgspec.Struct):
    """Result of a handler: Structs, a file, or nothing (204); anything else that it returns is the `record`."""

    value: msgspec.Struct | Sequence[msgspec.Struct] | Rows[Any] | None = None
    version: int | None = None  # of the row, for the strong ETag
    record: Any = None  # in place of both: a record with its version, or Rows of records, shown as the route's `answer`
    location: str | None = None  # below the base address: "/q/queue/item/…"
    status: int | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    download: Download | None = None


class Options(TypedDict, total=False):
    scope: str | None  # where it is not that of the method
    summary: Required[str]
    description: str  # one or two sentences for the reference
    body: type[msgspec.Struct] | None  # where the handler's `call` does not say it
    answer: type[msgspec.Struct] | None
    query: type[msgspec.Struct]  # parameters of its own, on any method; they arrive in `call.query`
    shape: Shape
    listing: Listing  # of a list whose rows come from `Database.fetch_list`
    refusals: tuple[str, ...]  # codes of 409 and 422 of its own; those of every route are known
    more_scopes: tuple[str, ...]  # needed besides `scope`
    texts: tuple[str, ...]  # path parameters that are no ids
    for_limited: ForLimited  # whether callers see it who see some values of metadata alone
    own: Own  # callers that need no scope, by the path's parameters: for their own objects
    name: str  # of the operation, where it is not that of its handler
    status: int  # where it is not 200, 201 or 204 as the method has it
    other_statuses: tuple[int, ...]  # of success, that the handler's answers may have besides
    depth_max: int  # of the body's JSON
    rows_max: int  # on POST: the body is a JSON array or lines of JSON of at most so many `body` structs;
    # `call.body` is a list in their order with an errors.Invalid in place of each that is wrong
    uploads: tuple[str, ...]  # on POST: the body is a file of one of these types, `call.body` an uploads.Upload
    bytes_max: int  # of the file, where it is not the limit of rows
    prepare: Prepare  # converts the file and the query, in a thread before the transaction; its result is `call.body`
    also_wrong: AlsoWrong  # by path and body: further errors of a body with wrong members, found in the database
    media_types: tuple[str, ...]  # on GET: of the files that it answers with; each query takes a connection of its own
    waits: bool  # on GET: for other servers; each query takes a connection of its own
    has_version: bool  # on PATCH, PUT, DELETE: the handler gives `call.expect` one; else If-Match is refused
    is_long: bool  # it reads, and much: a standby may answer, where there is one for that
    gathers: bool  # on GET, for hot reads by id: likewise, and a statement serves all that ask for an id at this moment
    shared: SharedHandler  # on POST, for hot writes, in place of the handler where no Idempotency-Key was sent: it gets
    # the pool and commits its own transaction before it returns


class Route(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One operation with its `Options`; the runner, the OpenAPI document and the reference are derived from it."""

    method: Method
    path: str
    handler: Handler
    tag: str
    scope: str | None
    summary: str
    status: int
    description: str = ""
    body: type[msgspec.Struct] | None = None
    answer: type[msgspec.Struct] | None = None
    query: type[msgspec.Struct] | None = None
    shape: Shape = "one"
    listing: Listing | None = None
    refusals: tuple[str, ...] = ()
    more_scopes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    for_limited: ForLimited = "refused"
    own: Own | None = None
    other_statuses: tuple[int, ...] = ()
    depth_max: int = DEPTH_MAX
    rows_max: int | None = None
    uploads: tuple[str, ...] = ()
    bytes_max: int | None = None
    prepare: Prepare | None = None
    also_wrong: AlsoWrong | None = None
    media_types: tuple[str, ...] = ()
    waits: bool = False
    has_version: bool = True
    is_long: bool = False
    gathers: bool = False
    shared: SharedHandler | None = None
    name: str = ""  # of the operation, where its handler serves several
    acts: bool = False  # on an external system: `shared` is called with and without an Idempotency-Key

    @property
    def about(self) -> str:
        if not self.secret_members:
            return self.description
        members = ", ".join(f"`{name}`" for name in self.secret_members)
        return f"{self.description} Repeated with its `Idempotency-Key` the answer has null in {members}.".strip()

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        return ((self.scope,) if self.scope else ()) + self.more_scopes

    @cached_property
    def secret_members(self) -> tuple[str, ...]:
        """Members of the answer that are shown once; stored for an Idempotency-Key they are null."""
        return secrets_of(self.answer) if self.answer is not None and self.method == "POST" else ()

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(_PARAMETER.findall(self.path))

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(name for name in self.parameters if name.endswith("_id") and name not in self.texts)

    @property
    def operation_id(self) -> str:
        """The name of the operation, else of its handler: unique in a tag, stable for generated clients."""
        return self.name or str(getattr(self.handler, "__name__", "operation"))


class Routes:
    """Operations of one tag. `scope`: what the scopes of all that name none are for, as in "Token"."""

    def __init__(self, *, tag: str, scope: str = "") -> None:
        self.tag = tag
        self.scope = scope
        self.all: list[Route] = []

    def get(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._declarer("GET", path, 200, options)

    def list(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        """Declare a list: in an envelope, filtered and ordered by the columns of the answer, unless it says else."""
        declared: Options = {"shape": "envelope", **options}
        if "listing" not in declared:
            answer = declared.get("answer")
            assert answer is not None, f"GET {path} has an answer"  # noqa: S101
            declared["listing"] = listing_of(answer)
        return self.get(path, **declared)

    def post(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        """Declare a creation (201), or the taking of many records (200), inside one transaction."""
        return self._declarer("POST", path, 200 if "rows_max" in options else 201, options)

    def act(self, path: str, **options: Unpack[Options]) -> Callable[[SharedHandler], SharedHandler]:
        """Declare a POST that acts on an external system and creates nothing here (200).

        Its handler gets the pool, opens its own transactions, and has none open while it waits, at most
        `ACT_SECONDS_MAX`. The external action is not undone where storing the response for a key fails.
        """

        def declare(handler: SharedHandler) -> SharedHandler:
            stand_in = cast("Handler", handler)  # the handler gives the operation its name and is never called
            self._declarer("POST", path, 200, {**options, "shared": handler}, acts=True)(stand_in)
            return handler

        return declare

    def patch(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._declarer("PATCH", path, 200, options)

    def put(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._declarer("PUT", path, 200, {"other_statuses": (201,), **options})

    def delete(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._declarer("DELETE", path, 204, options)

    def _declarer(
        self, method: Method, path: str, status: int, options: Options, *, acts: bool = False
    ) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            declared: Options = {"status": status, "scope": f"{self.scope}.{RIGHTS[method]}", **options}
            if not {"body", "rows_max", "uploads"} & declared.keys():
                declared["body"] = _body_of(handler)
            has_structs = declared.get("body") and "answer" in options
            assert has_structs or method not in {"PATCH", "PUT"}, f"{method} {path} has a body and an answer"  # noqa: S101
            self.all.append(Route(method=method, path=path, handler=handler, tag=self.tag, acts=acts, **declared))
            return handler

        return declare


def _body_of(handler: Handler) -> type[msgspec.Struct] | None:
    """The request that a handler takes, as its `call` says."""
    said = next(iter(get_args(handler.__annotations__.get("call"))), None)
    return said if isinstance(said, type) and issubclass(said, msgspec.Struct) else None


def etag_of(version: int) -> str:
    return f'"{version}"'
