"""Decides about a claimed batch: gathers the facts with a few reads, asks the core, reserves contacts for the caps."""

import asyncio
import heapq
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from afterword.core.scheduling.decisions import Block, Decision
from afterword.core.scheduling.lanes import LaneKey
from afterword.db import Database
from afterword.queue.deciding import store
from afterword.queue.deciding.context import (
    Candidate,
    Forecast,
    Rank,
    address_id_of,
    address_of,
    entry_of,
    gather,
    key_of,
    lane_of,
    load_people,
    rules_of,
)
from afterword.queue.deciding.store import Waiting
from afterword.queue.lanes import store as lanes_store
from afterword.queue.lanes.store import LaneSettings
from afterword.queue.records import Claimed, ItemKey
from afterword.responders.store import AddressFacts, AddressId, Recipient

__all__ = ["Candidate", "Forecast", "decide_items", "foresee_items", "rules_of"]

FORECASTS_AT_ONCE: Final = 500  # then the event loop turns
COMPETITORS_MAX: Final = 2_000  # waiting items for the addresses of a batch
COMPETITOR_MINUTES_MAX: Final = 60  # items overdue by more block no others; their pipeline may have no worker
WAITING_ITEMS_MAX: Final = 20_000  # counted by a forecast, the earliest due
POSTPONEMENTS_MAX: Final = 4  # of one item in a forecast


async def decide_items(
    db: Database, *, items: Sequence[Claimed], settings: Mapping[LaneKey, LaneSettings], now: datetime
) -> tuple[dict[ItemKey, Decision], Mapping[AddressId, Recipient | None]]:
    """The decision about each item, by the pipelines' priority and in due order where an address occurs twice.

    Also returns the responder of each address, or None. Where a cap or a policy counts, the address is locked until the
    transaction ends and items that go reserve their contact. A due item that is not claimed yet and comes first makes
    the others wait.
    """
    people = await load_people(db, items, settings, now)
    competitors = await _competitors(db, items, settings, people)
    everywhere = await _with_lanes(db, competitors, settings)
    people = await load_people(db, competitors, everywhere, now, known=people)
    context = await gather(db, [*items, *competitors], everywhere, people)
    addresses = sorted(context.contact_keys_of(items))
    contacts = await store.claim_contacts(db, addresses=addresses) if addresses else {}
    await context.load_history(db, items, contacts=contacts)
    decisions: dict[ItemKey, Decision] = {}
    for item in sorted([*items, *competitors], key=context.rank):
        if isinstance(item, Waiting):
            context.note_competitor(item, now)
        else:
            decisions[item.key] = context.decide(item, now).decision
    if context.reserved:
        recent = {key: [entry_of(each) for each in context.contacts[key]] for key in sorted(context.reserved)}
        await store.update_contacts(db, recent=recent)
    return decisions, {address: facts.recipient for address, facts in context.people.items()}


async def foresee_items(
    db: Database,
    *,
    items: Sequence[tuple[Candidate, datetime]],
    settings: Mapping[LaneKey, LaneSettings],
    now: datetime,
    blocks: Mapping[LaneKey, Block] | None = None,
    requested_time: Mapping[str, datetime] | None = None,
) -> dict[str, Forecast]:
    """Forecast the decision about each item at its own moment, by item id; nothing is locked or written.

    As in a claim, an item that would go reserves a contact of its address before later ones, as do items that wait in
    open lanes of the organization for the same addresses. A held item is decided again when its hold ends. `blocks`:
    the reasons that close lanes now. `requested_time`: of an item, by its id; the forecast names a rule that closes its
    window then.
    """
    asked = {item.item_id: item for item, _ in items}
    moments = {item.item_id: moment for item, moment in items}
    last = max(moments.values(), default=now)
    counted = [item for item in asked.values() if settings[lane_of(item)].reserves_contacts]
    people = await load_people(db, list(asked.values()), settings, now)
    others = [
        each
        for each in await _waiting_for_same_address(db, counted, settings, people, until=last, limit=WAITING_ITEMS_MAX)
        if each.item_id not in asked and (each.is_open or lane_of(each) in settings)
    ]
    everywhere = await _with_lanes(db, others, settings)
    people = await load_people(db, others, everywhere, now, known=people)
    context = await gather(db, [*asked.values(), *others], everywhere, people)
    await context.load_history(db, [*asked.values(), *others])
    line: list[tuple[datetime, Rank, int, Candidate]] = [
        (moments.get(item.item_id) or max(item.due_time, now), context.rank(item), 0, item)
        for item in (*asked.values(), *others)
    ]
    heapq.heapify(line)
    found: dict[str, Forecast] = {}
    turns = 0
    while line:
        moment, rank, holds, item = heapq.heappop(line)
        block = (blocks or {}).get(lane_of(item)) if item.item_id in asked else None
        forecast = context.decide(item, moment, block)
        if item.item_id in asked and item.item_id not in found:
            request = max((requested_time or {}).get(item.item_id, moment), now)
            found[item.item_id] = (
                forecast if request >= moment else context.with_delay_reason(forecast, item, requested_time=request)
            )
        until = forecast.decision.until
        if (
            until is not None
            and until > moment
            and holds < POSTPONEMENTS_MAX
            and context.rules[lane_of(item)].reserves_contacts
        ):
            heapq.heappush(line, (until, rank, holds + 1, item))
        turns += 1
        if turns % FORECASTS_AT_ONCE == 0:
            await asyncio.sleep(0)
    return found


async def _competitors(
    db: Database,
    items: Sequence[Claimed],
    settings: Mapping[LaneKey, LaneSettings],
    people: Mapping[AddressId, AddressFacts],
) -> list[Waiting]:
    counted = [item for item in items if settings[lane_of(item)].is_counted]
    if not counted:
        return []
    claimed, now = {item.item_id for item in items}, counted[0].database_now
    found = await _waiting_for_same_address(db, counted, settings, people, until=now, limit=COMPETITORS_MAX)
    oldest = now - timedelta(minutes=COMPETITOR_MINUTES_MAX)
    return [each for each in found if each.is_open and each.due_time > oldest and each.item_id not in claimed]


async def _waiting_for_same_address(
    db: Database,
    items: Sequence[Candidate],
    settings: Mapping[LaneKey, LaneSettings],
    people: Mapping[AddressId, AddressFacts],
    *,
    until: datetime,
    limit: int,
) -> list[Waiting]:
    """List waiting items for these items' people, by all addresses that count together."""
    if not items:
        return []
    facts = [people[address_id_of(item, settings[lane_of(item)])] for item in items]
    keys = {address_of(item) for item in items} | {key_of(other) for each in facts for other in each.others}
    return await store.list_waiting(db, addresses=sorted(keys), until=until, limit=limit)


async def _with_lanes(
    db: Database, items: Sequence[Candidate], settings: Mapping[LaneKey, LaneSettings]
) -> Mapping[LaneKey, LaneSettings]:
    missing = sorted({lane_of(item) for item in items} - settings.keys())
    found = await lanes_store.list_settings(db, lanes=missing) if missing else []
    return {**settings, **{each.key: each for each in found}}
