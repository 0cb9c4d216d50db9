"""Virtual days: the pure core under a seeded scheduler, with workers that die, sleep and lose answers.

Nothing here waits and nothing here is random but by its seed: the same seed gives the same day, to the byte, in any
process. The moves and their texts are the product's (`core.statuses`, `sending.outcomes`, `core.scheduling`); the rows
and the guards of the statements are this file's, and each of those, broken, is noticed. 100 days in every run;
AFTERWORD_TEST_FAULTS=full gives ten thousand.
"""

import hashlib
import heapq
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

import pytest

from afterword.core.scheduling import decisions, statuses
from afterword.core.scheduling.decisions import Facts, Rules
from afterword.core.scheduling.statuses import ITEM_TERMINAL, Item, Move
from afterword.core.scheduling.windows import Hours
from afterword.kit.transport.base import Outcome, Refused, Retry, Sent, Unknown
from afterword.sending.queue.records import Claimed
from afterword.sending.queue.sending import outcomes as sending_outcomes
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.store import Overdue, Settlement
from tests.bar import Tell
from tests.sizes import share_of, size

DAYS = size(50, 10_000)
BATCHES = 5
START = datetime(2026, 3, 28, 6, tzinfo=UTC)  # the clocks change in the night
LEASE, MARGIN, HEARTBEAT = timedelta(seconds=60), timedelta(seconds=5), timedelta(seconds=15)
ITEMS, WORKERS = 12, 3
EVENTS_MAX = 20_000  # of a day; beyond them it would never end
OPEN = {Item.SCHEDULED, Item.CLAIMED, Item.SENDING}
SETTLED = (
    statuses.ACCEPTED, statuses.REFUSED, statuses.RETRY, statuses.THROTTLED, statuses.UNKNOWN,
    statuses.ALREADY_ACCEPTED,
)  # fmt: skip
MUTANTS = (
    "the reaper forgets",
    "begin is not fenced",
    "settle is not fenced",
    "cancel has no guard",
    "the claim keeps the epoch",
    "late acceptance is forgotten",
    "a report of the open attempt is forgotten",
)


@dataclass
class Row:
    """An item's row in the database."""

    item_id: str
    due: datetime
    not_after: datetime
    resend: int | None
    attempts_max: int
    status: Item = Item.SCHEDULED
    epoch: int = 0
    attempts: int = 0
    throttled: int = 0
    lease: datetime | None = None
    reason: str | None = None
    outcomes: dict[int, str | None] = field(default_factory=dict[int, str | None])  # of attempts, by epoch
    told: int = 0
    accepted: int = 0  # by the outside world
    cancelled: bool = False  # answered 200 without the note
    reported: bool = False  # while it was being sent, as accepted
    holder: int = 0  # the epoch that was leased last
    stale: bool = False  # somebody wrote with an epoch that was no longer the row's

    @property
    def doubtful(self) -> int:
        return sum(outcome in {"unknown", "accepted_late"} for outcome in self.outcomes.values())


@dataclass
class Worker:
    """A process: a new run has forgotten everything."""

    run: int = 0
    awake: datetime = START


class Day:
    """One seed."""

    def __init__(self, seed: int, *, mutant: str = "") -> None:
        self.draw = random.Random(seed)  # noqa: S311
        self.now = START
        self.agenda: list[tuple[datetime, int, Callable[[], None]]] = []
        self.number = 0
        self.trace: list[str] = []
        self.mutant = mutant  # a guard that is broken
        self.workers = [Worker() for _ in range(WORKERS)]
        self.rules = self._rules()
        self.rows = [self._row(number) for number in range(ITEMS)]
        self.away = [START + timedelta(seconds=self.draw.uniform(0, 4 * 3600)) for _ in range(2)]  # the database
        self.troubled_until = START + timedelta(hours=self.draw.choice((0, 1, 8)))  # crashes and pauses are finite
        for row in self.rows:
            self.at(row.due, lambda row=row: self.poll(row))
            if self.draw.random() < 0.3:
                self.after(self.draw.choice((1.0, 90.0, 4_000.0)), lambda row=row: self.cancel(row))
        for worker in self.workers:
            self.after(self.draw.expovariate(1 / 60), lambda worker=worker: self.trouble(worker))

    def run(self) -> None:
        for _ in range(EVENTS_MAX):
            if not self.agenda:
                break
            self.now, _, act = heapq.heappop(self.agenda)
            act()
        assert not self.agenda, "a day without end"
        for row in self.rows:
            assert row.status in ITEM_TERMINAL, f"LIVE1: {row}"
            assert None not in row.outcomes.values(), f"an attempt stays open: {row}"

    # the world ----------------------------------------------------------------------------------------------------

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        self.at(self.now + timedelta(seconds=seconds), act)

    def at(self, moment: datetime, act: Callable[[], None]) -> None:
        self.number += 1
        heapq.heappush(self.agenda, (moment, self.number, act))

    def is_away(self) -> bool:
        return any(start <= self.now < start + timedelta(seconds=100) for start in self.away)

    def trouble(self, worker: Worker) -> None:
        """It dies, or sleeps for longer than a lease."""
        if self.now > self.troubled_until:
            return
        if self.draw.random() < 0.5:
            worker.run += 1
        worker.awake = self.now + timedelta(seconds=self.draw.choice((1.0, 70.0, 200.0)))
        self.after(self.draw.expovariate(1 / 60), lambda: self.trouble(worker))

    def on(self, worker: Worker, run: int, act: Callable[[], None]) -> None:
        """Let that run of the worker act: once it is awake, and once the database is there."""
        if worker.run != run:
            return
        if self.now < worker.awake:
            self.at(worker.awake, lambda: self.on(worker, run, act))
        elif self.is_away():
            self.after(self.draw.uniform(1, 2), lambda: self.on(worker, run, act))
        else:
            act()

    # the moves ----------------------------------------------------------------------------------------------------

    def poll(self, row: Row) -> None:
        worker = self.draw.choice(self.workers)
        run = worker.run
        if self.is_away() or self.now < worker.awake:
            self.after(1.0, lambda: self.poll(row))
        elif row.status == Item.SCHEDULED and row.due <= self.now:
            self._move(row, statuses.CLAIM, Item.CLAIMED)
            row.epoch += self.mutant != "the claim keeps the epoch"
            row.attempts += 1
            self._lease(row, row.epoch)
            item = self._claimed(row)
            if self.draw.random() < 0.02:  # the answer to the claim was lost
                return
            decision = decisions.decide(item=self._subject(row), facts=Facts(rules=self.rules), now=self.now)
            if decision.verdict != "go":
                self._settle_claimed(row, sending_outcomes.decided(item, decision))
                return
            ready = self.draw.choice((0.1, 0.5, 2.0, 54.0, 62.0))  # connecting may take longer than the lease
            self.after(ready, lambda: self.on(worker, run, lambda: self.begin(worker, run, row, item)))

    def begin(self, worker: Worker, run: int, row: Row, item: Claimed) -> None:
        chance = self.draw.random()
        if chance < 0.03:
            self._settle_claimed(row, sending_outcomes.handed_back(item))
        elif chance < 0.06:
            self._settle_claimed(row, sending_outcomes.given_up(item, "it broke", waits=self._waits(), now=self.now))
        elif chance < 0.1:
            throttle = Retry("throttle", "454 slower")
            self._settle_claimed(row, sending_outcomes.released(item, throttle, waits=self._waits(), now=self.now))
        elif self._may_begin(row, item):
            if row.status == Item.CLAIMED:  # always, but for a mutant
                self._move(row, statuses.BEGIN, Item.SENDING)
            row.outcomes[row.epoch] = None
            self._lease(row, row.epoch)
            if row.accepted and self.draw.random() < 0.3:  # a provider tells of the attempt before
                self.after(self.draw.uniform(0, 60), lambda: self.learn(row, None))
            if self.draw.random() > 0.02:  # else the answer was lost, and it looked too late: the slot is free again
                self.renew(worker, run, row, item.epoch)
                self.after(self.draw.choice((0.05, 0.3, 30.0, 100.0)), lambda: self.wire(worker, run, row, item))

    def _may_begin(self, row: Row, item: Claimed) -> bool:
        if self.mutant == "begin is not fenced":
            return row.status in {Item.CLAIMED, Item.SENDING}
        return row.status == Item.CLAIMED and row.epoch == item.epoch and self._margin(row) > MARGIN

    def renew(self, worker: Worker, run: int, row: Row, epoch: int) -> None:
        """The heartbeat of this run."""
        if worker.run == run and row.status == Item.SENDING and row.epoch == epoch:
            if self.now >= worker.awake and not self.is_away() and self._margin(row) > timedelta(0):
                self._lease(row, epoch)
            self.at(self.now + HEARTBEAT, lambda: self.renew(worker, run, row, epoch))

    def wire(self, worker: Worker, run: int, row: Row, item: Claimed) -> None:
        """Draw the outcome of a message; a dead or sleeping worker may have handed it over too."""
        if worker.run != run and self.draw.random() < 0.5:
            return
        chance = self.draw.random()
        outcome: Outcome
        if chance < 0.6:
            outcome = Sent(None, 250, "ok")
        elif chance < 0.75:
            outcome = Unknown("no answer")
        elif chance < 0.85:
            outcome = Retry("recipient", "450 later", 450)
        elif chance < 0.95:
            outcome = Retry("throttle", "454 slower", 454)
        else:
            outcome = Refused("550 no", 550)
        if isinstance(outcome, Sent) or (isinstance(outcome, Unknown) and self.draw.random() < 0.5):
            row.accepted += 1
            self._say(row, "accepted outside")
            if self.draw.random() < 0.3:
                self.after(self.draw.choice((5.0, 660.0, 700.0, 5_000.0)), lambda: self.learn(row, None))
        self.after(
            self.draw.choice((0.01, 20.0)), lambda: self.on(worker, run, lambda: self.settle(row, item, outcome))
        )
        if self.draw.random() < 0.05:  # the answer to the settlement is lost, and it is repeated
            self.after(self.draw.uniform(21, 30), lambda: self.on(worker, run, lambda: self.settle(row, item, outcome)))

    def settle(self, row: Row, item: Claimed, outcome: Outcome) -> None:
        settlement = sending_outcomes.settled(item, outcome, waits=self._waits(), now=self.now)
        is_fenced = row.epoch != item.epoch and self.mutant != "settle is not fenced"
        if row.status == Item.SENDING and not is_fenced:
            if self._is_known(row) and settlement.status != Item.SENT:
                settlement = sending_outcomes.known(item, settlement, now=self.now)
            row.outcomes[row.epoch], row.stale = settlement.outcome, row.stale or row.epoch != item.epoch
            self._apply(row, settlement, *SETTLED)
        elif settlement.outcome == "accepted":
            self.learn(row, item.epoch)

    def reap(self, row: Row, epoch: int) -> None:
        if row.status not in {Item.CLAIMED, Item.SENDING} or row.epoch != epoch or row.lease is None:
            return
        if row.lease >= self.now or self.is_away():
            self.at(max(row.lease, self.now) + timedelta(seconds=1), lambda: self.reap(row, epoch))
            return
        item = Overdue("o", row.item_id, row.epoch, row.status, row.attempts, row.attempts_max, row.resend,
                       row.not_after, None, self.now)  # fmt: skip
        settlement = sending_outcomes.reaped(item, waits=self._waits())
        if row.status == Item.SENDING:
            if self._is_known(row):
                settlement = sending_outcomes.known(item, settlement, now=self.now)
            row.outcomes[row.epoch] = "retry" if self.mutant == "the reaper forgets" else "unknown"
        row.epoch += 1
        self._apply(row, settlement, statuses.REAP_CLAIMED, statuses.REAP_SENDING)

    def learn(self, row: Row, epoch: int | None) -> None:
        """Late truth: of one attempt, or of the latest unknown one."""
        if self.is_away():
            self.after(10.0, lambda: self.learn(row, epoch))
            return
        unknown = [at for at, outcome in row.outcomes.items() if outcome == "unknown" and epoch in {None, at}]
        if not unknown:
            row.reported = row.reported or (epoch is None and row.status == Item.SENDING)  # of the open attempt
            return
        row.outcomes[max(unknown)] = "accepted_late"
        corrects = row.status == Item.FAILED and row.reason == sending_outcomes.REASON_UNKNOWN
        if row.status in {Item.SCHEDULED, Item.CLAIMED, Item.UNCERTAIN} or corrects:
            row.told += row.status in OPEN
            self._move(row, statuses.LATE_ACCEPTANCE, Item.SENT)
            row.epoch, row.lease, row.reason = row.epoch + 1, None, None
        else:
            self._move(row, statuses.LATE_ACCEPTANCE_NOTED, row.status)
        self._check(row)

    def cancel(self, row: Row) -> None:
        if self.is_away():
            self.after(10.0, lambda: self.cancel(row))
        elif row.status in {Item.SCHEDULED, Item.CLAIMED} or (self.mutant == "cancel has no guard" and row.lease):
            row.cancelled = not row.doubtful
            self._move(row, statuses.CANCEL, Item.ABORTED)
            row.epoch, row.lease, row.told = row.epoch + 1, None, row.told + 1
            self._check(row)

    # how ----------------------------------------------------------------------------------------------------------

    def _settle_claimed(self, row: Row, settlement: Settlement) -> None:
        if row.status == Item.CLAIMED and row.epoch == settlement.epoch:
            row.throttled += settlement.reason == sending_outcomes.REASON_THROTTLED
            self._apply(row, settlement, statuses.HOLD, statuses.SKIP, statuses.RELEASE, statuses.GIVE_UP)

    def _apply(self, row: Row, settlement: Settlement, *moves: Move) -> None:
        to = Item(settlement.status)
        self._say(row, f"{to.name} {settlement.result}")
        assert any((row.status, to) in move.arcs for move in moves), f"no such move to {to.name}: {row}"
        row.status, row.reason, row.lease = to, settlement.reason or row.reason, None
        row.attempts += settlement.counted - 1
        row.told += row.status in ITEM_TERMINAL
        if row.status == Item.SCHEDULED:
            row.due = settlement.due_time or row.due
            self.at(max(row.due, self.now + timedelta(seconds=0.25)), lambda: self.poll(row))
        self._check(row)

    def _move(self, row: Row, move: Move, to: Item) -> None:
        row.status = move.step(row.status, to)
        self._say(row, move.name)

    def _lease(self, row: Row, epoch: int) -> None:
        assert epoch >= row.holder, f"INV9: {row}"
        row.lease, row.holder = self.now + LEASE, epoch
        self.at(row.lease + timedelta(seconds=1), lambda: self.reap(row, epoch))

    def _margin(self, row: Row) -> timedelta:
        return (row.lease or self.now) - self.now

    def _is_known(self, row: Row) -> bool:
        is_known = "accepted_late" in row.outcomes.values() and self.mutant != "late acceptance is forgotten"
        return is_known or (row.reported and self.mutant != "a report of the open attempt is forgotten")

    def _say(self, row: Row, what: str) -> None:
        self.trace.append(f"{self.now.isoformat()} {row.item_id} {row.epoch} {what}")

    def _check(self, row: Row) -> None:
        assert row.accepted <= 1 + row.doubtful + self._on_the_wire(row), f"INV1: {row}"
        assert row.resend is not None or row.accepted <= 1, f"INV2: {row}"
        assert row.status != Item.SENT or row.accepted, f"INV3: {row}"
        assert not row.cancelled or not row.accepted, f"INV4: {row}"
        assert row.status != Item.FAILED or not row.accepted or row.doubtful, f"INV5: {row}"
        assert row.told == (row.status in ITEM_TERMINAL), f"INV6: {row}"
        assert 0 <= row.attempts <= row.attempts_max, f"INV7: {row}"
        assert not row.stale, f"INV8: {row}"
        is_known = row.reported or "accepted_late" in row.outcomes.values()
        assert not is_known or row.status not in {Item.SCHEDULED, Item.CLAIMED}, f"TRUTH: {row}"
        assert (row.lease is None) == (row.status not in {Item.CLAIMED, Item.SENDING})

    def _on_the_wire(self, row: Row) -> int:
        return sum(outcome is None for outcome in row.outcomes.values())

    def _waits(self) -> Waits:
        return Waits(self.draw.uniform(0.8, 1.2), 1.0)

    def _rules(self) -> Rules:
        hours = self.draw.choice((None, Hours(time(9), time(17)), Hours(time(20), time(4))))
        return Rules(window=hours, weekdays=frozenset(range(self.draw.choice((5, 7)))), if_outside="wait")

    def _row(self, number: int) -> Row:
        due = START + timedelta(seconds=self.draw.uniform(0, 3600))
        days = self.draw.choice((0.02, 1.0, 3.0))
        resend = self.draw.choice((None, 600, 600))
        return Row(f"item{number}", due, due + timedelta(days=days), resend, self.draw.choice((1, 3, 9)))

    def _subject(self, row: Row) -> decisions.Item:
        return decisions.Item(item_id=row.item_id, pipeline_id="p", not_after=row.not_after, reason=row.reason)

    def _claimed(self, row: Row) -> Claimed:
        known = {
            "organization_id": "o", "item_id": row.item_id, "epoch": row.epoch, "pipeline_id": "p", "test": False,
            "due_time": row.due, "not_after": row.not_after, "attempts": row.attempts, "throttled": row.throttled,
            "attempts_max": row.attempts_max, "resend_after_seconds": row.resend, "reason": row.reason,
            "database_now": self.now, "metadata": {}, "address_key": b"",
        }  # fmt: skip
        return Claimed(**{name: known.get(name) for name in Claimed.__struct_fields__})  # pyrefly: ignore[bad-argument-type]


@pytest.mark.parametrize("batch", range(BATCHES))
def test_days(batch: int, tell: Tell) -> None:
    ends: Counter[Item] = Counter()
    moves = 0
    for seed in range(batch, DAYS, BATCHES):
        day = Day(seed)
        try:
            day.run()
        except AssertionError:
            print(f"seed {seed}", *day.trace, sep="\n")  # noqa: T201
            raise
        ends.update(row.status for row in day.rows)
        moves += len(day.trace)
    assert ends.keys() == ITEM_TERMINAL, "some end was never reached: the days are too quiet"
    days = len(range(batch, DAYS, BATCHES))
    tell("simulation: {days} virtual days, a seed each, {moves} moves: violations 0", days=days, moves=moves)


def digest(seeds: range) -> str:
    """Of all that happened on these days."""
    found = hashlib.sha256()
    for seed in seeds:
        day = Day(seed)
        day.run()
        assert day.trace
        found.update("\n".join(day.trace).encode())
    return found.hexdigest()


def test_a_seed_gives_the_same_day(tell: Tell) -> None:
    """To the byte, also in another process with another order of its sets."""
    program = "from tests.sending.queue.test_days import digest; print(digest(range(8)))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(number)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for number in (1, 2)
    ]
    assert {digest(range(8))} == set(runs)
    assert digest(range(2)) != digest(range(2, 4))
    tell("simulation: 8 days, replayed in 2 other processes: the same to the byte")


@pytest.mark.parametrize("mutant", share_of(MUTANTS, 0.4))
def test_a_broken_guard_is_noticed(mutant: str, tell: Tell) -> None:
    for seed in range(500):
        try:
            Day(seed, mutant=mutant).run()
        except (AssertionError, statuses.InvalidMove) as error:
            tell("simulation: {count} mutants killed", count=1)
            print(f"{mutant}: on day {seed + 1}, {error}")  # noqa: T201
            return
    raise AssertionError("it lives")
