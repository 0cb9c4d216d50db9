"""Addresses that programs call: whether a proxy may get a certificate for a host, and whether a host leads here."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from afterword import errors
from afterword.asking.links.domains import service, store
from afterword.core.wire.hosts import requested_host
from afterword.kit import db
from afterword.kit.texts import accepted, texts
from afterword.kit.web import public
from afterword.kit.web.routing import Pages

routes = Pages()


@routes.get("/domains/ask")
async def may_have_certificate(request: Request) -> Response:
    """200 for a host that an organization holds, else 404, as Caddy's `on_demand_tls` asks."""
    host = requested_host(request.query_params.get("domain", ""))
    async with db.connection(request.state.pool) as database:
        if await store.get_holder(database, host=host) is None:
            raise errors.NotFound("No organization holds this host.")
    return PlainTextResponse("yes", headers={"Cache-Control": "no-store"})


@routes.get("/domains/{organization_id}/{token}", for_people=True)
async def reached(request: Request) -> Response:
    """Notes that its host leads here; opened by a check, or by a person whose browser reaches the host."""
    async with db.transaction(request.state.pool) as database:
        await service.note_reached(
            database,
            organization_id=request.path_params["organization_id"],
            token=request.path_params["token"],
            host=requested_host(request.headers.get("host", "")),
            site=request.state.site,
            now=database.clock.now(),
        )
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    return public.message_page(words=words, title=request.headers["host"], facts=[words("You can close this page.")])
