"""The public addresses of pictures."""

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.kit import db
from afterword.kit.web import public
from afterword.kit.web.routing import Pages
from afterword.tenants.organizations.assets import store

routes = Pages()


@routes.get("/asset/{asset_id}/{name}")
async def picture(request: Request) -> Response:
    """The picture, for ever: under this address there are no other bytes."""
    asset_id: str = request.path_params["asset_id"]
    found = None
    if ids.is_id(asset_id):
        async with db.connection(request.state.pool) as database:
            found = await store.get_content(database, asset_id=asset_id)
    if found is None or found[0].path != request.url.path:
        raise errors.NotFound("There is no such picture.")
    asset, content = found
    return public.picture(content, asset.media_type, is_named=True)
