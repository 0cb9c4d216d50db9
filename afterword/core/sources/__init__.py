"""Systems that tell of orders, deliveries and tickets: who signed a call, and what it says."""

from collections.abc import Mapping
from typing import Final

from afterword.core.sources.parts import SourceKind

KINDS: Final[Mapping[str, SourceKind]] = {}
