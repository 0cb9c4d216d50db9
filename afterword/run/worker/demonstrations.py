"""Makes the made-up shop that all logins of the installation may look at, once somebody asks for it."""

from afterword.kit import db
from afterword.kit.db import Pool
from afterword.run.demonstration import service as demonstration
from afterword.tenants.logins import sessions


async def make_next(pool: Pool, *, database_url: str, secret: bytes) -> bool:
    """Make the shop if it is asked for; where that fails, somebody must ask again."""
    async with db.connection(pool) as database:
        if await sessions.get_is_demonstration_made(database) is not False:
            return False
    try:
        async with await demonstration.open_pool(database_url) as own, db.transaction(own) as database:
            await demonstration.make_shared(database, secret=secret, now=database.clock.now())
    except Exception:
        await db.change(pool, demonstration.delete_request)
        raise
    return False
