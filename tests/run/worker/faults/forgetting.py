"""The worker's job of retention in a process of its own, which may be killed.

`python -m tests.run.worker.faults.forgetting URL DAYS` works as it would so many days from now, until nothing is left.
"""

import asyncio
import sys
from datetime import timedelta

from afterword.kit import db
from afterword.privacy import retention


async def main(url: str, days: int) -> None:
    async with await db.open_pool(url, size_max=1) as pool:
        count, after = 1, retention.START
        while count:
            async with db.transaction(pool) as database:
                now = database.clock.now() + timedelta(days=days)
                count, after = await retention.work_next(database, after=after, now=now)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
