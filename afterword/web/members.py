"""Derives a resource's mapping and list columns from the members of its Struct.

A resource's Struct is its one declaration: its reader, checks and OpenAPI schema follow from the types.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Final, LiteralString, cast

import msgspec
from msgspec import inspect

from afterword.core.reading.members import Member, members_of
from afterword.core.wire import times
from afterword.core.wire.lists import Column, Direction, Kind, Listing

_KINDS: Final[Mapping[type, Kind]] = {
    inspect.StrType: "text",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
}
_KINDS_OF_META: Final[Mapping[str, Kind]] = {"id": "id", "date_time": "time", "date": "date"}


def secrets_of(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """Names of members that are shown once."""
    return tuple(member.name for member in members_of(struct) if "secret" in member.extra)


# Lists ---------------------------------------------------------------------------------------------------------------


def listing_of(
    struct: type[msgspec.Struct],
    *,
    order: Sequence[tuple[str, Direction]] = (("created_time", "desc"),),
    id: LiteralString | None = None,  # noqa: A002  the name that Listing has for it
    more: Sequence[LiteralString] | None = None,
    hidden: Mapping[str, Column] | None = None,
) -> Listing:
    """A listing filtered and ordered by each plain member that is a column of the base query.

    `fields.Computed` members are left out; `fields.column` and `fields.named` give the column of a member with another
    name. The id is the first member, unless `id` names another column.
    """
    columns = {member.name: column for member in members_of(struct) if (column := _column_of(member)) is not None}
    return Listing(columns, order, id or next(iter(columns.values())).name, more, hidden or {})


def _column_of(member: Member) -> Column | None:
    name = member.extra.get("column", member.name)
    kind = _KINDS_OF_META.get(member.kind) or _KINDS.get(type(member.type))
    if isinstance(member.type, inspect.LiteralType):
        kind = "text" if isinstance(member.type.values[0], str) else "integer"
    if isinstance(member.type, inspect.UnionType):
        kind = "number" if {type(each) for each in member.type.types} == {inspect.IntType, inspect.FloatType} else None
    if name is None or kind is None:
        return None
    return Column(cast("LiteralString", name), kind, member.is_nullable or not member.is_required)


# From a record to its answer -----------------------------------------------------------------------------------------


@functools.cache
def mapping_of(
    struct: type[msgspec.Struct], without: tuple[str, ...] = ()
) -> Callable[[object, tzinfo | None], list[Any]]:
    """Build a function from a record and a zone to the Struct's values in member order, as sent.

    Made once for each Struct, as lists map hundreds of records a request. Each member is the record's attribute of that
    name, or of `fields.named`; those in `without` are left out. Times are shown in the zone.
    """
    found = [member for member in members_of(struct) if member.name not in without]
    count = len(found)
    offsets = {index: str(member.extra["offset"]) for index, member in enumerate(found) if "offset" in member.extra}
    times_at = [index for index, member in enumerate(found) if member.kind == "date_time" and index not in offsets]
    clocks_at = [index for index, member in enumerate(found) if member.kind == "clock"]
    moments_at = [(index, count + position) for position, index in enumerate(offsets)]
    secrets_at = [index for index, member in enumerate(found) if "secret" in member.extra]
    attributes = attrgetter(*map(_attribute_of, found), *offsets.values(), "__class__")  # one name gives no tuple
    format_time = times.format_time

    def values_of(record: object, zone: tzinfo | None) -> list[Any]:
        values = list(attributes(record))
        last = shown = None
        for index in times_at:
            instant = values[index]
            if instant is not None:
                if instant != last:  # most rows were never updated: both times are equal
                    last, shown = instant, format_time(instant, zone=zone)
                values[index] = shown
        for index, offset_at in moments_at:
            values[index] = format_time(values[index], offset_minutes=values[offset_at])
        for index in clocks_at:
            clock = values[index]
            values[index] = None if clock is None else f"{clock:%H:%M}"
        for index in secrets_at:
            values[index] = None
        del values[count:]
        return values

    return values_of


def _attribute_of(member: Member) -> str:
    """Attribute of the record for this member; None for a secret."""
    return "__class__" if "secret" in member.extra else str(member.extra.get("attribute", member.name))


def record_of(struct: type[msgspec.Struct], data: Mapping[str, Any]) -> SimpleNamespace:
    """Rebuild a record from JSON of the Struct's members, times parsed; raises KeyError."""
    return SimpleNamespace(
        **{
            member.name: datetime.fromisoformat(value) if member.kind == "date_time" and value else value
            for member, value in ((member, data[member.name]) for member in members_of(struct))
        }
    )
