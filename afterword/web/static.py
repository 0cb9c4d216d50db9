"""Serves the static files from memory: read once at start-up, cached for a year when fingerprinted."""

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.web import headers
from afterword.web.pages import Pages

FINGERPRINT_CHARACTERS: Final = 10
FOLDER: Final = Path(__file__).parent.parent / "static"
FILE_BYTES_MAX = 2_000_000
_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".ico": "image/x-icon",
    ".txt": "text/plain",
}

routes = Pages()


@dataclass(frozen=True, slots=True)
class File:
    content: bytes
    media_type: str
    digest: str


def read_files(folder: Path = FOLDER) -> dict[str, File]:
    """Read all files below `folder`, by path."""
    found: dict[str, File] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith("."):
            continue
        content = path.read_bytes()
        if len(content) > FILE_BYTES_MAX:
            raise ValueError(f"{path} is larger than {FILE_BYTES_MAX} bytes")
        media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        found[path.relative_to(folder).as_posix()] = File(content, media_type, hashlib.sha256(content).hexdigest())
    return found


@cache
def url(path: str) -> str:
    """Address of a file below static/, with a fingerprint of its bytes, so that it may be cached for long."""
    digest = hashlib.sha256((FOLDER / path).read_bytes()).hexdigest()
    return f"/static/{path}?v={digest[:FINGERPRINT_CHARACTERS]}"


@routes.get("/static/{path:path}")
async def static_file(request: Request) -> Response:
    files: Mapping[str, File] = request.state.static_files
    file = files.get(request.path_params["path"])
    if file is None:
        raise errors.NotFound("There is no such file.", "unknown_route")
    # Another's fingerprint is of another release: kept under it, this file would stand in for that one for a year.
    is_this = request.query_params.get("v") == file.digest[:FINGERPRINT_CHARACTERS]
    etag = f'"{file.digest[:32]}"'
    more = {
        "ETag": etag,
        "Cache-Control": "public, max-age=31536000, immutable" if is_this else "public, max-age=300",
    }
    if headers.matches(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=more, media_type=file.media_type)
    return Response(file.content, media_type=file.media_type, headers=more)
