"""Jobs that the limit of a statement ended, by their names: figures and the doctor tell of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from afterword.kit.db import Database, Row
from afterword.kit.web.metrics import Sample

TIMEOUTS: Final = ("afterword_job_timeouts_total", "Runs of jobs that the limit of a statement ended.")


async def insert_timeout(db: Database, *, name: str, now: datetime) -> None:  # any tenant: jobs are the installation's
    await db.execute(
        """insert into job_timeout as t (name, total, last_time) values ($1, 1, $2)
           on conflict (name) do update set total = t.total + 1, last_time = excluded.last_time""",
        *(name, now),
    )


async def list_timeouts(db: Database) -> Sequence[Row]:  # any tenant: jobs are the installation's
    return await db.fetch("select name, total, last_time from job_timeout where total > 0 order by name")


async def samples(db: Database) -> list[Sample]:
    return [Sample(*TIMEOUTS, sum(row["total"] for row in await list_timeouts(db)), only_grows=True)]
