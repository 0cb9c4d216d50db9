"""Tables that stand in a TOML file beside the module that reads them."""

import tomllib
from pathlib import Path
from typing import Any


def tables_of(module: str, name: str = "") -> dict[str, Any]:
    """The tables of the file beside a module (`__file__`), which has the module's name unless another is given."""
    path = Path(module)
    return tomllib.loads((path.with_name(f"{name}.toml") if name else path.with_suffix(".toml")).read_text("utf-8"))
