"""The facts for deciding about a batch, read in a few queries; reserved contacts count for later items of the batch."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Protocol

from afterword.core.answers import instances
from afterword.core.messaging import addresses
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.questionnaires import condition_reader
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.findings import Findings
from afterword.core.scheduling import decisions, holidays, windows, zones
from afterword.core.scheduling.decisions import (
    INVITATION,
    REMINDER,
    Block,
    Contact,
    Decision,
    Facts,
    Previous,
    Rules,
    Suppression,
)
from afterword.core.scheduling.lanes import LaneKey
from afterword.core.scheduling.statuses import ITEM_TERMINAL, Item
from afterword.db import Database
from afterword.questionnaires.metadata import service as metadata_service
from afterword.queue.deciding import store
from afterword.queue.deciding.store import AddressKey, PreviousItem
from afterword.queue.lanes.store import LaneSettings
from afterword.queue.records import ItemKey
from afterword.responders import store as responders_store
from afterword.responders.store import AddressFacts, AddressId, Recipient, Responder

SENT_MAX: Final = 20_000  # messages to a batch's addresses from before the policy or cap was enabled
NO_OFFSET: Final = timedelta(0)
SINCE_MARGIN: Final = timedelta(hours=1)  # items claimed before it was enabled may have been sent after

Rank = tuple[int, datetime, str]


class Candidate(Protocol):
    """The members of an item that decisions need: of a queue item, or of a row of a dry run."""

    @property
    def organization_id(self) -> str: ...
    @property
    def item_id(self) -> str: ...
    @property
    def questionnaire_id(self) -> str: ...
    @property
    def pipeline_id(self) -> str: ...
    @property
    def responder_channel_identifier(self) -> str: ...
    @property
    def address_key(self) -> bytes: ...
    @property
    def locale(self) -> str | None: ...
    @property
    def metadata(self) -> Mapping[str, Mapping[str, str]]: ...
    @property
    def due_time(self) -> datetime: ...
    @property
    def not_after(self) -> datetime: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def previous_item_id(self) -> str | None: ...
    @property
    def source(self) -> str: ...
    @property
    def test(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Forecast:
    """A decision, with its time zone, its metadata and the person of the address; nothing is done by it."""

    decision: Decision
    zone_name: str
    metadata: Mapping[str, object]
    responder: Responder | None


@dataclass(slots=True, kw_only=True)
class DecisionContext:
    settings: Mapping[LaneKey, LaneSettings]
    rules: Mapping[LaneKey, Rules]
    people: Mapping[AddressId, AddressFacts]
    previous: Mapping[ItemKey, PreviousItem]
    declared: Mapping[LaneKey, Declared]
    contacts: dict[AddressKey, list[Contact]] = field(default_factory=dict[AddressKey, list[Contact]])
    responded: Mapping[AddressKey, datetime] = field(default_factory=dict[AddressKey, datetime])
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    reserved: set[AddressKey] = field(default_factory=set[AddressKey])
    competitors: dict[tuple[AddressKey, bool], list[str]] = field(
        default_factory=dict[tuple[AddressKey, bool], list[str]]
    )

    def contact_keys_of(self, items: Collection[Candidate]) -> set[AddressKey]:
        """The addresses whose contacts count for these items, or are reserved for them."""
        found: set[AddressKey] = set()
        for item in items:
            if self.rules[lane_of(item)].reserves_contacts:
                found |= self.addresses_of(item)
        return found

    async def load_history(
        self,
        db: Database,
        items: Sequence[Candidate],
        *,
        contacts: Mapping[AddressKey, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        """Load the history for caps and policies: messages sent before they were enabled, responses, titles.

        `contacts`: entries that are read and locked already; None reads those of the items without a lock.
        """
        counted = [item for item in items if self.rules[lane_of(item)].is_counted]
        contacts_of = sorted(self.contact_keys_of(items)) if contacts is None else ()
        sent, responded_since = self._spans_of_sent(items), self._spans_of_responded(counted)
        known = {lane: settings.pipeline.title for lane, settings in self.settings.items()}
        if contacts_of or sent or responded_since:
            history = await store.list_history(
                db, contacts_of=contacts_of, sent=sent, responded_since=responded_since, sent_max=SENT_MAX
            )
            self._keep(history.contacts if contacts is None else contacts, history.sent)
            self.responded = history.responded
            known |= history.titles
        elif contacts:
            self._keep(contacts, {})
        if not counted:
            return
        pipelines = {(key[0], one.pipeline_id) for key, found in self.contacts.items() for one in found}
        if missing := sorted(pipelines - known.keys()):
            known |= await store.list_titles(db, pipelines=missing)
        self.titles = {pipeline_id: title for (_, pipeline_id), title in known.items()}

    def rank(self, item: Candidate) -> Rank:
        """The order of items that compete for a contact: the pipeline's priority, then the due time."""
        return self.settings[lane_of(item)].pipeline.priority, item.due_time, item.item_id

    def decide(self, item: Candidate, now: datetime, block: Block | None = None) -> Forecast:
        """The decision about an item at a moment; an item that goes reserves its contact.

        Rules judge a test item at the time of the organization's test clock; the due time of a hold is real again.
        """
        lane, address = lane_of(item), address_of(item)
        facts, offset = self._facts(item, now, block), self._offset_of(item)
        decision = decisions.decide(item=_subject(item), facts=facts, now=now + offset)
        if offset and decision.until is not None:
            decision = replace(decision, until=decision.until - offset)
        if decision.verdict == "go" and self.rules[lane].reserves_contacts:
            kind = REMINDER if item.source == REMINDER else INVITATION
            contact = Contact(now + offset, item.pipeline_id, item.item_id, kind, item.test)
            self.contacts[address] = _with(self.contacts.get(address, ()), contact)
            self.reserved.add(address)
        recipient = self.people[address_id_of(item, self.settings[lane])].recipient
        return Forecast(decision, facts.zone_name, facts.metadata, recipient and recipient.responder)

    def with_delay_reason(self, forecast: Forecast, item: Candidate, *, requested_time: datetime) -> Forecast:
        """The forecast of an item that goes later than requested, with the rule that closes its window until then."""
        facts = self._facts(item, requested_time, None)
        decision = decisions.with_opening(
            forecast.decision, item=_subject(item), facts=facts, requested_time=requested_time
        )
        return Forecast(decision, forecast.zone_name, forecast.metadata, forecast.responder)

    def note_competitor(self, item: Candidate, now: datetime) -> None:
        """Note an item that waits as well: if it may go now, the batch's items behind it wait."""
        address = address_of(item)
        if any(contact.item_id == item.item_id for contact in self.contacts.get(address, ())):
            return  # its contact is reserved
        facts, local = self._facts(item, now, None), now + self._offset_of(item)
        if decisions.decide(item=_subject(item), facts=facts, now=local).verdict == "go":
            for key in self.addresses_of(item):
                self.competitors.setdefault((key, item.test), []).append(self.settings[lane_of(item)].pipeline.title)

    def _facts(self, item: Candidate, now: datetime, block: Block | None) -> Facts:
        lane, address = lane_of(item), address_of(item)
        declared, rules, settings = self.declared.get(lane), self.rules[lane], self.settings[lane]
        person = self.people[address_id_of(item, settings)]
        return Facts(
            rules=rules,
            zone_name=_zone_name(item, settings, person.recipient),
            suppression=_suppression_of(person),
            metadata={} if declared is None else _typed(item, declared),
            contacts=self._contacts_of(address, item),
            elsewhere=[contact for other in person.others for contact in self._contacts_of(key_of(other), item)],
            responded_time=self.responded.get(address) if rules.is_counted and not item.test else None,
            competitors=self.competitors.get((address, item.test), ()),
            titles=self.titles,
            previous=_previous_of(item, self.previous, now),
            block=block,
        )

    def _contacts_of(self, address: AddressKey, item: Candidate) -> list[Contact]:
        """Of a test item the tests alone, of any other the real ones."""
        return [contact for contact in self.contacts.get(address, ()) if contact.test is item.test]

    def _offset_of(self, item: Candidate) -> timedelta:
        return self.settings[lane_of(item)].test_offset if item.test else NO_OFFSET

    def addresses_of(self, item: Candidate) -> set[AddressKey]:
        """The address of an item and those that count together with it."""
        others = self.people[address_id_of(item, self.settings[lane_of(item)])].others
        return {address_of(item), *map(key_of, others)}

    def _spans_of_sent(self, items: Sequence[Candidate]) -> dict[AddressId, tuple[datetime, datetime]]:
        spans: dict[AddressId, tuple[datetime, datetime]] = {}
        for item in items:
            rules, settings = self.rules[lane_of(item)], self.settings[lane_of(item)]
            own = address_id_of(item, settings)
            looks = [(rules.cap, settings.pipeline.capped_time, [own])] if rules.cap else []
            if rules.policy is not None and rules.is_counted:
                addresses = [own, *self.people[own].others]
                looks.append((timedelta(days=rules.policy.days), settings.policy.enabled_time, addresses))
            for span, written_since, addresses in looks:
                since = item.due_time - span
                if written_since is None or written_since <= since:
                    continue
                for address in addresses:
                    earliest, latest = spans.get(address, (since, written_since))
                    spans[address] = min(since, earliest), max(written_since + SINCE_MARGIN, latest)
        return spans

    def _spans_of_responded(self, items: Sequence[Candidate]) -> dict[AddressId, datetime]:
        spans: dict[AddressId, datetime] = {}
        for item in items:
            settings = self.settings[lane_of(item)]
            days = settings.policy.response_window_days
            if days is not None:
                since, address = item.due_time - timedelta(days=days), address_id_of(item, settings)
                spans[address] = min(since, spans.get(address, since))
        return spans

    def _keep(
        self,
        contacts: Mapping[AddressKey, Sequence[Mapping[str, Any]]],
        sent: Mapping[AddressKey, Sequence[Mapping[str, Any]]],
    ) -> None:
        self.contacts = {key: [_contact(entry) for entry in entries] for key, entries in contacts.items()}
        for key, entries in sent.items():
            noted = {contact.item_id for contact in self.contacts.get(key, ())}
            new = [_contact(entry) for entry in entries if entry["item_id"] not in noted]
            self.contacts[key] = [*new, *self.contacts.get(key, ())]


async def load_people(
    db: Database,
    items: Sequence[Candidate],
    settings: Mapping[LaneKey, LaneSettings],
    now: datetime,
    *,
    known: Mapping[AddressId, AddressFacts] = MappingProxyType({}),
) -> Mapping[AddressId, AddressFacts]:
    """The facts of these items' addresses; of `known` ones nothing is read."""
    missing: dict[AddressId, bool] = {}
    for item in items:
        policy, address = settings[lane_of(item)].policy, address_id_of(item, settings[lane_of(item)])
        if address not in known:
            missing[address] = policy.enabled and not policy.per_channel
    if not missing:
        return known
    ordered = sorted(missing)
    found = await responders_store.list_address_facts(
        db, addresses=ordered, with_others=[missing[address] for address in ordered], now=now
    )
    return {**known, **found}


async def gather(
    db: Database,
    items: Sequence[Candidate],
    settings: Mapping[LaneKey, LaneSettings],
    people: Mapping[AddressId, AddressFacts],
) -> DecisionContext:
    """Read what the rules ask for; contacts are read later."""
    rules = {key: rules_of(each) for key, each in settings.items()}
    return DecisionContext(
        settings=settings,
        rules=rules,
        people=people,
        previous=await _previous(db, items),
        declared={
            key: await metadata_service.declared_of(
                db, organization_id=each.pipeline.organization_id, questionnaire_id=each.pipeline.questionnaire_id
            )
            for key, each in settings.items()
            if rules[key].conditions is not None
        },
    )


def rules_of(settings: LaneSettings) -> Rules:
    pipeline, policy = settings.pipeline, settings.policy
    return Rules(
        start_time=pipeline.start_time,
        end_time=pipeline.end_time,
        is_active=settings.is_active,
        application_active=settings.application_active,
        is_closed=settings.is_closed,
        has_credits=settings.fingerprint.has_credits,
        conditions=condition_reader.read(pipeline.conditions, "/conditions", Findings()),
        cap=timedelta(
            days=pipeline.frequency_cap_days, hours=pipeline.frequency_cap_hours, minutes=pipeline.frequency_cap_minutes
        ),
        if_capped=pipeline.if_capped,
        policy=policy.rule,
        is_exempt=pipeline.policy_exempt,
        window=decisions.hours_of(pipeline.dispatch_start_time, pipeline.dispatch_end_time),
        weekdays=frozenset(pipeline.weekdays) & windows.WEEKDAYS_ALL,
        quiet=policy.quiet,
        holidays=policy.days_off if pipeline.on_holidays == "wait" else holidays.NONE,
        if_outside=pipeline.if_outside,
    )


def lane_of(item: Candidate) -> LaneKey:
    return item.organization_id, item.pipeline_id


def address_id_of(item: Candidate, settings: LaneSettings) -> AddressId:
    return item.organization_id, settings.pipeline.channel_id, item.address_key


def address_of(item: Candidate) -> AddressKey:
    """The address of an item; its key is a hash that includes the channel."""
    return item.organization_id, item.address_key


def key_of(address: AddressId) -> AddressKey:
    return address[0], address[2]


def entry_of(contact: Contact) -> dict[str, str]:
    test = {"test": "true"} if contact.test else {}
    return {
        **test,
        "time": contact.time.isoformat(),
        "pipeline_id": contact.pipeline_id,
        "item_id": contact.item_id,
        "kind": contact.kind,
    }


async def _previous(db: Database, items: Sequence[Candidate]) -> dict[ItemKey, PreviousItem]:
    keys = sorted({(i.organization_id, i.previous_item_id) for i in items if i.previous_item_id})
    found = await store.list_previous(db, items=keys) if keys else []
    return {(each.organization_id, each.item_id): each for each in found}


def _suppression_of(person: AddressFacts) -> Suppression | None:
    if person.suppressed_reason is None or person.suppressed_time is None:
        return None
    return Suppression(person.suppressed_reason, person.suppressed_time)


def _previous_of(item: Candidate, previous: Mapping[ItemKey, PreviousItem], now: datetime) -> Previous | None:
    found = previous.get((item.organization_id, item.previous_item_id or ""))
    if found is None:
        return None
    status = Item(found.status)
    return Previous(
        is_open=status not in ITEM_TERMINAL,
        is_sent=status == Item.SENT,
        is_answered=found.was_used or found.submitted_time is not None or found.full_quota_id is not None,
        is_expired=_is_expired(found, now),
    )


def _is_expired(found: PreviousItem, now: datetime) -> bool:
    if found.created_time is None or found.valid_days is None:
        return True  # its instance was deleted
    return instances.is_expired(_Lifetime(found.valid_days, found.sent_time, found.created_time), now)


class _Lifetime:
    def __init__(self, valid_days: int, sent_time: datetime | None, created_time: datetime) -> None:
        self.valid_days, self.sent_time, self.created_time = valid_days, sent_time, created_time


def _zone_name(item: Candidate, settings: LaneSettings, person: Recipient | None) -> str:
    pipeline = settings.pipeline
    is_phone = pipeline.channel_id == CHANNEL_SMS
    return zones.zone_name_for(
        pipeline=pipeline.time_zone,
        zone_of_kind=pipeline.zone_of,
        responder=person.responder.time_zone if person else None,
        phone=_phone(item.responder_channel_identifier, item.locale or pipeline.locale) if is_phone else None,
        application=settings.application_zone,
        organization=settings.organization_zone,
    )


@lru_cache(maxsize=4096)
def _phone(identifier: str, locale: str | None) -> str | None:
    """A phone number with its country, which a national one has from the locale."""
    return addresses.normal_or_none(CHANNEL_SMS, identifier, locale=locale)


def _typed(item: Candidate, declared: Declared) -> Mapping[str, object]:
    return instances.facts_of(item.metadata.get("questionnaire", {}), item.metadata.get("responder", {}), declared)


def _subject(item: Candidate) -> decisions.Item:
    return decisions.Item(
        item_id=item.item_id,
        pipeline_id=item.pipeline_id,
        not_after=item.not_after,
        reason=item.reason,
        is_reminder=item.source == REMINDER,
    )


def _contact(entry: Mapping[str, Any]) -> Contact:
    time, kind = datetime.fromisoformat(entry["time"]), entry.get("kind", INVITATION)
    return Contact(time, entry["pipeline_id"], entry["item_id"], kind, "test" in entry)


def _with(contacts: Sequence[Contact], new: Contact) -> list[Contact]:
    """The newest contacts with this one, none older than the span of any rule; an item has one contact.

    Those of tests have another clock, and take no place of real ones.
    """
    since = new.time - timedelta(days=decisions.CONTACT_DAYS_MAX)
    apart = [contact for contact in contacts if contact.test is not new.test]
    others = [
        contact
        for contact in contacts
        if contact.test is new.test and contact.item_id != new.item_id and contact.time > since
    ]
    return [*apart, *[*others, new][-decisions.CONTACTS_MAX :]]
