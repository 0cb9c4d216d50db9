"""Deliveries as clients see them: read, sent again alone or by a span of the log, pruned."""

from datetime import datetime, timedelta
from typing import Final

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.events.deliveries import store
from afterword.events.deliveries.store import Delivery, Span
from afterword.events.sending import service as sending
from afterword.events.webhooks import WEBHOOK
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns

REPLAY_EVENTS_MAX: Final = 10_000  # of one request; its answer says where to go on
KEPT_DAYS: Final = 30  # after they were delivered or died
OPEN_DAYS_MAX: Final = 90  # of an endpoint that is switched off
ID_MARGIN: Final = timedelta(hours=1)  # between an id's time, from a worker's reading of the clock, and its row's


async def get(db: Database, *, caller: Caller, webhook_id: str, delivery_id: str) -> Delivery:
    webhook = await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id)
    found = await store.get_delivery(
        db, organization_id=webhook.organization_id, webhook_id=webhook_id, delivery_id=delivery_id
    )
    return errors.found(found, "There is no such delivery.")


async def redeliver(db: Database, *, caller: Caller, webhook_id: str, delivery_id: str) -> Delivery:
    """With the same `webhook-id`, its attempts anew. A waiting one is tried at once, one in flight is left alone."""
    delivery = await get(db, caller=caller, webhook_id=webhook_id, delivery_id=delivery_id)
    key = {"organization_id": delivery.organization_id, "webhook_id": webhook_id}
    await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id, is_locked=True)
    subject_id = await store.update_delivery_to_restart(db, **key, delivery_id=delivery_id)
    if subject_id is not None:
        await sending.order_deliveries(db, subjects=[(delivery.organization_id, webhook_id, subject_id)])
    return await get(db, caller=caller, webhook_id=webhook_id, delivery_id=delivery_id)


async def replay(
    db: Database,
    *,
    caller: Caller,
    webhook_id: str,
    from_time: datetime | None,
    to_time: datetime | None,
    after: tuple[int, int] | None,
) -> store.Replayed:
    """Those that match the endpoint now, also from before it was created, at most 10,000, oldest first."""
    await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id, is_locked=True)
    span = Span(
        from_time=from_time,
        to_time=to_time,
        first_id=ids.ordered_first(from_time - ID_MARGIN) if from_time else None,
        last_id=ids.ordered_first(to_time + ID_MARGIN) if to_time else None,
        after=after,
        limit=REPLAY_EVENTS_MAX,
    )
    found = await store.insert_span(db, organization_id=caller.organization_id, webhook_id=webhook_id, span=span)
    subjects = [(caller.organization_id, webhook_id, subject_id) for subject_id in found.subject_ids]
    await sending.order_deliveries(db, subjects=subjects)
    return found
