"""Parses queries and forms with PHP nesting, `a[b][c]=v`, `a[]=v`, `a[0]=v`, strictly into maps and lists.

Existing clients send forms and mislabelled JSON. Both become the value that JSON would give, marked lax: scalars of a
form are strings, and their members give the types.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Any, Final, cast
from urllib.parse import unquote_to_bytes

import msgspec

from afterword import errors
from afterword.core.reading import structs
from afterword.core.reading.findings import escape
from afterword.core.reading.structs import Context, Reader, TextKind, as_list
from afterword.core.wire import times
from afterword.core.wire.lists import CRITERIA, Column, Criterion, Direction, Kind, Listing, Order
from afterword.kit.web import parsing

READ: Final = "application/json, application/x-www-form-urlencoded"
PAIRS_MAX = 1000
BRACKETS_MAX = 8

_BROKEN_PERCENT: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class Parameters(msgspec.Struct):
    """Nested values (all strings), and the pairs in their order of appearance."""

    values: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    pairs: list[tuple[tuple[str, ...], str]] = msgspec.field(default_factory=list[tuple[tuple[str, ...], str]])


def read(raw: bytes, *, code: str = "malformed_query") -> Parameters:
    """Parse `raw`; `a[]` becomes a list, `a[0]` a map with the keys 0, 1, … (see `structs.as_list`).

    Raises Malformed: `code` for brackets that do not close, a name that is both value and map, too many pairs;
    `duplicate_member` for a name twice, `malformed_encoding`, `nul_character`, and the limits on names and members.
    """
    found = Parameters()
    if not raw:
        return found
    if raw.count(b"&") >= PAIRS_MAX:
        raise errors.Malformed(f"There may be {PAIRS_MAX:,} pairs.", code)
    for part in raw.split(b"&"):
        if not part:
            continue
        name, _, value = part.partition(b"=")
        path, text = _path_of(_text_of(name, code), code), _text_of(value, code)
        found.pairs.append((path, text))
        _put(found.values, path, text, code)
    return found


def _text_of(raw: bytes, code: str) -> str:
    raw = raw.replace(b"+", b" ")
    if b"%" in raw:
        if _BROKEN_PERCENT.search(raw):
            raise errors.Malformed("A percent sign must be followed by two hexadecimal digits.", code)
        raw = unquote_to_bytes(raw)
    return parsing.check_text(parsing.decode(raw, "text behind the percent signs"))


def _path_of(name: str, code: str) -> tuple[str, ...]:
    base, bracket, rest = name.partition("[")
    if not base or "]" in base:
        raise errors.Malformed("A name or a bracket is missing.", code)
    if len(name) > parsing.NAME_CHARACTERS_MAX * 2 or len(base) > parsing.NAME_CHARACTERS_MAX:
        raise parsing.name_too_long()
    if bracket and not rest.endswith("]"):
        raise errors.Malformed("A bracket is not closed.", code)
    path = (base, *rest[:-1].split("][")) if bracket else (base,)
    if len(path) > BRACKETS_MAX + 1 or any("[" in step or "]" in step for step in path):
        raise errors.Malformed(f"Brackets must close, and may be {BRACKETS_MAX} deep.", code)
    if any(len(step) > parsing.NAME_CHARACTERS_MAX for step in path):
        raise parsing.name_too_long()
    return path


def _put(values: dict[str, Any], path: tuple[str, ...], text: str, code: str) -> None:
    """Add the text. `a[][b]=v` makes a new entry each time, as PHP reads it."""
    here: Any = values
    for step, following in zip(path, (*path[1:], None), strict=True):
        new: Any = text if following is None else {} if following else []
        if isinstance(here, list) != (step == ""):
            raise _both(code)
        if not step:
            here.append(new)
        elif step not in here:
            if len(here) >= parsing.MEMBERS_MAX:
                raise errors.Malformed(f"A map may have {parsing.MEMBERS_MAX} members.", "too_many_members")
            here[step] = new
        elif type(here[step]) is not type(new):
            raise _both(code)
        elif following is None:
            raise errors.Malformed(f"The name “{step}” stands twice.", "duplicate_member")
        here = here[step] if step else new


def _both(code: str) -> errors.Malformed:
    return errors.Malformed("A name is both a value and a map, or both a list and a map.", code)


def merge(parameters: Parameters | None, document: Mapping[str, Any]) -> Parameters:
    """Add the members of a GET's body: they are parameters too, but the query wins where both give one."""
    parameters = parameters or Parameters()
    for name, value in document.items():
        if name not in parameters.values:
            parameters.values[name] = value
            parameters.pairs.extend(_pairs_of((name,), value))
    return parameters


def _pairs_of(path: tuple[str, ...], value: object) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        steps = cast("dict[str, object]", value).items()
    elif isinstance(value, list):
        steps = [(str(index), entry) for index, entry in enumerate(cast("list[object]", value))]
    else:
        return [(path, _scalar_text(value))]
    return [pair for step, entry in steps for pair in _pairs_of((*path, step), entry)]


def _scalar_text(value: object) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)


def read_body(raw: bytes, content_type: str | None, *, depth_max: int = parsing.DEPTH_MAX) -> tuple[Any, bool]:
    """Returns UNSET for no body, and True where it is lax. Raises UnsupportedMedia for other labels, Malformed."""
    if parsing.is_json(content_type):
        return parsing.read_json(raw, depth_max=depth_max), False
    if not parsing.is_form(content_type):
        raise errors.UnsupportedMedia(
            "Send JSON in UTF-8 with the header Content-Type: application/json.", headers={"Accept": READ}
        )
    raw = raw.removeprefix(parsing.BYTE_ORDER_MARK)
    if looks_like_json(raw):
        return parsing.read_json(raw, depth_max=depth_max), True
    if not raw.strip():
        return msgspec.UNSET, True
    return read(raw, code="malformed_form").values, True


def looks_like_json(raw: bytes) -> bool:
    return raw[:1] in {b"{", b"["} or raw.lstrip()[:1] in {b"{", b"["}


CRITERIA_MAX = 20
ORDERS_MAX = 3
VALUES_MAX = 200
PATTERN_CHARACTERS_MAX = 255
COLUMNS_NAMED_MAX = 60

_KNOWN: Final = frozenset(CRITERIA)
_LISTS: Final = frozenset({"IN", "NOT_IN"})
_NULLS: Final = frozenset({"NULL", "NOT_NULL"})
_PATTERNS: Final = frozenset({"LIKE", "NOT_LIKE"})
_ORDERED: Final = frozenset({"GREATER_THAN", "GREATER_EQUAL", "LESS_THAN", "LESS_EQUAL"})
_DIRECTIONS: Final[Mapping[str, Direction]] = {"ASC": "asc", "DESC": "desc"}


class Columns:
    """The columns of one listing by both spellings: `OwnerApplicationId` and `owner_application_id`."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.names = [camel_case(name) for name in listing.columns]
        self._by_name = {**{camel_case(name): column for name, column in listing.columns.items()}, **listing.columns}

    def find(self, name: str, pointer: str, context: Context) -> Column | None:
        """Returns None for an unknown column, and adds an error that lists the columns."""
        column = self._by_name.get(name)
        if column is None:
            there_are = f" There are: {', '.join(self.names[:COLUMNS_NAMED_MAX])}." if self.names else ""
            context.error(pointer, "unknown_column", f"There is no such column here.{there_are}")
        return column


def read_filter(given: object, columns: Columns, context: Context) -> tuple[Criterion, ...]:
    if not isinstance(given, dict):
        if given not in (None, []):
            context.error("/filter_by", "wrong_type", "filter_by[CRITERION][Column]=value is expected.")
        return ()
    groups = cast("dict[str, object]", given)
    if sum(len(group) if isinstance(group, dict) else 1 for group in groups.values()) > CRITERIA_MAX:
        context.error("/filter_by", "too_many", f"At most {CRITERIA_MAX} criteria are allowed.")
        return ()
    found: list[Criterion] = []
    for operator, group in groups.items():
        if operator not in _KNOWN:
            known = ", ".join(CRITERIA)
            context.error(pointer_of("filter_by", operator), "unknown_criterion", f"One of these is expected: {known}.")
        elif not isinstance(group, dict):
            pointer = pointer_of("filter_by", operator)
            context.error(pointer, "wrong_type", "filter_by[CRITERION][Column]=value is expected.")
        else:
            for name, value in cast("dict[str, object]", group).items():
                criterion = _criterion(operator, name, value, columns, context)
                if criterion is not None:
                    found.append(criterion)
    return tuple(found)


def read_order(given: object, pairs: Parameters, columns: Columns, context: Context) -> tuple[Order, ...]:
    """Read `order_by` in order of appearance; the default is the listing's own order."""
    if not given:
        return columns.listing.default_order
    if not isinstance(given, dict):
        context.error("/order_by", "wrong_type", "order_by[ASC][]=Column is expected.")
        return columns.listing.default_order
    steps = [(path, text) for path, text in pairs.pairs if path[0] == "order_by"]
    if len(steps) > ORDERS_MAX:
        context.error("/order_by", "too_many", f"At most {ORDERS_MAX} columns are allowed.")
        return columns.listing.default_order
    found: dict[str, Order] = {}
    for path, name in steps:
        pointer = pointer_of(*path[:2])
        direction = _DIRECTIONS.get(path[1]) if len(path) > 1 else None
        if direction is None:
            context.error(pointer, "unknown_value", "The direction is ASC or DESC.")
        elif (column := columns.find(name, pointer, context)) is not None:
            found.setdefault(column.name, Order(column, direction))  # a repeated column has no effect
    return tuple(found.values()) or columns.listing.default_order


@cache
def camel_case(name: str) -> str:
    """`owner_application_id` as the v3.2 clients write it: `OwnerApplicationId`."""
    return "".join(part.capitalize() for part in name.split("_"))


def pointer_of(*steps: str) -> str:
    """Pointer of a parameter for `Context.add`; it is shown as `filter_by[EQUAL][Nope]`."""
    return "".join(f"/{escape(step)}" for step in steps)


def _criterion(operator: str, name: str, value: object, columns: Columns, context: Context) -> Criterion | None:
    pointer = pointer_of("filter_by", operator, name)
    column = columns.find(name, pointer, context)
    if column is None:
        return None
    if operator in _NULLS:
        return Criterion(operator, column, None)
    if operator in _LISTS:
        return Criterion(operator, column, _values(value, column.kind, pointer, context))
    if operator in _PATTERNS and column.kind not in {"text", "id"}:
        context.error(pointer, "wrong_type", "This comparison is for columns of text.")
    elif operator in _ORDERED and column.kind == "boolean":
        context.error(pointer, "wrong_type", "Booleans have no order.")
    elif operator in _PATTERNS and isinstance(value, str) and len(value) > PATTERN_CHARACTERS_MAX:
        context.error(pointer, "too_long", f"At most {PATTERN_CHARACTERS_MAX} characters are allowed.")
    elif operator in _PATTERNS and isinstance(value, str) and (len(value) - len(value.rstrip("\\"))) % 2:
        context.error(pointer, "invalid_format", "The pattern ends with a backslash that escapes nothing.")
    return Criterion(operator, column, _READERS[column.kind](value, pointer, context))


def _values(value: object, kind: Kind, pointer: str, context: Context) -> list[Any]:
    values = as_list(value) if isinstance(value, (list, dict)) else [value]
    if values is None:
        context.error(pointer, "wrong_type", "A list is expected.")
        return []
    if len(values) > VALUES_MAX:
        context.error(pointer, "too_many", f"At most {VALUES_MAX} values are allowed.")
        return []
    return [_READERS[kind](one, pointer, context) for one in values]


def _read_instant(value: object, pointer: str, context: Context) -> datetime | None:
    moment = times.read_moment(value, pointer, context)
    return None if moment is None else moment.instant


_DATE: Final = TextKind(date.fromisoformat, "invalid_format", "A date is expected, such as 2026-11-21.", converts=True)
_READERS: Final[Mapping[Kind, Reader]] = {
    "text": structs.text_reader(),
    "id": structs.text_reader(),  # an invalid id matches nothing
    "integer": structs.integer_reader(-(2**63), 2**63 - 1),
    "number": structs.number_reader(),
    "boolean": structs.read_boolean,
    "time": _read_instant,
    "date": structs.meaning_reader(structs.text_reader(), _DATE),
}
