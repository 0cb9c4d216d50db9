"""Decides anew about the invitations of the last days, each at its send time, by the rules that sending goes by.

Nothing is locked or written. What a rule counts is counted as it was then: messages of other pipelines, responses and
stops from their own time on, and those messages of the pipeline alone that the replay lets go.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from afterword.core.messaging.networks import Network
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.decisions import REMINDER, Contact
from afterword.core.scheduling.statuses import Item
from afterword.db import Database
from afterword.pipelines import service as pipelines
from afterword.queue.batches import store as items_store
from afterword.queue.deciding import context as deciding
from afterword.queue.deciding.store import AddressKey
from afterword.queue.lanes import store as lanes_store
from afterword.queue.lanes.store import LaneSettings
from afterword.queue.lists import service as lists
from afterword.queue.lists.service import Choice
from afterword.queue.store import QueueItem
from afterword.responders.store import AddressFacts

DAYS: Final = 30
ITEMS_MAX: Final = 500
HOLDS_MAX: Final = 4  # of one item; it is decided again when each ends
ASKED: Final = ""  # in place of the reason


@dataclass(frozen=True, slots=True)
class TriedChange:
    """For each item by its id why it would not have been sent, `ASKED` where it would."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def moved(self) -> int:
        """Items that come out differently."""
        return sum(reason != self.after[item_id] for item_id, reason in self.before.items())

    @property
    def outcomes(self) -> list[tuple[str, int, int]]:
        """Each reason with its counts by the stored and by the changed rules, `ASKED` first."""
        before, after = Counter(self.before.values()), Counter(self.after.values())
        reasons = [ASKED, *sorted(before.keys() | after.keys() - {ASKED})]
        return [(reason, before[reason], after[reason]) for reason in dict.fromkeys(reasons)]


async def try_change(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    pipeline_id: str,
    changes: Mapping[str, Any],
    check_version: Callable[[int], None],
    now: datetime,
    networks: Sequence[Network],
) -> TriedChange:
    """Decide about the newest invitations by the stored and by the changed rules. Raises as the change does."""
    changed = await pipelines.as_changed(
        db,
        caller=caller,
        questionnaire_id=questionnaire_id,
        pipeline_id=pipeline_id,
        changes=changes,
        check_version=check_version,
        networks=networks,
    )
    items = await list_newest(db, caller=caller, pipeline_id=pipeline_id, now=now)
    [settings] = await lanes_store.list_settings(db, lanes=[(caller.organization_id, pipeline_id)])
    return TriedChange(
        await replay(db, settings=settings, items=items, now=now),
        await replay(db, settings=replace(settings, pipeline=changed), items=items, now=now),
    )


async def list_newest(db: Database, *, caller: Caller, pipeline_id: str, now: datetime) -> list[QueueItem]:
    """The newest invitations whose time has come, without tests and without those of people who were erased."""
    choice = Choice(pipeline_id=pipeline_id, from_time=now - timedelta(days=DAYS), to_time=now)
    found = await lists.list_items(db, caller=caller, choice=choice, limit=ITEMS_MAX)
    item_ids = [one.item_id for one in found.items if not one.test and one.source != REMINDER]
    items = await items_store.list_whole_items(db, organization_id=caller.organization_id, item_ids=item_ids)
    return [
        msgspec.structs.replace(item, status=int(Item.SCHEDULED), reason=None, due_time=item.send_time)
        for item in items
        if item.anonymized_time is None
    ]


async def replay(db: Database, *, settings: LaneSettings, items: Sequence[QueueItem], now: datetime) -> dict[str, str]:
    """The reason why each item would not have been sent, `ASKED` where it would, by item id."""
    lane = {settings.key: settings}
    known = await deciding.load_people(db, items, lane, now)
    context = await deciding.gather(db, items, lane, known)
    await context.load_history(db, items)
    own = {item.item_id for item in items}
    history = {key: [one for one in found if one.item_id not in own] for key, found in context.contacts.items()}
    responded, people = context.responded, dict(known)
    context.people = people
    found: dict[str, str] = {}
    line = [(item.send_time, item.item_id, 0, item) for item in items]
    heapq.heapify(line)
    while line:
        moment, item_id, holds, item = heapq.heappop(line)
        address = deciding.address_of(item)
        address_id = deciding.address_id_of(item, settings)
        people[address_id] = _as_of(known[address_id], moment)
        context.contacts = {key: _until(history, key, moment) for key in context.addresses_of(item)}
        last = responded.get(address)
        context.responded = {address: last} if last is not None and last < moment else {}
        decision = context.decide(item, moment).decision
        found[item_id] = ASKED if decision.verdict == "go" else decision.reason or ""
        if decision.verdict == "go":
            history.setdefault(address, []).extend(
                one for one in context.contacts.get(address, ()) if one.item_id == item_id
            )
        elif decision.until is not None and decision.until > moment and holds < HOLDS_MAX:
            heapq.heappush(line, (decision.until, item_id, holds + 1, item))
    return found


def _as_of(person: AddressFacts, moment: datetime) -> AddressFacts:
    """The person as far as it was known then: a later stop does not count."""
    if person.suppressed_time is None or person.suppressed_time <= moment:
        return person
    return replace(person, suppressed_reason=None, suppressed_time=None)


def _until(history: dict[AddressKey, list[Contact]], key: AddressKey, moment: datetime) -> list[Contact]:
    return [one for one in history.get(key, ()) if one.time <= moment]
