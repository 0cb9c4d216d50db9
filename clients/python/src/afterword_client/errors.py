"""Errors of a call: refusals of the service, each with its stable code, and answers that never came."""

from collections.abc import Sequence
from typing import Final

import msgspec


class AfterwordError(Exception):
    """Everything that this client raises."""


class Disconnected(AfterwordError):
    """No answer came, in all tries. Whether a change was made is not known; repeating the call is safe."""


class FieldProblem(msgspec.Struct, frozen=True):
    """One wrong field: where it is (a JSON pointer, a query parameter or a header), a stable code, a sentence."""

    code: str
    message: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None


class ApiError(AfterwordError):
    """A refusal (RFC 9457). `code` is stable, `detail` is a sentence for people, `errors` names every wrong field."""

    def __init__(
        self,
        *,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[FieldProblem] = (),
        request_id: str | None = None,
        required_scopes: Sequence[str] = (),
    ) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.required_scopes = required_scopes


class Unauthorized(ApiError):
    """401: no token, or none that is good."""


class Forbidden(ApiError):
    """403: the token lacks a scope, named in `required_scopes`, or the right."""


class NotFound(ApiError):
    """404: it is not there, or not yours."""


class Conflict(ApiError):
    """409: the state of the thing forbids it."""


class Gone(ApiError):
    """410: the file's time is over."""


class Stale(ApiError):
    """412: it was changed since you read it."""


class Invalid(ApiError):
    """422: see `errors`."""

    def __str__(self) -> str:
        unsaid = [one for one in self.errors if one.message not in self.detail]
        wrong = (f"{one.pointer or one.parameter or one.header or 'body'}: {one.message}" for one in unsaid)
        return " ".join([super().__str__(), *wrong])


class RateLimited(ApiError):
    """429, after all tries."""


class Unavailable(ApiError):
    """503, after all tries."""


OF_STATUS: Final[dict[int, type[ApiError]]] = {
    401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 410: Gone, 412: Stale, 422: Invalid,
    429: RateLimited, 503: Unavailable,
}  # fmt: skip


class _Problem(msgspec.Struct):
    code: str = "unknown"
    detail: str = "The service refused without a reason."
    errors: list[FieldProblem] = []
    request_id: str | None = None
    required_scopes: list[str] = []


def error_of(status: int, content: bytes) -> ApiError:
    """The exception for a refusal; a body that is no problem document (a proxy's page) still gives one."""
    try:
        problem = msgspec.json.decode(content, type=_Problem)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        problem = _Problem(detail="The answer did not come from Afterword.")
    return OF_STATUS.get(status, ApiError)(
        status=status,
        code=problem.code,
        detail=problem.detail,
        errors=problem.errors,
        request_id=problem.request_id,
        required_scopes=problem.required_scopes,
    )
