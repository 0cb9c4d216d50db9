"""HTML pages: the template environment and the headers that every page of ours carries.

A page handler is a plain litestar handler; `app.py` mounts `pages.routes`, outside the prefix:

    @get("/a/{instance_id:str}", exception_handlers=public.REFUSALS)
    async def answer_page(instance_id: str, request: Request) -> Response:
        pool, site = request.app.state.pool, request.app.state.site
        async with db.connection(pool) as database: ...
        return html.page("public/answer.html", instance=instance, site=site)

    routes: list[HTTPRouteHandler] = [answer_page, ...]

`public.REFUSALS` as its `exception_handlers` gives people a page where programs get a problem document.
"""

import pathlib
from collections.abc import Mapping
from typing import Final

import minijinja
from litestar import Response

TEMPLATES: Final = pathlib.Path(__file__).parent.parent / "templates"
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; script-src 'self'; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
    "X-Content-Type-Options": "nosniff",
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
) -> Response[str]:
    """The template (below templates/, `….html`: escaped) as a whole answer. Unknown variables are errors."""
    return Response(
        render(template, **values),
        status_code=status,
        media_type="text/html",  # litestar adds the charset
        headers={**PAGE_HEADERS, **(headers or {})},
    )


def redirect(address: str, *, status: int = 303) -> Response[None]:
    """Go on to `address` with a GET: after each POST of a form."""
    return Response(None, status_code=status, headers={**PAGE_HEADERS, "Location": address})


def render(template: str, /, **values: object) -> str:
    """The template's text."""
    return _environment.render_template(template, **values)
