"""The template environment, and the headers of every page."""

import hashlib
import pathlib
from collections.abc import Iterable, Mapping
from typing import Final

import minijinja
from starlette.requests import Request
from starlette.responses import Response

from afterword.kit.web.headers import matches

TEMPLATES: Final = pathlib.Path(__file__).parents[2] / "templates"
NOBODY: Final = "'none'"
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; script-src 'self'; "
    f"connect-src 'self'; base-uri 'none'; frame-ancestors {NOBODY}"
)
PAGE_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
}

_environment = minijinja.Environment(
    debug=False,  # an error must not carry the page's values into a log
    loader=minijinja.load_from_path([str(TEMPLATES)]),
    undefined_behavior="strict",
    trim_blocks=True,
    lstrip_blocks=True,
    reload_before_render=False,
)


def page(
    template: str, /, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: object
) -> Response:
    """Render a template (below templates/, `….html` is escaped) as a response. Unknown variables are errors."""
    return Response(
        render(template, **values),
        status_code=status,
        media_type="text/html",
        headers={**PAGE_HEADERS, **(headers or {})},
    )


def framed(response: Response, by: Iterable[str]) -> Response:
    """Let sites show the page in a frame; `by`: their origins, or `'self'`. All other pages refuse it."""
    ancestors = f"frame-ancestors {' '.join(by) or NOBODY}"
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.replace(
        f"frame-ancestors {NOBODY}", ancestors
    )
    return response


def unchanged_or(content: bytes, request: Request, *, media_type: str, headers: Mapping[str, str]) -> Response:
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    is_unchanged = matches(request.headers.get("if-none-match", ""), etag)
    return Response(
        b"" if is_unchanged else content,
        status_code=304 if is_unchanged else 200,
        media_type=media_type,
        headers={**headers, "ETag": etag},
    )


def redirect(address: str, *, status: int = 303) -> Response:
    return Response(status_code=status, headers={**PAGE_HEADERS, "Location": address})


def render(template: str, /, **values: object) -> str:
    return _environment.render_template(template, **values)
