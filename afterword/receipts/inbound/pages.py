"""The door of providers: `POST /inbound/{inbound_id}`, without a token; the call's own signature opens it."""

from typing import Any

from litestar import Request, Response, post
from litestar.handlers import HTTPRouteHandler
from litestar.status_codes import HTTP_204_NO_CONTENT

from afterword import db, errors
from afterword.core.wire.site import Site
from afterword.receipts.inbound import service
from afterword.receipts.inbound.service import Callback
from afterword.web import headers, public
from afterword.web.limits import Limiter


@post("/inbound/{inbound_id:str}", status_code=HTTP_204_NO_CONTENT)
async def receive_callback(request: Request[Any, Any, Any], inbound_id: str) -> Response[None]:
    """Take a provider's reports; 401 and 404 count against whoever sends them."""
    limiter: Limiter = request.app.state.limiter
    site: Site = request.app.state.site
    source = request.client.host if request.client else ""
    callback = Callback(
        headers=headers.read(request.scope["headers"]),
        query=request.scope["query_string"].decode("latin-1"),
        body=await public.read_body(request),
    )
    try:
        async with db.transaction(request.app.state.pool) as database:
            await service.receive(
                database, inbound_id=inbound_id, callback=callback, site=site, now=database.clock.now()
            )
    except (errors.NotFound, errors.Unauthorized):
        limiter.count_failure(source)
        raise
    return Response(None, status_code=HTTP_204_NO_CONTENT)


routes: list[HTTPRouteHandler] = [receive_callback]
