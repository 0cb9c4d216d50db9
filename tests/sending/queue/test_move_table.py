"""Every move from every state, on a real PostgreSQL: the services make what the table has, and nothing else.

An item is put into a state by hand, with its lease, attempts and texts as that state has them; then a service tries its
move on it. What the rows say afterwards is held against `core.statuses`, in both directions.
"""

import itertools
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from afterword import errors, ids
from afterword.core.scheduling import statuses
from afterword.core.scheduling.decisions import Decision
from afterword.core.scheduling.statuses import MOVES, Item, Move
from afterword.core.wire.times import Moment
from afterword.kit import db
from afterword.kit.transport.base import Outcome, Refused, Retry, Sent, Unknown
from afterword.sending.queue import late_outcomes, service
from afterword.sending.queue.late_outcomes import LateAcceptance
from afterword.sending.queue.records import QueueItemUpdate
from afterword.sending.queue.sending import losses, outcomes, service as sending, store
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.losses import Loss, Memory
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.service import Result
from tests.sending.queue.conftest import Queue, Worker

WAITS = Waits()


@dataclass(frozen=True)
class Variant:
    """The conditions of a move's target, beside the state."""

    used_up: bool = False
    resends: bool = True
    reason: str | None = None
    doubts: str | None = None  # the outcome of an earlier attempt
    is_sent: bool = True  # says the person


@dataclass
class Case:
    """One item, and the worker that holds it or thinks so."""

    queue: Queue
    worker: Worker
    dispatch: Dispatch
    variant: Variant

    @property
    def item_id(self) -> str:
        return self.dispatch.item.item_id

    async def settle(self, outcome: Outcome) -> None:
        async with db.transaction(self.queue.pool) as database:
            result = Result(self.dispatch, outcome, WAITS)
            await sending.settle(database, results=[result], now=database.clock.now())

    async def settle_claimed(self, settlement: store.Settlement) -> None:
        await self.queue.run(store.settle_claimed_items, settlements=[settlement])

    async def decide(self, verdict: Any) -> None:
        now = await self.queue.now()
        decision = Decision(verdict, "a rule", "It says so", now + timedelta(hours=1), ())
        await self.settle_claimed(outcomes.decided(self.dispatch.item, decision))

    async def release(self) -> None:
        async with db.transaction(self.queue.pool) as database:
            result = Result(self.dispatch, Retry("throttle", "slower"), WAITS)
            await sending.release(database, results=[result], now=database.clock.now())

    async def give_up(self) -> None:
        now = await self.queue.now()
        await self.queue.run(sending.give_up, item=self.dispatch.item, cause="broken", waits=WAITS, now=now)

    async def reap(self) -> None:
        await self.queue.execute("update queue_item set lease_until = lease_until - interval '1 day'")
        await self.queue.reap()

    async def learn(self) -> None:
        item = self.dispatch.item
        async with db.transaction(self.queue.pool) as database:
            now = database.clock.now()
            acceptance = LateAcceptance(*item.key, ids.ordered(now), reply="delivered")
            await late_outcomes.record_acceptances(database, acceptances=[acceptance], now=now)

    async def compare(self, *, by: int) -> None:
        """With a server that knows nothing of an attempt, so many epochs after the item's own."""
        memory, item = Memory(), self.dispatch.item
        memory.begin(msgspec.structs.replace(self.dispatch, item=msgspec.structs.replace(item, epoch=item.epoch + by)))
        await losses.compare(self.queue.pool, memory=memory, lease=self.worker.lease, loss=Loss())

    async def change(self, change: QueueItemUpdate) -> None:
        caller, secret = self.queue.house.caller, self.queue.secret
        await self.queue.run(service.change, caller=caller, item_id=self.item_id, change=change, secret=secret)

    async def delete(self) -> None:
        await self.queue.run(service.delete, caller=self.queue.house.caller, item_id=self.item_id)

    async def resolve(self) -> None:
        caller, is_sent = self.queue.house.caller, self.variant.is_sent
        await self.queue.run(service.resolve, caller=caller, item_id=self.item_id, is_sent=is_sent)


Act = Callable[[Case], Awaitable[object]]
MOMENT = timedelta(days=2)
ACTS: dict[Move, Act] = {
    statuses.CLAIM: lambda case: case.worker.claim(),
    statuses.HOLD: lambda case: case.decide("hold"),
    statuses.SKIP: lambda case: case.decide("skip"),
    statuses.RELEASE: lambda case: case.release(),
    statuses.GIVE_UP: lambda case: case.give_up(),
    statuses.RENEW: lambda case: case.worker.renew(case.dispatch),
    statuses.BEGIN: lambda case: case.worker.begin(case.dispatch),
    statuses.ACCEPTED: lambda case: case.settle(Sent()),
    statuses.REFUSED: lambda case: case.settle(Refused("no")),
    statuses.RETRY: lambda case: case.settle(Retry("recipient", "later")),
    statuses.THROTTLED: lambda case: case.settle(Retry("throttle", "slower")),
    statuses.UNKNOWN: lambda case: case.settle(Unknown("no answer")),
    statuses.ALREADY_ACCEPTED: lambda case: case.settle(Retry("recipient", "later")),
    statuses.REAP_CLAIMED: lambda case: case.reap(),
    statuses.REAP_SENDING: lambda case: case.reap(),
    statuses.LATE_ACCEPTANCE: lambda case: case.learn(),
    statuses.LATE_ACCEPTANCE_NOTED: lambda case: case.learn(),
    statuses.RECORD_AGAIN: lambda case: case.compare(by=1),
    statuses.RECORD_AGAIN_NOTED: lambda case: case.compare(by=-1),
    statuses.CANCEL: lambda case: case.change(QueueItemUpdate(status_id=5)),
    statuses.EDIT: lambda case: case.change(
        QueueItemUpdate(send_time=Moment(case.dispatch.item.database_now + MOMENT, 0))
    ),
    statuses.RESOLVE: lambda case: case.resolve(),
    statuses.DELETE: lambda case: case.delete(),
}  # fmt: skip
LATE = [Variant(doubts="unknown"), Variant(doubts="unknown", reason="outcome_unknown")]
VARIANTS: dict[Move, list[Variant]] = {
    statuses.GIVE_UP: [Variant(), Variant(used_up=True)],
    statuses.RETRY: [Variant(), Variant(used_up=True)],
    statuses.UNKNOWN: [Variant(), Variant(used_up=True), Variant(resends=False)],
    statuses.ALREADY_ACCEPTED: [Variant(doubts="accepted_late")],
    statuses.REAP_CLAIMED: [Variant(), Variant(used_up=True)],
    statuses.REAP_SENDING: [Variant(), Variant(used_up=True), Variant(resends=False), Variant(doubts="accepted_late")],
    statuses.LATE_ACCEPTANCE: LATE,
    statuses.LATE_ACCEPTANCE_NOTED: LATE,
    statuses.RESOLVE: [Variant(), Variant(is_sent=False)],
}
# One service makes both, by the state that it finds; each is looked at alone.
ONLY_FROM: dict[Move, set[Item]] = {
    statuses.REAP_CLAIMED: set(Item) - {Item.SENDING},
    statuses.REAP_SENDING: set(Item) - {Item.CLAIMED},
    statuses.RECORD_AGAIN: {Item.SCHEDULED, Item.CLAIMED, Item.SENDING},
    # Deleting what waits cancels it first, which is a move of its own.
    statuses.DELETE: set(Item) - {Item.SCHEDULED, Item.CLAIMED},
}


def test_every_move_has_its_act() -> None:
    assert set(MOVES) == ACTS.keys()


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
async def test_arcs(queue: Queue, move: Move) -> None:
    found: set[tuple[Item, Item]] = set()
    for start, variant in itertools.product(ONLY_FROM.get(move, set(Item)), VARIANTS.get(move, [Variant()])):
        case = await _case(queue, start, variant)
        before = await _row(case)
        try:
            await ACTS[move](case)
        except errors.Conflict:
            assert before == await _row(case), "a refusal changes nothing"
        after = await _row(case)
        if before != after and (
            move not in (statuses.LATE_ACCEPTANCE, statuses.LATE_ACCEPTANCE_NOTED) or _is(move, before, after)
        ):
            found.add((start, Item(after["status"])))
            assert after["epoch"] >= before["epoch"]
        await queue.execute("delete from event")
        await queue.execute("delete from attempt")
        await queue.execute("delete from queue_item")
    assert move.arcs == found


async def _case(queue: Queue, start: Item, variant: Variant) -> Case:
    """An item in that state, and a worker that holds it, or that held it at this epoch."""
    scheduled = await queue.schedule(f"{uuid.uuid4().hex}@example.com")
    worker = queue.worker()
    [dispatch] = await worker.claim()
    case = Case(queue, worker, dispatch, variant)
    attempts = 3 if variant.used_up else 2
    lease = start in {Item.CLAIMED, Item.SENDING}
    await queue.execute(
        """update queue_item
           set status = $2::smallint,
             attempts = $3, attempts_max = 3, resend_after_seconds = $4, reason = $5, epoch = 2,
             owner = $6, lease_until = $7::text::interval + now(),
             dispatched_time = case when $2::smallint = 4 then now() end
           where item_id = $1""",
        scheduled.item_id,
        start,
        attempts,
        600 if variant.resends else None,
        variant.reason,
        worker.lease.owner if lease else None,
        "1 minute" if lease else None,
    )
    if variant.doubts:
        await _attempt(case, 1, variant.doubts)
    if start == Item.SENDING:
        await _attempt(case, 2, None)
    resend = 600 if variant.resends else None
    item = msgspec.structs.replace(
        dispatch.item, epoch=2, attempts=attempts, attempts_max=3, resend_after_seconds=resend
    )
    case.dispatch = msgspec.structs.replace(dispatch, item=item)
    return case


async def _attempt(case: Case, epoch: int, outcome: str | None) -> None:
    await case.queue.execute(
        """insert into attempt (organization_id, item_id, epoch, owner, outcome, finish_time)
           values ($1, $2, $3, $4, $5::text, case when $5::text is not null then now() end)""",
        case.dispatch.item.organization_id,
        case.item_id,
        epoch,
        case.worker.lease.owner,
        outcome,
    )


async def _row(case: Case) -> dict[str, Any]:
    """The columns that a move may change."""
    [row] = await case.queue.fetch(
        """select q.*, (select array_agg(a.outcome order by epoch) from attempt a
                        where a.organization_id = q.organization_id and a.item_id = q.item_id) as outcomes
           from queue_item q where q.item_id = $1""",
        case.item_id,
    )
    return dict(row)


def _is(move: Move, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """One service makes both: the note marks the attempt, the truth moves the item too."""
    return (before["status"] == after["status"]) == (move is statuses.LATE_ACCEPTANCE_NOTED)
