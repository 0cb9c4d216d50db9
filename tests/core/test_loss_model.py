"""Every state that one item and two workers can get into when a standby takes over that has not received all.

Breadth first. The standby has the rows of any earlier moment; the workers live on with what they remember. Beside the
model of the moves: what a worker remembers, that all compare it with a new server before anybody claims there, and that
epochs of a new timeline begin above those of the old one.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from afterword.core.scheduling import statuses
from afterword.core.scheduling.statuses import Item, Move
from tests.bar import Tell

SCHEDULED, CLAIMED, SENDING, SENT = Item.SCHEDULED, Item.CLAIMED, Item.SENDING, Item.SENT
IDLE, HOLDS, ON_WIRE = range(3)
OPEN, ACCEPTED, UNKNOWN, LATE = "open", "accepted", "unknown", "accepted_late"
NEW = 100  # the first epoch of the second timeline is above it
EPOCHS_MAX = 2  # of claims on each timeline


class Row(NamedTuple):
    status: Item = SCHEDULED
    epoch: int = 0
    attempts: tuple[tuple[int, str], ...] = ()

    def attempt(self, epoch: int) -> str | None:
        return dict(self.attempts).get(epoch)

    def noted(self, epoch: int, outcome: str) -> "Row":
        return self._replace(attempts=tuple(sorted({**dict(self.attempts), epoch: outcome}.items())))


class Worker(NamedTuple):
    step: int = IDLE
    epoch: int = 0
    memory: tuple[tuple[int, str], ...] = ()
    has_compared: bool = True

    def remembers(self, epoch: int, outcome: str) -> "Worker":
        return self._replace(memory=tuple(sorted({**dict(self.memory), epoch: outcome}.items())))


class State(NamedTuple):
    row: Row = Row()
    standby: Row | None = Row()  # None: it has taken over
    accepted: int = 0
    workers: tuple[Worker, ...] = (Worker(), Worker())


Step = tuple[Move | None, State]


def steps(mutant: str, state: State) -> Iterator[Step]:
    row = state.row
    if state.standby is not None:
        yield None, state._replace(standby=row)
        workers = tuple(each._replace(has_compared=False) for each in state.workers)
        yield None, State(state.standby, None, state.accepted, workers)
    if row.status == CLAIMED:
        yield statuses.REAP_CLAIMED, state._replace(row=row._replace(status=SCHEDULED, epoch=row.epoch + 1))
    elif row.status == SENDING:
        reaped = row.noted(row.epoch, UNKNOWN)._replace(status=SCHEDULED, epoch=row.epoch + 1)
        yield statuses.REAP_SENDING, state._replace(row=reaped)
    for place in range(len(state.workers)):
        yield from worker_steps(mutant, state, place)


def worker_steps(  # noqa: C901  one by one, they are a list
    mutant: str, state: State, place: int
) -> Iterator[Step]:
    row, worker = state.row, state.workers[place]
    if not worker.has_compared:
        yield from compare(mutant, state, place)
    if worker.step == IDLE and row.status == SCHEDULED and may_claim(mutant, state, worker):
        base = NEW if state.standby is None and mutant != "epochs begin again" else 0
        if max(row.epoch, base) - base < EPOCHS_MAX:
            epoch = max(row.epoch, base) + 1
            claimed = row._replace(status=CLAIMED, epoch=epoch)
            yield statuses.CLAIM, at(state, place, worker._replace(step=HOLDS, epoch=epoch), claimed)
    elif worker.step == HOLDS:
        if (row.status, row.epoch) == (CLAIMED, worker.epoch):
            begun = row.noted(worker.epoch, OPEN)._replace(status=SENDING)
            sending = worker._replace(step=ON_WIRE)
            if mutant != "what is under way is forgotten":
                sending = sending.remembers(worker.epoch, OPEN)
            yield statuses.BEGIN, at(state, place, sending, begun)
        else:
            yield None, at(state, place, worker._replace(step=IDLE))
    elif worker.step == ON_WIRE:
        for taken, outcome in ((1, ACCEPTED), (1, UNKNOWN), (0, UNKNOWN)):
            done = worker._replace(step=IDLE)
            done = done.remembers(worker.epoch, outcome)
            if outcome == UNKNOWN and mutant == "an unknown outcome is forgotten":
                done = done._replace(memory=tuple(each for each in done.memory if each[0] != worker.epoch))
            after = at(state, place, done)._replace(accepted=state.accepted + taken)
            yield None, after  # its outcome is not written: the server dies, or it is written when it compares
            move, settled = settle(row, worker.epoch, outcome)
            if move is not None:
                yield move, after._replace(row=settled)


def settle(row: Row, epoch: int, outcome: str, *, is_late: bool = False) -> tuple[Move | None, Row]:
    if (row.status, row.epoch) == (SENDING, epoch):
        if outcome == ACCEPTED:
            return statuses.ACCEPTED, row.noted(epoch, LATE if is_late else ACCEPTED)._replace(status=SENT)
        return statuses.UNKNOWN, row.noted(epoch, UNKNOWN)._replace(status=SCHEDULED)
    if outcome == ACCEPTED and row.attempt(epoch) == UNKNOWN:
        late = row.noted(epoch, LATE)
        if row.status in {SCHEDULED, CLAIMED}:
            return statuses.LATE_ACCEPTANCE, late._replace(status=SENT, epoch=row.epoch + 1)
        return statuses.LATE_ACCEPTANCE_NOTED, late
    return None, row


def may_claim(mutant: str, state: State, worker: Worker) -> bool:
    if mutant == "claims on a new timeline without comparing":
        return True
    if mutant == "does not wait for the others":
        return worker.has_compared
    return all(each.has_compared for each in state.workers)


def compare(mutant: str, state: State, place: int) -> Iterator[Step]:
    """One transaction for all that it remembers; its moves are told one by one."""
    worker = state.workers[place]
    for epoch, outcome in worker.memory:
        if state.row.attempt(epoch) is None:
            state = at(state, place, worker, recorded(state.row, epoch))
            is_noted = state.row.attempt(epoch) == UNKNOWN
            yield (statuses.RECORD_AGAIN_NOTED if is_noted else statuses.RECORD_AGAIN), state
        if outcome != OPEN and state.row.attempt(epoch) in {OPEN, UNKNOWN}:
            move, row = settle(state.row, epoch, outcome, is_late=True)
            if move is not None:
                state = state._replace(row=row)
                yield move, state
    yield None, at(state, place, worker._replace(has_compared=True))


def recorded(row: Row, epoch: int) -> Row:
    if row.status in {SCHEDULED, CLAIMED, SENDING} and row.epoch <= epoch:
        for earlier, outcome in row.attempts:
            if outcome == OPEN and earlier < epoch:
                row = row.noted(earlier, UNKNOWN)
        return row.noted(epoch, OPEN)._replace(status=SENDING, epoch=epoch)
    return row.noted(epoch, UNKNOWN)


def at(state: State, place: int, worker: Worker, row: Row | None = None) -> State:
    """The state with that worker there. Workers are alike, so their order does not tell states apart."""
    workers = sorted((*state.workers[:place], worker, *state.workers[place + 1 :]))
    return state._replace(row=row or state.row, workers=tuple(workers))


def broken(state: State) -> Iterator[str]:
    doubted = sum(outcome in {UNKNOWN, LATE} for _, outcome in state.row.attempts)
    # Moves that the server does not know yet are known to those who have not compared.
    compares = all(worker.has_compared for worker in state.workers)
    if compares and state.accepted > 1 + doubted:
        yield "INV1"
    remembered = {epoch for worker in state.workers for epoch, _ in worker.memory}
    if state.row.status == SENDING and state.row.epoch > NEW and remembered - dict(state.row.attempts).keys():
        yield "LOSS"  # sent again, though somebody knows what this server does not
    if state.row.status == SENT and not state.accepted:
        yield "INV3"
    holders = [each for each in state.workers if each.step != IDLE and each.epoch == state.row.epoch]
    if state.row.status in {CLAIMED, SENDING} and len(holders) > 1:
        yield "INV9"


def explore(mutant: str = "") -> tuple[int, set[str], set[Move]]:
    seen, waiting = {State()}, deque([State()])
    violations, moves = set[str](), set[Move]()
    while waiting:
        state = waiting.popleft()
        violations.update(broken(state))
        for move, after in steps(mutant, state):
            if move is not None:
                moves.add(move)
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return len(seen), violations, moves


def test_design(tell: Tell) -> None:
    states, violations, moves = explore()

    tell(f"model of losses: {states} states: violations {len(violations)}")
    assert set() == violations
    assert states > 1_000
    assert {statuses.RECORD_AGAIN, statuses.RECORD_AGAIN_NOTED} <= moves


@pytest.mark.parametrize(
    ("mutant", "noticed"),
    [
        ("claims on a new timeline without comparing", "LOSS"),
        ("does not wait for the others", "LOSS"),
        ("epochs begin again", "INV9"),
        ("what is under way is forgotten", "INV1"),
        ("an unknown outcome is forgotten", "INV1"),
    ],
)
def test_mutant(mutant: str, noticed: str, tell: Tell) -> None:
    assert noticed in explore(mutant)[1]
    tell("model of losses: {count} mutants killed", count=1)
