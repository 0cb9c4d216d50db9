"""Records late that an attempt of unknown outcome was accepted, by a fenced worker's 250, a callback or a bounce."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from afterword import ids
from afterword.kit.db import Database
from afterword.sending.queue.late_outcomes import store
from afterword.sending.queue.late_outcomes.store import Corrected, LateAcceptance
from afterword.sending.queue.records import ItemKey
from afterword.sending.queue.reminders import service as reminders


async def record_acceptances(db: Database, *, acceptances: Sequence[LateAcceptance], now: datetime) -> list[Corrected]:
    """Note these attempts as accepted; the items that become sent by that. Repeating it changes nothing.

    The items are locked first: a worker that settles one of them has by then recorded the attempt's end, or reads
    after us that it was reported.
    """
    await store.list_locked_items(db, items=[(one.organization_id, one.item_id) for one in acceptances])
    corrected = await store.settle_late_items(db, acceptances=acceptances)
    await reminders.note_sent(db, sent={one.key: one.questionnaire_instance_id for one in corrected}, now=now)
    return corrected


async def list_known(db: Database, *, items: Sequence[ItemKey], is_locked: bool = False) -> Mapping[ItemKey, bool]:
    """List the items, about to be settled as not sent, that have a late acceptance.

    True where it is the attempt that is being settled, reported while it was under way; see `note_reported`. The items
    stay locked, so that an acceptance which comes now waits for the settlement.
    """
    if not items:
        return {}
    if not is_locked:
        items = await store.list_locked_items(db, items=items)
    return await store.list_accepted_late(db, items=items)


async def note_reported(db: Database, *, items: Iterable[ItemKey], now: datetime) -> None:
    """Note the reported attempt of items that were settled as sent because of it, if its own outcome is unknown."""
    acceptances = [
        LateAcceptance(*key, ids.ordered(now), reply="reported while it was under way") for key in sorted(items)
    ]
    if acceptances:
        await record_acceptances(db, acceptances=acceptances, now=now)
