"""Readers of single values: each takes a value of canonical JSON and its pointer, and adds errors to the context."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import inspect

from afterword import errors, ids
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.reading import escape
from afterword.core.text import locales
from afterword.core.wire import times
from afterword.core.wire.lists import Kind

TEXT_CHARACTERS_MAX = 4096

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_INTEGER = re.compile(r"-?[0-9]{1,18}\Z", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?\Z", re.ASCII)
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d\Z", re.ASCII)
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}\Z", re.ASCII)
_BOOLEANS = {"1": True, "true": True, "0": False, "false": False}


@dataclass(slots=True)
class Context:
    """Options of reading, and the errors so far."""

    now: datetime
    zone: tzinfo
    lax: bool = False  # forms, queries, JSON without its label: scalars are typed by the member
    partial: bool = False  # PATCH: null is a value, not an absence
    strict: bool = False  # Prefer: handling=strict
    as_parameter: bool = False  # errors name query parameters, not pointers
    wrong: list[errors.FieldError] = field(default_factory=list[errors.FieldError])

    def add(self, pointer: str, code: str, message: str) -> None:
        """Add an error at a JSON Pointer (RFC 6901)."""
        if self.as_parameter:
            first, *rest = (unescape(part) for part in pointer[1:].split("/"))
            name = first + "".join(f"[{part}]" for part in rest)
            self.wrong.append(errors.FieldError(code, message, parameter=name))
        else:
            self.wrong.append(errors.FieldError(code, message, pointer=pointer))


Reader = Callable[[Any, str, Context], Any]


def unescape(token: str) -> str:
    """Decode a token of a JSON Pointer (RFC 6901, 4)."""
    return token.replace("~1", "/").replace("~0", "~")


def reader_of(kind: inspect.Type) -> Reader:  # noqa: PLR0911  one line for each type
    """Build the reader of a type that contains no other types."""
    match kind:
        case inspect.StrType(min_length=least, max_length=most):
            return _text_reader(least, most, kind.pattern)
        case inspect.BoolType():
            return _read_boolean
        case inspect.IntType():
            return _integer_reader(kind)
        case inspect.FloatType():
            return _number_reader(kind)
        case inspect.LiteralType(values=values):
            return _choice_reader({value: value for value in values})
        case inspect.EnumType(cls=enum):
            return _choice_reader({value.value: value for value in enum})
        case inspect.DataclassType(cls=times.Moment):
            return _read_moment
        case inspect.AnyType():
            return read_anything
        case _:
            raise TypeError(f"there is no reader for {kind}")


def shaped_text_reader(kind: inspect.StrType, expected: str) -> Reader:
    """As `reader_of` for strings, with an error message of its own for a pattern that does not match."""
    return _text_reader(kind.min_length, kind.max_length, kind.pattern, expected)


def _text_reader(
    least: int | None, most: int | None, pattern: str | None, expected: str = "This does not have the expected form."
) -> Reader:
    most = TEXT_CHARACTERS_MAX if most is None else most
    least = least or 0
    shape = re.compile(pattern) if pattern else None

    def read_text(value: Any, pointer: str, context: Context) -> Any:
        if context.lax and (type(value) is int or type(value) is float) and not context.as_parameter:
            value = str(value)  # PHP writes a numeric string as a number
        if type(value) is not str:
            context.add(pointer, "wrong_type", "A text is expected.")
        elif len(value) < least:
            context.add(pointer, "too_short", f"At least {count_of(least, 'character', 'characters')} expected.")
        elif len(value) > most:
            context.add(pointer, "too_long", f"At most {count_of(most, 'character', 'characters')} allowed.")
        elif shape is not None and shape.search(value) is None:
            context.add(pointer, "invalid_format", expected)
        return value

    return read_text


def count_of(number: int, one: str, many: str) -> str:
    """Returns such as `1 entry is`, `3 entries are`."""
    return f"{number:,} {one} is" if number == 1 else f"{number:,} {many} are"


def read_anything(value: Any, _place: str, _context: Context) -> Any:
    """Accept any value, which a reader of its own checks later (definitions, condition trees)."""
    return value


def _read_boolean(value: Any, pointer: str, context: Context) -> Any:
    if type(value) is bool:
        return value
    if context.lax and (type(value) is str or type(value) is int) and str(value) in _BOOLEANS:
        return _BOOLEANS[str(value)]
    context.add(pointer, "wrong_type", "true or false is expected.")
    return None


def _integer_reader(kind: inspect.IntType) -> Reader:
    low = kind.ge if kind.ge is not None else None if kind.gt is None else kind.gt + 1
    high = kind.le if kind.le is not None else None if kind.lt is None else kind.lt - 1

    def read_integer(value: Any, pointer: str, context: Context) -> Any:
        if context.lax and type(value) is str and _INTEGER.match(value):
            value = int(value)
        if type(value) is not int:
            context.add(pointer, "wrong_type", "An integer is expected.")
        elif (low is not None and value < low) or (high is not None and value > high):
            context.add(pointer, "out_of_range", _bounds(low, high))
        return value

    return read_integer


def _number_reader(kind: inspect.FloatType) -> Reader:
    def read_number(value: Any, pointer: str, context: Context) -> Any:
        if context.lax and type(value) is str and _NUMBER.match(value):
            value = float(value)
        if type(value) is not int and type(value) is not float:
            context.add(pointer, "wrong_type", "A number is expected.")
            return None
        if (
            (kind.ge is not None and value < kind.ge)
            or (kind.le is not None and value > kind.le)
            or (kind.gt is not None and value <= kind.gt)
            or (kind.lt is not None and value >= kind.lt)
        ):
            low, high = (kind.ge if kind.ge is not None else kind.gt), (kind.le if kind.le is not None else kind.lt)
            context.add(pointer, "out_of_range", _bounds(low, high))
        return float(value)

    return read_number


def _bounds(low: float | None, high: float | None) -> str:
    match low, high:
        case None, _:
            return f"At most {high:,} is allowed."
        case _, None:
            return f"At least {low:,} is expected."
        case _:
            return f"It must lie between {low:,} and {high:,}."


def _choice_reader(choices: Mapping[Any, Any]) -> Reader:
    kinds = {type(choice) for choice in choices}
    allowed = ", ".join(str(choice) for choice in choices)
    by_text = {str(choice): choice for choice in choices}

    def read_choice(value: Any, pointer: str, context: Context) -> Any:
        if context.lax and type(value) is str and value in by_text:
            value = by_text[value]
        if type(value) not in kinds and not (context.lax and type(value) is str):
            context.add(pointer, "wrong_type", "A text is expected." if str in kinds else "An integer is expected.")
            return None
        if value not in choices:
            context.add(pointer, "unknown_value", f"One of these is expected: {allowed}.")
            return None
        return choices[value]

    return read_choice


def _read_moment(value: Any, pointer: str, context: Context) -> Any:
    if type(value) is not str:
        code = "invalid_date_time" if type(value) in {int, float} else "wrong_type"
        context.add(pointer, code, "A date with a time is expected, such as 2026-11-21T18:23:45+02:00.")
        return None
    try:
        return times.parse_date_time(value, zone=context.zone, now=context.now, lax=context.lax)
    except times.InvalidDateTime as error:
        context.add(pointer, error.code, error.message)
        return None


# Texts with a meaning ------------------------------------------------------------------------------------------------


def _is_locale(text: str) -> bool:
    try:
        locales.normalise(text)
    except locales.InvalidLocale:
        return False
    return True


def _is_zone(text: str) -> bool:
    try:
        times.zone_of(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007  a date has no zone
    except ValueError:
        return False
    return len(text) == len("2026-11-21")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and _CONTROL.search(text) is None
    except ValueError:
        return False


KINDS: Final[Mapping[str, tuple[Callable[[str], bool], str, str]]] = {
    "locale": (_is_locale, "invalid_locale", "A language tag is expected, such as el or en-US."),
    "id": (ids.is_id, "unknown_id", "There is nothing with this id."),
    "zone": (_is_zone, "unknown_value", "An IANA time zone is expected, such as Europe/Athens."),
    "url": (_is_url, "invalid_format", "An http or https address is expected."),
    "date": (_is_date, "invalid_format", "A date is expected, such as 2026-11-21."),
    "clock": (lambda text: _CLOCK.match(text) is not None, "invalid_format", "A time is expected, such as 09:30."),
    "color": (lambda text: _COLOR.match(text) is not None, "invalid_format", "A colour is expected, such as #1a2b3c."),
    "line": (lambda text: _CONTROL.search(text) is None, "invalid_format", "Control characters are not allowed."),
}


def checked(reader: Reader, check: Callable[[str], bool], code: str, message: str) -> Reader:
    """Wrap `reader`: its value must also pass `check`."""

    def read_checked(value: Any, pointer: str, context: Context) -> Any:
        before = len(context.wrong)
        found = reader(value, pointer, context)
        if len(context.wrong) == before and not check(found):
            context.add(pointer, code, message)
        return found

    return read_checked


def normal_locale_reader(reader: Reader) -> Reader:
    """Wrap `reader`: its language tag is normalized."""

    def read_locale(value: Any, pointer: str, context: Context) -> Any:
        before = len(context.wrong)
        found = reader(value, pointer, context)
        if len(context.wrong) > before:
            return None
        try:
            return locales.normalise(found)
        except locales.InvalidLocale:
            context.add(pointer, "invalid_locale", "A language tag is expected, such as el or en-US.")
            return None

    return read_locale


def metadata_reader(group: Reader | None = None) -> Reader:
    """Reads a map of names to strings, null and "" as None; `group` reads the maps of the two group names."""

    def read_metadata(value: Any, pointer: str, context: Context) -> Any:
        if type(value) is not dict:
            if value != []:
                context.add(pointer, "wrong_type", "An object of names and values is expected.")
            return {}
        if len(value) > metadata.NAMES_MAX:
            context.add(pointer, "too_many", f"At most {metadata.NAMES_MAX} names are allowed.")
            return {}
        found: dict[str, Any] = {}
        for name, entry in value.items():
            if group is not None and name in metadata.KINDS and type(entry) in {dict, list}:
                found[name] = group(entry, f"{pointer}/{name}", context)
            else:
                found[name] = _metadata_value(name, entry, pointer, context)
        return found

    return read_metadata


def _metadata_value(name: str, value: Any, pointer: str, context: Context) -> str | None:
    try:
        return metadata.read_value(name, value)
    except metadata.InvalidMetadata as error:
        context.add(f"{pointer}/{escape(name)}", error.code, str(error))
        return None


COLUMN_READERS: Final[Mapping[Kind, Reader]] = {
    "text": _text_reader(None, None, None),
    "id": _text_reader(None, None, None),  # an invalid id matches nothing
    "integer": _integer_reader(inspect.IntType(ge=-(2**63), le=2**63 - 1)),
    "number": _number_reader(inspect.FloatType()),
    "boolean": _read_boolean,
    "time": _read_moment,
    "date": _text_reader(None, None, None),
}
"""Readers of values of `filter_by`, by the kind of the column."""
