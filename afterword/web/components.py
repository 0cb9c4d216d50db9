"""Shared components of the OpenAPI document: problems, headers, parameters, refusals."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from afterword import errors
from afterword.core.organizations.access import SCOPES, alias_of
from afterword.core.wire.site import Site
from afterword.web import limits, paging, parsing, problems, rows, vocabulary
from afterword.web.explanations import EXPLANATIONS, FIELD_CODES

REQUEST_ID: Final = "7HqXk2"
OF_ONE_OPERATION: Final = (409, 410)  # refusals whose codes differ by operation
ELSEWHERE: Final = frozenset(  # codes that no operation of the document has
    {
        "unknown_route", "method_not_allowed", "invalid_request", "unsupported_grant_type", "unauthorized_client",
        "invalid_scope", "invalid_client",
    }
)  # fmt: skip
OF_RECORDS: Final = (  # refusals that name the key or the record of a batch
    "idempotency_key_reused", "already_exists", "item_closed", "item_in_dispatch",
)  # fmt: skip
STATUS_NAMES: Final[Mapping[int, str]] = {
    304: "NotModified",
    400: "Malformed",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    406: "NotAcceptable",
    408: "RequestTimeout",
    409: "Conflict",
    410: "Gone",
    412: "PreconditionFailed",
    413: "BodyTooLarge",
    414: "TargetTooLong",
    415: "UnsupportedMedia",
    422: "Invalid",
    429: "TooMany",
    500: "InternalError",
    503: "Unavailable",
}
PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "description": "The body of every refusal.",
    "required": ["type", "title", "status", "code", "detail", "message", "error", "instance", "request_id", "errors"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "A page that explains the code."},
        "title": {"type": "string", "description": "The code in words."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599, "description": "The HTTP status."},
        "code": {"type": "string", "description": "Stable; decide by this."},
        "detail": {"type": "string", "description": "What is the matter, in a sentence."},
        "message": {"type": "string", "minLength": 1, "description": "As detail."},
        "error": {"type": "string", "minLength": 1, "description": "As detail, for old clients."},
        "instance": {"type": "string", "description": "A name of this refusal."},
        "request_id": {"type": "string", "description": "The request's id, as in our log."},
        "errors": {
            "type": "array",
            "description": "All wrong fields; empty when no field is to blame.",
            "maxItems": 100,
            "items": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "pointer": {"type": "string", "description": "JSON Pointer into the body."},
                    "parameter": {"type": "string", "description": "The query parameter, where it is one."},
                    "header": {"type": "string", "description": "The header, where it is one."},
                    "code": {
                        "type": "string",
                        "enum": [*FIELD_CODES, "malformed_header", *OF_RECORDS],
                        "description": "Stable; decide by this.",
                    },
                    "message": {"type": "string", "description": "What is expected, in a sentence."},
                },
            },
        },
        "required_scopes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The scopes that the operation needs.",
        },
    },
}
HEADERS: Final[dict[str, Any]] = {
    "ETag": {
        "description": "The version of this entity, for If-Match and If-None-Match.",
        "schema": {"type": "string"},
    },
    "Location": {"description": "Where the created entity is.", "schema": {"type": "string", "format": "uri"}},
    "Link": {"description": 'The next page, rel="next", while there is more.', "schema": {"type": "string"}},
    "X-Total-Count": {
        "description": "How many entries there are, unless `limit` or `cursor` was given.",
        "schema": {"type": "integer"},
    },
    "X-Request-Id": {"description": "This request's id, as in our log.", "schema": {"type": "string"}},
    "RateLimit-Limit": {"description": "Requests a minute.", "schema": {"type": "integer"}},
    "RateLimit-Remaining": {"description": "Requests left in this minute.", "schema": {"type": "integer"}},
    "RateLimit-Reset": {"description": "Seconds until the minute ends.", "schema": {"type": "integer"}},
    "Content-Disposition": {"description": "The file's name.", "schema": {"type": "string"}},
    "Preference-Applied": {"description": "handling=strict, where it was asked for.", "schema": {"type": "string"}},
    "WWW-Authenticate": {"description": "How to authenticate, and with which scope.", "schema": {"type": "string"}},
    "Accept-Encoding": {"description": "identity: bodies are read as they are.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "Idempotency-Replayed": {"description": "true: the first answer again.", "schema": {"type": "string"}},
}
PARAMETERS: Final[dict[str, Any]] = {
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
    "After": {
        "name": "after",
        "in": "query",
        "description": "Goes on behind the entry that `next_cursor` or `Link` stood on.",
        "schema": {"type": "string", "maxLength": paging.CURSOR_CHARACTERS_MAX},
    },
    "ResponseFields": {
        "name": "response_fields",
        "in": "query",
        "style": "form",
        "explode": False,
        "description": "Only these members of the answer, or of each entry; without it, or with `*`, all of them.",
        "schema": {
            "type": "array",
            "maxItems": paging.FIELDS_MAX,
            "items": {"type": "string", "maxLength": parsing.NAME_CHARACTERS_MAX},
        },
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
        "hours, without the secrets that it showed.",
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


_ABOUT_TOKENS: Final = (
    "`Authorization: Bearer afw_…`. A token has scopes, at most those of its maker's role. "
    + " ".join(f"`{role}`: {words}" for role, words in vocabulary.ROLES.items())
)


def security_schemes(site: Site) -> dict[str, Any]:
    """The three ways to send a token; the last one lists all scopes."""
    return {
        "bearer": {"type": "http", "scheme": "bearer", "description": _ABOUT_TOKENS},
        "esat_auth": {
            "type": "apiKey",
            "in": "header",
            "name": "esat-auth",
            "description": "The header of old clients.",
        },
        "oauth": {
            "type": "oauth2",
            "description": "A short-lived token for an organization's token; its scopes are spelt without spaces.",
            "flows": {
                "clientCredentials": {
                    "tokenUrl": f"{site.public_url}/oauth/token",
                    "scopes": {alias_of(scope): f"`{scope}`: {vocabulary.scope(scope)}" for scope in sorted(SCOPES)},
                }
            },
        },
    }


def security(scopes: Sequence[str]) -> list[dict[str, list[str]]]:
    """Security requirement of these scopes: a token in one of three ways, with all of the scopes."""
    return [{"bearer": list(scopes)}, {"esat_auth": list(scopes)}, {"oauth": [alias_of(scope) for scope in scopes]}]


def examples(codes: Iterable[str], site: Site) -> dict[str, Any]:
    """A problem document for each code: those of all operations, and `codes`."""
    of_all = [code for status in STATUS_NAMES for code in codes_of(status)]
    return {code: _example(status_of(code), code, site) for code in sorted({*of_all, *codes})}


def status_of(code: str) -> int:
    """Status of a code: 422 for codes of fields, 409 by default."""
    return 422 if code in FIELD_CODES else EXPLANATIONS[code].status if code in EXPLANATIONS else 409


def shared_responses() -> dict[str, Any]:
    """Refusals that mean the same for every operation, by name."""
    return {
        name: response(status, codes_of(status))
        for status, name in STATUS_NAMES.items()
        if status not in OF_ONE_OPERATION
    }


def codes_of(status: int) -> list[str]:
    """Codes of an operation with this status, without those of an unknown address."""
    known = [code for code, explanation in EXPLANATIONS.items() if explanation.status == status]
    return [code for code in known if code not in ELSEWHERE]


def response(status: int, codes: Sequence[str], *, fields: Sequence[str] = ()) -> dict[str, Any]:
    """A refusal by these codes, an example for each; `fields`: codes of wrong fields that belong to the operation."""
    if status == 304:  # noqa: PLR2004
        return {"description": "The entity still has the ETag of If-None-Match."}
    more = f" Among its fields' codes: {_listed(fields)}." if fields else ""
    return {
        "description": f"{_listed(codes)}.{_ABOUT.get(status, '')}{more}",
        "headers": header_refs(["X-Request-Id", *_HEADERS_OF.get(status, ())]),
        "content": {
            "application/problem+json": {
                "schema": {"$ref": "#/components/schemas/ProblemDetails"},
                "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
            }
        },
    }


def header_refs(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


_ABOUT: Final[Mapping[int, str]] = {
    408: f" The whole body must arrive within {parsing.BODY_SECONDS_MAX} seconds.",
    413: f" Bodies may have {parsing.BODY_BYTES_MAX:,} bytes; those of many records {rows.BODY_BYTES_MAX:,}, "
    f"each record {rows.RECORD_BYTES_MAX:,}.",
    414: f" Path and query may have {parsing.TARGET_BYTES_MAX:,} bytes together.",
    429: f" Unless the operator chose otherwise, {limits.TOKEN_REQUESTS_DEFAULT:,} requests a minute for a token and "
    f"{limits.ORGANIZATION_REQUESTS_DEFAULT:,} for an organization; {rows.ROWS_PER_REQUEST} records of a bulk count as "
    f"one. And {limits.FAILURES_DEFAULT} failed authentications a minute from one address.",
}
_HEADERS_OF: Final[Mapping[int, Sequence[str]]] = {
    401: ["WWW-Authenticate"],
    403: ["WWW-Authenticate"],
    409: ["Retry-After"],
    415: ["Accept-Encoding"],
    429: ["Retry-After"],
    503: ["Retry-After"],
}
_WRONG_FIELD: Final = errors.FieldError("required", "This is required.", pointer="/name")
_WRONG_HEADER: Final = errors.FieldError(
    "malformed_header", "1 to 255 visible ASCII characters are expected.", header="Idempotency-Key"
)


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def _example(status: int, code: str, site: Site) -> dict[str, Any]:
    text = EXPLANATIONS[code].text if code in EXPLANATIONS else problems.title_of(code) + "."
    wrong = {"invalid": [_WRONG_FIELD], "malformed_header": [_WRONG_HEADER]}.get(code, [])
    scopes = ["Queue.Create"] if code == "insufficient_scope" else []
    refusal = errors.Malformed(text, code, wrong, required_scopes=scopes)
    document = problems.document_of(refusal, site=site, request_id=REQUEST_ID)
    return {"summary": problems.title_of(code), "value": {**document, "status": status}}
