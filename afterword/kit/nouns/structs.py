"""The structs of a noun's routes: what clients send at creation and later, and what they get."""

import functools
import operator
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Meta

from afterword.core.wire.lists import Listing
from afterword.core.wire.times import Moment
from afterword.kit.nouns.declaration import Editable, Hidden, Member, Noun, Role, ShownOnce, is_unseen, members_of
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType

Made = TypeVar("Made")
Base = TypeVar("Base", bound=fields.Request)
_SHOWN_KINDS: Final = frozenset({"id", "date_time", "date", "clock"})  # whose annotation stays in the resource


def _once_a_record(make: Callable[[Noun[Any]], Made]) -> Callable[[Noun[Any]], Made]:
    """Nouns that share a record share its structs: the document of the API names each once."""
    made: dict[type, Made] = {}

    def of_noun(noun: Noun[Any]) -> Made:
        if noun.record not in made:
            made[noun.record] = make(noun)
        return made[noun.record]

    return of_noun


@_once_a_record
def creation_of(noun: Noun[Any]) -> type[fields.Request]:
    defaults = {one.name: one for one in msgspec.structs.fields(noun.record)}
    declared = [
        (one.name, _wire(one)) if one.is_required else (one.name, _wire(one), _default_of(defaults[one.name]))
        for one in noun.editable()
    ]
    return _request(f"{noun.request or noun.record.__name__}Request", declared, noun.about_create)


@_once_a_record
def update_of(noun: Noun[Any]) -> type[fields.Request]:
    declared = [(one.name, _wire(one) | UnsetType, UNSET) for one in noun.editable(later=True)]
    return _request(f"{noun.request or noun.record.__name__}Update", declared, noun.about_update)


@_once_a_record
def resource_of(noun: Noun[Any]) -> type[fields.Resource]:
    """Every member that is not hidden; the organization behind the key, the times of changes last."""
    shown: dict[str, Any] = {}
    for one in noun.members:
        if isinstance(one.role, Hidden) or is_unseen(one.role) or one.name in {"version", *noun.hides}:
            continue
        if one.name == "organization_id" and not noun.is_single:
            continue
        if isinstance(one.role, ShownOnce):
            shown[one.name] = fields.ShownOnce
        else:
            shown[one.name] = _described(one)
        if one.name == noun.key and noun.shows_organization:
            shown["organization_id"] = fields.Id
    return _resource(noun.record.__name__, shown, noun.record)


def shown_as(
    name: str,
    record: type[Any],
    *,
    types: Mapping[str, Any] | None = None,
    before: Mapping[str, Mapping[str, Any]] | None = None,
) -> type[fields.Resource]:
    """The resource of a record that is no noun: its members in their order, without the `Hidden` ones.

    `types`: those of members that answers show otherwise. `before`: further members and their types, by the name of
    the member that they stand before.
    """
    shown: dict[str, Any] = {}
    for one in members_of(record):
        if not isinstance(one.role, Hidden):
            shown |= (before or {}).get(one.name, {})
            shown[one.name] = (types or {}).get(one.name) or _described(one)
    return _resource(name, shown, record)


def _described(one: Member) -> Any:
    """The type of a member in answers, with what the record says of it."""
    kind, told = _answered(one), [each for each in get_args(one.type)[1:] if isinstance(each, Meta)]
    if not told or told[0].description is None or told[0] in getattr(kind, "__metadata__", ()):
        return kind
    return Annotated[kind, Meta(description=told[0].description)]


def changes_as(
    name: str, record: type[msgspec.Struct], *, base: type[Base], about: str, more: Mapping[str, tuple[Any, ...]]
) -> type[Base]:
    """The request that changes a record: its `Editable` members but those set once; each may be left out.

    `more`: the type of members that come last, and their default, also in place of those.
    """
    editable = [(one, one.role) for one in members_of(record) if isinstance(one.role, Editable)]
    kept = [one for one, role in editable if not role.once and one.name not in more]
    declared = [(one.name, _wire(one) | UnsetType, UNSET) for one in kept]
    declared += [(each, *declaration) for each, declaration in more.items()]
    return cast("type[Base]", _request(name, declared, about, base))


@cache
def listing_of(noun: Noun[Any]) -> Listing:
    return fields.listing_of(resource_of(noun), order=noun.order, id=noun.key)


def written(noun: Noun[Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a request as columns have them: moments as instants, structs as JSON."""
    roles = {one.name: one.role for one in noun.editable()}
    return {name: _written(roles.get(name), value) for name, value in columns.items()}


def _written(role: Role | None, value: Any) -> Any:
    if isinstance(role, Editable) and role.write is not None:
        return role.write(value)
    if isinstance(value, Moment):
        return value.instant
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct | list) else value


def _answered(one: Member) -> Any:
    told = one.role.shown if isinstance(one.role, Editable) else None
    return _shown(_wire(one)) if told is None else told


def _wire(one: Member) -> Any:
    return (one.role.wire if isinstance(one.role, Editable) else None) or one.type


def _resource(name: str, members: Mapping[str, Any], record: type[Any]) -> type[fields.Resource]:
    made = msgspec.defstruct(name, list(members.items()), bases=(fields.Resource,), namespace=_about(record.__doc__))
    return cast("type[fields.Resource]", made)


def _request(
    name: str, declared: list[Any], about: str, base: type[fields.Request] = fields.Request
) -> type[fields.Request]:
    made = msgspec.defstruct(name, declared, bases=(base,), namespace=_about(about), kw_only=True)
    return cast("type[fields.Request]", made)


def _about(text: str | None) -> dict[str, Any]:
    return {"__doc__": text, "__module__": __name__}


def _default_of(declared: msgspec.structs.FieldInfo) -> Any:
    if declared.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=declared.default_factory)
    return declared.default


def _shown(kind: Any) -> Any:
    """The type of a member in answers: times as texts, and no limits, which bind requests alone."""
    if kind is datetime:
        return fields.DateTime
    origin = get_origin(kind)
    if origin is Annotated:
        base, *found = get_args(kind)
        metas = [one for one in found if isinstance(one, Meta)]
        has_meaning = any(
            (one.extra or {}).get("kind") in _SHOWN_KINDS
            or "column" in (one.extra or {})
            or "x-enum-varnames" in (one.extra_json_schema or {})
            for one in metas
        )
        return kind if has_meaning else _shown(base)
    if origin in {Union, types.UnionType}:
        return functools.reduce(operator.or_, (_shown(each) for each in get_args(kind)))
    if origin is list:
        return types.GenericAlias(list, (_shown(get_args(kind)[0]),))
    return kind
