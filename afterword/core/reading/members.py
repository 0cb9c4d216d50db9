"""The members of a Struct as its annotations declare them."""

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import inspect


class Declared(msgspec.Struct, frozen=True):
    """A type, with null and annotations separated from it."""

    type: inspect.Type
    is_nullable: bool
    extra: Mapping[str, Any]  # of the annotations; the outermost wins
    schema: Mapping[str, Any]  # likewise, for the JSON schema

    @property
    def kind(self) -> str:
        """Name of the annotated type, such as `id`; empty for a plain one."""
        return str(self.extra.get("kind", ""))


class Member(Declared, frozen=True):
    name: str
    is_required: bool
    default: Any


@cache
def members_of(struct: type[msgspec.Struct]) -> tuple[Member, ...]:
    fields = cast("inspect.StructType", inspect.type_info(struct)).fields
    found = [(declared_of(each.type), each) for each in fields]
    return tuple(
        Member(own.type, own.is_nullable, own.extra, own.schema, each.name, each.required, each.default)
        for own, each in found
    )


def declared_of(kind: inspect.Type) -> Declared:
    if isinstance(kind, inspect.Metadata):
        own = declared_of(kind.type)
        extra, schema = {**own.extra, **(kind.extra or {})}, {**own.schema, **(kind.extra_json_schema or {})}
        return Declared(own.type, own.is_nullable, extra, schema)
    if isinstance(kind, inspect.UnionType):
        rest = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        own = declared_of(rest[0]) if len(rest) == 1 else Declared(inspect.UnionType(tuple(rest)), False, {}, {})
        return Declared(own.type, own.is_nullable or len(rest) < len(kind.types), own.extra, own.schema)
    return Declared(kind, isinstance(kind, inspect.AnyType), {}, {})
