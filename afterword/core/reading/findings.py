"""Collects what is wrong with a document, each error with its place."""

from collections.abc import Callable
from typing import Literal

import msgspec

from afterword import errors
from afterword.errors import FieldError

FINDINGS_MAX = 1000
Severity = Literal["error", "warning"]
Place = Callable[[str, str, str], FieldError]  # code, message and path -> the error at its place


class Finding(msgspec.Struct, frozen=True):
    """`path` is a JSON Pointer (RFC 6901), `code` stable, `message` a sentence."""

    path: str
    severity: Severity
    code: str
    message: str


def at_pointer(code: str, message: str, path: str) -> FieldError:
    return FieldError(code, message, pointer=path)


def at_parameter(code: str, message: str, path: str) -> FieldError:
    """An error in a query: `/filter_by/EQUAL/Nope` is the parameter `filter_by[EQUAL][Nope]`."""
    first, *rest = (unescape(part) for part in path[1:].split("/"))
    return FieldError(code, message, parameter=first + "".join(f"[{part}]" for part in rest))


class Findings(msgspec.Struct, kw_only=True):
    """Everything found while one document is read; the list ends at `FINDINGS_MAX`.

    `strict` also refuses members that nobody reads. `place` makes the errors of a refusal.
    """

    strict: bool = False
    place: Place = at_pointer
    found: list[Finding] = msgspec.field(default_factory=list[Finding])

    @property
    def errors(self) -> list[FieldError]:
        return [self.place(each.code, each.message, each.path) for each in self.found if each.severity == "error"]

    def error(self, path: str, code: str, message: str) -> None:
        self._add(Finding(path, "error", code, message))

    def warning(self, path: str, code: str, message: str) -> None:
        """Add what is allowed, but probably not meant."""
        self._add(Finding(path, "warning", code, message))

    def check(self) -> None:
        """Raise Invalid with all errors, if there are any."""
        errors.check(self.errors)

    def _add(self, finding: Finding) -> None:
        if len(self.found) < FINDINGS_MAX:
            self.found.append(finding)


def escape(name: str) -> str:
    """A member's name as a part of a JSON Pointer (RFC 6901, 3)."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
