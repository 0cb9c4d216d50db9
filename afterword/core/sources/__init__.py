"""Systems that tell of orders, deliveries and tickets: who signed a call, and what it says.

Each module with a `KIND` is one system, found by itself.
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from afterword.core.sources.parts import SourceKind

_MODULES: Final = [import_module(f"{__name__}.{one.name}") for one in iter_modules(__path__)]
_FOUND: Final[list[SourceKind]] = [module.KIND for module in _MODULES if hasattr(module, "KIND")]
# In the order of their names; those that their users describe come last.
KINDS: Final[Mapping[str, SourceKind]] = {
    kind.name: kind for kind in sorted(_FOUND, key=lambda kind: (bool(kind.settings), kind.label))
}
