"""Route of callbacks: `POST /inbound/{inbound_id}`, authenticated by the call's signature.

GET is for gateways that call back an address as it was given, with their secret in its query; HEAD changes nothing.
"""

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web import public
from afterword.kit.web.limits import Limiter
from afterword.kit.web.routing import Pages
from afterword.sending.receipts.inbound import service
from afterword.sending.receipts.inbound.service import Callback

routes = Pages()


@routes.get("/inbound/{inbound_id}")
@routes.post("/inbound/{inbound_id}")
async def receive_callback(request: Request) -> Response:
    """Take a provider's reports; 401 and 404 count against the sender's address."""
    if request.scope["afterword.is_head"]:
        raise service.not_by_get()
    is_get = request.method == "GET"
    limiter: Limiter = request.state.limiter
    site: Site = request.state.site
    source = request.client.host if request.client else ""
    callback = Callback(
        headers=request.scope["afterword.headers"],
        query=request.scope["query_string"].decode("latin-1"),
        body=await public.read_body(request),
        is_get=is_get,
    )
    try:
        async with db.transaction(request.state.pool) as database:
            await service.receive(
                database,
                inbound_id=request.path_params["inbound_id"],
                callback=callback,
                site=site,
                now=database.clock.now(),
            )
    except (errors.NotFound, errors.Unauthorized):
        limiter.count_failure(source)
        raise
    return Response(status_code=200 if is_get else 204)  # Kannel repeats after 204
