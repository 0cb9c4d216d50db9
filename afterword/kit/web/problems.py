"""Refusals as problem documents (RFC 9457), and their titles on the page `/problems/{code}`."""

from typing import Any

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit.web.vocabulary import title_of


def document_of(refusal: errors.Refusal, *, site: Site, request_id: str) -> dict[str, Any]:
    """Old clients read `error`, else `message`."""
    detail = str(refusal.detail)  # msgspec writes no subclass of str
    document: dict[str, Any] = {
        "type": site.problem_url(refusal.code),
        "title": title_of(refusal.code),
        "status": refusal.status,
        "code": refusal.code,
        "detail": detail,
        "message": detail,
        "error": detail,
        "instance": f"urn:afterword:request:{request_id}",
        "request_id": request_id,
        "errors": [_error(error) for error in refusal.errors[: errors.ERRORS_MAX]],
    }
    if refusal.required_scopes:
        document["required_scopes"] = list(refusal.required_scopes)
    return document


class InternalError(errors.Refusal):
    """A bug: never the answer to an input; it discloses nothing of the cause."""

    status, code_default = 500, "internal_error"

    def __init__(self) -> None:
        super().__init__("Something went wrong on our side. It is in our log under this request's id.")


def _error(error: errors.FieldError) -> dict[str, str]:
    place = {"pointer": error.pointer, "parameter": error.parameter, "header": error.header}
    return {
        **{name: value for name, value in place.items() if value is not None},
        "code": error.code,
        "message": str(error.message),
    }
