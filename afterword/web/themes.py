"""The stylesheet of a brand: made from its address alone, so that it needs no database and may be kept for good."""

from typing import Any, Final

from litestar import Request, Response, get

from afterword import errors
from afterword.core.questionnaires import palettes
from afterword.core.questionnaires.palettes import Brand

_HEADERS: Final = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


def url(brand: Brand) -> str:
    """Where the stylesheet of a brand is; empty when it changes nothing."""
    return f"/theme/{brand.slug}.css" if brand.slug else ""


@get("/theme/{name:str}", include_in_schema=False)
async def theme_file(request: Request[Any, Any, Any], name: str) -> Response[str]:  # noqa: ARG001
    """Custom properties and nothing else; the same address never says anything else."""
    brand = palettes.read_slug(name.removesuffix(".css")) if name.endswith(".css") else None
    if brand is None:
        raise errors.NotFound("There is no such file.", "unknown_route")
    return Response(palettes.stylesheet(brand), media_type="text/css", headers=dict(_HEADERS))
