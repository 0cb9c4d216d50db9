"""A process that delivers until it is killed: `python -m tests.events.runner DATABASE_URL LEASE_SECONDS`."""

import asyncio
import sys

from afterword.kit import db
from afterword.kit.transport.http import Caller
from afterword.run import renderings
from afterword.run.worker.deliverer import Deliverer
from tests.events.conftest import LOOPBACK, OPEN_SITE


async def main(url: str, lease_seconds: float) -> None:
    async with await db.open_pool(url, size_max=2) as pool:
        deliverer = Deliverer(
            pool=pool,
            site=OPEN_SITE,
            caller=Caller(allowed=LOOPBACK),
            render=renderings.render,
            lease_seconds=lease_seconds,
        )
        await deliverer.run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
