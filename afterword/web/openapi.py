"""The OpenAPI 3.1 document, made from the same table of routes that the runner runs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from afterword.core.lists import CRITERIA, Listing
from afterword.core.site import Site
from afterword.web import body, criteria, describe, fields, paging, scalars
from afterword.web.explanations import EXPLANATIONS, FIELD_CODES
from afterword.web.operations import Route

VERSION = "3.2"
TITLE = "Afterword"
ABOUT: Final = (
    "Customer-satisfaction questionnaires: scheduled, sent, answered and measured.\n\n"
    "Send a token as `Authorization: Bearer …`. Every refusal is a problem document (RFC 9457) with a stable `code`; "
    "with `Prefer: handling=strict` unknown members are refused instead of ignored. Every operation takes "
    "`response_fields=name,name` (in the query), which narrows its answer to these members; without it all members "
    "are present. The paths /v3.0 and /v3.1 are aliases of this version."
)
PROBLEM_REF: Final = {"$ref": "#/components/schemas/Problem"}
STATUS_NAMES: Final[Mapping[int, str]] = {
    304: "NotModified",
    400: "Malformed",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    406: "NotAcceptable",
    408: "RequestTimeout",
    409: "Conflict",
    412: "PreconditionFailed",
    413: "BodyTooLarge",
    414: "TargetTooLong",
    415: "UnsupportedMedia",
    422: "Invalid",
    429: "TooMany",
    500: "InternalError",
    503: "Unavailable",
}
_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "description": "The body of every refusal.",
    "required": ["type", "title", "status", "code", "detail", "message", "error", "instance", "request_id", "errors"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "A page that explains the code."},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "code": {"type": "string", "description": "Stable; decide by this."},
        "detail": {"type": "string"},
        "message": {"type": "string", "minLength": 1, "description": "As detail."},
        "error": {"type": "string", "minLength": 1, "description": "As detail, for old clients."},
        "instance": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "maxItems": 100,
            "items": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "pointer": {"type": "string", "description": "JSON Pointer into the body."},
                    "parameter": {"type": "string"},
                    "header": {"type": "string"},
                    "code": {"type": "string", "enum": [*FIELD_CODES, "malformed_header", "idempotency_key_reused"]},
                    "message": {"type": "string"},
                },
            },
        },
        "required_scopes": {"type": "array", "items": {"type": "string"}},
    },
}
_HEADERS: Final[dict[str, Any]] = {
    "ETag": {
        "description": "The version of this entity, for If-Match and If-None-Match.",
        "schema": {"type": "string"},
    },
    "Location": {"description": "Where the created entity is.", "schema": {"type": "string", "format": "uri"}},
    "Link": {"description": 'The next page, rel="next", while there is more.', "schema": {"type": "string"}},
    "X-Request-Id": {"description": "This request's id, as in our log.", "schema": {"type": "string"}},
    "RateLimit-Limit": {"description": "Requests a minute.", "schema": {"type": "integer"}},
    "RateLimit-Remaining": {"description": "Requests left in this minute.", "schema": {"type": "integer"}},
    "RateLimit-Reset": {"description": "Seconds until the minute ends.", "schema": {"type": "integer"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "Idempotency-Replayed": {"description": "true: the first answer again.", "schema": {"type": "string"}},
}
_PARAMETERS: Final[dict[str, Any]] = {
    "Limit": {
        "name": "limit",
        "in": "query",
        "description": "Starts cursor mode: at most so many entries.",
        "schema": {"type": "integer", "minimum": 1, "maximum": paging.LIMIT_MAX},
    },
    "Cursor": {
        "name": "cursor",
        "in": "query",
        "description": "Goes on behind the entry that `next_cursor` or `Link` stood on.",
        "schema": {"type": "string", "maxLength": paging.CURSOR_CHARACTERS_MAX},
    },
    "Pagination": {
        "name": "pagination",
        "in": "query",
        "style": "deepObject",
        "explode": True,
        "description": "Page mode: `pagination[page]`, `pagination[max_per_page]`, `pagination[include_results]`.",
        "schema": {
            "type": "object",
            "properties": {
                "page": {"type": "integer", "minimum": 1, "default": 1},
                "max_per_page": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": paging.PER_PAGE_MAX,
                    "default": paging.PER_PAGE_DEFAULT,
                },
                "include_results": {"type": "integer", "enum": [0, 1], "default": 1},
            },
        },
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "1 to 255 visible ASCII characters; the same key and request get the first answer again for 24 "
        "hours.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": "An ETag; the change is refused with 412 when the entity has another one by now.",
        "schema": {"type": "string"},
    },
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "description": "An ETag; 304 without a body when the entity still has it.",
        "schema": {"type": "string"},
    },
    "Prefer": {
        "name": "Prefer",
        "in": "header",
        "description": "`handling=strict` refuses unknown and read-only members instead of ignoring them.",
        "schema": {"type": "string"},
    },
}


def document_of(routes: Sequence[Route], *, site: Site) -> dict[str, Any]:
    """The whole document."""
    structs = {struct for route in routes for struct in (route.body, route.answer) if struct is not None}
    ordered = sorted(structs, key=lambda struct: (struct.__name__, struct.__module__))
    references, schemas = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    names = {struct: str(reference["$ref"]) for struct, reference in zip(ordered, references, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": VERSION,
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": site.base_url}],
        "externalDocs": {"url": f"{site.public_url}/docs", "description": "The readable reference"},
        "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in routes)],
        "paths": paths,
        "components": {
            "schemas": {**_tidied(schemas, requests=_request_names(ordered)), "Problem": _PROBLEM},
            "responses": {name: _response(status) for status, name in STATUS_NAMES.items()},
            "parameters": _PARAMETERS,
            "headers": _HEADERS,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "A token: afw_…"},
                "esat_auth": {"type": "apiKey", "in": "header", "name": "esat-auth", "description": "The old header."},
            },
        },
    }


# Operations ----------------------------------------------------------------------------------------------------------


def _operation(route: Route, names: Mapping[type[msgspec.Struct], str]) -> dict[str, Any]:
    scopes = [*([route.scope] if route.scope else []), *route.more_scopes]
    found: dict[str, Any] = {
        "operationId": route.operation_id,
        "summary": route.summary,
        "tags": [route.tag],
        "security": [{"bearer": scopes}, {"esat_auth": scopes}],
        "parameters": _parameters(route),
        "responses": _responses(route, names),
    }
    described = [route.description] if route.description else []
    if scopes:
        described.append("Needs " + " and ".join(f"`{scope}`" for scope in scopes) + ".")
    found["description"] = "\n\n".join(described)
    if route.body is not None:
        found["requestBody"] = {
            "required": bool(route.body.__struct_fields__)
            and any(row.is_required for row in describe.rows_of(route.body)),
            "content": {
                "application/json": {
                    "schema": {"$ref": names[route.body]},
                    "example": describe.example_of(route.body, is_request=True),
                }
            },
        }
    return found


def _parameters(route: Route) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9A-Za-z]{22}$"}
            if name.endswith("_id") and name not in route.texts
            else {"type": "string"},
        }
        for name in route.parameters
    ]
    if route.query is not None:
        schema, components = _inline(route.query)
        required = set(schema.get("required", ()))
        for name, each in schema.get("properties", {}).items():
            style = {"style": "form", "explode": False} if each.get("type") == "array" else {}
            found.append(
                {
                    "name": name,
                    "in": "query",
                    "required": name in required,
                    "schema": _resolved(each, components),
                    **style,
                }
            )
    if route.listing is not None:
        found += [{"$ref": f"#/components/parameters/{name}"} for name in ("Limit", "Cursor", "Pagination")]
        found += [_filter_by(route.listing), _order_by(route.listing)]
    match route.method:
        case "POST":
            found.append({"$ref": "#/components/parameters/IdempotencyKey"})
        case "PATCH" | "PUT" | "DELETE":
            found.append({"$ref": "#/components/parameters/IfMatch"})
        case _:
            if route.shape == "one":
                found.append({"$ref": "#/components/parameters/IfNoneMatch"})
    found.append({"$ref": "#/components/parameters/Prefer"})
    return found


def _filter_by(listing: Listing) -> dict[str, Any]:
    columns = [criteria.camel_case(name) for name in listing.columns]
    return {
        "name": "filter_by",
        "in": "query",
        "style": "deepObject",
        "explode": True,
        "description": f"`filter_by[CRITERION][Column]=value`, at most {criteria.CRITERIA_MAX}, all of them must hold.",
        "schema": {
            "type": "object",
            "propertyNames": {"enum": list(CRITERIA)},
            "additionalProperties": {"type": "object", "propertyNames": {"enum": columns}},
        },
    }


def _order_by(listing: Listing) -> dict[str, Any]:
    names: dict[str, Any] = {
        "type": "array",
        "maxItems": criteria.ORDERS_MAX,
        "items": {"enum": [criteria.camel_case(name) for name in listing.columns]},
    }
    return {
        "name": "order_by",
        "in": "query",
        "style": "deepObject",
        "explode": True,
        "description": "`order_by[ASC][]=Column`, `order_by[DESC][]=Column`, at most 3, in order of appearance.",
        "schema": {"type": "object", "properties": {"ASC": names, "DESC": names}, "additionalProperties": False},
    }


# Responses -----------------------------------------------------------------------------------------------------------


def _responses(route: Route, names: Mapping[type[msgspec.Struct], str]) -> dict[str, Any]:
    found: dict[str, Any] = {str(route.status): _success(route, names)}
    for status in _statuses(route):
        found[str(status)] = {"$ref": f"#/components/responses/{STATUS_NAMES[status]}"}
    own = [code for code in route.refusals if (known := EXPLANATIONS.get(code)) is not None and known.status == 409]  # noqa: PLR2004
    if own:
        listed = ", ".join(f"`{code}`" for code in own)
        found["409"] = {**_response(409), "description": f"{listed}. See `code`."}
    return found


def _statuses(route: Route) -> Iterable[int]:
    yield from (400, 401, 403)
    if route.parameters:
        yield 404
    yield from (406, 408)
    if route.method == "POST" or route.refusals:
        yield 409
    if route.method in {"PATCH", "PUT", "DELETE"}:
        yield 412
    if route.method == "GET" and route.shape == "one":
        yield 304
    yield from (413, 414, 415, 422, 429, 500, 503)


def _success(route: Route, names: Mapping[type[msgspec.Struct], str]) -> dict[str, Any]:
    always = ["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
    if route.answer is None:
        return {"description": "Done; no body.", "headers": _header_refs(always)}
    reference = {"$ref": names[route.answer]}
    example: Any = describe.example_of(route.answer, is_request=False)
    if route.shape == "one":
        more = ["ETag", *(["Location", "Idempotency-Replayed"] if route.method == "POST" else [])]
        schema: dict[str, Any] = reference
    else:
        more = ["Link"] if route.listing else []
        schema, example = _list_of(route, reference, example)
    return {
        "description": "The created entity." if route.status == 201 else "OK",  # noqa: PLR2004
        "headers": _header_refs([*always, *more]),
        "content": {"application/json": {"schema": schema, "example": example}},
    }


def _list_of(route: Route, reference: dict[str, Any], example: Any) -> tuple[dict[str, Any], Any]:
    array = {"type": "array", "items": reference}
    if route.shape == "array":
        return array, [example]
    cursor = {"type": ["string", "null"], "description": "For `cursor`; null at the end."}
    properties: dict[str, Any] = {"results": array, "next_cursor": cursor}
    shown: dict[str, Any] = {"results": [example], "next_cursor": None}
    if route.shape == "envelope":
        numbers = {"type": ["integer", "null"], "description": "Null in cursor mode."}
        counts = {"page": numbers, "last_page": numbers, "total_results": numbers}
        properties = {**counts, "max_per_page": {"type": "integer"}, **properties}
        shown = {"page": 1, "max_per_page": 10, "last_page": 1, "total_results": 1, **shown}
    return {"type": "object", "required": list(properties), "properties": properties}, shown


def _response(status: int) -> dict[str, Any]:
    if status == 304:  # noqa: PLR2004
        return {"description": "The entity still has the ETag of If-None-Match."}
    codes = [code for code, known in EXPLANATIONS.items() if known.status == status]
    found: dict[str, Any] = {
        "description": ", ".join(f"`{code}`" for code in codes),
        "headers": _header_refs(["X-Request-Id", *(["Retry-After"] if status in {409, 429, 503} else [])]),
        "content": {"application/problem+json": {"schema": PROBLEM_REF}},
    }
    return found


def _header_refs(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


# Schemas -------------------------------------------------------------------------------------------------------------


def _request_names(structs: Iterable[type[msgspec.Struct]]) -> frozenset[str]:
    return frozenset(struct.__name__ for struct in structs if issubclass(struct, fields.Request))


def _inline(struct: type[msgspec.Struct]) -> tuple[dict[str, Any], dict[str, Any]]:
    _, components = msgspec.json.schema_components([struct], ref_template="{name}")
    return components[struct.__name__], components


def _resolved(schema: dict[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    name = str(schema.get("$ref", ""))
    return _moment() if name == "Moment" else components.get(name, schema)


def _moment() -> dict[str, Any]:
    return {
        "type": "string",
        "format": "date-time",
        "maxLength": 64,
        "description": "ISO 8601 with or without offset (then local in the organization's zone), not before 1970, "
        "at most five years ahead.",
        "examples": ["2026-11-21T18:23:45+02:00"],
    }


def _tidied(schemas: Mapping[str, Any], *, requests: frozenset[str]) -> dict[str, Any]:
    """What msgspec does not know: our dates, the limits that hold where a field names none."""
    found: dict[str, Any] = {}
    for name, schema in schemas.items():
        if name == "Moment":
            found[name] = _moment()
            continue
        schema.pop("title", None)
        schema["description"] = re.sub(r"\s+", " ", schema.get("description", "")).strip() or name
        if name in requests:
            for each in schema.get("properties", {}).values():
                _limit(each)
        found[name] = schema
    return dict(sorted(found.items()))


def _limit(schema: dict[str, Any]) -> None:
    for option in schema.get("anyOf", ()):
        _limit(option)
    kind = schema.get("type")
    if kind == "string" and not {"maxLength", "format", "pattern", "enum", "const"} & schema.keys():
        schema["maxLength"] = scalars.TEXT_CHARACTERS_MAX
    elif kind == "array":
        schema.setdefault("maxItems", body.LIST_ENTRIES_MAX)
        _limit(schema.get("items", {}))
