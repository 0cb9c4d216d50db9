"""Asks for the records of custom domains again, and keeps the addresses that this worker writes up to date."""

from collections.abc import Sequence

from afterword.asking.links.domains import service
from afterword.asking.links.domains.store import CustomDomain
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Pool
from afterword.run.worker.flights import Flights


class DomainChecks(Flights[CustomDomain]):
    name = "checks of custom domains"
    slots = 5
    poll_seconds = service.FRESH_SECONDS
    grace_seconds = 2 * service.ASK_SECONDS_MAX

    def __init__(self, *, pool: Pool, site: Site) -> None:
        super().__init__()
        self._pool = pool
        self._site = site

    async def claim(self, limit: int) -> tuple[Sequence[CustomDomain], bool]:
        await service.try_refresh(self._pool, site=self._site)
        async with db.transaction(self._pool) as database:
            claimed = await service.claim_due(database, now=database.clock.now(), limit=limit)
        return claimed, bool(claimed)

    async def serve(self, domain: CustomDomain) -> None:
        async with db.connection(self._pool) as database:
            now = database.clock.now()
        await service.ask(self._pool, domain=domain, site=self._site, now=now)
