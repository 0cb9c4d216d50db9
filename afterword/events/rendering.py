"""The function that turns the rows in events into resources; the roots pass it, because they know all packages."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any, Protocol

from afterword.core.wire.site import Site
from afterword.db import Database
from afterword.events.store import Event


class Render(Protocol):
    """Renders `data` of events as the GET of their subject shows it; `zones` by organization_id."""

    async def __call__(
        self, db: Database, /, *, events: Sequence[Event], site: Site, zones: Mapping[str, tzinfo]
    ) -> list[dict[str, Any]]:
        """One object per event, in order."""
        ...
