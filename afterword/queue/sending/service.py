"""A worker's moves of queue items: claim, begin, settle, release, give up, renew, reap, late acceptance, resolve.

Services receive an open transaction and never end it. What a move decides is decided in `core`; every move is a
compare-and-set on status and epoch, and every terminal move writes one terminal event in its transaction.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from afterword import ids
from afterword.channels.base import SMS, WEBHOOK, Outcome, Refused, Retry, Sent
from afterword.core.scheduling.decisions import Decision
from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.core.scheduling.statuses import Item
from afterword.db import Database
from afterword.instances import service as instances
from afterword.instances import store as instances_store
from afterword.instances.responders import store as people_store
from afterword.instances.service import ItemIssueInput
from afterword.instances.store import Instance
from afterword.providers.references import service as provider_references
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.store import Version
from afterword.queue.deciding import service as deciding
from afterword.queue.lanes import service as lanes
from afterword.queue.lanes.service import SettingsCache
from afterword.queue.lanes.store import LaneSettings
from afterword.queue.late_outcomes import service as truth
from afterword.queue.late_outcomes.store import LateAcceptance
from afterword.queue.records import Claimed, ItemKey, LeaseKey
from afterword.queue.reminders import service as reminders
from afterword.queue.sending import outcomes, store
from afterword.queue.sending.domains import within_rates
from afterword.queue.sending.outcomes import Waits
from afterword.queue.sending.store import Overdue, Settlement
from afterword.responders import service as responders
from afterword.responders import store as responders_store
from afterword.responders.service import Found, NewSuppression, ResponderInput
from afterword.responders.store import AddressId, Person

Draw = Callable[[], float]  # uniform in [0, 1), from the door


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The owner of claims, and the seconds that a claim lasts without renewal."""

    owner: UUID
    seconds: float
    margin_seconds: float


@dataclass(frozen=True, slots=True)
class Dispatch:
    """An item that goes: everything that its message is made of."""

    item: Claimed
    settings: LaneSettings
    instance: Instance
    version: Version
    responder: Found

    @property
    def account(self) -> AccountKey:
        """The account that it leaves through."""
        return self.settings.account


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one dispatch."""

    dispatch: Dispatch
    outcome: Outcome
    waits: Waits


@dataclass(frozen=True, slots=True)
class Prepared:
    """A claimed batch: what goes; how many were claimed of each lane, held and skipped included, and up to when."""

    dispatches: Sequence[Dispatch]
    claimed: Mapping[LaneKey, int]
    reached: Mapping[LaneKey, datetime]


async def claim(
    db: Database,
    *,
    shares: Mapping[LaneKey, int],
    metered: frozenset[AccountKey],
    lease: Lease,
    cache: SettingsCache,
    secret: bytes,
    draw: Draw,
    seq_min: int = 0,
    by_domain: Collection[AccountKey] = (),
    empty_until: Mapping[LaneKey, datetime] = MappingProxyType({}),
) -> Prepared:
    """Claim due items and decide about them: those that go have their responder and instance, the others are moved on.

    `metered` are the accounts with a rate: what is claimed is taken out of their buckets. `seq_min` is an event that
    the worker knows of: nothing is claimed from a database whose log ends before it. `by_domain` are the accounts that
    have a recipient domain with a rate of its own. `empty_until`: where to begin in a lane.
    """
    items = await claim_bare(db, shares=shares, lease=lease, seq_min=seq_min, empty_until=empty_until)
    if not items:
        return Prepared((), {}, {})
    dispatches = await prepare(db, items=items, cache=cache, secret=secret, draw=draw, by_domain=by_domain)
    counts: dict[LaneKey, int] = {}
    reached: dict[LaneKey, datetime] = {}
    tokens: dict[AccountKey, int] = {}
    for item in items:
        counts[item.lane] = counts.get(item.lane, 0) + 1
        reached[item.lane] = max(reached.get(item.lane, item.due_time), item.due_time)
    for dispatch in dispatches:
        if dispatch.account in metered:
            tokens[dispatch.account] = tokens.get(dispatch.account, 0) + 1
    await lanes.take_tokens(db, claimed=tokens)
    return Prepared(dispatches, counts, reached)


async def claim_bare(
    db: Database,
    *,
    shares: Mapping[LaneKey, int],
    lease: Lease,
    seq_min: int = 0,
    empty_until: Mapping[LaneKey, datetime] = MappingProxyType({}),
) -> list[Claimed]:
    """Claim due items and leave it at that: for a batch that must be prepared one by one."""
    return await store.claim_items(
        db,
        shares=shares,
        owner=lease.owner,
        lease_seconds=lease.seconds,
        seq_min=seq_min,
        empty_until=empty_until,
    )


async def claim_expired(
    db: Database,
    *,
    closed: Sequence[LaneKey],
    lease: Lease,
    cache: SettingsCache,
    secret: bytes,
    draw: Draw,
    limit: int,
) -> int:
    """Skip items of closed lanes whose time is over, by the same path as any other; how many there were."""
    items = await store.claim_expired_items(
        db, lanes=closed, owner=lease.owner, lease_seconds=lease.seconds, limit=limit
    )
    if items:
        going = await prepare(db, items=items, cache=cache, secret=secret, draw=draw)
        await hand_back(db, items=[dispatch.item for dispatch in going])
    return len(items)


async def prepare(
    db: Database,
    *,
    items: Sequence[Claimed],
    cache: SettingsCache,
    secret: bytes,
    draw: Draw,
    by_domain: Collection[AccountKey] = (),
) -> list[Dispatch]:
    """Decide about claimed items: move on what is held or skipped, and make ready what goes."""
    now = items[0].database_now
    settings = await lanes.settings_of(db, lanes=sorted({item.lane for item in items}), cache=cache)
    decisions, people = await deciding.decide_items(db, items=items, settings=settings, now=now)
    stopped = [outcomes.decided(item, decisions[item.key]) for item in items if decisions[item.key].verdict != "go"]
    going = [item for item in items if decisions[item.key].verdict == "go"]
    if by_domain:
        jitter = JITTER_MIN + (JITTER_MAX - JITTER_MIN) * draw()
        going, over = await within_rates(db, items=going, settings=settings, accounts=by_domain, jitter=jitter)
        stopped.extend(over)
    dispatches, lost = await _equip(
        db, items=going, people=people, settings=settings, now=now, secret=secret, draw=draw
    )
    stopped.extend(lost)
    if stopped:
        moved = await store.settle_claimed_items(db, settlements=stopped)
        ended = {s.key for s in stopped if s.key in moved and s.status == Item.IGNORED}
        capped = {
            item.key for item in items if settings[item.lane].reserves_contacts
        }  # they may have had a place before
        await deciding.release_contacts(db, items=sorted(ended & capped))
    return dispatches


async def begin(db: Database, *, dispatches: Sequence[Dispatch], lease: Lease) -> set[LeaseKey]:
    """Write down the intent to send, before the channel's point of no return; the holds that are still ours.

    Whose address was suppressed since the claim goes back instead, and the next claim says why nothing is sent.
    """
    begins = [
        (d.item.lease_key, d.instance.instance_id, d.instance.responder_id, d.settings.pipeline.channel_id)
        for d in dispatches
    ]
    begun = await store.update_items_to_sending(
        db, begins=begins, lease_seconds=lease.seconds, margin_seconds=lease.margin_seconds
    )
    if len(begun) < len(begins):
        await _leave_alone(db, [dispatch for dispatch in dispatches if dispatch.item.lease_key not in begun])
    return begun


async def begin_again(db: Database, *, dispatches: Sequence[Dispatch], lease: Lease) -> set[LeaseKey]:
    """As `begin`, when the answer to its commit was lost: what has begun counts, what has not begins now."""
    lease_keys = [dispatch.item.lease_key for dispatch in dispatches]
    begun = await store.list_begun(db, lease_keys=lease_keys, margin_seconds=lease.margin_seconds)
    rest = [dispatch for dispatch in dispatches if dispatch.item.lease_key not in begun]
    return begun | await begin(db, dispatches=rest, lease=lease) if rest else begun


async def settle(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    """Write down what became of items that had begun; repeating it changes nothing.

    One that was fenced meanwhile keeps the verdict of whoever fenced it, unless the channel took it: late acceptance.
    """
    settlements, reported = await _settlements(db, results=results, now=now)
    moved = await store.settle_items(db, settlements=list(settlements.values()))
    await truth.note_reported(db, items=moved & reported, now=now)
    by_key = {result.dispatch.item.key: result.dispatch for result in results}
    sent = [key for key in moved if settlements[key].status == Item.SENT]
    if sent:
        pairs = sorted((key[0], by_key[key].instance.instance_id) for key in sent)
        await instances.mark_sent(db, sent=pairs, now=now)
        await provider_references.keep_references(db, references=_references(results, frozenset(sent)), now=now)
        followed = [key for key in sent if _is_followed(by_key[key])]
        if followed:
            await reminders.schedule_next(db, sent=followed, now=now)
    fenced = [s for key, s in settlements.items() if key not in moved and s.outcome == "accepted"]
    if fenced:
        await truth.record_acceptances(db, acceptances=[_truth(s, now) for s in fenced], now=now)
    failed = [key for key in moved if settlements[key].status == Item.FAILED and by_key[key].settings.reserves_contacts]
    await deciding.release_contacts(db, items=sorted(failed))
    await _suppress(db, results=[result for result in results if result.dispatch.item.key in moved], now=now)


async def release(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    """Hand items back that met a throttle or a fault of ours before anything was sent: no attempt is counted."""
    settlements = [
        outcomes.released(result.dispatch.item, result.outcome, waits=result.waits, now=now)
        for result in results
        if isinstance(result.outcome, Retry)
    ]
    await store.settle_claimed_items(db, settlements=settlements)


async def hand_back(db: Database, *, items: Sequence[Claimed]) -> None:
    """Give claimed items back as they were: the worker stops, or their account's breaker opened."""
    if items:
        await store.settle_claimed_items(db, settlements=[outcomes.handed_back(item) for item in items])


async def give_up(
    db: Database, *, item: Claimed, cause: str, waits: Waits, now: datetime, is_deadly: bool = False
) -> None:
    """A claimed item could not be made ready: later again, or failed when its attempts are used up."""
    settlement = outcomes.given_up(item, cause, waits=waits, now=now, is_deadly=is_deadly)
    moved = await store.settle_claimed_items(db, settlements=[settlement])
    if moved and settlement.status == Item.FAILED:
        await deciding.release_contacts(db, items=[item.key])


async def renew(db: Database, *, lease_keys: Sequence[LeaseKey], lease_seconds: float) -> set[LeaseKey]:
    """Prolong leases; a hold that is missing from the answer is lost."""
    return await store.update_leases(db, lease_keys=lease_keys, lease_seconds=lease_seconds)


async def reap(db: Database, *, limit: int, waits: Waits) -> int:
    """Take items from workers that are gone: back into the queue, or to their end; how many."""
    overdue = await store.reap_items(db, limit=limit)
    if overdue:
        begun = [item.key for item in overdue if item.status == Item.SENDING]
        known = await truth.list_known(db, items=begun, is_locked=True)
        settlements = [_reaped(item, is_known=item.key in known, waits=waits) for item in overdue]
        moved = await store.settle_reaped_items(db, settlements=settlements)
        await truth.note_reported(db, items=[key for key in moved if known.get(key)], now=overdue[0].database_now)
        ended = moved & known.keys()
        sent = [item for item in overdue if item.key in ended and item.questionnaire_instance_id is not None]
        if sent:
            pairs = sorted((item.organization_id, str(item.questionnaire_instance_id)) for item in sent)
            await instances.mark_sent(db, sent=pairs, now=sent[0].database_now)
            await reminders.schedule_next(db, sent=[item.key for item in sent], now=sent[0].database_now)
        failed = [s.key for s in settlements if s.key in moved and s.status == Item.FAILED]
        await deciding.release_contacts(db, items=sorted(failed))
    return len(overdue)


# Below: how, in the order of their use ------------------------------------------------------------------------


async def _settlements(
    db: Database, *, results: Sequence[Result], now: datetime
) -> tuple[dict[ItemKey, Settlement], set[ItemKey]]:
    """The settlement of each item; sent, whatever the outcome of this attempt, if there is a late acceptance.

    With them those of which this attempt was reported while it was under way.
    """
    items = [result.dispatch.item for result in results]
    settlements = {
        item.key: outcomes.settled(item, result.outcome, waits=result.waits, now=now)
        for item, result in zip(items, results, strict=True)
    }
    unsent = [item for item in items if settlements[item.key].status != Item.SENT]
    known = await truth.list_known(db, items=[item.key for item in unsent])
    settlements |= {
        item.key: outcomes.known(item, settlements[item.key], now=now) for item in unsent if item.key in known
    }
    return settlements, {key for key, is_reported in known.items() if is_reported}


async def _leave_alone(db: Database, dispatches: Sequence[Dispatch]) -> None:
    """Hand back those of the items that may not be sent any more because of their address."""
    places = {
        d.item.lease_key: (d.item.organization_id, d.settings.pipeline.channel_id, d.item.address_key)
        for d in dispatches
    }
    found = await responders_store.list_suppressions_for(
        db, addresses=sorted(set(places.values())), now=dispatches[0].item.database_now
    )
    suppressed = {(one.organization_id, one.channel_id, one.address_key) for one in found}
    await hand_back(db, items=[d.item for d in dispatches if places[d.item.lease_key] in suppressed])


def _is_followed(dispatch: Dispatch) -> bool:
    """True when a reminder follows this item."""
    return reminders.has_next(dispatch.settings.pipeline.reminders, dispatch.item.reminder_number)


def _truth(settlement: Settlement, now: datetime) -> LateAcceptance:
    """The 250 of a worker that was fenced before it could write it down."""
    return LateAcceptance(
        organization_id=settlement.organization_id,
        item_id=settlement.item_id,
        epoch=settlement.epoch,
        reply_code=settlement.reply_code,
        reply=settlement.reply,
        provider_reference=settlement.provider_reference,
        event_id=settlement.event_id or ids.ordered(now),
    )


def _reaped(item: Overdue, *, is_known: bool, waits: Waits) -> Settlement:
    settlement = outcomes.reaped(item, waits=waits)
    return outcomes.known(item, settlement, now=item.database_now) if is_known else settlement


async def _equip(
    db: Database,
    *,
    items: Sequence[Claimed],
    people: Mapping[AddressId, Person | None],
    settings: Mapping[LaneKey, LaneSettings],
    now: datetime,
    secret: bytes,
    draw: Draw,
) -> tuple[list[Dispatch], list[Settlement]]:
    """Responder, instance and version of each item that goes; items without an instance to send are skipped."""
    if not items:
        return [], []
    shared = await _shared(db, items, people, settings)
    wanted = [_wanted(item, settings[item.lane], is_whole=item.key not in shared) for item in items]
    found = await responders.find_or_create(db, wanted=wanted, now=now, secret=secret, known=people)
    issued = await _instances_before(db, items)
    requests = [
        _wish(item, settings[item.lane], one)
        for item, one in zip(items, found, strict=True)
        if item.key not in issued and not _has_instance(item)
    ]
    if requests:
        issued |= await instances.issue_for_items(db, items=requests, now=now, draw=draw)
    dispatches: list[Dispatch] = []
    lost: list[Settlement] = []
    for item, responder in zip(items, found, strict=True):
        instance = issued.get(item.key)
        if instance is None or instance.deleted_time is not None:
            decision = Decision("skip", "instance_expired", "Ignored: the questionnaire instance was deleted", None, ())
            lost.append(outcomes.decided(item, decision))
            continue
        version = await questionnaires_store.get_version(
            db, organization_id=item.organization_id, version_id=instance.version_id
        )
        dispatches.append(Dispatch(item, settings[item.lane], instance, version, responder))
    return dispatches, lost


def _has_instance(item: Claimed) -> bool:
    """True for a reminder of an instance that was sent."""
    return item.reminder_number is not None and item.questionnaire_instance_id is not None


async def _instances_before(db: Database, items: Sequence[Claimed]) -> dict[ItemKey, Instance]:
    """The instances that reminders remind of; deleted ones lack."""
    wanted: dict[str, dict[str, list[ItemKey]]] = {}
    for item in items:
        if _has_instance(item):
            of_one = wanted.setdefault(item.organization_id, {})
            of_one.setdefault(str(item.questionnaire_instance_id), []).append(item.key)
    return {
        key: instance
        for organization_id, by_id in wanted.items()
        for instance in await instances_store.list_instances_by_ids(
            db, organization_id=organization_id, instance_ids=sorted(by_id)
        )
        for key in by_id[instance.instance_id]
    }


async def _shared(
    db: Database,
    items: Sequence[Claimed],
    people: Mapping[AddressId, Person | None],
    settings: Mapping[LaneKey, LaneSettings],
) -> set[ItemKey]:
    """Limited items for people whom other applications ask, or who were not known when the batch was decided."""
    limited = {
        item.key: people.get((item.organization_id, settings[item.lane].pipeline.channel_id, item.address_key))
        for item in items
        if item.limited
    }
    asked = [
        (item.organization_id, person.responder.responder_id, item.questionnaire_id)
        for item in items
        if (person := limited.get(item.key)) is not None
    ]
    others = await people_store.list_shared(db, asked=asked) if asked else set[tuple[str, str, str]]()
    return {
        item.key
        for item in items
        if item.limited
        and (
            (person := limited[item.key]) is None
            or (item.organization_id, person.responder.responder_id, item.questionnaire_id) in others
        )
    }


def _wanted(item: Claimed, settings: LaneSettings, *, is_whole: bool) -> ResponderInput:
    return ResponderInput(
        organization_id=item.organization_id,
        channel_id=settings.pipeline.channel_id,
        identifier=item.responder_channel_identifier,
        metadata=item.metadata.get("responder", {}),
        locale=item.locale or settings.pipeline.locale,
        is_limited=item.test or item.limited,
        is_whole=is_whole and not item.test,
    )


def _wish(item: Claimed, settings: LaneSettings, responder: Found) -> ItemIssueInput:
    return ItemIssueInput(
        organization_id=item.organization_id,
        item_id=item.item_id,
        channel_id=settings.pipeline.channel_id,
        pipeline_id=settings.pipeline.pipeline_id,
        questionnaire_id=item.questionnaire_id,
        responder_id=responder.responder_id,
        locale=item.locale or settings.pipeline.locale or responder.locale,
        metadata=item.metadata.get("questionnaire", {}),
        test=item.test,
        previous_questionnaire_instance_id=item.previous_questionnaire_instance_id,
    )


def _references(results: Sequence[Result], sent: frozenset[ItemKey]) -> Iterator[tuple[str, str, str, str]]:
    """The providers' references of accepted messages; not of mail, because bounces carry our own id."""
    for result in results:
        outcome, dispatch = result.outcome, result.dispatch
        is_asked = dispatch.settings.pipeline.channel_id in {SMS, WEBHOOK} and dispatch.item.key in sent
        if is_asked and isinstance(outcome, Sent) and outcome.reference:
            yield (*dispatch.account, outcome.reference, dispatch.item.item_id)


async def _suppress(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    """The provider says that the address does not exist, or that it opted out: it is not written to again."""
    new = [
        NewSuppression(
            result.dispatch.item.organization_id,
            result.dispatch.settings.pipeline.channel_id,
            result.dispatch.item.address_key,
            result.dispatch.responder.address or result.dispatch.item.responder_channel_identifier,
            "unsubscribed" if result.outcome.is_opt_out else "hard_bounce",
            responder_id=result.dispatch.responder.responder_id,
        )
        for result in results
        if isinstance(result.outcome, Refused) and (result.outcome.suppress or result.outcome.is_opt_out)
    ]
    if new:
        await responders.suppress_addresses(db, suppressions=new, now=now)
