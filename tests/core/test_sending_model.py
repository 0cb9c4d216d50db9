"""Every state that one item, some workers, a reaper, a canceller and an ambiguous outside world can get into.

Breadth first, by the standard library alone. A worker may crash between any two steps, a lease may run out at any
moment after it was granted (pauses, clocks, starved loops), the answer to begin or settle may get lost. The moves are
those of `core.statuses`. Release, throttle and breaker are outside: only `not_after` bounds them. Each mutant is a
fault that was found in a real sender, and must be noticed.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from afterword.core.statuses import ITEM_MOVES, ITEM_TERMINAL, Item

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = Item
# A worker's step: what it holds and what it knows.
IDLE, HOLDS, ON_WIRE, ACCEPTED, LATER, NEVER, UNKNOWN = range(7)
ATTEMPTS_MAX = 3
EPOCHS_MAX, ACCEPTED_MAX, UNKNOWN_MAX = 12, 6, 8  # beyond them nothing bounds the run
NO_MUTANT = ""


class State(NamedTuple):
    status: Item
    epoch: int
    leased: bool
    attempts: int
    accepted: int  # what the outside world took
    unknown: int  # attempts of unknown outcome
    in_doubt: bool  # the last attempt's outcome is unknown
    told: int  # terminal events
    cancelled: int  # 1: answered 200; 2: answered 200 with the note about an earlier attempt
    stale: bool  # somebody wrote with an old epoch
    workers: tuple[tuple[int, int], ...]  # (step, epoch held)


@dataclass(frozen=True)
class Setting:
    workers: int = 2
    resends: bool = True  # after an unknown outcome
    mutant: str = NO_MUTANT


START = State(SCHEDULED, 0, False, 0, 0, 0, False, 0, 0, False, ())
Step = tuple[str, State]


def steps(setting: Setting, state: State) -> Iterator[Step]:
    for place in range(len(state.workers)):
        yield from worker_steps(setting, state, place)
    yield from reap(setting, state)
    yield from cancel(setting, state)
    yield from callback(state)
    if setting.mutant == "event outside the transaction" and state.status in ITEM_TERMINAL and state.told == 1:
        yield "event lost", state._replace(told=0)


def worker_steps(setting: Setting, state: State, place: int) -> Iterator[Step]:
    step, epoch = state.workers[place]
    if step != IDLE:
        yield "crash", at(state, place, IDLE)
    if step == IDLE and state.status == SCHEDULED:
        yield "claim", claim(setting, state, place)
    elif step == HOLDS:
        yield from begin(setting, state, place, epoch)
    elif step == ON_WIRE:
        yield from wire(state, place, epoch)
    elif step != IDLE:
        yield from settle(setting, state, place)


def claim(setting: Setting, state: State, place: int) -> State:
    epoch = 1 if setting.mutant == "epoch reset on re-claim" else state.epoch + 1
    counted = 0 if setting.mutant == "attempts counted on failure" else 1
    claimed = state._replace(status=CLAIMED, epoch=epoch, leased=True, attempts=state.attempts + counted)
    if setting.mutant == "progress recorded at claim":
        claimed = end(claimed, SENT)
    return at(claimed, place, HOLDS, epoch)


def begin(setting: Setting, state: State, place: int, epoch: int) -> Iterator[Step]:
    mutant = setting.mutant
    if mutant in {"no intent before the wire", "progress recorded at claim"}:
        yield "begin", at(state, place, ON_WIRE, epoch)
        return
    unfenced = mutant == "begin without compare-and-set" and state.status in {CLAIMED, SENDING}
    if unfenced or (state.status == CLAIMED and state.epoch == epoch):
        begun = state._replace(status=SENDING)
        yield "begin", at(begun, place, ON_WIRE, epoch)
        yield "begin, answer lost", at(begun, place, IDLE)
        if state.status == CLAIMED and state.epoch == epoch:
            yield "skip", at(end(state, IGNORED), place, IDLE)
    elif mutant == "unfenced renew" and state.status == CLAIMED:
        yield "renew", at(state, place, HOLDS, state.epoch)
    else:
        yield "begin refused", at(state, place, IDLE)


def wire(state: State, place: int, epoch: int) -> Iterator[Step]:
    taken = state._replace(accepted=state.accepted + 1)
    yield "250", at(taken, place, ACCEPTED, epoch)
    yield "250, answer lost", at(taken, place, UNKNOWN, epoch)
    yield "4yz", at(state, place, LATER, epoch)
    yield "5yz", at(state, place, NEVER, epoch)
    yield "refused, answer lost", at(state, place, UNKNOWN, epoch)


def settle(setting: Setting, state: State, place: int) -> Iterator[Step]:
    step, epoch = state.workers[place]
    ignores_epoch = setting.mutant == "settle ignores the epoch"
    is_live = state.status == SENDING or (setting.mutant == "no intent before the wire" and state.status == CLAIMED)
    if ignores_epoch and state.status in {SCHEDULED, CLAIMED, FAILED, ABORTED}:
        is_live = True
    if is_live and (state.epoch == epoch or ignores_epoch):
        written = state._replace(stale=state.stale or state.epoch != epoch)
        settled = outcome(setting, written, step)
        yield "settle", at(settled, place, IDLE)
        if step == ACCEPTED:
            yield "settle, answer lost", at(settled, place, ACCEPTED, epoch)
    elif step == ACCEPTED and state.epoch != epoch and setting.mutant == NO_MUTANT:
        yield "late truth", at(late_truth(state), place, IDLE)
    else:
        yield "settle refused", at(state, place, IDLE)


def outcome(setting: Setting, state: State, step: int) -> State:
    if step == ACCEPTED:
        return end(state, SENT)
    if step == NEVER:
        return end(state, FAILED)
    if step == UNKNOWN:
        state = state._replace(unknown=state.unknown + 1, in_doubt=True)
        if not setting.resends:
            return end(state, UNCERTAIN)
    counted = 1 if setting.mutant == "attempts counted on failure" else 0
    return again(state._replace(attempts=state.attempts + counted))


def again(state: State) -> State:
    """Back into the queue, or failed when the attempts are used up."""
    return end(state, FAILED) if state.attempts >= ATTEMPTS_MAX else state._replace(status=SCHEDULED, leased=False)


def reap(setting: Setting, state: State) -> Iterator[Step]:
    """The lease ran out."""
    if not state.leased:
        return
    kept = setting.mutant == "epoch reset on re-claim" and state.status == CLAIMED
    fenced = state._replace(epoch=state.epoch if kept else state.epoch + 1)
    if state.status == CLAIMED:
        yield "reap claimed", again(fenced._replace(in_doubt=False))
    elif state.status == SENDING and setting.mutant == "reaper takes sending for safe":
        yield "reap sending", again(fenced)
    elif state.status == SENDING:
        unknown = fenced._replace(unknown=state.unknown + 1, in_doubt=True)
        yield "reap sending", again(unknown) if setting.resends else end(unknown, UNCERTAIN)


def cancel(setting: Setting, state: State) -> Iterator[Step]:
    if state.cancelled or state.status in ITEM_TERMINAL:
        return
    fenced = state._replace(epoch=state.epoch + 1)
    if setting.mutant == "cancel without guard":
        yield "cancel", end(state._replace(cancelled=1), ABORTED)
    elif state.status in {SCHEDULED, CLAIMED}:
        yield "cancel", end(fenced._replace(cancelled=2 if state.unknown else 1), ABORTED)


def callback(state: State) -> Iterator[Step]:
    """A provider tells, late, that it delivered what we do not know of."""
    if state.accepted and state.unknown and (changed := late_truth(state)) != state:
        yield "callback", changed


def late_truth(state: State) -> State:
    if state.status in {SCHEDULED, CLAIMED}:
        return end(state._replace(epoch=state.epoch + 1), SENT)
    if state.status == UNCERTAIN or (state.status == FAILED and state.in_doubt):
        return state._replace(status=SENT, epoch=state.epoch + 1)  # told already; this event corrects it
    return state


def end(state: State, status: Item) -> State:
    """A terminal move, with its event in the same transaction."""
    return state._replace(status=status, leased=False, told=state.told + 1)


def at(state: State, place: int, step: int, epoch: int = 0) -> State:
    """The state with that worker there. Workers are alike, so their order does not tell states apart."""
    workers = list(state.workers)
    workers[place] = (step, epoch)
    return state._replace(workers=tuple(sorted(workers)))


def broken(setting: Setting, state: State) -> Iterator[str]:
    status, accepted, unknown = state.status, state.accepted, state.unknown
    if accepted > 1 + unknown:
        yield "INV1: a duplicate only where an attempt's outcome was unknown"
    if not setting.resends and accepted > 1:
        yield "INV2: never twice where repeating is forbidden"
    if status == SENT and not accepted:
        yield "INV3: sent implies accepted"
    if state.cancelled == 1 and accepted:
        yield "INV4: a cancel without the note implies that nothing was accepted"
    if status == FAILED and accepted and not unknown:
        yield "INV5: failed yet accepted only with an unknown attempt"
    if state.told != (status in ITEM_TERMINAL):
        yield "INV6: one terminal event for each end"
    if state.attempts > ATTEMPTS_MAX:
        yield "INV7: attempts stay within their limit"
    if state.stale:
        yield "INV8: no write by the holder of an old epoch"
    if state.leased and sum(step in {HOLDS, ON_WIRE} and held == state.epoch for step, held in state.workers) > 1:
        yield "INV9: one live lease"


@dataclass
class Found:
    states: int
    moves: set[tuple[Item, Item]]
    violations: set[str]
    stuck: int
    is_bounded: bool


def explore(setting: Setting) -> Found:
    start = START._replace(workers=((IDLE, 0),) * setting.workers)
    reached_from: dict[State, list[State]] = {start: []}
    found = Found(0, set(), set(), 0, is_bounded=True)
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        found.violations.update(broken(setting, state))
        if setting.mutant and found.violations:  # one witness is enough
            return found
        for _, after in steps(setting, state):
            if state.status != after.status:
                found.moves.add((state.status, after.status))
            if after.epoch > EPOCHS_MAX or after.accepted > ACCEPTED_MAX or after.unknown > UNKNOWN_MAX:
                found.is_bounded = False
            elif after in reached_from:
                reached_from[after].append(state)
            else:
                reached_from[after] = [state]
                waiting.append(after)
    found.states = len(reached_from)
    found.stuck = len(reached_from) - len(leading_to_an_end(reached_from))
    return found


def leading_to_an_end(reached_from: dict[State, list[State]]) -> set[State]:
    """LIVE1, backwards from the ends."""
    good = {state for state in reached_from if state.status in ITEM_TERMINAL}
    waiting = list(good)
    while waiting:
        for before in reached_from[waiting.pop()]:
            if before not in good:
                good.add(before)
                waiting.append(before)
    return good


DESIGN = [Setting(2, True), Setting(3, True), Setting(2, False), Setting(3, False)]
# Beside the model: a rule or `not_after` ends an item that nobody claimed; an operator resolves an uncertain one.
OUTSIDE = {(SCHEDULED, IGNORED), (UNCERTAIN, FAILED)}


def test_design() -> None:
    moves: set[tuple[Item, Item]] = set()
    for setting in DESIGN:
        found = explore(setting)
        assert found.states > 200
        assert set() == found.violations
        assert 0 == found.stuck
        assert found.is_bounded
        moves |= found.moves

    drawn = {(current, to) for current, targets in ITEM_MOVES.items() for to in targets}
    assert drawn - OUTSIDE == moves


@pytest.mark.parametrize(
    ("mutant", "noticed"),
    [
        ("begin without compare-and-set", "INV1"),
        ("settle ignores the epoch", "INV8"),
        ("no intent before the wire", "INV4"),
        ("progress recorded at claim", "INV3"),
        ("attempts counted on failure", "endless"),
        ("cancel without guard", "INV4"),
        ("epoch reset on re-claim", "INV9"),
        ("unfenced renew", "INV9"),
        ("event outside the transaction", "INV6"),
        ("reaper takes sending for safe", "INV4"),
    ],
)
def test_mutant(mutant: str, noticed: str) -> None:
    found = [explore(Setting(2, resends, mutant)) for resends in (True, False)]

    violations = {violation.partition(":")[0] for one in found for violation in one.violations}
    if any(not one.is_bounded for one in found):
        violations.add("endless")
    assert noticed in violations
