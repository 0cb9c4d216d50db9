"""Structs in words and examples: what the reference page prints and the OpenAPI document shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

from afterword.core.wire import times

DEPTH_MAX = 4
EXAMPLE_DEPTH_MAX = 6
_SAMPLES: Final[Mapping[str, object]] = {
    "id": "0QmCkLh2XnT7vRz9YbWd4e",
    "date_time": "2026-11-21T18:23:45+02:00",
    "locale": "el",
    "locale_normal": "el",
    "zone": "Europe/Athens",
    "url": "https://example.com/page",
    "date": "2026-11-21",
    "clock": "09:30",
    "color": "#1a6b72",
    "line": "Example",
}
_WORDS: Final[Mapping[str, str]] = {
    "id": "id",
    "date_time": "date with time",
    "locale": "language tag",
    "locale_normal": "language tag",
    "zone": "time zone",
    "url": "address",
    "date": "date",
    "clock": "time of day",
    "color": "colour",
    "metadata": "names and values",
    "metadata_any": "names and values",
}
_BY_NAME: Final[Mapping[str, object]] = {
    "responder_channel_identifier": "ann@example.com",
    "display_name": "After delivery",
    "title": "How was your order?",
    "status_id": 1,
    "email": "ann@example.com",
    "locale": "el",
    "default_locale": "el",
    "time_zone": "Europe/Athens",
    "direction": "ltr",
    "type": "nps",
    "domain": "demo",
    "valid_days": 30,
    "question_ids": "0QmCkLh2XnT7vRz9YbWd4e",
    "collection_url": "https://survey.example.com/a/0QmCkLh2XnT7vRz9YbWd4e",
    "collection_url_long": "https://survey.example.com/a/0QmCkLh2XnT7vRz9YbWd4e",
    "collection_url_short": "https://survey.example.com/s/4fKq82LmZx1T",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One member as the reference prints it."""

    name: str
    kind: str
    is_required: bool
    is_nullable: bool
    default: str
    text: str
    depth: int = 0
    is_nested: bool = False  # an object or a list


def rows_of(struct: type[msgspec.Struct], depth: int = 0) -> list[Row]:
    """The members of a Struct, those of Structs inside it below them."""
    rows: list[Row] = []
    for each in _fields(struct):
        inner, meta = _inner(each.type)
        rows.append(
            Row(
                name=each.encode_name,
                kind=words_for(inner, meta),
                is_required=each.required,
                is_nullable=is_nullable(each.type),
                default=_default(each.default),
                text=meta.description,
                depth=depth,
                is_nested=isinstance(inner, (inspect.StructType, inspect.DictType, inspect.ListType)),
            )
        )
        nested = inner.item_type if isinstance(inner, inspect.ListType) else inner
        nested, _ = _inner(nested)
        if isinstance(nested, inspect.StructType) and depth < DEPTH_MAX:
            rows.extend(rows_of(nested.cls, depth + 1))
    return rows


def example_of(struct: type[msgspec.Struct], *, is_request: bool, depth: int = 0) -> dict[str, Any]:
    """A plausible value; of a request only what is required, and members that carry examples of their own."""
    found: dict[str, Any] = {}
    for each in _fields(struct):
        inner, meta = _inner(each.type)
        if is_request and not each.required and not meta.examples and each.encode_name not in _BY_NAME:
            continue
        found[each.encode_name] = _example(each.encode_name, inner, meta, is_request=is_request, depth=depth)
    return found


def words_for(kind: inspect.Type, meta: "Meta") -> str:  # noqa: C901, PLR0911  one line for each type
    """The type in a few words: `text up to 200`, `one of 1, 2, 3`, `list of id`."""
    if meta.kind in _WORDS:
        return _WORDS[meta.kind]
    match kind:
        case inspect.StrType(min_length=least, max_length=most):
            return f"text{_range(least, most)}"
        case inspect.IntType():
            return f"integer{_range(kind.ge, kind.le)}"
        case inspect.FloatType():
            return f"number{_range(kind.ge, kind.le)}"
        case inspect.BoolType():
            return "boolean"
        case inspect.LiteralType(values=values):
            return "one of " + ", ".join(str(value) for value in values)
        case inspect.EnumType(cls=enum):
            return "one of " + ", ".join(str(value.value) for value in enum)
        case inspect.ListType(item_type=item, min_length=least, max_length=most):
            return f"list{_range(least, most)} of {words_for(*_inner(item))}"
        case inspect.DataclassType(cls=times.Moment):
            return "date with time"
        case inspect.StructType() | inspect.DictType():
            return "object"
        case inspect.UnionType(types=types):
            return " or ".join(words_for(*_inner(each)) for each in types if not isinstance(each, inspect.NoneType))
        case _:
            return "any value"


def is_nullable(kind: inspect.Type) -> bool:
    """Whether null is one of its values."""
    return isinstance(kind, inspect.AnyType) or (
        isinstance(kind, inspect.UnionType) and any(isinstance(each, inspect.NoneType) for each in kind.types)
    )


def _default(value: object) -> str:
    return "" if value in {msgspec.NODEFAULT, msgspec.UNSET, None} else msgspec.json.encode(value).decode()


@dataclass(frozen=True, slots=True)
class Meta:
    """What an annotation says besides the type."""

    kind: str = ""
    description: str = ""
    examples: tuple[Any, ...] = ()


def _fields(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    return cast("inspect.StructType", inspect.type_info(struct)).fields


def _inner(kind: inspect.Type, meta: Meta | None = None) -> tuple[inspect.Type, Meta]:
    """The type without null and annotations."""
    meta = meta or Meta()
    if isinstance(kind, inspect.Metadata):
        schema = kind.extra_json_schema or {}
        extra = kind.extra or {}
        found = Meta(
            str(extra.get("kind", "")) or meta.kind,
            str(schema.get("description", "")) or meta.description,
            tuple(schema.get("examples", ())) or meta.examples,
        )
        return _inner(kind.type, found)
    if isinstance(kind, inspect.UnionType):
        rest = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        if len(rest) == 1:
            return _inner(rest[0], meta)
    return kind, meta


def _range(low: float | None, high: float | None) -> str:
    match low, high:
        case None, None:
            return ""
        case _, None:
            return f" from {low:,}"
        case None, _:
            return f" up to {high:,}"
        case _:
            return f" {low:,}–{high:,}"  # noqa: RUF001  the dash of a range


def _example(  # noqa: C901, PLR0911, PLR0912  one line for each type
    name: str, kind: inspect.Type, meta: Meta, *, is_request: bool, depth: int
) -> object:
    if name in _BY_NAME and _fits(_BY_NAME[name], kind):
        return _BY_NAME[name]
    if meta.examples:
        return meta.examples[0]
    if meta.kind in _SAMPLES:
        return _SAMPLES[meta.kind]
    match kind:
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.EnumType(cls=enum):
            return next(iter(enum)).value
        case inspect.IntType():
            return kind.ge or 0
        case inspect.FloatType():
            return 0.5
        case inspect.BoolType():
            return False
        case inspect.ListType(item_type=item):
            return (
                []
                if depth >= EXAMPLE_DEPTH_MAX
                else [_example(name, *_inner(item), is_request=is_request, depth=depth + 1)]
            )
        case inspect.DataclassType(cls=times.Moment):
            return _SAMPLES["date_time"]
        case inspect.StructType(cls=struct):
            return {} if depth >= EXAMPLE_DEPTH_MAX else example_of(struct, is_request=is_request, depth=depth + 1)
        case inspect.UnionType(types=types):
            return _example(name, *_inner(types[0]), is_request=is_request, depth=depth)
        case inspect.StrType():
            return "example"
        case _:
            return {}


def _fits(value: object, kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.LiteralType):
        return value in kind.values
    return isinstance(value, str) if isinstance(kind, inspect.StrType) else isinstance(kind, inspect.IntType)
