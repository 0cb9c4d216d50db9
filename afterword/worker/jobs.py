"""What happens periodically: each job is one call into a service, in one bounded transaction."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from afterword.accounts.idempotency import service as idempotency
from afterword.core.lanes import START, LaneKey
from afterword.core.retries import JITTER_MAX
from afterword.db import Database
from afterword.queue import service as queue
from afterword.queue.lanes import store as lanes_store
from afterword.queue.lanes.service import SettingsCache
from afterword.queue.sending import service as sending
from afterword.queue.sending.outcomes import Waits
from afterword.queue.sending.service import Draw, Lease
from afterword.worker.pace import BATCH_ITEMS_MAX, REAP_ITEMS_MAX, Pace

EXPIRE_SECONDS: Final = 60.0
EXPIRE_LANES_MAX: Final = 200
PRUNE_SECONDS: Final = 600.0
PRUNE_ROWS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class Job:
    """`run` does one batch of at most `batch` and says how many it did; a full batch is followed by another at once."""

    name: str
    seconds: float
    batch: int
    run: Callable[[Database], Awaitable[int]]


def jobs_of(*, lease: Lease, secret: bytes, pace: Pace, draw: Draw) -> Sequence[Job]:
    """All jobs of a worker; every worker runs every job, and whoever comes first does the work."""
    expiry = _Expiry(lease=lease, secret=secret, draw=draw)

    async def reap(db: Database) -> int:
        return await sending.reap(db, limit=REAP_ITEMS_MAX, waits=Waits(JITTER_MAX, pace.backoff_factor))

    return (
        Job("reap", pace.reap_seconds, REAP_ITEMS_MAX, reap),
        Job("expire items of closed lanes", EXPIRE_SECONDS, BATCH_ITEMS_MAX, expiry.run),
        Job("prune idempotency keys", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_idempotency_keys),
        Job("prune the outbox", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_outbox),
    )


class _Expiry:
    """Walks the closed lanes, some at a time."""

    def __init__(self, *, lease: Lease, secret: bytes, draw: Draw) -> None:
        self._lease = lease
        self._secret = secret
        self._draw = draw
        self._cache = SettingsCache()
        self._cursor: LaneKey = START

    async def run(self, db: Database) -> int:
        closed = await lanes_store.list_closed_lanes(db, after=self._cursor, limit=EXPIRE_LANES_MAX)
        count = 0
        if closed:
            count = await sending.claim_expired(
                db,
                closed=closed,
                lease=self._lease,
                cache=self._cache,
                secret=self._secret,
                draw=self._draw,
                limit=BATCH_ITEMS_MAX,
            )
        if count < BATCH_ITEMS_MAX:
            self._cursor = closed[-1] if len(closed) == EXPIRE_LANES_MAX else START
        return count


async def _prune_idempotency_keys(db: Database) -> int:
    return await idempotency.prune_idempotency_keys(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_outbox(db: Database) -> int:
    return await queue.prune_outbox(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)
