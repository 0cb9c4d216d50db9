"""Reads `filter_by` and `order_by` as Criteria and Orders of whitelisted columns, with typed values."""

from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Any, Final, cast

from afterword.core.reading import structs
from afterword.core.reading.findings import escape
from afterword.core.reading.structs import Context, Reader, TextKind, as_list
from afterword.core.wire import times
from afterword.core.wire.lists import CRITERIA, Column, Criterion, Direction, Kind, Listing, Order
from afterword.kit.web.query import Parameters

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
            there_are = ", ".join(self.names[:COLUMNS_NAMED_MAX])
            context.error(pointer, "unknown_column", f"There is no such column here. There are: {there_are}.")
        return column


def read_filter(given: object, columns: Columns, context: Context) -> tuple[Criterion, ...]:
    if not isinstance(given, dict):
        if given not in (None, []):
            context.error("/filter_by", "wrong_type", "filter_by[CRITERION][Column]=value is expected.")
        return ()
    groups = cast("dict[str, object]", given)
    if sum(_count_of(group) for group in groups.values()) > CRITERIA_MAX:
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


def _count_of(given: object) -> int:
    return len(cast("dict[str, object]", given)) if isinstance(given, dict) else 1


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
    elif operator in _PATTERNS and isinstance(value, str) and _ends_escaping(value):
        context.error(pointer, "invalid_format", "The pattern ends with a backslash that escapes nothing.")
    return Criterion(operator, column, _READERS[column.kind](value, pointer, context))


def _ends_escaping(pattern: str) -> bool:
    return (len(pattern) - len(pattern.rstrip("\\"))) % 2 == 1


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
