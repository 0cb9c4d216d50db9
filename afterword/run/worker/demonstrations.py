"""Makes the made-up shop that all logins of the installation may look at, once somebody asks for it."""

import asyncio
from collections.abc import Coroutine
from typing import Final

from afterword.kit import db
from afterword.kit.db import Pool
from afterword.run.demonstration import service as demonstration
from afterword.run.worker.flights import repeat
from afterword.tenants.logins import sessions

POLL_SECONDS: Final = 3.0


async def run(pool: Pool, *, database_url: str, secret: bytes, stop: asyncio.Event) -> None:
    """Work until `stop`; a shop that is half made then is rolled back, and made by the next worker."""

    def turn() -> Coroutine[None, None, bool]:
        return make_next(pool, database_url=database_url, secret=secret)

    working = asyncio.create_task(repeat(turn, name="demonstration", seconds=POLL_SECONDS, stop=stop))
    try:
        await stop.wait()
    finally:
        working.cancel()


async def make_next(pool: Pool, *, database_url: str, secret: bytes) -> bool:
    """Make the shop if it is asked for; where that fails, somebody must ask again."""
    async with db.connection(pool) as database:
        if await sessions.get_is_demonstration_made(database) is not False:
            return False
    try:
        async with await demonstration.open_pool(database_url) as own, db.transaction(own) as database:
            await demonstration.make_shared(database, secret=secret, now=database.clock.now())
    except Exception:
        async with db.transaction(pool) as database:
            await demonstration.delete_request(database)
        raise
    return False
