"""The members of a Struct as its annotations declare them, and what follows from them for a resource.

A resource's Struct is its one declaration. Its reader, checks and OpenAPI schema follow from the types; the mapping
from a record and the columns of its lists are made here, once for each Struct.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Final, LiteralString, cast

import msgspec
from msgspec import inspect

from afterword.core.wire import times
from afterword.core.wire.lists import Column, Direction, Kind, Listing

_KINDS: Final[Mapping[type, Kind]] = {
    inspect.StrType: "text",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
}
_KINDS_OF_META: Final[Mapping[str, Kind]] = {"id": "id", "date_time": "time", "date": "date"}


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its type without null and annotations, and what these say."""

    name: str
    type: inspect.Type
    is_nullable: bool
    is_required: bool
    default: Any
    extra: Mapping[str, Any]  # of its annotations
    schema: Mapping[str, Any]  # what they add to its JSON schema

    @property
    def kind(self) -> str:
        """The name that its annotation gives the type, such as `id`; empty for a plain one."""
        return str(self.extra.get("kind", ""))


@functools.cache
def members_of(struct: type[msgspec.Struct]) -> tuple[Member, ...]:
    """The members in the order of their declaration."""
    return tuple(
        Member(each.encode_name, *unwrapped(each.type), each.required, each.default, *noted(each.type))
        for each in cast("inspect.StructType", inspect.type_info(struct)).fields
    )


def unwrapped(kind: inspect.Type) -> tuple[inspect.Type, bool]:
    """The type without null and annotations, and whether null is one of its values."""
    if isinstance(kind, inspect.Metadata):
        return unwrapped(kind.type)
    if isinstance(kind, inspect.UnionType):
        rest = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        if len(rest) < len(kind.types):
            return (unwrapped(rest[0])[0] if len(rest) == 1 else inspect.UnionType(tuple(rest))), True
    return kind, isinstance(kind, inspect.AnyType)


def noted(kind: inspect.Type) -> tuple[dict[str, Any], dict[str, Any]]:
    """What its annotations say besides the type, and what they add to its schema; the outermost wins."""
    if isinstance(kind, inspect.Metadata):
        extra, schema = noted(kind.type)
        return {**extra, **(kind.extra or {})}, {**schema, **(kind.extra_json_schema or {})}
    if isinstance(kind, inspect.UnionType):
        rest = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        return noted(rest[0]) if len(rest) == 1 else ({}, {})
    return {}, {}


def secrets_of(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The members that are shown once."""
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
    """The list of such a resource: to be filtered and ordered by each plain member that is a column of the base query.

    `fields.Computed` members are none; `fields.column` and `fields.named` name the column of a member that is called
    otherwise. The id is the first member, unless another column of the base query is named.
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
    """From a record and a zone to the values of the Struct's members, in their order, as the wire shows them.

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
    attributes = attrgetter(*map(_attribute_of, found), *offsets.values(), "__class__")  # one gives no tuple
    format_time = times.format_time

    def values_of(record: object, zone: tzinfo | None) -> list[Any]:
        values = list(attributes(record))
        last = shown = None
        for index in times_at:
            instant = values[index]
            if instant is not None:
                if instant != last:  # most rows were never updated: their two times are the same
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
    """The record's attribute that the member shows; none at all for a secret."""
    return "__class__" if "secret" in member.extra else str(member.extra.get("attribute", member.name))


def record_of(struct: type[msgspec.Struct], data: Mapping[str, Any]) -> SimpleNamespace:
    """A record of the Struct's members as JSON kept them: times are instants again; raises KeyError."""
    return SimpleNamespace(
        **{
            member.name: datetime.fromisoformat(value) if member.kind == "date_time" and value else value
            for member, value in ((member, data[member.name]) for member in members_of(struct))
        }
    )
