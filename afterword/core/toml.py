"""Tables that stand in a TOML file beside the module that reads them."""

import tomllib
from importlib import resources
from typing import Any


def tables_of(module: str, name: str = "") -> dict[str, Any]:
    """The tables of the file beside a module (`__name__`), which has the module's name unless another is given."""
    package, _, own = module.rpartition(".")
    return tomllib.loads((resources.files(package) / f"{name or own}.toml").read_text("utf-8"))
