"""The OpenAPI 3.1 document, derived from the routes; most of its shared components stand in components.toml."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.core.organizations.access import SCOPES, alias_of
from afterword.core.reading import structs as reading_structs
from afterword.core.reading.structs import members_of
from afterword.core.wire.lists import CRITERIA, Listing
from afterword.core.wire.site import Site
from afterword.kit.web import limits, paging, parsing, problems, query, uploads, vocabulary
from afterword.kit.web.operations import Route
from afterword.kit.web.vocabulary import EXPLANATIONS, FIELD_CODES, status_of

JSON: Final = "application/json"
CSV: Final = "text/csv"
READ: Final = frozenset({JSON, "application/yaml"})  # media types whose schema is that of the value in the file
BINARY: Final = {"type": "string", "format": "binary"}
REQUEST_ID: Final = "7HqXk2"
OF_RECORDS: Final = (  # refusals that name the key or the record of a batch
    "idempotency_key_reused", "already_exists", "item_closed", "item_in_dispatch",
)  # fmt: skip
ERROR_CODES: Final = (*FIELD_CODES, "malformed_header", *OF_RECORDS)  # all that a member of `errors` may have
_PARTS: Final = vocabulary.read(
    "components.toml",
    BODY_BYTES_MAX=f"{parsing.BODY_BYTES_MAX:,}",
    BODY_SECONDS_MAX=parsing.BODY_SECONDS_MAX,
    CURSOR_CHARACTERS_MAX=paging.CURSOR_CHARACTERS_MAX,
    ERRORS_MAX=errors.ERRORS_MAX,
    ERROR_CODES=msgspec.json.encode(ERROR_CODES).decode(),
    FAILURES=limits.FAILURES_DEFAULT,
    FIELDS_MAX=paging.FIELDS_MAX,
    LIMIT_MAX=paging.LIMIT_MAX,
    NAME_CHARACTERS_MAX=parsing.NAME_CHARACTERS_MAX,
    ORGANIZATION_REQUESTS=f"{limits.ORGANIZATION_REQUESTS_DEFAULT:,}",
    PER_PAGE_DEFAULT=paging.PER_PAGE_DEFAULT,
    PER_PAGE_MAX=paging.PER_PAGE_MAX,
    RECORD_BYTES_MAX=f"{paging.RECORD_BYTES_MAX:,}",
    ROWS_BYTES_MAX=f"{paging.BODY_BYTES_MAX:,}",
    ROWS_PER_REQUEST=paging.ROWS_PER_REQUEST,
    TARGET_BYTES_MAX=f"{parsing.TARGET_BYTES_MAX:,}",
    TOKEN_REQUESTS=f"{limits.TOKEN_REQUESTS_DEFAULT:,}",
)
ELSEWHERE: Final = frozenset(_PARTS["elsewhere"])  # codes that no operation of the document has
MOMENT: Final = _PARTS["schemas"]["Moment"]
RESPONSES: Final = {int(status): about for status, about in _PARTS["responses"].items()}
_WRONG_FIELD: Final = errors.FieldError("required", "This is required.", pointer="/name")
_WRONG_HEADER: Final = errors.FieldError(
    "malformed_header", "1 to 255 visible ASCII characters are expected.", header="Idempotency-Key"
)


def document_of(routes: Sequence[Route], *, site: Site) -> dict[str, Any]:
    structs = {struct for route in routes for struct in (route.body, route.answer) if struct is not None}
    ordered = sorted(structs, key=lambda struct: (struct.__name__, struct.__module__))
    references, schemas = _schemas_of(ordered, "#/components/schemas/{name}")
    names = {struct: str(reference["$ref"]) for struct, reference in zip(ordered, references, strict=True)}
    _, requests = _schemas_of([route.body for route in routes if route.body is not None], "")
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, names)
    return {
        "openapi": "3.1.0",
        "info": _PARTS["info"],
        "servers": [{"url": site.base_url}],
        "externalDocs": {"url": f"{site.public_url}/docs", "description": "The readable reference"},
        "tags": [
            {"name": tag, "description": vocabulary.FAMILIES[tag]}
            for tag in dict.fromkeys(route.tag for route in routes)
        ],
        "paths": paths,
        "components": components_of(
            _tidied(schemas, requests=requests),
            [code for route in routes for code in route.refusals if code not in FIELD_CODES],
            site,
        ),
    }


def _operation(route: Route, names: Mapping[type[msgspec.Struct], str]) -> dict[str, Any]:
    described = [route.about] if route.about else []
    if route.scopes:
        described.append("Needs " + " and ".join(f"`{scope}`" for scope in route.scopes) + ".")
    found: dict[str, Any] = {
        "operationId": route.operation_id,
        "summary": route.summary,
        "description": "\n\n".join(described),
        "tags": [route.tag],
        "security": security(route.scopes),
        "parameters": _parameters(route),
    }
    if route.body is not None or route.uploads:
        found["requestBody"] = _request_body(route, names)
    found["responses"] = _responses(route, names)
    return found


def _request_body(route: Route, names: Mapping[type[msgspec.Struct], str]) -> dict[str, Any]:
    if route.body is None:
        file = dict(BINARY)
        form = {"type": "object", "required": ["file"], "properties": {"file": file}}
        return {
            "description": f"At most {route.bytes_max or paging.BODY_BYTES_MAX:,} bytes. "
            "A form has one file; its other fields are parameters.",
            "required": True,
            "content": {
                name: {"schema": form}
                if name == uploads.FORM
                else {
                    "schema": file,
                    **(
                        {"example": vocabulary.EXAMPLES.get(route.operation_id, vocabulary.EXAMPLES["file"])}
                        if name == CSV
                        else {}
                    ),
                }
                for name in route.uploads
            },
        }
    schema, example = {"$ref": names[route.body]}, vocabulary.example_of(route.body, is_request=True)
    if route.rows_max is None:
        limit = "" if route.depth_max == parsing.DEPTH_MAX else f", nested at most {route.depth_max} deep"
        return {
            "description": f"At most {parsing.BODY_BYTES_MAX:,} bytes{limit}.",
            "required": any(member.is_required for member in members_of(route.body)),
            "content": {JSON: {"schema": schema, "example": example}},
        }
    many = {"type": "array", "minItems": 1, "maxItems": route.rows_max, "items": schema}
    return {
        "description": f"1 to {route.rows_max:,} records, as a JSON array, or as lines of JSON with the content type "
        f"`{paging.LINES}`; at most {paging.BODY_BYTES_MAX:,} bytes, and {paging.RECORD_BYTES_MAX:,} a record. A wrong "
        "record is told in its place.",
        "required": True,
        "content": {JSON: {"schema": many, "example": [example]}},
    }


def _parameters(route: Route) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": vocabulary.member("", name),
            "schema": {"type": "string", "pattern": "^[0-9A-Za-z]{22}$"}
            if name in route.ids
            else {"type": "string", "minLength": 1},
        }
        for name in route.parameters
    ]
    if route.query is not None:
        _, schemas = _schemas_of([route.query], "{name}")
        schema = schemas[route.query.__name__]
        vocabulary.describe_members(route.query.__name__, schema)
        required = set(schema.get("required", ()))
        for name, each in schema.get("properties", {}).items():
            _limit(each)
            style = _PARTS["styles"].get(str(each.get("type")), {})
            found.append(
                {
                    "name": name,
                    "in": "query",
                    "required": name in required,
                    "description": each.pop("description", ""),
                    "schema": _resolved(each, schemas),
                    **style,
                }
            )
    if route.listing is not None:
        found += [_reference(name) for name in _PARTS["paging"][route.shape]]
        found += _criteria_of(route.listing)[: 1 if route.shape == "one" else 2]
    match route.method:
        case "POST":
            found.append(_reference("IdempotencyKey"))
        case "PATCH" | "PUT" | "DELETE":
            found += [_reference(name) for name in ("IfMatch", "IfNoneMatch")[: 2 if route.method == "PUT" else 1]]
        case _:
            if route.shape == "one":
                found.append(_reference("IfNoneMatch"))
    found += [_reference("ResponseFields")] if route.answer is not None else []
    found.append(_reference("Prefer"))
    return found


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/parameters/{name}"}


def _criteria_of(listing: Listing) -> list[dict[str, Any]]:
    if not listing.columns:
        return []
    columns = {"enum": [query.camel_case(name) for name in listing.columns]}
    deep = {"in": "query", "style": "deepObject", "explode": True}
    about = f"`filter_by[CRITERION][Column]=value`, at most {query.CRITERIA_MAX}, all of them must hold."
    compared = {
        "type": "object",
        "propertyNames": {"enum": list(CRITERIA)},
        "additionalProperties": {"type": "object", "propertyNames": columns},
    }
    names: dict[str, Any] = {"type": "array", "maxItems": query.ORDERS_MAX, "items": columns}
    ordered = {"type": "object", "properties": {"ASC": names, "DESC": names}, "additionalProperties": False}
    in_order = "`order_by[ASC][]=Column`, `order_by[DESC][]=Column`, at most 3, in order of appearance."
    return [
        {"name": "filter_by", **deep, "description": about, "schema": compared},
        {"name": "order_by", **deep, "description": in_order, "schema": ordered},
    ]


def _responses(route: Route, names: Mapping[type[msgspec.Struct], str]) -> dict[str, Any]:
    found: dict[str, Any] = {str(route.status): _success(route, names)}
    for status in route.other_statuses:
        about = "The created entity." if status == 201 else "OK; it was there already."  # noqa: PLR2004
        found[str(status)] = {**found[str(route.status)], "description": about}
    own = _own_codes(route)
    for status in sorted({*_statuses(route), *own}):
        if status in own:
            fields_of_it = own[422] if status == 422 else ()  # noqa: PLR2004
            codes = codes_of(422) if fields_of_it else own[status]
            found[str(status)] = response(status, codes, fields=fields_of_it)
        else:
            found[str(status)] = {"$ref": f"#/components/responses/{RESPONSES[status]['name']}"}
    return found


def _own_codes(route: Route) -> dict[int, list[str]]:
    """Codes of the route and of every POST, by status; codes of fields belong to 422."""
    found: dict[int, list[str]] = {}
    for code in route.refusals:
        found.setdefault(status_of(code), []).append(code)
    if route.method == "POST":
        found.setdefault(409, []).append("idempotency_in_progress")
    return found


def _statuses(route: Route) -> Iterable[int]:
    yield from (400, 401, 403)
    if route.parameters:
        yield 404
    if route.answer is not None or route.media_types:
        yield 406
    if route.method in {"PATCH", "PUT", "DELETE"}:
        yield 412
    if route.method == "GET" and route.shape == "one":
        yield 304
    yield from (408, 413, 414, 415, 421, 422, 429, 500, 503)


def _success(route: Route, names: Mapping[type[msgspec.Struct], str]) -> dict[str, Any]:
    always = ["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Preference-Applied"]
    always += ["Afterword-Replica-Lag"] if route.method == "GET" or route.is_long else []
    named = [name.partition(";")[0] for name in route.media_types]
    files = {
        name: {"schema": {"type": "object"} if name in READ else dict(BINARY)}
        | ({"example": {}} if name == JSON else {})
        for name in named
    }
    if route.answer is None:
        if not files:
            return {"description": "Done; no body.", "headers": header_refs(always)}
        headers = header_refs([*always, "ETag", "Content-Disposition"])
        return {"description": "The file.", "headers": headers, "content": files}
    reference = {"$ref": names[route.answer]}
    example: Any = vocabulary.example_of(route.answer, is_request=False)
    if route.shape == "one":
        more = ["ETag", *(["Location", "Idempotency-Replayed"] if route.method == "POST" else [])]
        schema: dict[str, Any] = reference
    else:
        more = ["Link", *(["X-Total-Count"] if route.shape == "array" else [])] if route.listing else []
        schema, example = _list_of(route, reference, example)
    return {
        "description": "The created entity." if route.status == 201 else "OK",  # noqa: PLR2004
        "headers": header_refs([*always, *more]),
        "content": {JSON: {"schema": schema, "example": example}, **files},
    }


def _list_of(route: Route, reference: dict[str, Any], example: Any) -> tuple[dict[str, Any], Any]:
    array = {"type": "array", "items": reference}
    if route.shape == "array":
        return array, [example]
    cursor = {"type": ["string", "null"], "description": "For `cursor`; null at the end."}
    properties: dict[str, Any] = {"results": {**array, "description": "The entries."}, "next_cursor": cursor}
    shown: dict[str, Any] = {"results": [example], "next_cursor": None}
    if route.shape == "envelope":
        about = {"page": "This page", "last_page": "The last page", "total_results": "How many entries there are"}
        counts = {
            name: {"type": ["integer", "null"], "description": f"{words}; null in cursor mode."}
            for name, words in about.items()
        }
        most = {"type": "integer", "description": "How many entries a page has at most."}
        properties = {**counts, "max_per_page": most, **properties}
        shown = {"page": 1, "max_per_page": 10, "last_page": 1, "total_results": 1, **shown}
    return {"type": "object", "required": list(properties), "properties": properties}, shown


def components_of(schemas: dict[str, Any], codes: Iterable[str], site: Site) -> dict[str, Any]:
    """All components; `codes` are those of single operations."""
    shared = [code for status in RESPONSES for code in codes_of(status)]
    return {
        "schemas": {**schemas, "ProblemDetails": _PARTS["schemas"]["ProblemDetails"]},
        "responses": {
            about["name"]: response(status, codes_of(status)) for status, about in RESPONSES.items() if "name" in about
        },
        "examples": {code: _example(code, site) for code in sorted({*shared, *codes})},
        "parameters": _PARTS["parameters"],
        "headers": _PARTS["headers"],
        "securitySchemes": _security_schemes(site),
    }


def security(scopes: Sequence[str]) -> list[dict[str, list[str]]]:
    return [{"bearer": list(scopes)}, {"esat_auth": list(scopes)}, {"oauth": [alias_of(scope) for scope in scopes]}]


def codes_of(status: int) -> list[str]:
    """Codes of an operation with this status, without those of an unknown address."""
    known = [code for code, explanation in EXPLANATIONS.items() if explanation.status == status]
    return [code for code in known if code not in ELSEWHERE]


def response(status: int, codes: Sequence[str], *, fields: Sequence[str] = ()) -> dict[str, Any]:
    """A refusal by these codes, an example for each; `fields`: codes of wrong fields that belong to the operation."""
    if status == 304:  # noqa: PLR2004
        return {"description": "The entity still has the ETag of If-None-Match."}
    about = RESPONSES.get(status, {})
    sentences = [f"{_listed(codes)}.", about.get("description", "")]
    if fields:
        sentences.append(f"Among its fields' codes: {_listed(fields)}.")
    return {
        "description": " ".join(filter(None, sentences)),
        "headers": header_refs(["X-Request-Id", *about.get("headers", ())]),
        "content": {
            "application/problem+json": {
                "schema": {"$ref": "#/components/schemas/ProblemDetails"},
                "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
            }
        },
    }


def header_refs(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _security_schemes(site: Site) -> dict[str, Any]:
    bearer, esat_auth, oauth = (_PARTS["securitySchemes"][name] for name in ("bearer", "esat_auth", "oauth"))
    roles = " ".join(f"`{role}`: {words}" for role, words in vocabulary.ROLES.items())
    scopes = {alias_of(scope): f"`{scope}`: {vocabulary.scope(scope)}" for scope in sorted(SCOPES)}
    flow = {"tokenUrl": f"{site.public_url}/oauth/token", "scopes": scopes}
    return {
        "bearer": {**bearer, "description": f"{bearer['description']} {roles}"},
        "esat_auth": esat_auth,
        "oauth": {**oauth, "flows": {"clientCredentials": flow}},
    }


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def _example(code: str, site: Site) -> dict[str, Any]:
    title = vocabulary.title_of(code)
    text = EXPLANATIONS[code].text if code in EXPLANATIONS else f"{title}."
    wrong = {"invalid": [_WRONG_FIELD], "malformed_header": [_WRONG_HEADER]}.get(code, [])
    scopes = ["Queue.Create"] if code == "insufficient_scope" else []
    refusal = errors.Malformed(text, code, wrong, required_scopes=scopes)
    document = problems.document_of(refusal, site=site, request_id=REQUEST_ID)
    return {"summary": title, "value": {**document, "status": status_of(code)}}


def _schemas_of(structs: Sequence[type[msgspec.Struct]], template: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    references, schemas = msgspec.json.schema_components(structs, ref_template=template)
    if "Moment" in schemas:
        schemas["Moment"] = MOMENT
    return references, schemas


def _resolved(schema: dict[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _resolved(schemas[schema["$ref"]], schemas)
    found = dict(schema)
    if "anyOf" in found:
        found["anyOf"] = [_resolved(option, schemas) for option in found["anyOf"]]
    if "items" in found:
        found["items"] = _resolved(found["items"], schemas)
    return found


def _tidied(schemas: Mapping[str, Any], *, requests: Iterable[str]) -> dict[str, Any]:
    """Add to msgspec's schema the date formats, and the default limits of fields without one."""
    found: dict[str, Any] = {}
    for name, schema in schemas.items():
        schema.pop("title", None)
        vocabulary.describe_members(name, schema)
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
        schema["maxLength"] = reading_structs.TEXT_CHARACTERS_MAX
    elif kind == "array":
        schema.setdefault("maxItems", reading_structs.LIST_ENTRIES_MAX)
        _limit(schema.get("items", {}))
