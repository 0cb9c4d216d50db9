"""Descriptions of members, families, roles and scopes for the reference, read from `vocabulary.toml`."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

_TABLES: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    resources.files("afterword.web").joinpath("vocabulary.toml").read_text("utf-8")
)
FAMILIES: Final = _TABLES["families"]
ROLES: Final = _TABLES["roles"]
EXAMPLES: Final[Mapping[str, Any]] = _TABLES["examples"]  # of bodies, where their types alone give none that works


def member(struct: str, name: str) -> str:
    """Description of a member; a request falls back to its resource."""
    return next((str(_TABLES[table][name]) for table in _tables_of(struct) if name in _TABLES.get(table, {})), "")


def scope(name: str) -> str:
    """Description of the actions that a scope allows."""
    entity, _, action = name.partition(".")
    return f"{_TABLES['actions'][action]} {_TABLES['entities'][entity]}."


def describe_members(struct: str, schema: dict[str, Any]) -> None:
    """Add descriptions to members that the schema leaves undescribed."""
    for name, each in schema.get("properties", {}).items():
        words = member(struct, name)
        if words:
            each.setdefault("description", words)


def _tables_of(struct: str) -> tuple[str, ...]:
    return struct, struct.removesuffix("Request").removesuffix("Update"), "members"
