"""Every state that one item, some workers, a reaper, a canceller and an ambiguous outside world can get into.

Breadth first, by the standard library alone. A worker may crash between any two steps, a lease may run out at any
moment after it was granted (pauses, clocks, starved loops), the answer to begin or settle may get lost. Each step that
touches the item is a move of `core.statuses`, and together they make every arc of that table. Only `not_after` bounds
how often an attempt is given back; here `BACKS_MAX` does. Each mutant is a fault that was found in a real sender, or
one that we had, and must be noticed.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from afterword.core.scheduling import statuses
from afterword.core.scheduling.statuses import ITEM_TERMINAL, MOVES, RECORD_AGAIN, RECORD_AGAIN_NOTED, Item, Move
from tests.bar import Tell

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = Item
# A worker's step: what it holds and what it knows.
IDLE, HOLDS, ON_WIRE, ACCEPTED, LATER, SLOWER, NEVER, UNKNOWN = range(8)
ATTEMPTS_MAX = 3
BACKS_MAX = 1
EPOCHS_MAX, ACCEPTED_MAX, UNKNOWN_MAX = 10, 6, 8  # beyond them nothing bounds the run
NO_MUTANT = ""


class State(NamedTuple):
    status: Item
    epoch: int
    leased: bool
    attempts: int
    backs: int  # attempts that were given back
    accepted: int  # what the outside world took
    unknown: int  # attempts of unknown outcome
    in_doubt: bool  # the last attempt's outcome is unknown
    known: bool  # an attempt of unknown outcome, or the one under way, turned out accepted
    told: int  # terminal events
    cancelled: int  # 1: answered 200; 2: answered 200 with the note about an earlier attempt
    stale: bool  # somebody wrote with an old epoch
    workers: tuple[tuple[int, int], ...]  # (step, epoch held)


@dataclass(frozen=True)
class Setting:
    workers: int = 2
    resends: bool = True  # after an unknown outcome
    mutant: str = NO_MUTANT


START = State(SCHEDULED, 0, False, 0, 0, 0, 0, False, False, 0, 0, False, ())
Step = tuple[Move | None, State]  # None: nothing that is stored changes, or a mutant does it


def steps(setting: Setting, state: State) -> Iterator[Step]:
    for place in range(len(state.workers)):
        yield from worker_steps(setting, state, place)
    yield from reap(setting, state)
    yield from client(setting, state)
    yield from person(state)
    yield from callback(setting, state)
    if setting.mutant == "event outside the transaction" and state.status in ITEM_TERMINAL and state.told == 1:
        yield None, state._replace(told=0)


def worker_steps(setting: Setting, state: State, place: int) -> Iterator[Step]:
    step, epoch = state.workers[place]
    if step != IDLE:
        yield None, at(state, place, IDLE)  # it crashes
    if step == IDLE and state.status == SCHEDULED:
        yield statuses.CLAIM, claim(setting, state, place)
    elif step == HOLDS:
        yield from holding(setting, state, place, epoch)
    elif step == ON_WIRE:
        yield from wire(state, place, epoch)
        if state.status == SENDING and state.epoch == epoch:
            yield statuses.RENEW, state
    elif step != IDLE:
        yield from settle(setting, state, place)


def claim(setting: Setting, state: State, place: int) -> State:
    epoch = 1 if setting.mutant == "epoch reset on re-claim" else state.epoch + 1
    counted = 0 if setting.mutant == "attempts counted on failure" else 1
    claimed = state._replace(status=CLAIMED, epoch=epoch, leased=True, attempts=state.attempts + counted)
    if setting.mutant == "progress recorded at claim":
        claimed = end(claimed, SENT)
    return at(claimed, place, HOLDS, epoch)


def holding(setting: Setting, state: State, place: int, epoch: int) -> Iterator[Step]:
    mutant = setting.mutant
    if mutant in {"no intent before the wire", "progress recorded at claim"}:
        yield None, at(state, place, ON_WIRE, epoch)
        return
    is_ours = state.status == CLAIMED and state.epoch == epoch
    if is_ours:
        yield from holding_ours(setting, state, place)
    if is_ours or (mutant == "begin without compare-and-set" and state.status in {CLAIMED, SENDING}):
        begun = state._replace(status=SENDING)
        yield (statuses.BEGIN if is_ours else None), at(begun, place, ON_WIRE, epoch)
        yield (statuses.BEGIN if is_ours else None), at(begun, place, IDLE)  # its answer is lost
    elif mutant == "unfenced renew" and state.status == CLAIMED:
        yield None, at(state, place, HOLDS, state.epoch)
    else:
        yield None, at(state, place, IDLE)


def holding_ours(setting: Setting, state: State, place: int) -> Iterator[Step]:
    yield statuses.RENEW, state
    yield statuses.SKIP, at(end(state, IGNORED), place, IDLE)
    yield statuses.GIVE_UP, at(again(state._replace(in_doubt=False)), place, IDLE)
    if state.backs < BACKS_MAX:
        back = given_back(setting, state)
        yield statuses.HOLD, at(back, place, IDLE)
        yield statuses.RELEASE, at(back, place, IDLE)


def wire(state: State, place: int, epoch: int) -> Iterator[Step]:
    taken = state._replace(accepted=state.accepted + 1)
    yield None, at(taken, place, ACCEPTED, epoch)  # 250
    yield None, at(taken, place, UNKNOWN, epoch)  # 250, and the answer is lost
    yield None, at(state, place, LATER, epoch)  # 4yz
    yield None, at(state, place, NEVER, epoch)  # 5yz
    yield None, at(state, place, UNKNOWN, epoch)  # refused, and the answer is lost
    if state.backs < BACKS_MAX:
        yield None, at(state, place, SLOWER, epoch)  # throttled


def settle(setting: Setting, state: State, place: int) -> Iterator[Step]:
    step, epoch = state.workers[place]
    ignores_epoch = setting.mutant == "settle ignores the epoch"
    is_live = state.status == SENDING or (setting.mutant == "no intent before the wire" and state.status == CLAIMED)
    if ignores_epoch and state.status in {SCHEDULED, CLAIMED, FAILED, ABORTED}:
        is_live = True
    if is_live and (state.epoch == epoch or ignores_epoch):
        written = state._replace(stale=state.stale or state.epoch != epoch)
        for move, settled in outcomes(setting, written, step):
            yield move, at(settled, place, IDLE)
            if step == ACCEPTED:
                yield move, at(settled, place, ACCEPTED, epoch)  # its answer is lost
    elif step == ACCEPTED and state.epoch != epoch and setting.mutant in {NO_MUTANT, *LATE_MUTANTS}:
        for move, learned in late_truth(setting, state):
            yield move, at(learned, place, IDLE)
    else:
        yield None, at(state, place, IDLE)


def outcomes(setting: Setting, state: State, step: int) -> Iterator[Step]:
    counted = int(setting.mutant == "attempts counted on failure")
    if step == ACCEPTED:
        yield statuses.ACCEPTED, end(state, SENT)
    elif is_remembered(setting, state):
        unknown = int(step == UNKNOWN)
        yield statuses.ALREADY_ACCEPTED, end(state._replace(unknown=state.unknown + unknown, in_doubt=False), SENT)
    elif step == NEVER:
        yield statuses.REFUSED, end(state._replace(in_doubt=False), FAILED)
    elif step == SLOWER:
        if state.backs < BACKS_MAX:
            yield statuses.THROTTLED, given_back(setting, state)
    elif step == UNKNOWN:
        yield statuses.UNKNOWN, in_doubt(setting, state._replace(attempts=state.attempts + counted))
    else:
        yield statuses.RETRY, again(state._replace(in_doubt=False, attempts=state.attempts + counted))


def in_doubt(setting: Setting, state: State) -> State:
    state = state._replace(unknown=state.unknown + 1, in_doubt=True)
    return again(state) if setting.resends else end(state, UNCERTAIN)


def again(state: State) -> State:
    """Back into the queue, or failed when the attempts are used up."""
    return end(state, FAILED) if state.attempts >= ATTEMPTS_MAX else state._replace(status=SCHEDULED, leased=False)


def given_back(setting: Setting, state: State) -> State:
    counted = 0 if setting.mutant == "attempts counted on failure" else 1
    attempts = state.attempts - counted
    return state._replace(status=SCHEDULED, leased=False, attempts=attempts, backs=state.backs + 1)


def reap(setting: Setting, state: State) -> Iterator[Step]:
    """The lease ran out."""
    if not state.leased:
        return
    kept = setting.mutant == "epoch reset on re-claim" and state.status == CLAIMED
    fenced = state._replace(epoch=state.epoch if kept else state.epoch + 1)
    if state.status == CLAIMED:
        yield statuses.REAP_CLAIMED, again(fenced._replace(in_doubt=False))
    elif state.status == SENDING and setting.mutant == "reaper takes sending for safe":
        yield None, again(fenced)
    elif state.status == SENDING and is_remembered(setting, state):
        yield statuses.REAP_SENDING, end(fenced._replace(unknown=state.unknown + 1, in_doubt=False), SENT)
    elif state.status == SENDING:
        yield statuses.REAP_SENDING, in_doubt(setting, fenced)


def client(setting: Setting, state: State) -> Iterator[Step]:
    if state.status == SCHEDULED:
        yield statuses.EDIT, state
    if state.status in {FAILED, ABORTED, IGNORED} and not state.unknown:
        yield statuses.DELETE, state
    if state.cancelled or state.status in ITEM_TERMINAL:
        return
    fenced = state._replace(epoch=state.epoch + 1)
    if setting.mutant == "cancel without guard":
        yield None, end(state._replace(cancelled=1), ABORTED)
    elif state.status in {SCHEDULED, CLAIMED}:
        yield statuses.CANCEL, end(fenced._replace(cancelled=2 if state.unknown else 1), ABORTED)


def person(state: State) -> Iterator[Step]:
    """Somebody looked what became of it, and knows."""
    if state.status == UNCERTAIN:
        yield statuses.RESOLVE, state._replace(status=SENT if state.accepted else FAILED, epoch=state.epoch + 1)


def callback(setting: Setting, state: State) -> Iterator[Step]:
    """A provider tells that it delivered what we do not know of, or not yet."""
    if state.accepted and not state.known and (state.unknown or state.status == SENDING):
        yield from late_truth(setting, state)


def is_remembered(setting: Setting, state: State) -> bool:
    """An outcome received while the item was being sent decides its end: of an earlier attempt, or of the open one."""
    if setting.mutant == "a report of the open attempt forgotten" and not state.unknown:
        return False
    return state.known and setting.mutant != "late acceptance forgotten while sending"


def late_truth(setting: Setting, state: State) -> Iterator[Step]:
    known = state._replace(known=True)
    corrected = known._replace(status=SENT, epoch=state.epoch + 1, leased=False)
    if state.status in {SCHEDULED, CLAIMED}:
        yield statuses.LATE_ACCEPTANCE, corrected._replace(told=state.told + 1)
    elif state.status == UNCERTAIN or (state.status == FAILED and state.in_doubt):
        twice = setting.mutant == "late acceptance tells a second end"
        yield (
            statuses.LATE_ACCEPTANCE,
            corrected._replace(told=state.told + twice),
        )  # told already; this event corrects it
    else:
        yield statuses.LATE_ACCEPTANCE_NOTED, known


def end(state: State, status: Item) -> State:
    """A terminal move, with its event in the same transaction."""
    return state._replace(status=status, leased=False, told=state.told + 1)


def at(state: State, place: int, step: int, epoch: int = 0) -> State:
    """The state with that worker there. Workers are alike, so their order does not tell states apart."""
    workers = list(state.workers)
    workers[place] = (step, epoch)
    return state._replace(workers=tuple(sorted(workers)))


def broken(setting: Setting, state: State) -> Iterator[str]:  # noqa: C901  one by one, they are a list
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
    if not 0 <= state.attempts <= ATTEMPTS_MAX:
        yield "INV7: attempts stay within their limit"
    if state.stale:
        yield "INV8: no write by the holder of an old epoch"
    if state.leased and sum(step in {HOLDS, ON_WIRE} and held == state.epoch for step, held in state.workers) > 1:
        yield "INV9: one live lease"
    if state.known and status in {SCHEDULED, CLAIMED}:
        yield "TRUTH: what is known to have arrived never waits to be sent again"


@dataclass
class Found:
    states: int
    arcs: set[tuple[str, Item, Item]]
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
        if setting.mutant and (found.violations or not found.is_bounded):  # one witness is enough
            return found
        for move, after in steps(setting, state):
            note(setting, found, move, state, after)
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


def note(setting: Setting, found: Found, move: Move | None, state: State, after: State) -> None:
    """The design changes an item by moves of the table alone; a mutant by whatever it likes."""
    if setting.mutant:
        return
    if move is None:
        assert state._replace(accepted=0, workers=()) == after._replace(accepted=0, workers=())
    else:
        move.step(state.status, after.status)
        found.arcs.add((move.name, state.status, after.status))


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
LATE_MUTANTS = {
    "late acceptance forgotten while sending",
    "late acceptance tells a second end",
    "a report of the open attempt forgotten",
}


def test_design(tell: Tell) -> None:
    arcs: set[tuple[str, Item, Item]] = set()
    states = 0
    for setting in DESIGN:
        found = explore(setting)
        assert found.states > 200
        assert set() == found.violations
        assert 0 == found.stuck
        assert found.is_bounded
        arcs |= found.arcs
        states += found.states

    tell(
        f"model: {states} states of {len(DESIGN)} settings, {len(arcs)} arcs, {len(MOVES)} moves: violations 0, stuck 0"
    )
    of_losses = {RECORD_AGAIN, RECORD_AGAIN_NOTED}  # see test_loss_model
    assert {(move.name, current, to) for move in MOVES if move not in of_losses for current, to in move.arcs} == arcs


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
        ("late acceptance forgotten while sending", "TRUTH"),
        ("late acceptance tells a second end", "INV6"),
        ("a report of the open attempt forgotten", "TRUTH"),
    ],
)
def test_mutant(mutant: str, noticed: str, tell: Tell) -> None:
    found = [explore(Setting(2, resends, mutant)) for resends in (True, False)]

    violations = {violation.partition(":")[0] for one in found for violation in one.violations}
    if any(not one.is_bounded for one in found):
        violations.add("endless")
    assert noticed in violations
    tell("model: {count} mutants killed", count=1)
