"""Decides whether items are sent, held or skipped: reads the facts with a few queries, and asks the core.

`decide_items` is for the send path: it locks and reserves contacts. `foresee_items` and `backtest_items` run the same
decision over given or stored items, and write nothing.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from afterword.asking.questionnaires import metadata as metadata_service
from afterword.core.answers import instances
from afterword.core.messaging import addresses
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import LeafResult, Node
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.findings import Findings
from afterword.core.scheduling import decisions, windows
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
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, qualified
from afterword.people.responders import store as responders_store
from afterword.people.responders.store import AddressFacts, AddressId, Recipient, Responder
from afterword.sending.queue import lanes
from afterword.sending.queue.lanes import LaneSettings
from afterword.sending.queue.records import DECIDED_COLUMNS, Candidate, Claimed, ItemKey, WaitingItem

AddressKey = tuple[str, bytes]  # organization_id, address_key
CONTACTS: Final = 1  # a kind of row of the history
SENT: Final = 2


class PreviousItem(msgspec.Struct, frozen=True):
    organization_id: str
    item_id: str
    status: int
    submitted_time: datetime | None
    full_quota_id: str | None
    valid_days: int | None
    sent_time: datetime | None
    created_time: datetime | None
    was_used: bool  # an anonymous invitation that took answers


class History(msgspec.Struct, frozen=True):
    """Entries of `contact`, messages sent as such entries, the last response; `titles` of the pipelines of both."""

    contacts: dict[AddressKey, list[dict[str, Any]]]
    sent: dict[AddressKey, list[dict[str, Any]]]
    responded: dict[AddressKey, datetime]
    titles: dict[LaneKey, str]


async def list_previous(  # any tenant: a claimed batch serves many organizations
    db: Database, *, items: Sequence[ItemKey]
) -> list[PreviousItem]:
    return await db.records(PreviousItem).fetch(
        """select q.organization_id, q.item_id, q.status, i.submitted_time, i.full_quota_id, i.valid_days, i.sent_time,
             i.created_time, coalesce(i.anonymity = 'invitation' and i.finalized, false) as was_used
           from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id
           left join questionnaire_instance i on i.organization_id = q.organization_id
             and i.instance_id = q.questionnaire_instance_id and i.deleted_time is null""",
        *arrays(items, 2),
    )


async def list_waiting(  # any tenant: a claimed batch serves many organizations
    db: Database, *, addresses: Collection[AddressKey], until: datetime, limit: int
) -> list[WaitingItem]:
    return await db.records(WaitingItem).fetch(
        f"""select {qualified(DECIDED_COLUMNS, "q")}, not p.paused and p.deleted_time is null and a.paused_time is null
               and (a.open_until is null or a.open_until <= now()) as is_open
           from unnest($1::text[], $2::bytea[]) as b (organization_id, address_key)
           join queue_item q on q.organization_id = b.organization_id and q.address_key = b.address_key
             and q.status::int = 1 and q.due_time <= $3 -- as the index of addresses is written
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           order by q.due_time, q.item_id limit $4""",
        *arrays(addresses, 2),
        until,
        limit,
    )


async def list_history(  # any tenant: a claimed batch serves many organizations
    db: Database,
    *,
    contacts_of: Collection[AddressKey],
    sent: Mapping[AddressId, tuple[datetime, datetime]],
    responded_since: Mapping[AddressId, datetime],
    sent_max: int,
) -> History:
    """Read contacts without a lock, messages sent between two times each, newest first, and the last response since.

    Tests are among the contacts alone.
    """
    rows = await db.fetch(
        """select 1 as kind, c.organization_id, c.address_key, c.recent, null::timestamptz as time,
             null as pipeline_id, null as item_id,
             (select jsonb_object_agg(p.pipeline_id, p.title) from jsonb_array_elements(c.recent) e
              join pipeline p on p.organization_id = c.organization_id and p.pipeline_id = e ->> 'pipeline_id'
             ) as titles
           from unnest($1::text[], $2::bytea[]) as b (organization_id, address_key)
           join contact c on c.organization_id = b.organization_id and c.address_key = b.address_key
           union all
           (select 2, b.organization_id, b.address_key, null, i.sent_time, q.pipeline_id, q.item_id,
             jsonb_build_object(p.pipeline_id, p.title)
           from unnest($3::text[], $4::smallint[], $5::bytea[], $6::timestamptz[], $7::timestamptz[])
             as b (organization_id, channel_id, address_key, since, until)
           join responder_address d on d.organization_id = b.organization_id and d.channel_id = b.channel_id
             and d.address_key = b.address_key
           join questionnaire_instance i on i.organization_id = d.organization_id and i.responder_id = d.responder_id
             and i.sent_time > b.since and i.sent_time < b.until and not i.test
           join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
             and q.address_key = b.address_key
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           order by i.sent_time desc limit $8)
           union all
           select 3, b.organization_id, b.address_key, null, max(i.submitted_time), null, null, null
           from unnest($9::text[], $10::smallint[], $11::bytea[], $12::timestamptz[])
             as b (organization_id, channel_id, address_key, since)
           join responder_address d on d.organization_id = b.organization_id and d.channel_id = b.channel_id
             and d.address_key = b.address_key
           join questionnaire_instance i on i.organization_id = d.organization_id and i.responder_id = d.responder_id
             and i.submitted_time > b.since and i.deleted_time is null and not i.test
           group by b.organization_id, b.address_key""",
        *arrays(contacts_of, 2),
        *arrays(sent, 3),
        [since for since, _ in sent.values()],
        [until for _, until in sent.values()],
        sent_max,
        *arrays(responded_since, 3),
        list(responded_since.values()),
    )
    found = History({}, {}, {}, {})
    for row in rows:
        key = row["organization_id"], row["address_key"]
        found.titles.update(((key[0], pipeline_id), title) for pipeline_id, title in (row["titles"] or {}).items())
        if row["kind"] == CONTACTS:
            found.contacts[key] = row["recent"]
        elif row["kind"] == SENT:
            entry = {"time": row["time"].isoformat(), "pipeline_id": row["pipeline_id"], "item_id": row["item_id"]}
            found.sent.setdefault(key, []).append(entry)
        else:
            found.responded[key] = row["time"]
    return found


async def _list_titles(  # any tenant: a claimed batch serves many organizations
    db: Database, *, pipelines: Collection[LaneKey]
) -> dict[LaneKey, str]:
    """The titles of these pipelines, also of deleted ones."""
    rows = await db.fetch(
        """select p.organization_id, p.pipeline_id, p.title
           from unnest($1::text[], $2::text[]) as b (organization_id, pipeline_id)
           join pipeline p on p.organization_id = b.organization_id and p.pipeline_id = b.pipeline_id""",
        *arrays(pipelines, 2),
    )
    return {(row["organization_id"], row["pipeline_id"]): row["title"] for row in rows}


async def claim_contacts(db: Database, *, addresses: Sequence[AddressKey]) -> dict[AddressKey, list[dict[str, Any]]]:
    """Lock the contacts of these addresses in key order, so that two batches cannot both reserve the last one."""
    rows = await db.fetch(
        """insert into contact as c (organization_id, address_key)
           select organization_id, address_key from unnest($1::text[], $2::bytea[]) as b (organization_id, address_key)
           order by organization_id, address_key
           on conflict (organization_id, address_key) do update set recent = c.recent
           returning c.organization_id, c.address_key, c.recent""",
        *arrays(sorted(set(addresses)), 2),
    )
    return {(row["organization_id"], row["address_key"]): row["recent"] for row in rows}


async def update_contacts(  # any tenant: a claimed batch serves many organizations
    db: Database, *, recent: Mapping[AddressKey, Sequence[Mapping[str, str]]]
) -> None:
    """Write the recent contacts; the rows are locked by claim_contacts."""
    await db.execute(
        """update contact c set recent = b.recent -> 'entries'
           from unnest($1::text[], $2::bytea[], $3::jsonb[]) as b (organization_id, address_key, recent)
           where c.organization_id = b.organization_id and c.address_key = b.address_key""",
        *arrays(recent, 2),
        [{"entries": list(entries)} for entries in recent.values()],  # a list of lists would be a matrix
    )


SENT_MAX: Final = 20_000  # messages to a batch's addresses from before the policy or cap was enabled
NO_OFFSET: Final = timedelta(0)
SINCE_MARGIN: Final = timedelta(hours=1)  # items claimed before it was enabled may have been sent after
FORECASTS_AT_ONCE: Final = 500  # then the event loop turns
COMPETITORS_MAX: Final = 2_000  # waiting items for the addresses of a batch
COMPETITOR_MINUTES_MAX: Final = 60  # items overdue by more block no others; their pipeline may have no worker
WAITING_ITEMS_MAX: Final = 20_000  # counted by a forecast, the earliest due
POSTPONEMENTS_MAX: Final = 4  # of one item in a forecast; it is decided again when each hold ends

Rank = tuple[int, datetime, str]


class Forecast(msgspec.Struct, frozen=True):
    """A decision, with its facts: the time zone, the conditions, the metadata and the person of the address."""

    decision: Decision
    zone_name: str
    conditions: Node | None
    metadata: Mapping[str, object]
    responder: Responder | None

    @property
    def leaves(self) -> Sequence[LeafResult]:
        """Each comparison of the conditions, also those of an item that goes."""
        return conditions.leaves(self.conditions, self.metadata) if self.conditions is not None else ()


class DecisionContext(msgspec.Struct, kw_only=True):
    settings: Mapping[LaneKey, LaneSettings]
    rules: Mapping[LaneKey, Rules]
    people: Mapping[AddressId, AddressFacts]
    previous: Mapping[ItemKey, PreviousItem]
    declared: Mapping[LaneKey, Declared]
    contacts: dict[AddressKey, list[Contact]] = msgspec.field(default_factory=dict[AddressKey, list[Contact]])
    responded: Mapping[AddressKey, datetime] = msgspec.field(default_factory=dict[AddressKey, datetime])
    titles: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    reserved: set[AddressKey] = msgspec.field(default_factory=set[AddressKey])
    competitors: dict[tuple[AddressKey, bool], list[str]] = msgspec.field(
        default_factory=dict[tuple[AddressKey, bool], list[str]]
    )
    is_backtest: bool = False  # contacts, responses and suppressions count from their own time on

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
            history = await list_history(
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
            known |= await _list_titles(db, pipelines=missing)
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
            decision = msgspec.structs.replace(decision, until=decision.until - offset)
        if decision.verdict == "go" and self.rules[lane].reserves_contacts:
            kind = REMINDER if item.source == REMINDER else INVITATION
            contact = Contact(now + offset, item.pipeline_id, item.item_id, kind, item.test)
            self.contacts[address] = _with(self.contacts.get(address, ()), contact)
            self.reserved.add(address)
        recipient = self.people[address_id_of(item, self.settings[lane])].recipient
        return Forecast(
            decision, facts.zone_name, facts.rules.conditions, facts.metadata, recipient and recipient.responder
        )

    async def foresee(
        self, items: Iterable[tuple[Candidate, datetime]], blocks: Mapping[str, Block] = MappingProxyType({})
    ) -> AsyncIterator[tuple[Candidate, datetime, Forecast]]:
        """Decide about each item at its moment, the earliest first, and again when a hold ends; writes nothing.

        Items that go reserve their contacts before later ones. `blocks`: what closes the lane of an item, by its id.
        """
        line = [(moment, self.rank(item), 0, item) for item, moment in items]
        heapq.heapify(line)
        turns = 0
        while line:
            moment, rank, holds, item = heapq.heappop(line)
            forecast = self.decide(item, moment, blocks.get(item.item_id))
            yield item, moment, forecast
            until = forecast.decision.until
            matters = self.is_backtest or self.rules[lane_of(item)].reserves_contacts
            if matters and until is not None and until > moment and holds < POSTPONEMENTS_MAX:
                heapq.heappush(line, (until, rank, holds + 1, item))
            turns += 1
            if turns % FORECASTS_AT_ONCE == 0:
                await asyncio.sleep(0)

    def with_delay_reason(self, forecast: Forecast, item: Candidate, *, requested_time: datetime) -> Forecast:
        """The forecast of an item that goes later than requested, with the rule that closes its window until then."""
        facts = self._facts(item, requested_time, None)
        decision = decisions.with_opening(
            forecast.decision, item=_subject(item), facts=facts, requested_time=requested_time
        )
        return msgspec.structs.replace(forecast, decision=decision)

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
        person, responded_time = self.people[address_id_of(item, settings)], self.responded.get(address)
        known_until = now if self.is_backtest else None
        groups = item.metadata.get("questionnaire", {}), item.metadata.get("responder", {})
        is_known = responded_time is None or known_until is None or responded_time < known_until
        return Facts(
            rules=rules,
            zone_name=_zone_name(item, settings, person.recipient),
            suppression=_suppression_of(person, known_until),
            metadata={} if declared is None else instances.facts_of(*groups, declared),
            contacts=self._contacts_of(address, item, known_until),
            elsewhere=[one for other in person.others for one in self._contacts_of(key_of(other), item, known_until)],
            responded_time=responded_time if is_known and rules.is_counted and not item.test else None,
            competitors=self.competitors.get((address, item.test), ()),
            titles=self.titles,
            previous=_previous_of(item, self.previous, now),
            block=block,
        )

    def _contacts_of(self, address: AddressKey, item: Candidate, known_until: datetime | None) -> list[Contact]:
        """Of a test item the tests alone, of any other the real ones. `known_until`: later ones are left out."""
        found = [contact for contact in self.contacts.get(address, ()) if contact.test is item.test]
        return found if known_until is None else [contact for contact in found if contact.time <= known_until]

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
    contacts = await claim_contacts(db, addresses=addresses) if addresses else {}
    await context.load_history(db, items, contacts=contacts)
    decisions: dict[ItemKey, Decision] = {}
    for item in sorted([*items, *competitors], key=context.rank):
        if isinstance(item, WaitingItem):
            context.note_competitor(item, now)
        else:
            decisions[item.key] = context.decide(item, now).decision
    if context.reserved:
        recent = {key: [entry_of(each) for each in context.contacts[key]] for key in sorted(context.reserved)}
        await update_contacts(db, recent=recent)
    return decisions, {address: facts.recipient for address, facts in context.people.items()}


async def foresee_items(
    db: Database,
    *,
    items: Sequence[tuple[Candidate, datetime]],
    settings: Mapping[LaneKey, LaneSettings],
    now: datetime,
    blocks: Mapping[LaneKey, Block] = MappingProxyType({}),
    requested_time: Mapping[str, datetime] = MappingProxyType({}),
) -> dict[str, Forecast]:
    """Forecast the decision about each item at its own moment, by item id; nothing is locked or written.

    As in a claim, an item that would go reserves a contact of its address before later ones, as do items that wait in
    open lanes of the organization for the same addresses. `blocks`: what closes the lanes of these items now.
    `requested_time`: of an item, by its id; the forecast names a rule that closes its window then.
    """
    asked = {item.item_id: item for item, _ in items}
    last = max((moment for _, moment in items), default=now)
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
    found: dict[str, Forecast] = {}
    line = [*items, *((item, max(item.due_time, now)) for item in others)]
    closed = {item_id: block for item_id, item in asked.items() if (block := blocks.get(lane_of(item)))}
    async for item, moment, forecast in context.foresee(line, closed):
        if item.item_id in asked and item.item_id not in found:
            request = max(requested_time.get(item.item_id, moment), now)
            found[item.item_id] = (
                forecast if request >= moment else context.with_delay_reason(forecast, item, requested_time=request)
            )
    return found


async def backtest_items(
    db: Database, *, items: Sequence[Candidate], settings: LaneSettings, now: datetime
) -> dict[str, Decision]:
    """The last decision about each stored item of one lane from its due time on, by item id, as if none were sent.

    Rules count as they would have then: messages of other pipelines, responses and suppressions from their own time on,
    and of these items those alone that go.
    """
    lane = {settings.key: settings}
    context = await gather(db, items, lane, await load_people(db, items, lane, now))
    await context.load_history(db, items)
    own = {item.item_id for item in items}
    for key, contacts in context.contacts.items():
        context.contacts[key] = [contact for contact in contacts if contact.item_id not in own]
    context.is_backtest = True
    forecasts = context.foresee((item, item.due_time) for item in items)
    return {item.item_id: forecast.decision async for item, _, forecast in forecasts}


async def _competitors(
    db: Database,
    items: Sequence[Claimed],
    settings: Mapping[LaneKey, LaneSettings],
    people: Mapping[AddressId, AddressFacts],
) -> list[WaitingItem]:
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
) -> list[WaitingItem]:
    """List waiting items for these items' people, by all addresses that count together."""
    if not items:
        return []
    facts = [people[address_id_of(item, settings[lane_of(item)])] for item in items]
    keys = {address_of(item) for item in items} | {key_of(other) for each in facts for other in each.others}
    return await list_waiting(db, addresses=sorted(keys), until=until, limit=limit)


async def _with_lanes(
    db: Database, items: Sequence[Candidate], settings: Mapping[LaneKey, LaneSettings]
) -> Mapping[LaneKey, LaneSettings]:
    missing = sorted({lane_of(item) for item in items} - settings.keys())
    found = await lanes.list_settings(db, lanes=missing) if missing else []
    return {**settings, **{each.key: each for each in found}}


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
    keys = sorted({(i.organization_id, i.previous_item_id) for i in items if i.previous_item_id})
    previous = await list_previous(db, items=keys) if keys else []
    return DecisionContext(
        settings=settings,
        rules=rules,
        people=people,
        previous={(each.organization_id, each.item_id): each for each in previous},
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
        conditions=conditions.read(pipeline.conditions, "/conditions", Findings()),
        cap=timedelta(
            days=pipeline.frequency_cap_days, hours=pipeline.frequency_cap_hours, minutes=pipeline.frequency_cap_minutes
        ),
        if_capped=pipeline.if_capped,
        policy=policy.rule,
        is_exempt=pipeline.policy_exempt,
        window=decisions.hours_of(pipeline.dispatch_start_time, pipeline.dispatch_end_time),
        weekdays=frozenset(pipeline.weekdays) & windows.WEEKDAYS_ALL,
        quiet=policy.quiet,
        holidays=policy.days_off if pipeline.on_holidays == "wait" else windows.NONE,
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


def _suppression_of(person: AddressFacts, known_until: datetime | None) -> Suppression | None:
    if person.suppressed_reason is None or person.suppressed_time is None:
        return None
    if known_until is not None and person.suppressed_time > known_until:
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
    return instances.is_expired(cast("instances.Lifetime", found), now)


def _zone_name(item: Candidate, settings: LaneSettings, person: Recipient | None) -> str:
    pipeline = settings.pipeline
    is_phone = pipeline.channel_id == CHANNEL_SMS
    return windows.zone_name_for(
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


def _subject(item: Candidate) -> decisions.Item:
    return decisions.Item(
        item_id=item.item_id,
        pipeline_id=item.pipeline_id,
        not_after=item.not_after,
        reason=item.reason,
        is_reminder=item.source == REMINDER,
        is_belated=item.reason is None and item.due_time > item.not_after,
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
