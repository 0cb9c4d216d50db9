"""Sending deliveries: dealing out, claiming, settling.

A webhook is a lane: at most two of its deliveries are in flight, and of one subject only the first open one, so that
order holds within one resource. There is no begin: receivers drop an id that they know, so a repeat does no harm.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from afterword.core.messaging.webhooks import ERROR_CHARACTERS_MAX, Reply, retry_time
from afterword.db import Database
from afterword.events import service as events
from afterword.events.sending import store
from afterword.events.sending.store import Delivery, DeliveryLease, LaneKey, SubjectKey
from afterword.events.webhooks import service as webhooks

READER: Final = "webhooks"
IN_FLIGHT_MAX: Final = 2  # of one webhook
ORGANIZATION_IN_FLIGHT_MAX: Final = 8  # of all webhooks of one organization
LANES_MAX: Final = 200  # that one turn looks at
EARLIER_MAX: Final = 1_000  # of a subject, which may have been overtaken by what is dealt out
LEASE_SECONDS: Final = 60.0
LOST: Final = "The worker that sent it did not come back."
START: Final[LaneKey] = ("", "")


async def deal_out(db: Database, *, limit: int) -> tuple[int, int]:
    """Give the next events of the log to the webhooks that want them: how many events, how many deliveries.

    In one transaction with the cursor; another process at it: (0, 0). Where nobody has a webhook, the log is skipped.
    """
    if not await events.hold_reader(db, reader=READER):
        return 0, 0
    if await store.update_reader_to_end(db, reader=READER):
        return 0, 0
    passed, dealt, subjects = await store.insert_next_deliveries(
        db, reader=READER, limit=limit, earlier_max=EARLIER_MAX
    )
    await arrange(db, subjects=subjects)
    return passed, dealt


async def arrange(db: Database, *, subjects: Sequence[SubjectKey]) -> None:
    """After deliveries were added: the first open one of each subject is due, those behind it wait for it."""
    if not subjects:
        return
    await store.claim_webhooks(db, keys=sorted({(organization, webhook) for organization, webhook, _ in subjects}))
    await store.update_later_deliveries(db, subjects=subjects)
    await store.update_first_deliveries(db, subjects=subjects)


async def claim(
    db: Database, *, after: LaneKey, limit: int, lease_seconds: float = LEASE_SECONDS
) -> tuple[list[Delivery], LaneKey]:
    """Claim up to `limit` due deliveries, two a webhook and eight an organization; and where the next turn begins."""
    seen = await store.list_lanes(db, after=after, limit=LANES_MAX)
    if not seen:
        return [], START
    lanes = await store.claim_lanes(
        db,
        keys=seen,
        in_flight_max=IN_FLIGHT_MAX,
        organization_in_flight_max=ORGANIZATION_IN_FLIGHT_MAX,
        limit=limit,
    )
    deliveries: list[Delivery] = []
    if lanes:
        deliveries = await store.claim_deliveries(
            db, keys=lanes, in_flight_max=IN_FLIGHT_MAX, limit=limit, lease_seconds=lease_seconds
        )
    if len(deliveries) >= limit:
        return deliveries, max(delivery.lease.lane for delivery in deliveries)
    return deliveries, seen[-1] if len(seen) == LANES_MAX else START


async def settle(db: Database, *, lease: DeliveryLease, reply: Reply, now: datetime, jitter: float) -> bool:
    """Write down what became of an attempt, count it, and let the next of its subject go; False: not ours any more."""
    await store.claim_webhooks(db, keys=[lease.lane])
    again = None if reply.is_delivered else retry_time(reply, attempts=lease.attempts, now=now, jitter=jitter)
    state = "delivered" if reply.is_delivered else "scheduled" if again else "dead"
    is_ours = await store.settle_delivery(
        db,
        lease=lease,
        state=state,
        due_time=again,
        response_status=reply.status,
        duration_ms=reply.duration_ms,
        response_excerpt=reply.excerpt,
        error=reply.error and reply.error[:ERROR_CHARACTERS_MAX],
        now=now,
    )
    if not is_ours:
        return False
    await store.update_total(db, outcome="failed" if state == "scheduled" else state)
    if state != "scheduled":
        await store.update_first_deliveries(db, subjects=[(*lease.lane, lease.subject_id)])
    if not reply.is_ours:
        await webhooks.note(
            db, organization_id=lease.organization_id, webhook_id=lease.webhook_id, reply=reply, now=now
        )
    return True


async def release(db: Database, *, lease: DeliveryLease) -> None:
    """Hand back a delivery that was claimed and not sent."""
    await store.claim_webhooks(db, keys=[lease.lane])
    await store.update_delivery_to_waiting(db, lease=lease)


async def reap(db: Database, *, limit: int, now: datetime, jitter: float) -> int:
    """Settle what lost workers had claimed as failed attempts; how many."""
    lost = await store.list_lost_holds(db, limit=limit)
    if lost:  # all of them before any total: whoever settles takes them in this order
        await store.claim_webhooks(db, keys=sorted({lease.lane for lease in lost}))
    for lease in lost:
        reply = Reply(duration_ms=0, error=LOST, is_ours=True)
        await settle(db, lease=lease, reply=reply, now=now, jitter=jitter)
    return len(lost)
