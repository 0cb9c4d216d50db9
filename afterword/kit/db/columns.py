"""Columns of a query: their names, which every query lists, and their values as arrays.

A query for all columns would break when a newer release's migration adds one while this code still runs: the record
would not know it, and a prepared statement may not change its result.
"""

from collections.abc import Callable, Container, Iterable
from operator import itemgetter
from typing import Any, LiteralString, TypeVar, cast

import msgspec

Made = TypeVar("Made")


def columns_of(record: type[Any], without: Container[str] = ()) -> LiteralString:
    """The members of a struct or a dataclass, in their order."""
    fields = record.__struct_fields__ if issubclass(record, msgspec.Struct) else record.__dataclass_fields__
    names = (name for name in fields if name not in without)
    return cast("LiteralString", ", ".join(names))  # names of members stand in source code


def maker_of(record: type[Made]) -> Callable[[Any], Made]:
    """The maker of a record from a row with its members as columns: by their order, which is faster than by names."""
    values = itemgetter(*columns_of(record).split(", "))
    return lambda row: record(*values(row))


def arrays(rows: Iterable[tuple[Any, ...]], width: int) -> list[list[Any]]:
    """The columns of rows that are `width` wide, each as an array for `unnest`."""
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


def qualified(columns: LiteralString, alias: LiteralString) -> LiteralString:
    """The columns, with commas between, each behind the alias of its table: `a, b` of `t` are `t.a, t.b`."""
    return ", ".join(f"{alias}.{name.strip()}" for name in columns.split(","))


def as_document(columns: LiteralString, alias: LiteralString) -> LiteralString:
    """These columns of the row behind the alias as one JSON object; half as dear as all of them without some."""
    return f"(select to_jsonb(document) from (select {qualified(columns, alias)}) document)"


def suffixed(columns: LiteralString, suffix: LiteralString) -> LiteralString:
    """The columns, each before the suffix: `a, b` and `text` are `a text, b text`, as a recordset defines them."""
    return ", ".join(f"{name.strip()} {suffix}" for name in columns.split(","))


def within(instance_id: LiteralString, only: LiteralString) -> LiteralString:
    """Whether a caller sees this instance, who is limited to `only` (`Caller.only`), the parameter of a query.

    It looks at one row by its id. In a list it stands behind the limit of the rows that are looked at.
    """
    metadata: LiteralString = f"""(select within.metadata from questionnaire_instance within
      where within.organization_id = $1 and within.instance_id = {instance_id})"""
    return has_own(metadata, only)


def has_own(metadata: LiteralString, only: LiteralString) -> LiteralString:
    """As `within`, of the values of questionnaire metadata that a row has."""
    return f"({only}::text[] is null or {metadata} ->> ({only}::text[])[1] = any(({only}::text[])[2:]))"


def assigned(columns: LiteralString, alias: LiteralString) -> LiteralString:
    """The columns as an update sets them: `a, b` from `d` are `a = d.a, b = d.b`."""
    return ", ".join(f"{name.strip()} = {alias}.{name.strip()}" for name in columns.split(","))
