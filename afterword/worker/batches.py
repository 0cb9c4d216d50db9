"""Acts on many items in turns: some steps of one, then some of the next."""

from uuid import UUID

from afterword import db
from afterword.queue.batches import service
from afterword.queue.batches.store import BATCHES, Batch
from afterword.worker.long_work import StepWorker


class BatchWorker(StepWorker[Batch]):
    def __init__(self, pool: db.Pool, owner: UUID, *, secret: bytes) -> None:
        super().__init__(pool, owner, BATCHES, work=service.work, fail=service.fail, secret=secret)
