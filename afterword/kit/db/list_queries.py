"""The parts of a list's query that a client chose: filters, order, the place behind a cursor; as SQL and parameters.

Pure text. Names come from the stores' Listings, which are literals; everything that a client sent is a parameter. Only
`db.py` puts these parts into a query.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Column, Criterion, Kind, Listing, Order, Page

_TYPE: Final[dict[Kind, str]] = {
    "text": "text", "id": "text", "integer": "bigint", "number": "double precision", "boolean": "boolean",
    "time": "timestamptz", "date": "date",
}  # fmt: skip
_SHOWN_SECOND: Final = timedelta(seconds=1)
_OPERATOR: Final = {
    "EQUAL": "=", "NOT_EQUAL": "<>", "ALT_NOT_EQUAL": "<>", "GREATER_THAN": ">", "GREATER_EQUAL": ">=",
    "LESS_THAN": "<", "LESS_EQUAL": "<=", "LIKE": "ilike", "NOT_LIKE": "not ilike",
}  # fmt: skip


@cache
def output(listing: Listing) -> LiteralString:
    """The columns to select: all of the base query, or those of a lean list, whose times are microseconds."""
    if listing.row is None:
        return "*"
    times = {column.name for column in listing.columns.values() if column.kind == "time"}
    return ", ".join(f"{name}::timestamp" if name in times else name for name in listing.row)


def identity(listing: Listing, value: object, parameters: list[object]) -> str:
    column = listing.id_column
    return f" where {_expression(column)} = {_bind(column, value, parameters)}"


def where(criteria: Sequence[Criterion], parameters: list[object]) -> str:
    """The where clause of the criteria, empty without one; appends their values to `parameters`."""
    if not criteria:
        return ""
    return f" where {' and '.join([_test(criterion, parameters) for criterion in criteria])}"


def _test(criterion: Criterion, parameters: list[object]) -> str:
    column, value = criterion.column, criterion.value
    place = _expression(column)
    match criterion.operator:
        case "NULL" | "NOT_NULL" as operator:
            return f"{place} is {'not ' if operator == 'NOT_NULL' else ''}null"
        case operator if column.kind == "time":
            return _time_test(operator, column, value, parameters)
        case "IN":
            return f"{place} = any({_bind(column, value, parameters)}[])"
        case "NOT_IN":
            return f"({place} is not null and {place} <> all({_bind(column, value, parameters)}[]))"
        case "LIKE" | "NOT_LIKE" as operator:  # in the database's collation: in "C" only ASCII letters have two cases
            return f"listed.{column.name} {_OPERATOR[operator]} {_bind(column, value, parameters)}"
        case operator:
            return f"{place} {_OPERATOR[operator]} {_bind(column, value, parameters)}"


def _time_test(operator: str, column: Column, value: Any, parameters: list[object]) -> str:
    """Times are shown, and so compared, in whole seconds, but kept finer: a value stands for its whole second.

    Bounds of the bare column, so that indexes serve them; `date_trunc` of it would hide it from them.
    """
    place = _expression(column)
    match operator:
        case "IN" | "NOT_IN":
            seconds = " or ".join(_time_test("EQUAL", column, one, parameters) for one in value) or "false"
            return f"({seconds})" if operator == "IN" else f"({place} is not null and not ({seconds}))"
        case "EQUAL":
            return f"({place} >= {_bind(column, value, parameters)} and {place} < {_after(column, value, parameters)})"
        case "NOT_EQUAL" | "ALT_NOT_EQUAL":
            return f"({place} < {_bind(column, value, parameters)} or {place} >= {_after(column, value, parameters)})"
        case "GREATER_THAN":
            return f"{place} >= {_after(column, value, parameters)}"
        case "LESS_EQUAL":
            return f"{place} < {_after(column, value, parameters)}"
        case _:
            return f"{place} {_OPERATOR[operator]} {_bind(column, value, parameters)}"


def window(page: Page, after: tuple[object, ...] | None, chosen: str, parameters: list[object]) -> str:
    """One row more than the page, to know whether there are more. `chosen`: the where clause of its criteria."""
    if after is not None:
        chosen += (" and " if chosen else " where ") + _behind(page, after, parameters)
    order = ", ".join(
        f"{_expression(step.column)} {step.direction}{' nulls last' if step.column.nullable else ''}"
        for step in page.order
    )
    order = f"{order}, listed.{page.listing.id}" if order else f"listed.{page.listing.id}"
    parameters.append(page.limit + 1)
    limit = f" limit ${len(parameters)}"
    if page.offset:
        parameters.append(page.offset)
        limit += f" offset ${len(parameters)}"
    return f"{chosen} order by {order}{limit}"


def _behind(page: Page, after: Sequence[object], parameters: list[object]) -> str:
    """The rows behind the key: behind in the first column, or equal there and behind in what follows."""
    identity = page.listing.id_column
    test = f"{_expression(identity)} > {_bind(identity, after[-1], parameters)}"
    for step, value in reversed(list(zip(page.order, after, strict=False))):
        test = _behind_step(step, value, test, parameters)
    return test


def _behind_step(step: Order, value: object, rest: str, parameters: list[object]) -> str:
    column = _expression(step.column)
    if value is None:  # nulls are last: behind them is only what is null too
        return f"({column} is null and {rest})"
    place = _bind(step.column, value, parameters)
    sign = ">" if step.direction == "asc" else "<"
    if step.column.nullable:
        return f"({column} {sign} {place} or {column} is null or ({column} = {place} and {rest}))"
    # The first half is what an index scan can start from.
    return f"({column} {sign}= {place} and ({column} {sign} {place} or {rest}))"


def _expression(column: Column) -> str:
    return f'listed.{column.name} collate "C"' if column.kind == "text" else f"listed.{column.name}"


def _after(column: Column, value: datetime, parameters: list[object]) -> str:
    """The first moment that does not look like `value` any more."""
    return _bind(column, value + _SHOWN_SECOND, parameters)


def _bind(column: Column, value: object, parameters: list[object]) -> str:
    parameters.append(value)
    return f"${len(parameters)}::{_TYPE[column.kind]}"
