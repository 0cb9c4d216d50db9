"""The composition root of a web process: which routes there are, what they stand on, how refusals look."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import structlog
from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp, Method

from afterword import db, errors, migrations
from afterword.accounts import access
from afterword.accounts import api as accounts_api
from afterword.accounts.idempotency import service as idempotency
from afterword.core.access import Caller
from afterword.core.site import API_PREFIX, Site
from afterword.instances import api as instances_api
from afterword.instances import pages as instance_pages
from afterword.questionnaires import api as questionnaires_api
from afterword.queue import api as queue_api
from afterword.queue import pages as queue_pages
from afterword.queue import store as queue_store
from afterword.responders import pages as responder_pages
from afterword.web import edge, headers, problems, public, static
from afterword.web.front import Front
from afterword.web.limits import Limiter, Limits
from afterword.web.metrics import Collect, Metrics, Sample
from afterword.web.operations import Route, Routes
from afterword.web.probes import Probes
from afterword.web.reference import Reference
from afterword.web.runner import Ground, Operation

FIGURES_SECONDS = 5.0

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


def create_app(
    *,
    pool: db.Pool,
    site: Site,
    limits: Limits = Limits(),  # noqa: B008  frozen
    metrics_access: str = "loopback",
    origins: Collection[str] = (),
    collectors: Sequence[Collect] = (),
    routes: Sequence[Routes] | None = None,
    pages: Sequence[HTTPRouteHandler] | None = None,
    show_outbox: bool = False,
) -> ASGIApp:
    """The web application, plain ASGI, for one pool and one public address.

    `metrics_access`: who may read /metrics, `loopback`, `all` or `off`; `origins`: exact origins of browsers that may
    call the API; `collectors` add figures to /metrics. `routes` and `pages` are those of all slices unless given.
    `show_outbox`: the pages of captured messages are there too, for development and demonstrations.
    """
    metrics = Metrics()
    limiter = Limiter(limits)
    ground = Ground(
        pool=pool,
        site=site,
        limiter=limiter,
        authenticate=_authenticator(),
        idempotency=_Idempotency(pool),
    )
    probes = Probes(
        pool=pool,
        is_migrated=_is_migrated,
        metrics=metrics,
        collectors=[*collectors, _queue_figures(pool)],
        access=metrics_access,
    )
    table = [route for group in (api_routes() if routes is None else routes) for route in group.all]
    litestar = Litestar(
        route_handlers=[
            *(_mounted(path, routes_there, ground) for path, routes_there in _by_path(table).items()),
            *(page_routes() if pages is None else pages),
            *(queue_pages.outbox_routes if show_outbox else ()),
            *probes.routes,
            *Reference(table, site).routes,
            static.static_file,
        ],
        state=State({"pool": pool, "site": site, "limiter": limiter, "static_files": static.read_files()}),
        exception_handlers={Exception: _refused},
        openapi_config=None,
        logging_config=None,
        request_max_body_size=edge.BODY_BYTES_MAX,
        debug=False,
    )
    front: Any = Front(
        cast("Any", litestar), site=site, metrics=metrics, origins=origins
    )  # litestar types its own scope
    return front


def api_routes() -> list[Routes]:
    """The tables of all slices."""
    return [accounts_api.routes, questionnaires_api.routes, instances_api.routes, queue_api.routes]


def page_routes() -> list[HTTPRouteHandler]:
    """The pages of all slices."""
    return [*instance_pages.routes, *responder_pages.routes, *queue_pages.routes]


class _Operations:
    """The operations of one path, by method: one handler for litestar, so that its OPTIONS knows all of them."""

    def __init__(self, routes: Sequence[Route], ground: Ground) -> None:
        self._by_method = {route.method: Operation(route, ground) for route in routes}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._by_method[scope["method"]](scope, receive, send)


def _mounted(path: str, routes: Sequence[Route], ground: Ground) -> HTTPRouteHandler:
    """The path as litestar's router knows it; the operation itself is the answer, so litestar adds nothing."""
    operations: Any = _Operations(routes, ground)

    def answer() -> ASGIApp:
        return operations

    methods: list[Method] = [route.method for route in routes]
    return HTTPRouteHandler(path, http_method=methods, status_code=200, sync_to_thread=False)(answer)


def _by_path(table: Sequence[Route]) -> dict[str, list[Route]]:
    found: dict[str, list[Route]] = {}
    for route in table:
        found.setdefault(API_PREFIX + route.path.replace("}", ":str}"), []).append(route)
    return found


# Errors --------------------------------------------------------------------------------------------------------------


def _refused(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    refusal = _refusal_of(error)
    path = request.scope["path"]
    if not path.startswith(f"{API_PREFIX}/") and "text/html" in request.headers.get("accept", ""):
        return public.refusal_page(request, refusal)
    scope: Any = request.scope  # a closed dictionary to litestar; the front adds to it
    request_id: str = scope["afterword.request_id"]
    more = {name.decode(): value.decode("latin-1") for name, value in headers.of_refusal(refusal)}
    content = problems.body_of(refusal, site=request.app.state.site, request_id=request_id)
    return Response(content, status_code=refusal.status, headers=more, media_type=more.pop("content-type"))


def _refusal_of(error: Exception) -> errors.Refusal:
    if isinstance(error, errors.Refusal):
        return error
    if isinstance(error, HTTPException):
        match error.status_code:
            case 400:
                return errors.Malformed("The request cannot be read.", "malformed_header")
            case 404:
                return errors.NotFound("There is no operation at this address.", "unknown_route")
            case 405:
                allow = (error.headers or {}).get("allow", "")
                return errors.MethodNotAllowed("This address has other methods.", headers={"Allow": allow})
            case 413:
                return errors.TooLarge(f"The body may have {edge.BODY_BYTES_MAX:,} bytes.")
            case _:
                pass
    logger.error("request failed", exc_info=error)
    return problems.InternalError()


# What the web below knows no family of -------------------------------------------------------------------------------


def _authenticator() -> Any:
    cache = access.TokenCache()

    async def authenticate(
        database: db.Database,
        /,
        *,
        authorization: str | None,
        esat_auth: str | None,
        esat_domain: str | None,
        query_names: Sequence[str],
    ) -> Caller:
        return await access.authenticate(
            database,
            authorization=authorization,
            esat_auth=esat_auth,
            esat_domain=esat_domain,
            query_names=query_names,
            cache=cache,
        )

    return authenticate


class _Idempotency:
    def __init__(self, pool: db.Pool) -> None:
        self._clock = pool.clock

    async def claim(
        self, database: db.Database, /, *, organization_id: str, key: str, digest: bytes
    ) -> idempotency.Replay | None:
        return await idempotency.claim_idempotency_key(
            database, organization_id=organization_id, key=key, digest=digest, now=self._clock.now()
        )

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
        await idempotency.keep_idempotent_answer(
            database, organization_id=organization_id, key=key, status=status, headers=headers, body=body
        )


async def _is_migrated(database: db.Database) -> bool:
    return await migrations.current(database) == migrations.head()


def _queue_figures(pool: db.Pool) -> Collect:
    """The queue's own figures, asked for at most every `FIGURES_SECONDS`."""
    last: list[Sample] = []
    read_at = -FIGURES_SECONDS

    async def collect() -> list[Sample]:
        nonlocal last, read_at
        if time.monotonic() - read_at >= FIGURES_SECONDS:
            async with db.connection(pool) as database:
                last = await queue_store.list_figures(database)
            read_at = time.monotonic()
        return last

    return collect
