"""Learns, late, that an attempt of unknown outcome was accepted: a fenced worker's 250, a callback, a bounce.

The moves are `late acceptance` and `late acceptance noted` of `core.statuses`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from afterword import ids
from afterword.db import Database
from afterword.instances import service as instances
from afterword.queue.late_outcomes import store
from afterword.queue.late_outcomes.store import Corrected, ItemKey, LateAcceptance
from afterword.queue.reminders import service as reminders


async def record_acceptances(db: Database, *, acceptances: Sequence[LateAcceptance], now: datetime) -> list[Corrected]:
    """Note these attempts as accepted; the items that are sent by that. Repeating it changes nothing.

    The items are locked first: whoever is settling one of them has written down by then how its attempt ended, or
    reads after us that it was reported.
    """
    await store.list_locked_items(db, items=[(one.organization_id, one.item_id) for one in acceptances])
    corrected = await store.settle_late_items(db, acceptances=acceptances)
    sent = sorted(
        (one.organization_id, one.questionnaire_instance_id)
        for one in corrected
        if one.questionnaire_instance_id is not None
    )
    if sent:
        await instances.mark_sent(db, sent=sent, now=now)
        await reminders.schedule_next(db, sent=[one.key for one in corrected], now=now)
    return corrected


async def learn_from_outside(
    db: Database, *, organization_id: str, item_id: str, reply: str, reference: str | None, now: datetime
) -> bool:
    """Somebody outside tells that a message of this item arrived; whether the item is sent by that.

    Of several attempts with an unknown outcome the latest is taken. Nothing happens where none is unknown.
    """
    truth = LateAcceptance(
        organization_id=organization_id,
        item_id=item_id,
        epoch=None,
        reply_code=None,
        reply=reply,
        provider_reference=reference,
        event_id=ids.ordered(now),
    )
    return bool(await record_acceptances(db, acceptances=[truth], now=now))


async def list_known(db: Database, *, items: Sequence[ItemKey], is_locked: bool = False) -> Mapping[ItemKey, bool]:
    """List the items, about to be settled as not sent, that have a late acceptance.

    True where it is the very attempt that is being settled: it was reported while it was under way, see
    `note_reported`. The items stay locked, so that a truth which comes now waits for the settlement.
    """
    if not items:
        return {}
    if not is_locked:
        items = await store.list_locked_items(db, items=items)
    return await store.list_accepted_late(db, items=items)


async def note_reported(db: Database, *, items: Iterable[ItemKey], now: datetime) -> None:
    """These items were settled as sent, by what was reported of an attempt: note it, if its own outcome is unknown."""
    acceptances = [
        LateAcceptance(
            organization_id=organization_id,
            item_id=item_id,
            epoch=None,
            reply_code=None,
            reply="reported while it was under way",
            provider_reference=None,
            event_id=ids.ordered(now),
        )
        for organization_id, item_id in sorted(items)
    ]
    if acceptances:
        await record_acceptances(db, acceptances=acceptances, now=now)
