"""Serves the static files from memory, read once, and the stylesheet of a theme, derived from its address alone."""

import asyncio
import gzip
import hashlib
import mimetypes
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Final

import brotli
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.core.questionnaires import visuals
from afterword.kit.web import html
from afterword.kit.web.routing import Pages

FINGERPRINT_CHARACTERS: Final = 10
FOREVER: Final = "public, max-age=31536000, immutable"
FOLDER: Final = Path(__file__).parents[2] / "static"

# The best first. Both are smaller than what is compressed for each request anew.
ENCODINGS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "br": brotli.compress, "gzip": partial(gzip.compress, mtime=0),
}  # fmt: skip
_compressed: Final[dict[tuple[str, str], bytes]] = {}

mimetypes.add_type("text/javascript", ".js")  # also where the machine has an older name for it
routes = Pages()


@cache
def read_files() -> Mapping[str, bytes]:
    paths = (path for path in FOLDER.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}


@cache
def url(path: str) -> str:
    """Address of a file below static/, with a fingerprint of its bytes, so that it may be cached for long."""
    return f"/static/{path}?v={hashlib.sha256(read_files()[path]).hexdigest()[:FINGERPRINT_CHARACTERS]}"


@routes.get("/static/{path:path}")
async def static_file(request: Request) -> Response:
    path: str = request.path_params["path"]
    content = read_files().get(path)
    if content is None:
        raise errors.NotFound("There is no such file.", "unknown_route")
    # Another's fingerprint is of another release: kept under it, this file would stand in for that one for a year.
    is_this = url(path).endswith(f"?v={request.query_params.get('v')}")
    sent = {"Cache-Control": FOREVER if is_this else "public, max-age=300"}
    media_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
    asked = [one.partition(";") for one in request.headers.get("accept-encoding", "").replace(" ", "").split(",")]
    accepted = {name for name, has_weight, weight in asked if not has_weight or weight.strip("q=0.")}
    encoding = next((one for one in ENCODINGS if one in accepted), "")
    if media_type.startswith("text/") and encoding:  # the middleware of all pages leaves it alone then
        if (path, encoding) not in _compressed:
            _compressed[path, encoding] = await asyncio.to_thread(ENCODINGS[encoding], content)
        content = _compressed[path, encoding]
        sent |= {"Content-Encoding": encoding, "Vary": "Accept-Encoding"}
    return html.unchanged_or(content, request, media_type=media_type, headers=sent)


def theme_url(theme: visuals.Theme) -> str:
    """Address of a theme's stylesheet; empty when it changes nothing."""
    return f"/theme/{theme.slug}.css" if theme.slug else ""


@routes.get("/theme/{name}")
async def theme_file(request: Request) -> Response:
    name: str = request.path_params["name"]
    theme = visuals.read_slug(name.removesuffix(".css")) if name.endswith(".css") else None
    if theme is None:
        raise errors.NotFound("There is no such file.", "unknown_route")
    return Response(visuals.stylesheet(theme), media_type="text/css", headers={"Cache-Control": FOREVER})
