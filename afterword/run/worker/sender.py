"""Sends claimed items: renders, begins at the channel's point of no return, sends, settles the outcome.

A slot is one item in flight. At most as many again are claimed ahead, so that each move is made of many items at once:
a commit costs as much for one. An item begins when its channel is at the point of no return, and leaves its slot when
its outcome is written. No more have begun at a time than there are slots, so a crash leaves no more of unknown outcome.
What is claimed ahead waits for a slot of its account; it is handed back when the account rests, or at a stop.
"""

import asyncio
import faulthandler
import os
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from functools import partial
from typing import Any, Final

import msgspec
import structlog

from afterword import errors, ids
from afterword.core.scheduling.lanes import START, AccountKey, DueLane, LaneKey, next_cursor, share_slots
from afterword.core.wire.site import Site
from afterword.kit import db, telemetry
from afterword.kit.db import Batcher, Pool
from afterword.kit.transport.base import Channel, Fenced, Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.run.worker import isolation
from afterword.run.worker.channels import Accounts, ChannelRegistry, NoChannelError
from afterword.run.worker.flights import (
    AWAY_SECONDS_MAX,
    BATCH_ITEMS_MAX,
    LANES_MAX,
    ROUNDS_MAX,
    SLOTS_MAX,
    Pace,
    cause_of,
    first_of,
    jitter,
    wait,
)
from afterword.run.worker.guard import Guard
from afterword.run.worker.jobs import LowWaterMarks
from afterword.run.worker.rota import Rota
from afterword.sending.messages import composing
from afterword.sending.messages.composing import SenderNotAllowed
from afterword.sending.providers import health
from afterword.sending.queue import lanes
from afterword.sending.queue.lanes import Lane, SettingsCache
from afterword.sending.queue.records import Claimed
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.outcomes import REASON_LOST, Waits
from afterword.sending.queue.sending.service import Lease, Result
from afterword.sending.queue.sending.store import LeaseKey

END: Final[LaneKey] = ("~", "~")  # behind every id

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass(kw_only=True)
class Claimer:
    """Shares free slots among the open lanes and claims; dispatches go to `enter` with the time of their claim."""

    pool: Pool
    channel_ids: Sequence[int]
    secret: bytes = field(repr=False)
    lease: Lease
    cache: SettingsCache
    accounts: Accounts
    pace: Pace
    guard: Guard
    enter: Callable[[Dispatch, float], None]
    _marks: LowWaterMarks = field(default_factory=LowWaterMarks, init=False)
    # Workers start at different places.
    _cursor: LaneKey = field(default_factory=lambda: (random.choice(ids.ALPHABET), ""), init=False)  # noqa: S311

    async def turn(self, free: int) -> int:
        """Share the free slots and claim, again from lanes that gave their whole share; the number of claimed items."""
        empty_until = self._marks.begin()
        started = time.monotonic()
        found = await self._lanes(empty_until)
        self._marks.looked(time.monotonic() - started)
        due = [_due_lane(lane) for lane in found]
        metered = frozenset((lane.organization_id, lane.account_id) for lane in found if lane.tokens is not None)
        by_domain = frozenset((lane.organization_id, lane.account_id) for lane in found if lane.has_domain_rates)
        first_due = {(lane.organization_id, lane.pipeline_id): lane.due_time for lane in found}
        claimed_in_all = 0
        for number in range(ROUNDS_MAX):
            shares = share_slots(due, free=free, free_of_account=self.accounts.free())
            if number == 0:
                self._cursor = next_cursor(due, shares)
            if not shares:
                break
            claimed, entered = await self._claim(shares, metered, by_domain, first_due)
            claimed_in_all += sum(claimed.values())
            free -= entered
            # A metered or probing account has had its share of this turn; other lanes may have more due.
            due = [
                turn
                for turn in due
                if claimed.get(turn.key, 0) >= shares.get(turn.key, 1) and turn.items_max >= SLOTS_MAX
            ]
            if not due:
                break
        return claimed_in_all

    async def _lanes(self, empty_until: Mapping[LaneKey, datetime]) -> list[Lane]:
        """The next open lanes with something due, from the cursor on in a circle, without probes of other workers."""
        limit, found = LANES_MAX, list[Lane]()
        busy, looked = self.accounts.full(), time.monotonic()
        for after, until in ((self._cursor, END), (START, self._cursor)):
            if after < until and len(found) < limit:
                found += await db.change_by_key(
                    self.pool,
                    lanes.list_lanes,
                    after=after,
                    until=until,
                    channel_ids=self.channel_ids,
                    busy=busy,
                    limit=limit - len(found),
                    empty_until=empty_until,
                )
        for lane in found:
            self.accounts.meet(lane, looked=looked)
        return [lane for lane in found if lane.open_until is None] + await self._probes(found)

    async def _probes(self, found: Sequence[Lane]) -> list[Lane]:
        """One lane of each account whose breaker has rested, if this worker won its probe."""
        resting = {(lane.organization_id, lane.account_id): lane for lane in reversed(found) if lane.open_until}
        won: list[Lane] = []
        for account, lane in resting.items():
            async with db.transaction(self.pool) as database:
                is_won = lane.open_until is None or await health.claim_probe(
                    database, account=account, open_until=lane.open_until
                )
            if is_won:
                self.accounts.probe(account)
                won.append(lane)
        return won

    async def _claim(
        self,
        shares: Mapping[LaneKey, int],
        metered: frozenset[AccountKey],
        by_domain: frozenset[AccountKey],
        empty_until: Mapping[LaneKey, datetime],
    ) -> tuple[Mapping[LaneKey, int], int]:
        """Claim and prepare in one transaction; the number claimed of each lane, and the number of dispatches."""
        started = time.monotonic()
        try:
            prepared = await db.change_by_key(
                self.pool,
                sending.claim,
                shares=shares,
                metered=metered,
                lease=self.lease,
                cache=self.cache,
                secret=self.secret,
                draw=random.random,
                seq_min=self.guard.seq_min,
                timeline=self.guard.timeline,
                by_domain=by_domain,
                empty_until=empty_until,
            )
        except errors.Unavailable:
            raise
        except Exception:
            logger.exception("a batch could not be prepared; one by one now")
            return await self._claim_one_by_one(shares)
        self._marks.reached(prepared.reached)
        for dispatch in prepared.dispatches:
            self.enter(dispatch, started)
        return prepared.claimed, len(prepared.dispatches)

    async def _claim_one_by_one(self, shares: Mapping[LaneKey, int]) -> tuple[Mapping[LaneKey, int], int]:
        """As `_claim`, but an item that cannot be prepared fails alone: it counts an attempt and waits."""
        started = time.monotonic()
        given: dict[str, Any] = {
            "shares": shares, "lease": self.lease, "seq_min": self.guard.seq_min, "timeline": self.guard.timeline,
        }  # fmt: skip
        items = await db.change(self.pool, sending.claim_bare, **given)
        entered = 0
        for item in items:
            for dispatch in await self._prepare_alone(item):
                self.enter(dispatch, started)
                entered += 1
        return Counter(item.lane for item in items), entered

    async def _prepare_alone(self, item: Claimed) -> Sequence[Dispatch]:
        try:
            return await db.change(
                self.pool, sending.prepare, items=[item], cache=self.cache, secret=self.secret, draw=random.random
            )
        except errors.Unavailable:
            raise  # the leases run out, and the reaper gives the items back
        except Exception as error:
            logger.exception(
                "an item could not be prepared", organization_id=item.organization_id, item_id=item.item_id
            )
            cause = cause_of("Preparing failed", error, item.responder_channel_identifier)
        waits, now = Waits(jitter(), self.pace.backoff_factor), self.pool.clock.now()
        await db.change(self.pool, sending.give_up, item=item, cause=cause, waits=waits, now=now)
        return ()


def _due_lane(lane: Lane) -> DueLane:
    """A lane with something due: a probe is one item, a metered account gives the tokens of its bucket."""
    items_max = SLOTS_MAX if lane.tokens is None else lane.tokens
    return DueLane(
        lane.organization_id,
        lane.pipeline_id,
        lane.account_id,
        lane.priority,
        1 if lane.open_until is not None else items_max,
    )


_MESSAGE: Final = msgspec.json.Decoder(Message)
_DONE, _FAILED = b"m", b"e"


class Failed(Exception):
    """Composing failed there; the sentence is for the item's result, addresses masked."""


def written(compose: Callable[[], Message], *addresses: str) -> bytes:
    try:
        return _DONE + msgspec.json.encode(compose())
    except Exception as error:  # noqa: BLE001  it becomes the item's result
        return _FAILED + cause_of("", error, *addresses).removeprefix(": ").encode()


def read(content: bytes) -> Message:
    """The message; raises Failed."""
    if content[:1] != _DONE:
        raise Failed(content[1:].decode())
    return _MESSAGE.decode(content[1:])


AWAY_SECONDS: Final = 0.1
LINGER_SECONDS: Final = 0.05  # of a batch while more are about to come
LOOK_SECONDS: Final = 0.005
PAUSED_SECONDS: Final = 1.0  # between two checks of paused sending
TICK_SECONDS: Final = 1.0
STUCK_EXIT_CODE: Final = 70


class Phase(Enum):
    """The phase of a send. Only in `HELD` may another task end it."""

    HELD = auto()  # claimed, being rendered, its connection being opened
    BEGINNING = auto()  # the intent is being written; the answer may be lost
    BEGUN = auto()  # from here the outside world may know
    CLOSING = auto()  # the outcome is being written


@dataclass(slots=True)
class SendSlot:
    dispatch: Dispatch
    started: float
    phase: Phase = Phase.HELD
    is_sending: bool = False  # it has a slot of its account
    has_made_room: bool = False  # another item may be claimed in its place
    is_under_way: bool = False  # it has, or may have, begun, and its outcome is not written
    beginning: "asyncio.Task[bool] | None" = field(default=None, repr=False)
    task: "asyncio.Task[None] | None" = field(default=None, repr=False)


class Sender:
    """One run of one process: its id is new at each start and never used again."""

    def __init__(
        self,
        *,
        pool: Pool,
        site: Site,
        channels: Mapping[int, Channel],
        mail_from: str,
        pace: Pace,
        guard: Guard,
        rota: Rota,
    ) -> None:
        self.run_id = guard.run_id
        self._rota = rota
        self._look = f"look for items on channels {sorted(channels)}"
        self._pool = pool
        self._site = site
        self._mail_from = mail_from
        self._pace = pace
        self.lease = Lease(owner=self.run_id, seconds=pace.lease_seconds, margin_seconds=pace.margin_seconds)
        self._cache = SettingsCache()
        self._accounts = Accounts(pool)
        self.channels = ChannelRegistry(pool=pool, site=site, defaults=channels, versions=self._accounts.versions)
        self._slots: dict[LeaseKey, SendSlot] = {}
        self._under_way = asyncio.Semaphore(pace.slots)
        self._guard = guard
        self._ticked = time.monotonic()
        self._rendering: str | None = None
        self._freed = asyncio.Event()
        self._begins: Batcher[Dispatch, bool] = Batcher(
            self._begin, batch_max=BATCH_ITEMS_MAX, linger=partial(self._linger, Phase.HELD)
        )
        self._settles: Batcher[Result, None] = Batcher(
            partial(self._write, sending.settle),
            batch_max=BATCH_ITEMS_MAX,
            linger=partial(self._linger, Phase.BEGUN),
        )
        self._releases: Batcher[Result, None] = Batcher(
            partial(self._write, sending.release), batch_max=BATCH_ITEMS_MAX
        )
        self._claimer = Claimer(
            pool=pool,
            channel_ids=sorted(channels),
            secret=site.secret,
            lease=self.lease,
            cache=self._cache,
            accounts=self._accounts,
            pace=pace,
            guard=guard,
            enter=self._enter,
        )

    def lease_keys(self) -> list[LeaseKey]:
        """Leases to renew; safe to call from another thread. After `send_seconds_max` a send is not renewed."""
        oldest = time.monotonic() - self._pace.send_seconds_max
        return [lease_key for lease_key, slot in list(self._slots.items()) if slot.started > oldest]

    def lose(self, lease_keys: Collection[LeaseKey]) -> None:
        """Cancel sends whose lease is lost. Those that have begun go on, as they may end in a late acceptance."""
        for lease_key in lease_keys:
            slot = self._slots.get(lease_key)
            if slot is not None and slot.phase is Phase.HELD and slot.task is not None:
                logger.warning("lease lost", organization_id=lease_key[0], item_id=lease_key[1])
                slot.task.cancel()

    def watch(self) -> None:
        """End this process when its event loop stands still; safe to call from another thread.

        Its leases run out, other workers take its items, and the supervisor of processes starts it again.
        """
        still = time.monotonic() - self._ticked
        if still > self._pace.stuck_seconds:
            logger.critical("the event loop stands still; this process ends", seconds=still, rendering=self._rendering)
            faulthandler.dump_traceback(all_threads=True)
            os._exit(STUCK_EXIT_CODE)

    async def tick(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self._ticked = time.monotonic()
            await wait(stop, min(TICK_SECONDS, self._pace.heartbeat_seconds))

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop`; then hand back claimed items, and let begun sends finish for `grace_seconds`."""
        away = 0.0
        while not stop.is_set():
            try:
                await self._step(stop)
                if away:
                    logger.info("the database is back")
                away = 0.0
            except errors.Unavailable as error:
                if not away:
                    logger.warning("the database is away", cause=str(error.__cause__ or error))
                self._guard.doubt()
                away = min(max(away * 2, AWAY_SECONDS), AWAY_SECONDS_MAX)
                await wait(stop, away * jitter())
            except Exception:
                logger.exception("claiming failed")
                await wait(stop, AWAY_SECONDS_MAX)
        await self._finish()

    def _linger(self, before: Phase, waiting: int, waited: float) -> float:
        """Seconds until a batch looks again whether more have come; none when it is large, or nobody is about to."""
        if waiting >= self._pace.slots / 2 or waited >= LINGER_SECONDS:
            return 0.0
        is_expected = any(slot.phase is before and slot.is_sending for slot in self._slots.values())
        return LOOK_SECONDS if is_expected else 0.0

    async def _step(self, stop: asyncio.Event) -> None:
        """One turn where slots are free, else the wait for one."""
        if not await self._guard.is_open():
            await wait(stop, PAUSED_SECONDS)
            return
        self._freed.clear()
        free = self._free()
        if free <= 0:
            await first_of(self._freed, stop)
            return
        was_full = bool(self._accounts.full())
        if await self._claimer.turn(free):
            if self._free() <= 0 or self._accounts.full():
                await self._rota.hand_on(self._look)
        else:
            # If an account's slots are, or were when the turn began, all in use, more may be due in its lanes, so the
            # next free slot wakes the loop.
            is_full = was_full or self._accounts.full()
            events = (self._freed, stop) if is_full else (stop,)
            await self._rota.wait(self._look, self._pace.poll_seconds, *events)

    def _free(self) -> int:
        """Items that may be claimed: as many wait for a connection or for their outcomes as are sent."""
        return 2 * self._pace.slots - len(self._slots)

    def _enter(self, dispatch: Dispatch, started: float) -> None:
        slot = SendSlot(dispatch, started)
        self._slots[dispatch.item.lease_key] = slot
        self._accounts.enter(dispatch.account)
        slot.task = asyncio.create_task(self._serve(slot))
        slot.task.add_done_callback(lambda task: self._leave(slot, task))

    def _leave(self, slot: SendSlot, task: "asyncio.Task[None]") -> None:
        item = slot.dispatch.item
        self._make_room(slot)
        if slot.is_under_way:
            self._under_way.release()
        del self._slots[item.lease_key]
        self._guard.memory.drop(item.lease_key)
        self._freed.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("slot failed", exc_info=error, organization_id=item.organization_id, item_id=item.item_id)

    def _make_room(self, slot: SendSlot) -> None:
        """Give its connection to another item; once a slot."""
        if not slot.has_made_room:
            slot.has_made_room = True
            self._accounts.leave(slot.dispatch.account)
            self._freed.set()

    async def _serve(self, slot: SendSlot) -> None:
        item = slot.dispatch.item
        try:
            message = await self._composed(slot.dispatch)
        except SenderNotAllowed as refusal:
            await self._conclude(slot, Refused(str(refusal)))
            return
        except Failed as failure:
            await self._give_up(slot, f"Rendering failed: {failure}")
            return
        except isolation.Died as death:
            logger.error("rendering killed its process", organization_id=item.organization_id, item_id=item.item_id)  # noqa: TRY400
            await self._give_up(slot, f"Rendering failed: {death}", is_deadly=True)
            return
        except Exception as error:
            logger.exception("rendering failed", organization_id=item.organization_id, item_id=item.item_id)
            await self._give_up(slot, cause_of("Rendering failed", error, item.responder_channel_identifier))
            return
        outcome = await self._send(slot, message)
        if outcome is not None:
            await self._conclude(slot, outcome)

    async def _composed(self, dispatch: Dispatch) -> Message:
        """The message; made in a process of its own if a worker died while it held this item."""
        if dispatch.item.reason == REASON_LOST:
            address = dispatch.item.responder_channel_identifier
            return read(await isolation.run(lambda: written(lambda: self._compose(dispatch), address)))
        self._rendering = dispatch.item.item_id
        return self._compose(dispatch)

    def _compose(self, dispatch: Dispatch) -> Message:
        item, responder = dispatch.item, dispatch.responder
        context = lanes.context_of(
            dispatch.settings,
            item_id=item.item_id,
            recipient=responder.address or item.responder_channel_identifier,
            version=dispatch.version,
            instance=dispatch.instance,
            responder_metadata=responder.metadata,
            unsubscribe_id=responder.unsubscribe_id,
            sender=self._mail_from,
            site=self._site,
            now=item.database_now,
            reminder_number=item.reminder_number,
            external_reference=item.external_reference,
            send_time=item.send_time,
        )
        return composing.compose(context)

    async def _send(self, slot: SendSlot, message: Message) -> Outcome | None:
        """Send; None when another worker took the item and nothing was sent."""

        async def begin() -> None:
            if not await self._has_begun(slot):
                raise Fenced

        dispatch = slot.dispatch
        channel_id, item = dispatch.settings.pipeline.channel_id, dispatch.item
        test_attempt = item.attempts if item.test else None
        try:
            async with self._accounts.slot(dispatch.account):
                if self._accounts.is_closed(dispatch.account):
                    slot.phase = Phase.CLOSING
                    hand_back = partial(db.change, self._pool, sending.hand_back, items=[item])
                    return await self._until_written(hand_back, slot)
                async with (
                    self.channels.use(dispatch.account, channel_id, test_attempt=test_attempt) as channel,
                    asyncio.timeout(self._pace.send_seconds_max),
                ):
                    slot.is_sending = True
                    with telemetry.span("send", kind="CLIENT", **_traced(dispatch)):
                        return await channel.send(message, begin=begin)
        except Fenced:
            return None
        except NoChannelError as error:
            return Retry(error.cause, error.reason)
        except TimeoutError:
            return _broken(slot, "no answer in time")
        except Exception as error:
            logger.exception("channel failed", organization_id=item.organization_id, item_id=item.item_id)
            return _broken(slot, cause_of("Sending failed", error, item.responder_channel_identifier))

    async def _has_begun(self, slot: SendSlot) -> bool:
        """Begin the item; true if it is still ours. A send that timed out while it began asks a second time.

        While all slots are under way it is only held, and a stop may hand it back.
        """
        if not slot.is_under_way:
            await self._under_way.acquire()
            slot.is_under_way = True
        if slot.beginning is None or _has_failed(slot.beginning):
            slot.phase = Phase.BEGINNING
            slot.beginning = asyncio.create_task(self._begins.submit(slot.dispatch))
            slot.beginning.add_done_callback(_has_failed)  # retrieves its error, so that it is not logged
        if await asyncio.shield(slot.beginning):
            slot.phase = Phase.BEGUN
            self._guard.memory.begin(slot.dispatch)
            return True
        return False

    async def _conclude(self, slot: SendSlot, outcome: Outcome) -> None:
        result = Result(slot.dispatch, outcome, self._waits())
        has_begun = slot.phase is Phase.BEGUN
        if not has_begun and isinstance(outcome, Retry) and outcome.cause != "recipient":
            slot.phase = Phase.CLOSING
            await self._until_written(lambda: self._releases.submit(result), slot)
        elif has_begun or await self._has_begun(slot):  # an answer to RCPT is an attempt as well
            slot.phase = Phase.CLOSING
            self._guard.memory.end(result, now=self._pool.clock.now())
            if isinstance(outcome, Sent):  # other outcomes may close the account: nothing more is claimed before that
                self._make_room(slot)
            await self._until_written(lambda: self._settles.submit(result), slot)
        else:
            return
        if slot.dispatch.item.test:  # no provider has seen it
            return
        try:
            channel_id, since = slot.dispatch.settings.pipeline.channel_id, slot.dispatch.item.database_now
            is_closed = await self._accounts.learn(slot.dispatch.account, outcome, channel_id=channel_id, since=since)
        except errors.Unavailable:
            return
        if is_closed:
            self._accounts.close(slot.dispatch.account)
            await self._hand_back([s for s in self._held() if s.dispatch.account == slot.dispatch.account])

    async def _until_written(self, write: Callable[[], Awaitable[None]], slot: SendSlot) -> None:
        """Repeat after any error: an outcome must not be lost, and writing it twice changes nothing.

        When its lease is no longer renewed, it is left to the reaper, as unknown.
        """
        away = AWAY_SECONDS
        while True:
            try:
                return await write()
            except errors.Unavailable:
                pass
            except Exception:
                logger.exception("an outcome could not be written", item_id=slot.dispatch.item.item_id)
            if time.monotonic() - slot.started > self._pace.send_seconds_max:
                logger.error("an outcome was lost", item_id=slot.dispatch.item.item_id)
                return None
            await asyncio.sleep(away * jitter())
            away = min(away * 2, AWAY_SECONDS_MAX)

    async def _give_up(self, slot: SendSlot, cause: str, *, is_deadly: bool = False) -> None:
        slot.phase = Phase.CLOSING
        given: dict[str, Any] = {
            "item": slot.dispatch.item,
            "cause": cause,
            "waits": self._waits(),
            "is_deadly": is_deadly,
        }
        give_up = partial(db.change, self._pool, sending.give_up, **given)
        await self._until_written(lambda: give_up(now=self._pool.clock.now()), slot)

    async def _begin(self, batch: Sequence[Dispatch]) -> list[bool]:
        """Begin these items; true for each that is still ours. After a lost reply to the commit, reconnect and read."""
        try:
            begun = await db.change_by_key(self._pool, sending.begin, dispatches=batch, lease=self.lease)
        except errors.Unavailable:
            begun = await self._begin_again(batch)
        return [dispatch.item.lease_key in begun for dispatch in batch]

    async def _begin_again(self, batch: Sequence[Dispatch]) -> set[LeaseKey]:
        """Repeat until the database answers, or no lease can have any margin left."""
        deadline = time.monotonic() + self._pace.lease_seconds
        while time.monotonic() < deadline:
            await asyncio.sleep(AWAY_SECONDS * jitter())
            try:
                return await db.change(self._pool, sending.begin_again, dispatches=batch, lease=self.lease)
            except errors.Unavailable:
                continue
        return set()

    async def _write(self, step: Callable[..., Awaitable[object]], batch: Sequence[Result]) -> list[None]:
        await db.change_by_key(self._pool, step, results=batch, now=self._pool.clock.now())
        return [None] * len(batch)

    def _held(self) -> list[SendSlot]:
        return [slot for slot in self._slots.values() if slot.phase is Phase.HELD]

    async def _hand_back(self, slots: Sequence[SendSlot]) -> None:
        for slot in slots:
            if slot.task is not None:
                slot.task.cancel()
        try:
            await db.change(self._pool, sending.hand_back, items=[slot.dispatch.item for slot in slots])
        except errors.Unavailable:
            logger.warning("claimed items could not be handed back; their leases will run out", items=len(slots))

    async def _finish(self) -> None:
        await self._hand_back(self._held())
        tasks = [slot.task for slot in self._slots.values() if slot.task is not None]
        if tasks:
            _, pending = await asyncio.wait(tasks, timeout=self._pace.grace_seconds)
            for task in pending:
                task.cancel()
            if pending:
                logger.warning("stopped while sending; the outcome of these items is unknown", items=len(pending))
                await asyncio.wait(pending)

    def _waits(self) -> Waits:
        return Waits(jitter(), self._pace.backoff_factor)


def _broken(slot: SendSlot, reason: str) -> Outcome:
    """A send that ended without an answer: unknown if it had begun, else it was not sent."""
    return Unknown(reason) if slot.phase is Phase.BEGUN else Retry("recipient", reason)


def _has_failed(task: "asyncio.Task[bool]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _traced(dispatch: Dispatch) -> Mapping[str, str | int]:
    item, pipeline = dispatch.item, dispatch.settings.pipeline
    return {
        "afterword.organization_id": item.organization_id,
        "afterword.item_id": item.item_id,
        "afterword.channel_id": pipeline.channel_id,
    }
