"""Shared components of the OpenAPI document: problems, headers, parameters, refusals. Most stand in components.toml."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.core.organizations.access import SCOPES, alias_of
from afterword.core.wire.site import Site
from afterword.web import limits, paging, parsing, problems, rows, vocabulary
from afterword.web.vocabulary import EXPLANATIONS, FIELD_CODES, status_of

REQUEST_ID: Final = "7HqXk2"
ELSEWHERE: Final = frozenset(  # codes that no operation of the document has
    {
        "unknown_route", "method_not_allowed", "invalid_request", "unsupported_grant_type", "unauthorized_client",
        "invalid_scope", "invalid_client",
    }
)  # fmt: skip
OF_RECORDS: Final = (  # refusals that name the key or the record of a batch
    "idempotency_key_reused", "already_exists", "item_closed", "item_in_dispatch",
)  # fmt: skip
_PARTS: Final = vocabulary.read(
    "components.toml",
    BODY_BYTES_MAX=f"{parsing.BODY_BYTES_MAX:,}",
    BODY_SECONDS_MAX=parsing.BODY_SECONDS_MAX,
    CURSOR_CHARACTERS_MAX=paging.CURSOR_CHARACTERS_MAX,
    ERRORS_MAX=errors.ERRORS_MAX,
    ERROR_CODES=msgspec.json.encode([*FIELD_CODES, "malformed_header", *OF_RECORDS]).decode(),
    FAILURES=limits.FAILURES_DEFAULT,
    FIELDS_MAX=paging.FIELDS_MAX,
    LIMIT_MAX=paging.LIMIT_MAX,
    NAME_CHARACTERS_MAX=parsing.NAME_CHARACTERS_MAX,
    ORGANIZATION_REQUESTS=f"{limits.ORGANIZATION_REQUESTS_DEFAULT:,}",
    PER_PAGE_DEFAULT=paging.PER_PAGE_DEFAULT,
    PER_PAGE_MAX=paging.PER_PAGE_MAX,
    RECORD_BYTES_MAX=f"{rows.RECORD_BYTES_MAX:,}",
    ROWS_BYTES_MAX=f"{rows.BODY_BYTES_MAX:,}",
    ROWS_PER_REQUEST=rows.ROWS_PER_REQUEST,
    TARGET_BYTES_MAX=f"{parsing.TARGET_BYTES_MAX:,}",
    TOKEN_REQUESTS=f"{limits.TOKEN_REQUESTS_DEFAULT:,}",
)
INFO: Final = _PARTS["info"]
MOMENT: Final = _PARTS["schemas"]["Moment"]
RESPONSES: Final = {int(status): about for status, about in _PARTS["responses"].items()}


def all_of(schemas: dict[str, Any], codes: Iterable[str], site: Site) -> dict[str, Any]:
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
    """Security requirement of these scopes: a token in one of three ways, with all of the scopes."""
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


_WRONG_FIELD: Final = errors.FieldError("required", "This is required.", pointer="/name")
_WRONG_HEADER: Final = errors.FieldError(
    "malformed_header", "1 to 255 visible ASCII characters are expected.", header="Idempotency-Key"
)


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
