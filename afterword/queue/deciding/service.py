"""Decides about a claimed batch: gathers the facts with a few reads, asks the core, reserves places for the caps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from afterword.core import conditions, instances, scheduling, windows
from afterword.core.addresses import CHANNEL_SMS
from afterword.core.lanes import LaneKey
from afterword.core.reading import Findings
from afterword.core.scheduling import Contact, Decision, Facts, Previous, Rules, Suppression
from afterword.core.statuses import ITEM_TERMINAL, Item
from afterword.db import Database
from afterword.instances import store as instances_store
from afterword.queue.deciding import store
from afterword.queue.deciding.store import AddressKey, PreviousItem, Recipient
from afterword.queue.lanes.store import Settings
from afterword.queue.sending.store import Claimed

ItemKey = tuple[str, str]


async def decide_items(
    db: Database, *, items: Sequence[Claimed], settings: Mapping[LaneKey, Settings], now: datetime
) -> dict[ItemKey, Decision]:
    """The decision about each item, in due order where an address occurs twice.

    Where a cap applies, the address is locked until the transaction ends and those that go have their place reserved.
    """
    rules = {key: rules_of(each, is_closed=await _is_closed(db, each)) for key, each in settings.items()}
    recipients = await _recipients(db, items, settings)
    previous = await _previous(db, items)
    capped = [_address(item) for item in items if rules[item.lane].cap]
    recent = await store.claim_contacts(db, addresses=capped) if capped else {}
    contacts = {key: [_contact(entry) for entry in entries] for key, entries in recent.items()}
    reserved: set[AddressKey] = set()
    decisions: dict[ItemKey, Decision] = {}
    for item in items:
        address = _address(item)
        facts = _facts(
            item,
            settings[item.lane],
            rules[item.lane],
            recipient=recipients.get(address),
            contacts=contacts.get(address, ()),
            previous=_previous_of(item, previous, now),
        )
        decision = scheduling.decide(item=_subject(item), facts=facts, now=now)
        decisions[item.key] = decision
        if decision.verdict == "go" and address in contacts and facts.rules.cap:
            contacts[address] = _with(contacts[address], Contact(now, item.pipeline_id, item.item_id))
            reserved.add(address)
    if reserved:
        await store.update_contacts(db, recent={key: [_entry(c) for c in contacts[key]] for key in sorted(reserved)})
    return decisions


async def release_places(db: Database, *, items: Sequence[ItemKey]) -> None:
    """Give back the places that items held which ended without being sent; an unknown attempt keeps its place."""
    if items:
        await store.delete_contacts(db, items=items)


def rules_of(settings: Settings, *, is_closed: bool = False) -> Rules:
    """What a lane asks of every item."""
    pipeline = settings.pipeline
    return Rules(
        start_time=pipeline.start_time,
        end_time=pipeline.end_time,
        is_active=settings.is_active,
        is_closed=is_closed,
        conditions=conditions.read(pipeline.conditions, "/conditions", Findings()),
        cap=timedelta(
            days=pipeline.frequency_cap_days,
            hours=pipeline.frequency_cap_hours,
            minutes=pipeline.frequency_cap_minutes,
        ),
        if_capped=pipeline.if_capped,
        window=scheduling.hours_of(pipeline.dispatch_start_time, pipeline.dispatch_end_time),
        weekdays=frozenset(pipeline.weekdays) & windows.WEEKDAYS_ALL,
        if_outside=pipeline.if_outside,
    )


async def _is_closed(db: Database, settings: Settings) -> bool:
    """Whether the questionnaire has all the responses it takes."""
    wanted = settings.responses_max
    if wanted is None:
        return False
    count = await instances_store.count_responses(
        db,
        organization_id=settings.pipeline.organization_id,
        questionnaire_id=settings.pipeline.questionnaire_id,
        limit=wanted,
    )
    return count >= wanted


async def _recipients(
    db: Database, items: Sequence[Claimed], settings: Mapping[LaneKey, Settings]
) -> dict[AddressKey, Recipient]:
    wanted = {(i.organization_id, settings[i.lane].pipeline.channel_id, i.address_key) for i in items}
    found = await store.list_recipients(db, addresses=sorted(wanted))
    return {(each.organization_id, each.address_key): each for each in found}  # the key's hash includes the channel


async def _previous(db: Database, items: Sequence[Claimed]) -> dict[ItemKey, PreviousItem]:
    wanted = sorted({(i.organization_id, i.previous_item_id) for i in items if i.previous_item_id})
    found = await store.list_previous(db, items=wanted) if wanted else []
    return {(each.organization_id, each.item_id): each for each in found}


def _previous_of(item: Claimed, previous: Mapping[ItemKey, PreviousItem], now: datetime) -> Previous | None:
    found = previous.get((item.organization_id, item.previous_item_id or ""))
    if found is None:
        return None
    status = Item(found.status)
    return Previous(
        is_open=status not in ITEM_TERMINAL,
        is_sent=status == Item.SENT,
        is_answered=found.submitted_time is not None,
        is_expired=_is_expired(found, now),
    )


def _is_expired(found: PreviousItem, now: datetime) -> bool:
    if found.created_time is None or found.valid_days is None:
        return True  # its instance is gone
    return instances.is_expired(_Lifetime(found.valid_days, found.sent_time, found.created_time), now)


class _Lifetime:
    """What `core.instances` asks of an instance."""

    def __init__(self, valid_days: int, sent_time: datetime | None, created_time: datetime) -> None:
        self.valid_days, self.sent_time, self.created_time = valid_days, sent_time, created_time


def _facts(
    item: Claimed,
    settings: Settings,
    rules: Rules,
    *,
    recipient: Recipient | None,
    contacts: Sequence[Contact],
    previous: Previous | None,
) -> Facts:
    pipeline = settings.pipeline
    zone_name = scheduling.zone_name_for(
        pipeline=pipeline.time_zone,
        zone_of_kind=pipeline.zone_of,
        responder=recipient.time_zone if recipient else None,
        phone=item.responder_channel_identifier if pipeline.channel_id == CHANNEL_SMS else None,
        application=settings.application_zone,
        organization=settings.organization_zone,
    )
    suppression = None
    if recipient and recipient.suppression_reason and recipient.suppressed_time:
        suppression = Suppression(recipient.suppression_reason, recipient.suppressed_time)
    return Facts(
        rules=rules,
        zone_name=zone_name,
        suppression=suppression,
        metadata=_known(item) if rules.conditions else {},
        contacts=contacts,
        previous=previous,
    )


def _subject(item: Claimed) -> scheduling.Item:
    return scheduling.Item(
        item_id=item.item_id,
        pipeline_id=item.pipeline_id,
        not_after=item.not_after,
        reason=item.reason,
        is_reminder=item.previous_item_id is not None,
    )


def _known(item: Claimed) -> dict[str, object]:
    return dict(instances.facts_of(item.metadata.get("questionnaire", {}), item.metadata.get("responder", {})))


def _address(item: Claimed) -> AddressKey:
    return item.organization_id, item.address_key


def _contact(entry: Mapping[str, Any]) -> Contact:
    return Contact(datetime.fromisoformat(entry["time"]), entry["pipeline_id"], entry["item_id"])


def _entry(contact: Contact) -> dict[str, str]:
    entry = {"time": contact.time.isoformat(), "pipeline_id": contact.pipeline_id, "item_id": contact.item_id}
    return {**entry, "kind": "invitation"}


def _with(contacts: Sequence[Contact], new: Contact) -> list[Contact]:
    """The newest 32, with this one; an item has one place."""
    others = [contact for contact in contacts if contact.item_id != new.item_id]
    return [*others, replace(new)][-scheduling.CONTACTS_MAX :]
