"""The stylesheet of a brand, derived from its address alone: no database, cacheable forever."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.core.questionnaires import palettes
from afterword.core.questionnaires.palettes import Brand
from afterword.web.pages import Pages

routes = Pages()
_HEADERS: Final = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


def url(brand: Brand) -> str:
    """Address of a brand's stylesheet; empty when it changes nothing."""
    return f"/theme/{brand.slug}.css" if brand.slug else ""


@routes.get("/theme/{name}")
async def theme_file(request: Request) -> Response:
    name: str = request.path_params["name"]
    brand = palettes.read_slug(name.removesuffix(".css")) if name.endswith(".css") else None
    if brand is None:
        raise errors.NotFound("There is no such file.", "unknown_route")
    return Response(palettes.stylesheet(brand), media_type="text/css", headers=_HEADERS)
