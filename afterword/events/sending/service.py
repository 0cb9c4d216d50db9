"""Sending deliveries: fan-out, claim, settle.

A webhook is a lane: at most two of its deliveries are in flight, and of one subject only the first open one, so that
events of one resource arrive in order. There is no begin: receivers drop an id that they know, so a repeat is safe.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from afterword.core.messaging.webhooks import ERROR_CHARACTERS_MAX, Reply, retry_time
from afterword.events import service as events
from afterword.events import webhooks
from afterword.events.sending import store
from afterword.events.sending.store import Delivery, DeliveryLease, LaneKey, SubjectKey
from afterword.kit.db import Database

READER: Final = "webhooks"
IN_FLIGHT_MAX: Final = 2  # of one webhook
ORGANIZATION_IN_FLIGHT_MAX: Final = 8  # of all webhooks of one organization
LANES_MAX: Final = 200  # that one turn looks at
EARLIER_MAX: Final = 1_000  # of a subject: earlier events that may have committed later
LEASE_SECONDS: Final = 20.0  # renewed while a call lasts: what a killed worker had in hand waits this long
LOST: Final = "The worker that sent it did not come back."
START: Final[LaneKey] = ("", "")


async def fan_out(db: Database, *, limit: int) -> tuple[int, int]:
    """Insert deliveries of the next events for each webhook that subscribes; return the counts of events, deliveries.

    Moves the cursor in the same transaction. Returns (0, 0) if another process has it, or if there is no webhook.
    """
    if not await events.claim_reader(db, reader=READER):
        return 0, 0
    if await store.update_reader_to_end(db, reader=READER):
        return 0, 0
    passed, delivery_count, subjects = await store.insert_next_deliveries(
        db, reader=READER, limit=limit, earlier_max=EARLIER_MAX
    )
    await order_deliveries(db, subjects=subjects)
    return passed, delivery_count


async def order_deliveries(db: Database, *, subjects: Sequence[SubjectKey]) -> None:
    """After an insert: make the first open delivery of each subject due; later ones wait for it."""
    if not subjects:
        return
    await store.claim_webhooks(db, keys=sorted({(organization, webhook) for organization, webhook, _ in subjects}))
    await store.update_later_deliveries(db, subjects=subjects)
    await store.update_first_deliveries(db, subjects=subjects)


async def claim(
    db: Database, *, after: LaneKey, limit: int, lease_seconds: float = LEASE_SECONDS
) -> tuple[list[Delivery], LaneKey]:
    """Claim up to `limit` due deliveries, two a webhook and eight an organization; also return the next `after`."""
    seen = await store.list_lanes(db, after=after, limit=LANES_MAX)
    if not seen:
        return [], START
    lanes = await store.claim_lanes(
        db, keys=seen, in_flight_max=IN_FLIGHT_MAX, organization_in_flight_max=ORGANIZATION_IN_FLIGHT_MAX, limit=limit
    )
    deliveries: list[Delivery] = []
    if lanes:
        deliveries = await store.claim_deliveries(
            db, keys=lanes, in_flight_max=IN_FLIGHT_MAX, limit=limit, lease_seconds=lease_seconds
        )
    if len(deliveries) >= limit:
        return deliveries, max(delivery.lease.lane for delivery in deliveries)
    return deliveries, seen[-1] if len(seen) == LANES_MAX else START


async def renew(db: Database, *, leases: Sequence[DeliveryLease], lease_seconds: float) -> None:
    """Prolong those that the worker still has; one that is being settled at the moment needs it no more."""
    await store.update_leases(db, leases=leases, lease_seconds=lease_seconds)


async def settle(db: Database, *, lease: DeliveryLease, reply: Reply, now: datetime, jitter: float) -> bool:
    """Record and count the outcome of an attempt; make the next of its subject due. False: the lease was lost."""
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
        await webhooks.record_reply(
            db, organization_id=lease.organization_id, webhook_id=lease.webhook_id, reply=reply, now=now
        )
    return True


async def release(db: Database, *, lease: DeliveryLease) -> None:
    await store.claim_webhooks(db, keys=[lease.lane])
    await store.update_delivery_to_waiting(db, lease=lease)


async def reap(db: Database, *, limit: int, now: datetime, jitter: float) -> int:
    """Settle the deliveries of lost workers as failed attempts; return the count."""
    lost = await store.list_lost_leases(db, limit=limit)
    if lost:  # lock all of them before any total: settle takes locks in this order
        await store.claim_webhooks(db, keys=sorted({lease.lane for lease in lost}))
    for lease in lost:
        reply = Reply(duration_ms=0, error=LOST, is_ours=True)
        await settle(db, lease=lease, reply=reply, now=now, jitter=jitter)
    return len(lost)
