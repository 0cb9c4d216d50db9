"""Words and examples of the reference: those in `vocabulary.toml`, codes in `refusals.toml`, and Structs in words."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from string import Template
from typing import Any, Final

import msgspec
from msgspec import inspect

from afterword.core.reading.structs import Declared, declared_of, members_of
from afterword.core.wire import times

DEPTH_MAX = 4
EXAMPLE_DEPTH_MAX = 6


class Explanation(msgspec.Struct, frozen=True):
    status: int
    title: str
    text: str


def read(name: str, **limits: object) -> dict[str, Any]:
    """Read a TOML file of this package, with the values of `limits` in place of its $NAMES."""
    text = (resources.files("afterword.kit.web") / name).read_text("utf-8")
    return tomllib.loads(Template(text).substitute(limits) if limits else text)


_TABLES: Final[Mapping[str, Mapping[str, Any]]] = read("vocabulary.toml")
_REFUSALS: Final = read("refusals.toml")
FAMILIES: Final = _TABLES["families"]
ROLES: Final = _TABLES["roles"]
KINDS: Final[Mapping[str, str]] = _TABLES["kinds"]  # of annotated types, in words
SAMPLES: Final = _TABLES["samples"]  # of annotated types
SAMPLES_BY_NAME: Final = _TABLES["samples_by_name"]  # of members
EXAMPLES: Final[Mapping[str, Any]] = _TABLES["examples"]  # of bodies, where their types alone give none that works
EXPLANATIONS: Final = msgspec.convert(_REFUSALS["codes"], dict[str, Explanation])
FIELD_CODES: Final[Mapping[str, str]] = _REFUSALS["fields"]


def title_of(code: str) -> str:
    return EXPLANATIONS[code].title if code in EXPLANATIONS else code.replace("_", " ").capitalize()


def explanation_of(code: str) -> Explanation | None:
    if code in FIELD_CODES:
        return Explanation(422, title_of(code), FIELD_CODES[code])
    return EXPLANATIONS.get(code)


def status_of(code: str) -> int:
    """Status of a code, 409 by default."""
    explanation = explanation_of(code)
    return explanation.status if explanation else 409


def member(struct: str, name: str) -> str:
    """Description of a member; a request falls back to its resource."""
    tables = (struct, struct.removesuffix("Request").removesuffix("Update"), "members")
    return next((str(_TABLES[table][name]) for table in tables if name in _TABLES.get(table, {})), "")


def scope(name: str) -> str:
    entity, _, action = name.partition(".")
    return f"{_TABLES['actions'][action]} {_TABLES['entities'][entity]}."


def describe_members(struct: str, schema: dict[str, Any]) -> None:
    for name, each in schema.get("properties", {}).items():
        words = member(struct, name)
        if words:
            each.setdefault("description", words)


class Row(msgspec.Struct, frozen=True):
    name: str
    kind: str
    is_required: bool
    is_nullable: bool
    default: str
    text: str
    depth: int = 0


def rows_of(struct: type[msgspec.Struct], depth: int = 0) -> list[Row]:
    """The members of a Struct, those of Structs inside it below them."""
    rows: list[Row] = []
    for each in members_of(struct):
        rows.append(
            Row(
                name=each.name,
                kind=words_for(each),
                is_required=each.is_required,
                is_nullable=each.is_nullable,
                default=_default(each.default),
                text=str(each.schema.get("description", "")) or member(struct.__name__, each.name),
                depth=depth,
            )
        )
        nested = declared_of(each.type.item_type).type if isinstance(each.type, inspect.ListType) else each.type
        if isinstance(nested, inspect.StructType) and depth < DEPTH_MAX:
            rows.extend(rows_of(nested.cls, depth + 1))
    return rows


def example_of(struct: type[msgspec.Struct], *, is_request: bool, depth: int = 0) -> dict[str, Any]:
    """A plausible value; of a request only what is required, and members that carry examples of their own."""
    if struct.__name__ in EXAMPLES:
        return EXAMPLES[struct.__name__]
    return {
        each.name: _example(each.name, each, is_request=is_request, depth=depth)
        for each in members_of(struct)
        if not is_request or each.is_required or each.schema.get("examples") or each.name in SAMPLES_BY_NAME
    }


def words_for(declared: Declared) -> str:  # noqa: C901, PLR0911  one line for each type
    """The type in a few words: `text up to 200`, `one of 1, 2, 3`, `list of id`."""
    if declared.kind in KINDS:
        return KINDS[declared.kind]
    match declared.type:
        case inspect.StrType(min_length=least, max_length=most):
            return f"text{_range(least, most)}"
        case inspect.IntType(ge=least, le=most):
            return f"integer{_range(least, most)}"
        case inspect.FloatType(ge=least, le=most):
            return f"number{_range(least, most)}"
        case inspect.BoolType():
            return "boolean"
        case inspect.LiteralType(values=values):
            return "one of " + ", ".join(str(value) for value in values)
        case inspect.EnumType(cls=enum):
            return "one of " + ", ".join(str(value.value) for value in enum)
        case inspect.ListType(item_type=item, min_length=least, max_length=most):
            return f"list{_range(least, most)} of {words_for(declared_of(item))}"
        case inspect.DataclassType(cls=times.Moment):
            return "date with time"
        case inspect.StructType() | inspect.DictType():
            return "object"
        case inspect.UnionType(types=types):
            return " or ".join(words_for(declared_of(each)) for each in types)
        case _:
            return "any value"


def _default(value: object) -> str:
    return "" if value in {msgspec.NODEFAULT, msgspec.UNSET, None} else msgspec.json.encode(value).decode()


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
    name: str, declared: Declared, *, is_request: bool, depth: int
) -> object:
    if name in SAMPLES_BY_NAME and _fits(SAMPLES_BY_NAME[name], declared.type):
        return SAMPLES_BY_NAME[name]
    if declared.schema.get("examples"):
        return declared.schema["examples"][0]
    if declared.kind in SAMPLES:
        return SAMPLES[declared.kind]
    match declared.type:
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.EnumType(cls=enum):
            return next(iter(enum)).value
        case inspect.IntType(ge=least):
            return least or 0
        case inspect.FloatType():
            return 0.5
        case inspect.BoolType():
            return False
        case inspect.ListType(item_type=item):
            if depth >= EXAMPLE_DEPTH_MAX:
                return []
            return [_example(name, declared_of(item), is_request=is_request, depth=depth + 1)]
        case inspect.DataclassType(cls=times.Moment):
            return SAMPLES["date_time"]
        case inspect.StructType(cls=struct):
            return {} if depth >= EXAMPLE_DEPTH_MAX else example_of(struct, is_request=is_request, depth=depth + 1)
        case inspect.UnionType(types=types):
            return _example(name, declared_of(types[0]), is_request=is_request, depth=depth)
        case inspect.StrType():
            return "example"
        case _:
            return {}


def _fits(value: object, kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.LiteralType):
        return value in kind.values
    return isinstance(value, str) if isinstance(kind, inspect.StrType) else isinstance(kind, inspect.IntType)
