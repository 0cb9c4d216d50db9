"""Clients and workers at the same moment: an answer that promises something must be kept."""

import asyncio
import random
from collections import Counter
from datetime import timedelta

import pytest

from afterword import errors
from afterword.core.wire.times import Moment
from afterword.kit.transport.base import Outcome, Refused, Retry, Sent, Unknown
from afterword.sending.queue.records import QueueItemRecord, QueueItemUpdate
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.outcomes import Waits
from tests.sending.queue.conftest import LEASE_SECONDS, Queue, Worker

NOTE = "(an earlier attempt may have delivered a copy)"
RACES = 40
RECONCILE = """
with a as (select * from jsonb_each_text($1::jsonb) as a (item_id, accepted)),
u as (select item_id, count(*) filter (where outcome in ('unknown', 'accepted_late')) as unknown,
        count(*) filter (where outcome is null) as open from attempt group by item_id),
e as (select subject_id as item_id, count(*) as told from event where is_terminal group by subject_id),
i as (select q.*, coalesce(a.accepted::int, 0) as accepted, coalesce(u.unknown, 0) as unknown,
        coalesce(u.open, 0) as open, coalesce(e.told, 0) as told
      from queue_item q left join a using (item_id) left join u using (item_id) left join e using (item_id))
select count(*) filter (where accepted > 1 + unknown) as inv1,
  count(*) filter (where resend_after_seconds is null and accepted > 1) as inv2,
  count(*) filter (where status = 4 and accepted = 0) as inv3,
  count(*) filter (where status = 7 and accepted > 0 and result not like '%copy)') as inv4,
  count(*) filter (where status = 5 and accepted > 0 and unknown = 0) as inv5,
  count(*) filter (where (status >= 4) <> (told = 1)) as inv6,
  count(*) filter (where attempts > attempts_max) as inv7,
  (select count(*) from attempt x join attempt y using (organization_id, item_id) where x.epoch < y.epoch
     and x.finish_time > y.begin_time and x.outcome not in ('unknown', 'accepted_late')) as inv8,
  coalesce(sum(open) filter (where status <> 3), 0) as attempts_open
from i"""


class World:
    """Messages that the receiving side accepted."""

    def __init__(self, queue: Queue, seed: int) -> None:
        self.queue = queue
        self.draw = random.Random(seed)  # noqa: S311
        self.accepted: Counter[str] = Counter()

    def answer(self, dispatch: Dispatch) -> Outcome:
        outcome = self.draw.choices(
            [
                Sent(),
                Retry("recipient", "busy"),
                Refused("no"),
                Unknown("?"),
                Retry("throttle", "slower"),
                Unknown("!"),
            ],
            [60, 10, 5, 10, 5, 10],
        )[0]
        if isinstance(outcome, Sent) or (isinstance(outcome, Unknown) and outcome.reason == "!"):
            self.accepted[dispatch.item.item_id] += 1
        return outcome

    async def work(self, worker: Worker, *, rounds: int, crashes: float = 0.0) -> None:
        """Claim, begin, send, settle; sometimes die in between, sometimes oversleep the lease."""
        for _ in range(rounds):
            for dispatch in await worker.claim(3):
                if self.draw.random() < crashes or not await worker.begin(dispatch):
                    continue
                if self.draw.random() < crashes:
                    continue
                outcome = self.answer(dispatch)
                if self.draw.random() < crashes:
                    continue
                await worker.settle(outcome, dispatch, waits=Waits(factor=0))

    async def check(self) -> None:
        [row] = await self.queue.fetch(RECONCILE, dict(self.accepted))
        figures = dict(row)
        assert dict.fromkeys(figures, 0) == figures


@pytest.mark.parametrize("seed", range(4))
async def test_cancels_and_edits_against_workers(queue: Queue, seed: int) -> None:
    """A cancel answered 200 without the note means that nothing was accepted, and nothing ever will be."""
    world = World(queue, seed)
    items = [await queue.schedule(f"a{number}@example.com", locale="el") for number in range(RACES)]
    later = (await queue.now()).replace(microsecond=0) + timedelta(hours=5)
    promised: dict[str, str] = {}

    async def meddle(item: QueueItemRecord) -> None:
        change = world.draw.choice(["cancel", "delete", "move", "whole"])
        for _ in range(world.draw.randrange(12)):
            await asyncio.sleep(0)
        try:
            if change == "cancel":
                result = (await queue.cancel(item)).result
                promised[item.item_id] = "copy" if result and NOTE in result else "never"
            elif change == "delete":
                await queue.delete(item)
                promised[item.item_id] = "never"
            elif change == "move":
                await queue.change(item, QueueItemUpdate(send_time=Moment(later, 0)))
                promised[item.item_id] = "later"
            else:
                await queue.change(item, QueueItemUpdate(locale="el"))
        except errors.Conflict as refusal:
            assert refusal.code in {"item_in_dispatch", "item_closed", "outcome_unknown"}  # noqa: PT017

    await asyncio.gather(*(world.work(queue.worker(), rounds=6) for _ in range(3)), *(meddle(item) for item in items))
    before = Counter(world.accepted)
    await world.work(queue.worker(), rounds=RACES)

    for item_id, promise in promised.items():
        assert promise != "never" or not world.accepted[item_id]
        assert promise != "later" or world.accepted[item_id] == before[item_id]
    assert Counter(promised.values())["never"] > 0
    await world.check()


@pytest.mark.parametrize("seed", range(3))
async def test_crashes_zombies_and_the_reaper(queue: Queue, seed: int) -> None:
    """Workers that die anywhere or oversleep: the invariants hold all the time, and everything ends."""
    world = World(queue, seed)
    for number in range(RACES):
        await queue.schedule(f"a{number}@example.com")
    sleepers: list[tuple[Worker, Dispatch, Outcome]] = []

    for _ in range(12):
        await asyncio.gather(*(world.work(queue.worker(), rounds=2, crashes=0.15) for _ in range(3)))
        zombie = queue.worker()
        sleepers += [(zombie, d, world.answer(d)) for d in await zombie.begin(*await zombie.claim(2))]
        await queue.shift(timedelta(seconds=LEASE_SECONDS + 1))
        await queue.reap(Waits(factor=0))
        if world.draw.random() < 0.7:
            for worker, dispatch, outcome in sleepers:
                await worker.settle(outcome, dispatch, waits=Waits(factor=0))
            sleepers.clear()
        await world.check()

    for worker, dispatch, outcome in sleepers:
        await worker.settle(outcome, dispatch, waits=Waits(factor=0))
    while await queue.value("select count(*) from queue_item where status < 4"):
        await queue.shift(timedelta(seconds=LEASE_SECONDS + 1))
        await queue.reap(Waits(factor=0))
        await world.work(queue.worker(), rounds=3)
    await world.check()
