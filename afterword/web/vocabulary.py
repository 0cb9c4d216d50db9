"""Words of the reference: members, families, roles and scopes in `vocabulary.toml`, codes in `refusals.toml`."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from string import Template
from typing import Any, Final

import msgspec


class Explanation(msgspec.Struct, frozen=True):
    status: int
    title: str
    text: str


def read(name: str, **limits: object) -> dict[str, Any]:
    """Read a TOML file of this package, with the values of `limits` in place of its $NAMES."""
    text = (resources.files("afterword.web") / name).read_text("utf-8")
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
    """Explanation of a code of a refusal or of a wrong field."""
    if code in FIELD_CODES:
        return Explanation(422, title_of(code), FIELD_CODES[code])
    return EXPLANATIONS.get(code)


def status_of(code: str) -> int:
    """Status of a code, 409 by default."""
    explanation = explanation_of(code)
    return explanation.status if explanation else 409


def member(struct: str, name: str) -> str:
    """Description of a member; a request falls back to its resource."""
    return next((str(_TABLES[table][name]) for table in _tables_of(struct) if name in _TABLES.get(table, {})), "")


def scope(name: str) -> str:
    entity, _, action = name.partition(".")
    return f"{_TABLES['actions'][action]} {_TABLES['entities'][entity]}."


def describe_members(struct: str, schema: dict[str, Any]) -> None:
    for name, each in schema.get("properties", {}).items():
        words = member(struct, name)
        if words:
            each.setdefault("description", words)


def _tables_of(struct: str) -> tuple[str, ...]:
    return struct, struct.removesuffix("Request").removesuffix("Update"), "members"
