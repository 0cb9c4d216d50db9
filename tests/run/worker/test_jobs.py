"""The jobs of a worker: each named once, with a limit, and on an empty database none has anything to do."""

import random
import uuid

from afterword.kit import db
from afterword.run.worker.flights import Pace
from afterword.run.worker.jobs import jobs_of
from afterword.sending.queue.sending.service import Lease
from tests.conftest import House


async def test_jobs(pool: db.Pool, house: House) -> None:
    lease = Lease(owner=uuid.uuid4(), seconds=60.0, margin_seconds=5.0)
    jobs = jobs_of(lease=lease, secret=house.site.secret, pace=Pace(), draw=random.random, queue_days=30)
    assert len(jobs) == len({job.name for job in jobs})
    for job in jobs:
        async with db.transaction(pool) as database:
            assert 0 <= await job.run(database) <= job.batch, job.name
        assert job.seconds > 0
