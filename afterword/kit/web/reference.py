"""Pages that explain the interface: the first page, /docs, /problems/{code} and the OpenAPI document."""

import functools
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.core.organizations.access import ROLE_SCOPES, SCOPES
from afterword.core.wire.lists import CRITERIA
from afterword.core.wire.site import API_PREFIX, Site
from afterword.kit.web import html, openapi, paging, query as criteria, static, vocabulary
from afterword.kit.web.operations import Route
from afterword.kit.web.routing import Pages
from afterword.kit.web.vocabulary import EXPLANATIONS, FIELD_CODES

CACHED: Final = {"Cache-Control": "public, max-age=300"}


class Reference:
    def __init__(self, routes: Sequence[Route], site: Site, *, show_outbox: bool) -> None:
        self._routes = routes
        self._site = site
        self._show_outbox = show_outbox
        self.pages = Pages()
        self.pages.get("/", API_PREFIX)(self._get_index)
        self.pages.get("/openapi.json", f"{API_PREFIX}/openapi.json")(self._get_document)
        self.pages.get("/docs")(self._get_docs)
        self.pages.get("/problems/{code}")(self._get_problem)

    async def _get_index(self, _request: Request) -> Response:
        return html.page("public/index.html", **_frame("Afterword"), show_outbox=self._show_outbox)

    async def _get_document(self, request: Request) -> Response:
        return html.unchanged_or(self._document, request, media_type="application/json", headers=CACHED)

    async def _get_docs(self, request: Request) -> Response:
        return html.unchanged_or(self._docs, request, media_type="text/html", headers={**html.PAGE_HEADERS, **CACHED})

    @functools.cached_property
    def _document(self) -> bytes:
        return msgspec.json.encode(openapi.document_of(self._routes, site=self._site))

    @functools.cached_property
    def _docs(self) -> bytes:
        return html.render(
            "public/reference.html",
            **_frame("API reference"),
            base_url=self._site.base_url,
            sections=self._sections(),
            criteria=CRITERIA,
            roles=vocabulary.ROLES,
            scopes=[
                (scope, vocabulary.scope(scope), ", ".join(role for role, its in ROLE_SCOPES.items() if scope in its))
                for scope in sorted(SCOPES)
            ],
            problems=sorted(EXPLANATIONS.items(), key=lambda entry: entry[1].status),
            example_curl=f'curl "{self._site.api("/q/questionnaire")}" \\\n  -H "Authorization: Bearer $TOKEN"',
        ).encode()

    async def _get_problem(self, request: Request) -> Response:
        code: str = request.path_params["code"]
        explanation = vocabulary.explanation_of(code)
        if explanation is None:
            raise errors.NotFound("There is no such code.", "unknown_route")
        return html.page(
            "public/problem.html",
            headers=CACHED,
            **_frame(explanation.title),
            code=code,
            explanation=explanation,
            field_codes=FIELD_CODES if code == "invalid" else {},
        )

    def _sections(self) -> list[dict[str, Any]]:
        return [
            {
                "title": tag,
                "anchor": _anchor(tag),
                "about": vocabulary.FAMILIES[tag],
                "operations": [self._operation(route) for route in self._routes if route.tag == tag],
            }
            for tag in dict.fromkeys(route.tag for route in self._routes)
        ]

    def _operation(self, route: Route) -> dict[str, Any]:
        example = vocabulary.example_of(route.answer, is_request=False) if route.answer else None
        return {
            "anchor": f"{_anchor(route.tag)}-{_anchor(route.operation_id)}",
            "method": route.method,
            "path": route.path,
            "summary": route.summary,
            "description": _with_code(f"{_about_rows(route)}{route.about}"),
            "scopes": route.scopes,
            "query": vocabulary.rows_of(route.query) if route.query else [],
            "columns": [criteria.camel_case(name) for name in route.listing.columns] if route.listing else [],
            "body": vocabulary.rows_of(route.body) if route.body else [],
            "answer": vocabulary.rows_of(route.answer) if route.answer else [],
            "status": route.status,
            "shape": route.shape,
            "refusals": [
                (code, vocabulary.status_of(code), vocabulary.title_of(code))
                for code in (*(["not_found"] if route.parameters else []), "invalid", *route.refusals)
            ],
            "curl": curl_of(route, self._site),
            "example": msgspec.json.format(msgspec.json.encode(example), indent=2).decode() if route.answer else "",
        }


def curl_of(route: Route, site: Site) -> str:
    path = route.path
    for name in route.parameters:
        path = path.replace(f"{{{name}}}", vocabulary.SAMPLES["id"] if name.endswith("_id") else "example")
    lines = [f'curl "{site.api(path)}"'] if route.method == "GET" else [f'curl -X {route.method} "{site.api(path)}"']
    lines.append('  -H "Authorization: Bearer $TOKEN"')
    if route.body is not None:
        lines.append('  -H "Content-Type: application/json"')
        example: Any = vocabulary.example_of(route.body, is_request=True)
        sent = example if route.rows_max is None else [example]
        content = msgspec.json.encode(sent).decode().replace("'", "'\\''")
        lines.append(f"  -d '{content}'")
    if route.uploads:
        lines += [
            f'  -H "Content-Type: {route.uploads[0]}"',
            f"  --data-binary @file.{route.uploads[0].rpartition('/')[2]}",
        ]
    return " \\\n".join(lines)


def _about_rows(route: Route) -> str:
    if route.rows_max is None:
        return ""
    return f"The body is a list of 1 to {route.rows_max:,} records, in JSON or as lines of JSON (`{paging.LINES}`). "


def _frame(title: str) -> dict[str, Any]:
    return {
        "title": title,
        "lang": "en",
        "direction": "ltr",
        "style_url": static.url("public/afterword.css"),
        "reference_style_url": static.url("public/reference.css"),
    }


def _with_code(text: str) -> list[tuple[str, bool]]:
    """Split a text into plain and `quoted` parts, which are shown as code."""
    return [(part, index % 2 == 1) for index, part in enumerate(text.split("`")) if part]


def _anchor(text: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in text.lower()).strip("-")
