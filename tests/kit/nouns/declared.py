"""All nouns of the product."""

import importlib
import pkgutil
from functools import cache
from typing import Any

import afterword
from afterword.kit.nouns.declaration import Noun

OTHERS = ("__main__", "extras")  # the extras declare none, and take a second to import


@cache
def all_nouns() -> tuple[Noun[Any], ...]:
    """Every noun that a module declares, by its table and name."""
    found: dict[tuple[str, str], Noun[Any]] = {}
    for each in pkgutil.walk_packages(afterword.__path__, "afterword."):
        if each.name.split(".")[1] not in OTHERS:
            module = importlib.import_module(each.name)
            found |= {(one.table, one.one): one for one in vars(module).values() if isinstance(one, Noun)}
    return tuple(found[key] for key in sorted(found))
