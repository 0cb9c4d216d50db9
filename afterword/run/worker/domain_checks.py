"""Asks for the records of custom domains again, and keeps the addresses that this worker writes up to date."""

from collections.abc import Sequence

from afterword.asking.links import domains
from afterword.asking.links.domains import CustomDomainRecord
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Pool
from afterword.run.worker.flights import Flights


class DomainChecks(Flights[CustomDomainRecord]):
    name = "checks of custom domains"
    slots = 5
    poll_seconds = domains.FRESH_SECONDS
    grace_seconds = 2 * domains.ASK_SECONDS_MAX

    def __init__(self, *, pool: Pool, site: Site) -> None:
        super().__init__()
        self._pool = pool
        self._site = site

    async def claim(self, limit: int) -> tuple[Sequence[CustomDomainRecord], bool]:
        await domains.try_refresh(self._pool, site=self._site)
        async with db.transaction(self._pool) as database:
            claimed = await domains.claim_due(database, now=database.clock.now(), limit=limit)
        return claimed, bool(claimed)

    async def serve(self, domain: CustomDomainRecord) -> None:
        async with db.connection(self._pool) as database:
            now = database.clock.now()
        await domains.ask(self._pool, domain=domain, site=self._site, now=now)
