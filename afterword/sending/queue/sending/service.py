"""A worker's moves of queue items: claim, begin, settle, release, give up, renew, reap."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

import msgspec

from afterword import ids
from afterword.asking.instances import service as instances
from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.core.scheduling.statuses import Item
from afterword.kit.db import Database
from afterword.kit.transport.base import SMS, WEBHOOK, Outcome, Refused, Retry, Sent
from afterword.people.responders import service as responders, store as responders_store
from afterword.people.responders.service import NewSuppression
from afterword.sending.channels.outbox import CAPTURED
from afterword.sending.providers import api
from afterword.sending.queue import deciding, lanes, late_outcomes, reminders, service as queue
from afterword.sending.queue.lanes import SettingsCache
from afterword.sending.queue.late_outcomes import LateAcceptance
from afterword.sending.queue.records import Claimed, ItemKey, LeaseKey
from afterword.sending.queue.sending import outcomes, store
from afterword.sending.queue.sending.dispatches import Dispatch, Draw, equip
from afterword.sending.queue.sending.outcomes import Waits, within_rates
from afterword.sending.queue.sending.store import Overdue, Settlement


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of claims, and the seconds that a claim lasts without renewal."""

    owner: UUID
    seconds: float
    margin_seconds: float


class Result(msgspec.Struct, frozen=True):
    dispatch: Dispatch
    outcome: Outcome
    waits: Waits
    is_late: bool = False  # settled again on a server that lost it


class Prepared(msgspec.Struct, frozen=True):
    """A claimed batch: the items that go, and the number claimed of each lane with its last due time, all included."""

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
    timeline: int | None = None,
    by_domain: Collection[AccountKey] = (),
    empty_until: Mapping[LaneKey, datetime] = MappingProxyType({}),
) -> Prepared:
    """Claim due items and decide about them: those that go become dispatches, the others are moved on.

    `metered`: the accounts with a rate, whose buckets pay for the dispatches. `by_domain`: the accounts that have a
    recipient domain with a rate of its own. `seq_min`, `timeline` and `empty_until` as in `store.claim_items`.
    """
    items = await claim_bare(
        db, shares=shares, lease=lease, seq_min=seq_min, timeline=timeline, empty_until=empty_until
    )
    if not items:
        return Prepared((), {}, {})
    dispatches = await prepare(db, items=items, cache=cache, secret=secret, draw=draw, by_domain=by_domain)
    await lanes.update_tokens(db, claimed=Counter(each.account for each in dispatches if each.account in metered))
    reached = {item.lane: item.due_time for item in items}  # the last of each lane, as they are in due order
    return Prepared(dispatches, Counter(item.lane for item in items), reached)


async def claim_bare(
    db: Database,
    *,
    shares: Mapping[LaneKey, int],
    lease: Lease,
    seq_min: int = 0,
    timeline: int | None = None,
    empty_until: Mapping[LaneKey, datetime] = MappingProxyType({}),
) -> list[Claimed]:
    return await store.claim_items(
        db,
        shares=shares,
        owner=lease.owner,
        lease_seconds=lease.seconds,
        seq_min=seq_min,
        timeline=timeline,
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
    """Skip items of closed lanes past their `not_after`, by the same path as any other; their number."""
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
    now = items[0].database_now
    settings = await lanes.settings_of(db, lanes=sorted({item.lane for item in items}), cache=cache)
    decisions, people = await deciding.decide_items(db, items=items, settings=settings, now=now)
    stopped = [outcomes.decided(item, decisions[item.key]) for item in items if decisions[item.key].verdict != "go"]
    going = [item for item in items if decisions[item.key].verdict == "go"]
    if by_domain:
        jitter = JITTER_MIN + (JITTER_MAX - JITTER_MIN) * draw()
        going, over = await within_rates(db, items=going, settings=settings, accounts=by_domain, jitter=jitter)
        stopped.extend(over)
    dispatches, lost = await equip(db, items=going, people=people, settings=settings, now=now, secret=secret, draw=draw)
    stopped.extend(lost)
    if stopped:
        moved = await store.settle_claimed_items(db, settlements=stopped)
        ended = {s.key for s in stopped if s.key in moved and s.status == Item.IGNORED}
        capped = {item.key for item in items if settings[item.lane].reserves_contacts}  # an earlier claim may have
        await queue.release_contacts(db, items=sorted(ended & capped))
    return dispatches


async def begin(db: Database, *, dispatches: Sequence[Dispatch], lease: Lease) -> set[LeaseKey]:
    """Record the intent to send, before the channel's point of no return; the leases that are still ours.

    An item whose address was suppressed since the claim goes back, and the next claim says why nothing is sent.
    """
    begins = [
        (*d.item.lease_key, d.instance.instance_id, d.instance.responder_id, d.settings.pipeline.channel_id)
        for d in dispatches
    ]
    begun = await store.update_items_to_sending(
        db, begins=begins, lease_seconds=lease.seconds, margin_seconds=lease.margin_seconds
    )
    if len(begun) < len(begins):
        await _hand_back_suppressed(db, [dispatch for dispatch in dispatches if dispatch.item.lease_key not in begun])
    return begun


async def begin_again(db: Database, *, dispatches: Sequence[Dispatch], lease: Lease) -> set[LeaseKey]:
    """As `begin`, after the reply to its commit was lost: items that have begun count, the others begin now."""
    lease_keys = [dispatch.item.lease_key for dispatch in dispatches]
    begun = await store.list_begun(db, lease_keys=lease_keys, margin_seconds=lease.margin_seconds)
    rest = [dispatch for dispatch in dispatches if dispatch.item.lease_key not in begun]
    return begun | await begin(db, dispatches=rest, lease=lease) if rest else begun


async def settle(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    """Record the outcomes of items that had begun; repeating it changes nothing.

    An item that was fenced meanwhile keeps the state it was given then; if the channel took it, a late acceptance
    corrects that.
    """
    settlements, reported = await _settlements(db, results=results, now=now)
    moved = await store.settle_items(db, settlements=list(settlements.values()))
    if reported:
        await late_outcomes.note_reported(db, items=moved & reported, now=now)
    by_key = {result.dispatch.item.key: result.dispatch for result in results}
    sent = [key for key in moved if settlements[key].status == Item.SENT]
    if sent:
        kept = {result.dispatch.item.key for result in results if _is_kept(result)}
        pairs = sorted((key[0], by_key[key].instance.instance_id) for key in sent if key not in kept)
        if pairs:
            await instances.settle_times(db, "sent", times=dict.fromkeys(pairs, now), now=now)
        await api.keep_references(db, references=_references(results, frozenset(sent)), now=now)
        followed = [
            key
            for key in sent
            if len(by_key[key].settings.pipeline.reminders) > (by_key[key].item.reminder_number or 0)
        ]
        if followed:
            await reminders.schedule_next(db, sent=followed, now=now)
    fenced = [s for key, s in settlements.items() if key not in moved and s.outcome in {"accepted", "accepted_late"}]
    if fenced:
        await late_outcomes.record_acceptances(db, acceptances=[_late_acceptance(s, now) for s in fenced], now=now)
    failed = [key for key in moved if settlements[key].status == Item.FAILED and by_key[key].settings.reserves_contacts]
    if failed:
        await queue.release_contacts(db, items=sorted(failed))
    await _suppress(db, results=[result for result in results if result.dispatch.item.key in moved], now=now)


def _is_kept(result: Result) -> bool:
    """Whether the outbox kept the message of a real item: nobody got it. Tests go on as if it had left."""
    outcome = result.outcome
    return isinstance(outcome, Sent) and outcome.reply == CAPTURED and not result.dispatch.item.test


async def release(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    """Hand back items that met a throttle or a fault of ours before anything was sent; no attempt is counted."""
    settlements = [
        outcomes.released(result.dispatch.item, result.outcome, waits=result.waits, now=now)
        for result in results
        if isinstance(result.outcome, Retry)
    ]
    await store.settle_claimed_items(db, settlements=settlements)


async def hand_back(db: Database, *, items: Sequence[Claimed]) -> None:
    if items:
        await store.settle_claimed_items(db, settlements=[outcomes.handed_back(item) for item in items])


async def give_up(
    db: Database, *, item: Claimed, cause: str, waits: Waits, now: datetime, is_deadly: bool = False
) -> None:
    """Reschedule a claimed item that could not be made ready, or fail it when its attempts are used up."""
    settlement = outcomes.given_up(item, cause, waits=waits, now=now, is_deadly=is_deadly)
    moved = await store.settle_claimed_items(db, settlements=[settlement])
    if moved and settlement.status == Item.FAILED:
        await queue.release_contacts(db, items=[item.key])


async def renew(db: Database, *, lease_keys: Sequence[LeaseKey], lease_seconds: float) -> set[LeaseKey]:
    return await store.update_leases(db, lease_keys=lease_keys, lease_seconds=lease_seconds)


async def reap(db: Database, *, limit: int, waits: Waits) -> int:
    """Take items from workers that are gone, back into the queue or to their end; their number."""
    overdue = await store.reap_items(db, limit=limit)
    if overdue:
        now = overdue[0].database_now
        begun = [item.key for item in overdue if item.status == Item.SENDING]
        known = await late_outcomes.list_known(db, items=begun, is_locked=True)
        settlements = [_reaped(item, is_known=item.key in known, waits=waits) for item in overdue]
        moved = await store.settle_reaped_items(db, settlements=settlements)
        await late_outcomes.note_reported(db, items=[key for key in moved if known.get(key)], now=now)
        ended = moved & known.keys()
        sent = {item.key: item.questionnaire_instance_id for item in overdue if item.key in ended}
        await reminders.note_sent(db, sent=sent, now=now)
        failed = [s.key for s in settlements if s.key in moved and s.status == Item.FAILED]
        await queue.release_contacts(db, items=sorted(failed))
    return len(overdue)


async def _settlements(
    db: Database, *, results: Sequence[Result], now: datetime
) -> tuple[dict[ItemKey, Settlement], set[ItemKey]]:
    """The settlement of each item: it is sent if this attempt or an earlier one was accepted.

    Also returns the items whose attempt was reported while it was under way.
    """
    items = [result.dispatch.item for result in results]
    settlements = {
        item.key: outcomes.settled(item, result.outcome, waits=result.waits, now=now)
        for item, result in zip(items, results, strict=True)
    }
    settlements |= {
        item.key: msgspec.structs.replace(settlement, outcome="accepted_late")
        for item, result in zip(items, results, strict=True)
        if result.is_late and (settlement := settlements[item.key]).outcome == "accepted"
    }
    unsent = [item for item in items if settlements[item.key].status != Item.SENT]
    known = await late_outcomes.list_known(db, items=[item.key for item in unsent]) if unsent else {}
    settlements |= {
        item.key: outcomes.known(item, settlements[item.key], now=now) for item in unsent if item.key in known
    }
    return settlements, {key for key, is_reported in known.items() if is_reported}


async def _hand_back_suppressed(db: Database, dispatches: Sequence[Dispatch]) -> None:
    found = await responders_store.list_suppressions_for(
        db, addresses=sorted({each.address_id for each in dispatches}), now=dispatches[0].item.database_now
    )
    suppressed = {(one.organization_id, one.channel_id, one.address_key) for one in found}
    await hand_back(db, items=[each.item for each in dispatches if each.address_id in suppressed])


def _late_acceptance(settlement: Settlement, now: datetime) -> LateAcceptance:
    return LateAcceptance(
        *settlement.key,
        settlement.event_id or ids.ordered(now),
        settlement.epoch,
        settlement.reply_code,
        settlement.reply,
        settlement.provider_reference,
    )


def _reaped(item: Overdue, *, is_known: bool, waits: Waits) -> Settlement:
    settlement = outcomes.reaped(item, waits=waits)
    return outcomes.known(item, settlement, now=item.database_now) if is_known else settlement


def _references(results: Sequence[Result], sent: frozenset[ItemKey]) -> Iterator[tuple[str, str, str, str]]:
    """The providers' references of accepted messages; not of mail, because bounces carry our own id."""
    for result in results:
        outcome, dispatch = result.outcome, result.dispatch
        is_kept = dispatch.settings.pipeline.channel_id in {SMS, WEBHOOK} and dispatch.item.key in sent
        if is_kept and isinstance(outcome, Sent) and outcome.reference:
            yield (*dispatch.account, outcome.reference, dispatch.item.item_id)


async def _suppress(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    new = [
        NewSuppression(
            *result.dispatch.address_id,
            result.dispatch.responder.address or result.dispatch.item.responder_channel_identifier,
            "unsubscribed" if result.outcome.is_opt_out else "hard_bounce",
            responder_id=result.dispatch.responder.responder_id,
        )
        for result in results
        if isinstance(result.outcome, Refused) and (result.outcome.suppress or result.outcome.is_opt_out)
    ]
    if new:
        await responders.suppress_addresses(db, suppressions=new, now=now)
