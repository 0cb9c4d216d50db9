"""What turns the rows that events keep into resources: handed down by the roots, which know all slices."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any, Protocol

from afterword.core.wire.site import Site
from afterword.db import Database
from afterword.events.store import Event


class Render(Protocol):
    """Makes `data` of events as the GET of their subject shows it; `zones` by organization_id."""

    async def __call__(
        self, db: Database, /, *, events: Sequence[Event], site: Site, zones: Mapping[str, tzinfo]
    ) -> list[dict[str, Any]]:
        """One object an event, in their order."""
        ...
