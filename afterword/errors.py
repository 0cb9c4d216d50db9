"""The kinds of refusal, each with its HTTP status. One handler renders them; anything else is a bug and a 500.

A specific refusal (`class ItemClosed(errors.Conflict)`) lives beside the function that raises it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Self, TypeVar

import msgspec

Thing = TypeVar("Thing")
ERRORS_MAX = 100


class Sentence(str):
    """An English sentence with its values filled in, which keeps both, so that it can be said in other languages.

    `text` has a blank `{name}` for each of the values; numbers are written in groups of thousands.
    """

    __slots__ = ("text", "values")
    text: str
    values: Mapping[str, float | str]

    def __new__(cls, text: str, /, **values: float | str) -> Self:
        written = {name: value if isinstance(value, str) else f"{value:,}" for name, value in values.items()}
        sentence = super().__new__(cls, text.format_map(written) if values else text)
        sentence.text, sentence.values = text, values
        return sentence

    @classmethod
    def of(cls, message: str) -> "Sentence":
        return message if isinstance(message, cls) else cls(message)


class FieldError(msgspec.Struct, frozen=True):
    """One wrong field of a request: where it is (exactly one of the three), a stable code, a sentence.

    A sentence with values is a Sentence.
    """

    code: str
    message: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None

    @property
    def place(self) -> str:
        """The place in words: the pointer without its first slash, the parameter or the header."""
        if self.pointer is not None:
            return self.pointer.removeprefix("/").replace("/", ".").replace("~1", "/").replace("~0", "~") or "the body"
        return self.parameter or self.header or "the request"


@dataclass(eq=False)
class Refusal(Exception):
    """An answer from 400 up that we give on purpose. `detail` never repeats what was sent."""

    detail: str
    code: str = ""
    errors: Sequence[FieldError] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    required_scopes: Sequence[str] = ()

    status: ClassVar[int]
    code_default: ClassVar[str]

    def __post_init__(self) -> None:
        self.code = self.code or self.code_default
        Exception.__init__(self, self.detail)


class Malformed(Refusal):
    status, code_default = 400, "malformed_json"


class Unauthorized(Refusal):
    status, code_default = 401, "unauthenticated"


class Forbidden(Refusal):
    status, code_default = 403, "forbidden"


class NotFound(Refusal):
    """Foreign, deleted and absent alike."""

    status, code_default = 404, "not_found"


class MethodNotAllowed(Refusal):
    status, code_default = 405, "method_not_allowed"


class NotAcceptable(Refusal):
    status, code_default = 406, "not_acceptable"


class RequestTimeout(Refusal):
    status, code_default = 408, "request_timeout"


class Conflict(Refusal):
    status, code_default = 409, "already_exists"


class Gone(Refusal):
    """It was here and will not come back."""

    status, code_default = 410, "gone"


class Stale(Refusal):
    status, code_default = 412, "precondition_failed"


def found(thing: Thing | None, sentence: str) -> Thing:
    """The thing. Raises NotFound with the sentence where there is none."""
    if thing is None:
        raise NotFound(sentence)
    return thing


ABSENT: Final = -1  # the version where there is nothing yet
Expect = Callable[[int], None]  # called with the version of a locked row, or ABSENT; raises Stale


def _any(_version: int) -> None:
    pass


ANY: Final[Expect] = _any  # the check of a caller that names no version


class TooLarge(Refusal):
    status, code_default = 413, "body_too_large"


class TargetTooLong(Refusal):
    status, code_default = 414, "target_too_long"


class UnsupportedMedia(Refusal):
    status, code_default = 415, "unsupported_media_type"


class Misdirected(Refusal):
    """Another server can do it: this one serves a copy, and only reads."""

    status, code_default = 421, "read_only_copy"
    url: str = ""  # of the other one


class Invalid(Refusal):
    status, code_default = 422, "invalid"
    record: Mapping[str, object] | None = None  # of many, in which these fields are wrong: more of them may be

    @classmethod
    def of(cls, *wrong: FieldError, record: Mapping[str, object] | None = None) -> "Invalid":
        """Say how many fields are wrong and which, and of a single one why: old clients show this sentence alone."""
        places = ", ".join(dict.fromkeys(error.place for error in wrong[:10]))
        detail = f"{len(wrong)} fields are wrong: {places}."
        if len(wrong) == 1:
            detail = f"1 field is wrong: {places}. {wrong[0].message}"
        refusal = cls(detail, errors=wrong[:ERRORS_MAX])
        refusal.record = record
        return refusal

    @classmethod
    def at(cls, pointer: str, code: str, message: str) -> "Invalid":
        return cls.of(FieldError(code, message, pointer=pointer))

    @classmethod
    def in_query(cls, parameter: str, code: str, message: str) -> "Invalid":
        return cls.of(FieldError(code, message, parameter=parameter))


class TooMany(Refusal):
    status, code_default = 429, "rate_limited"


class Unavailable(Refusal):
    """The database is away or we are overloaded; `Retry-After` says when again."""

    status, code_default = 503, "unavailable"


def check(wrong: Sequence[FieldError]) -> None:
    if wrong:
        raise Invalid.of(*wrong)
