"""Reads canonical JSON as a Struct. Reports every wrong member with its pointer and code; ignores unknown ones.

Readers are built once for each Struct, from msgspec's type information.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import inspect

from afterword import errors
from afterword.core.questionnaires.reading import escape
from afterword.web import scalars
from afterword.web.query import as_list
from afterword.web.scalars import Context, Reader

LIST_ENTRIES_MAX = 1000
RESERVED: Final = frozenset({"fields", "response_fields"})  # "all fields", or which; never members of a resource

Struct = TypeVar("Struct", bound=msgspec.Struct)


def read(kind: type[Struct], document: object, context: Context, *, read_only: frozenset[str] = frozenset()) -> Struct:
    """Read `document` as a `kind`; raises Invalid that names all wrong members.

    With `context.strict` members that `kind` lacks are errors too: `read_only` for members of the answer, else
    `unknown_member`.
    """
    value = collect(kind, document, context, read_only=read_only)
    if context.wrong:
        raise errors.Invalid.of(*context.wrong)
    return cast("Struct", value)


def collect(
    kind: type[Struct], document: object, context: Context, *, read_only: frozenset[str] = frozenset()
) -> Struct | None:
    """As `read`, but errors are only added to the context; returns None when there are any."""
    value = _struct_reader(kind)(document, "", context)
    if context.strict and isinstance(document, dict):
        _refuse_unknown(kind, cast("dict[str, object]", document), context, read_only)
    return cast("Struct | None", value)


def warm(kind: type[msgspec.Struct]) -> None:
    """Build the readers of `kind` at start-up, so that a type without a reader fails there."""
    _struct_reader(kind)


def _refuse_unknown(
    kind: type[msgspec.Struct], document: Mapping[str, object], context: Context, read_only: frozenset[str]
) -> None:
    known = {each.encode_name for each in _fields(kind)} | RESERVED
    for name in document:
        if name in known:
            continue
        if name in read_only:
            context.add(f"/{escape(name)}", "read_only", "This is set by the service.")
        else:
            context.add(f"/{escape(name)}", "unknown_member", "There is no such member here.")


# Readers -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    attribute: str
    reader: Reader
    required: bool
    nullable: bool


@cache
def _struct_reader(kind: type[msgspec.Struct]) -> Reader:
    members = tuple(_member(each) for each in _fields(kind))
    absent = object()

    def read_struct(value: Any, pointer: str, context: Context) -> Any:
        if type(value) is not dict:
            if value != []:  # PHP writes its empty map as a list
                context.add(pointer, "wrong_type", "An object is expected.")
                return None
            value = {}
        found: dict[str, Any] = {}
        for member in members:
            given = value.get(member.name, absent)
            if given is absent:
                if member.required:
                    context.add(f"{pointer}/{member.name}", "required", "This is required.")
                continue
            if given is None or (given == "" and context.lax and member.nullable):
                _read_null(member, f"{pointer}/{member.name}", context, found)
            else:
                found[member.attribute] = member.reader(given, f"{pointer}/{member.name}", context)
        return None if context.wrong else kind(**found)

    return read_struct


def _read_null(member: _Member, pointer: str, context: Context, found: dict[str, Any]) -> None:
    if member.nullable and (context.partial or member.required):
        found[member.attribute] = None
    elif context.partial:
        context.add(pointer, "not_nullable", "This cannot be null.")
    elif member.required:
        context.add(pointer, "required", "This is required.")


def _fields(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    return cast("inspect.StructType", inspect.type_info(kind)).fields


def _member(each: inspect.Field) -> _Member:
    options = _options(each.type)
    return _Member(
        name=each.encode_name,
        attribute=each.name,
        reader=_reader(each.type),
        required=each.required,
        nullable=any(isinstance(option, (inspect.NoneType, inspect.AnyType)) for option in options),
    )


def _options(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _reader(kind: inspect.Type) -> Reader:
    match kind:
        case inspect.Metadata(type=inner, extra=extra):
            return _special(extra or {}, inner)
        case inspect.UnionType():
            return _union_reader(kind)
        case inspect.StructType(cls=struct):
            return _nested_reader(struct)
        case inspect.ListType(item_type=item, min_length=least, max_length=most):
            return _list_reader(_reader(item), least or 0, LIST_ENTRIES_MAX if most is None else most)
        case inspect.DictType(value_type=value):
            return _map_reader(_reader(value), nullable=any(isinstance(o, inspect.NoneType) for o in _options(value)))
        case _:
            return scalars.reader_of(kind)


def _special(extra: Mapping[str, Any], inner: inspect.Type) -> Reader:
    if isinstance(inner, inspect.StrType) and "expected" in extra:
        return scalars.shaped_text_reader(inner, str(extra["expected"]))
    kind = str(extra.get("kind", ""))
    if kind in scalars.KINDS:
        return scalars.checked(_reader(inner), *scalars.KINDS[kind])
    match kind:
        case "locale_normal":
            return scalars.normal_locale_reader(_reader(inner))
        case "metadata":
            return scalars.metadata_reader()
        case "metadata_any":
            return scalars.metadata_reader(scalars.metadata_reader())
        case _:
            return _reader(inner)


def _union_reader(kind: inspect.UnionType) -> Reader:
    readers = [_reader(option) for option in kind.types if not isinstance(option, inspect.NoneType)]
    if len(readers) == 1:
        return readers[0]

    def read_union(value: Any, pointer: str, context: Context) -> Any:
        tries: list[list[errors.FieldError]] = []
        for reader in readers:
            attempt = Context(context.now, context.zone, context.lax, context.partial, context.strict)
            found = reader(value, pointer, attempt)
            if not attempt.wrong:
                return found
            tries.append(attempt.wrong)
        # the errors of the option that got furthest are the most useful
        best = max(tries, key=lambda wrong: all(error.code != "wrong_type" for error in wrong))
        context.wrong.extend(best)
        return None

    return read_union


def _list_reader(item: Reader, least: int, most: int) -> Reader:
    def read_list(value: Any, pointer: str, context: Context) -> Any:
        if type(value) is not list:
            value = _listed(value, context)
            if value is None:
                context.add(pointer, "wrong_type", "A list is expected.")
                return None
        if len(value) > most:
            context.add(pointer, "too_many", f"At most {scalars.count_of(most, 'entry', 'entries')} allowed.")
            return None
        if len(value) < least:
            context.add(pointer, "too_few", f"At least {scalars.count_of(least, 'entry', 'entries')} expected.")
            return None
        return [item(entry, f"{pointer}/{index}", context) for index, entry in enumerate(value)]

    return read_list


def _listed(value: Any, context: Context) -> list[Any] | None:
    """Convert the list of a query or form: `type=a,b`, `type[0]=a&type[1]=b`."""
    if context.as_parameter and type(value) is str:
        return cast("list[Any]", value.split(","))
    return as_list(value) if context.lax and type(value) is dict else None


def _map_reader(reader: Reader, *, nullable: bool) -> Reader:
    def read_map(value: Any, pointer: str, context: Context) -> Any:
        if type(value) is not dict:
            if value != []:
                context.add(pointer, "wrong_type", "An object is expected.")
            return {}
        return {
            name: None if entry is None and nullable else reader(entry, f"{pointer}/{escape(name)}", context)
            for name, entry in value.items()
        }

    return read_map


def _nested_reader(kind: type[msgspec.Struct]) -> Reader:
    def read_nested(value: Any, pointer: str, context: Context) -> Any:
        found = _struct_reader(kind)(value, pointer, context)
        if context.strict and isinstance(value, dict):
            names = {each.encode_name for each in _fields(kind)}
            for name in cast("dict[str, object]", value):
                if name not in names:
                    context.add(f"{pointer}/{escape(name)}", "unknown_member", "There is no such member here.")
        return found

    return read_nested
