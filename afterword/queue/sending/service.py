"""A worker's moves of queue items: claim, begin, settle, release, give up, renew, reap, late truth, resolve.

Services receive an open transaction and never end it. What a move decides is decided in `core`; every move is a
compare-and-set on status and epoch, and every terminal move writes one terminal event in its transaction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from afterword.channels.base import Outcome, Refused, Retry
from afterword.core.lanes import AccountKey, LaneKey
from afterword.core.scheduling import Decision
from afterword.core.statuses import Item
from afterword.db import Database
from afterword.instances import service as instances
from afterword.instances.service import WantedInstance
from afterword.instances.store import Instance
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.store import Version
from afterword.queue.deciding import service as deciding
from afterword.queue.lanes import service as lanes
from afterword.queue.lanes.service import SettingsCache
from afterword.queue.lanes.store import Settings
from afterword.queue.sending import outcomes, store
from afterword.queue.sending.outcomes import Waits
from afterword.queue.sending.store import Claimed, HoldKey, Settlement
from afterword.responders import service as responders
from afterword.responders.service import Found, NewSuppression, Wanted

Draw = Callable[[], float]  # uniform in [0, 1), from the door


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who claims, and for how long a claim holds without a renewal."""

    owner: UUID
    seconds: float
    margin_seconds: float


@dataclass(frozen=True, slots=True)
class Dispatch:
    """An item that goes: everything that its message is made of."""

    item: Claimed
    settings: Settings
    instance: Instance
    version: Version
    responder: Found

    @property
    def account(self) -> AccountKey:
        """The account that it leaves through."""
        return self.settings.account


@dataclass(frozen=True, slots=True)
class Result:
    """What a channel said of an item."""

    dispatch: Dispatch
    outcome: Outcome
    waits: Waits


@dataclass(frozen=True, slots=True)
class Prepared:
    """A claimed batch: what goes, and how many were claimed of each lane, held and skipped ones included."""

    dispatches: Sequence[Dispatch]
    claimed: Mapping[LaneKey, int]


async def claim(
    db: Database,
    *,
    shares: Mapping[LaneKey, int],
    metered: frozenset[AccountKey],
    lease: Lease,
    cache: SettingsCache,
    secret: bytes,
    draw: Draw,
) -> Prepared:
    """Claim due items and decide about them: those that go have their responder and instance, the others are moved on.

    `metered` are the accounts with a rate: what is claimed is taken out of their buckets.
    """
    items = await claim_bare(db, shares=shares, lease=lease)
    if not items:
        return Prepared((), {})
    dispatches = await prepare(db, items=items, cache=cache, secret=secret, draw=draw)
    counts: dict[LaneKey, int] = {}
    tokens: dict[AccountKey, int] = {}
    for item in items:
        counts[item.lane] = counts.get(item.lane, 0) + 1
    for dispatch in dispatches:
        if dispatch.account in metered:
            tokens[dispatch.account] = tokens.get(dispatch.account, 0) + 1
    await lanes.take_tokens(db, claimed=tokens)
    return Prepared(dispatches, counts)


async def claim_bare(db: Database, *, shares: Mapping[LaneKey, int], lease: Lease) -> list[Claimed]:
    """Claim due items and leave it at that: for a batch that must be prepared one by one."""
    return await store.claim_items(db, shares=shares, owner=lease.owner, lease_seconds=lease.seconds)


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
    db: Database, *, items: Sequence[Claimed], cache: SettingsCache, secret: bytes, draw: Draw
) -> list[Dispatch]:
    """Decide about claimed items: move on what is held or skipped, and make ready what goes."""
    now = items[0].database_now
    settings = await lanes.settings_of(db, lanes=sorted({item.lane for item in items}), cache=cache)
    decisions = await deciding.decide_items(db, items=items, settings=settings, now=now)
    stopped = [outcomes.decided(item, decisions[item.key]) for item in items if decisions[item.key].verdict != "go"]
    going = [item for item in items if decisions[item.key].verdict == "go"]
    dispatches, lost = await _equip(db, items=going, settings=settings, now=now, secret=secret, draw=draw)
    stopped.extend(lost)
    if stopped:
        await store.settle_claimed_items(db, settlements=stopped)
    return dispatches


async def begin(db: Database, *, dispatches: Sequence[Dispatch], lease: Lease) -> set[HoldKey]:
    """Write down the intent to send, before the channel's point of no return; the holds that are still ours."""
    begins = [(d.item.hold, d.instance.instance_id, d.instance.responder_id) for d in dispatches]
    return await store.update_items_to_sending(
        db, begins=begins, lease_seconds=lease.seconds, margin_seconds=lease.margin_seconds
    )


async def begin_again(db: Database, *, dispatches: Sequence[Dispatch], lease: Lease) -> set[HoldKey]:
    """As `begin`, when the answer to its commit was lost: what has begun counts, what has not begins now."""
    holds = [dispatch.item.hold for dispatch in dispatches]
    begun = await store.list_begun(db, holds=holds, margin_seconds=lease.margin_seconds)
    rest = [dispatch for dispatch in dispatches if dispatch.item.hold not in begun]
    return begun | await begin(db, dispatches=rest, lease=lease) if rest else begun


async def settle(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    """Write down what became of items that had begun; repeating it changes nothing.

    One that was fenced meanwhile keeps the verdict of whoever fenced it, unless the channel took it: late truth.
    """
    settlements = {
        result.dispatch.item.key: outcomes.settled(result.dispatch.item, result.outcome, waits=result.waits, now=now)
        for result in results
    }
    moved = await store.settle_items(db, settlements=list(settlements.values()))
    late = [s for key, s in settlements.items() if key not in moved and s.status == Item.SENT]
    if late:
        moved |= await store.settle_late_items(db, settlements=late)
    by_key = {result.dispatch.item.key: result.dispatch for result in results}
    sent = [key for key in moved if settlements[key].status == Item.SENT]
    if sent:
        pairs = sorted((key[0], by_key[key].instance.instance_id) for key in sent)
        await instances.mark_sent(db, sent=pairs, now=now)
    failed = [key for key in moved if settlements[key].status == Item.FAILED and _is_capped(by_key[key].settings)]
    await deciding.release_places(db, items=sorted(failed))
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


async def give_up(db: Database, *, item: Claimed, cause: str, waits: Waits, now: datetime) -> None:
    """A claimed item could not be made ready: later again, or failed when its attempts are used up."""
    settlement = outcomes.given_up(item, cause, waits=waits, now=now)
    moved = await store.settle_claimed_items(db, settlements=[settlement])
    if moved and settlement.status == Item.FAILED:
        await deciding.release_places(db, items=[item.key])


async def renew(db: Database, *, holds: Sequence[HoldKey], lease_seconds: float) -> set[HoldKey]:
    """Prolong leases; a hold that is missing from the answer is lost."""
    return await store.update_leases(db, holds=holds, lease_seconds=lease_seconds)


async def reap(db: Database, *, limit: int, waits: Waits) -> int:
    """Take items from workers that are gone: back into the queue, or to their end; how many."""
    overdue = await store.rescue_items(db, limit=limit)
    if overdue:
        settlements = [outcomes.rescued(item, waits=waits) for item in overdue]
        moved = await store.settle_rescued_items(db, settlements=settlements)
        failed = [s.key for s in settlements if s.key in moved and s.status == Item.FAILED]
        await deciding.release_places(db, items=sorted(failed))
    return len(overdue)


# Below: how, in the order of their use ------------------------------------------------------------------------


async def _equip(
    db: Database,
    *,
    items: Sequence[Claimed],
    settings: Mapping[LaneKey, Settings],
    now: datetime,
    secret: bytes,
    draw: Draw,
) -> tuple[list[Dispatch], list[Settlement]]:
    """Responder, instance and version of each item that goes; items without an instance to send are skipped."""
    if not items:
        return [], []
    found = await responders.find_or_create(
        db, wanted=[_wanted(item, settings[item.lane]) for item in items], now=now, secret=secret
    )
    wishes = [_wish(item, settings[item.lane], one) for item, one in zip(items, found, strict=True)]
    issued = await instances.issue_for_items(db, wanted=wishes, now=now, draw=draw)
    dispatches: list[Dispatch] = []
    lost: list[Settlement] = []
    for item, responder in zip(items, found, strict=True):
        instance = issued.get(item.key)
        if instance is None or instance.deleted_time is not None:
            decision = Decision("skip", "inactive", "Ignored: the questionnaire instance was deleted", None, ())
            lost.append(outcomes.decided(item, decision))
            continue
        version = await questionnaires_store.get_version(
            db, organization_id=item.organization_id, version_id=instance.version_id
        )
        dispatches.append(Dispatch(item, settings[item.lane], instance, version, responder))
    return dispatches, lost


def _wanted(item: Claimed, settings: Settings) -> Wanted:
    return Wanted(
        organization_id=item.organization_id,
        channel_id=settings.pipeline.channel_id,
        identifier=item.responder_channel_identifier,
        metadata=item.metadata.get("responder", {}),
        locale=item.locale or settings.pipeline.locale,
    )


def _wish(item: Claimed, settings: Settings, responder: Found) -> WantedInstance:
    return WantedInstance(
        organization_id=item.organization_id,
        item_id=item.item_id,
        questionnaire_id=item.questionnaire_id,
        responder_id=responder.responder_id,
        locale=item.locale or settings.pipeline.locale or responder.locale,
        metadata=item.metadata.get("questionnaire", {}),
        test=item.test,
        previous_questionnaire_instance_id=item.previous_questionnaire_instance_id,
    )


def _is_capped(settings: Settings) -> bool:
    return bool(deciding.rules_of(settings).cap)


async def _suppress(db: Database, *, results: Sequence[Result], now: datetime) -> None:
    """The recipient's host says that the address does not exist: it is not written to again."""
    new = [
        NewSuppression(
            result.dispatch.item.organization_id,
            result.dispatch.settings.pipeline.channel_id,
            result.dispatch.item.address_key,
            result.dispatch.responder.address or result.dispatch.item.responder_channel_identifier,
            "hard_bounce",
            responder_id=result.dispatch.responder.responder_id,
        )
        for result in results
        if isinstance(result.outcome, Refused) and result.outcome.suppress
    ]
    if new:
        await responders.suppress_addresses(db, suppressions=new, now=now)
