"""A random walk over the real services on a real PostgreSQL, with a dictionary beside it that knows what must be.

Time passes by moving what is stored into the past. After every step the invariants of the sending engine are asked of
the database, and every change of a state must be a move of `core.statuses` that the step may make.
AFTERWORD_TEST_FAULTS=full walks further.

The walk is shown to have teeth: under each of the mutants beside this file it must fail. A restart of the database is
here what a restart is to a client, the end of all its connections; servers that crash are the fault tests' part.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypeVar

import asyncpg
import pytest
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from afterword import errors
from afterword.core.scheduling import statuses
from afterword.core.scheduling.statuses import ITEM_TERMINAL, Item, Move
from afterword.core.wire.times import Moment
from afterword.kit import db
from afterword.kit.transport.base import Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.mime import Kind, Report
from afterword.sending.queue import service
from afterword.sending.queue.records import QueueItemUpdate
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.service import COPY_NOTE
from tests.bar import Tell
from tests.conftest import build_house
from tests.databases import fresh_database
from tests.sending.queue import mutants
from tests.sending.queue.conftest import MARGIN_SECONDS, Queue, Worker
from tests.sizes import FULL, one_of, size

EXAMPLES, STEPS = size(10, 2_000), size(20, 60)
EXAMPLES_TEETH, STEPS_TEETH = 3_000, 20  # the first that notices ends it
HARDEST = ("settle ignores the epoch", "late acceptance forgotten")  # to notice
WORKERS, ITEMS_MAX = 2, 3
ATTEMPTS_MAX = 3
TURNS_MAX = 10
TABLES = ("event", "attempt", "contact", "suppression", "delivery_report", "questionnaire_instance", "queue_item")
# Answers of the channel, and the times that the receiving side took the message with each.
ANSWERS: dict[str, tuple[Outcome, int]] = {
    "250": (Sent("reference", 250, "ok"), 1),
    "250, answer lost": (Unknown("no answer"), 1),
    "nothing taken, answer lost": (Unknown("no answer"), 0),
    "4yz": (Retry("recipient", "450 later", 450), 0),
    "5yz": (Refused("550 no", 550), 0),
    "throttled": (Retry("throttle", "454 slower", 454), 0),
}
SETTLES = (
    statuses.ACCEPTED, statuses.REFUSED, statuses.RETRY, statuses.THROTTLED, statuses.UNKNOWN,
    statuses.ALREADY_ACCEPTED,
    statuses.LATE_ACCEPTANCE, statuses.LATE_ACCEPTANCE_NOTED,
)  # fmt: skip
AWAY = (errors.Unavailable, asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.InternalClientError,
        asyncpg.AdminShutdownError, OSError)  # fmt: skip
Result = TypeVar("Result")


@dataclass
class Known:
    """The expected state of an item."""

    row: Mapping[str, Any]
    accepted: int = 0
    promised: bool = False  # cancelled, and told that nothing went out
    proven: bool = False  # somebody outside told us that it arrived
    said: frozenset[str] = frozenset()  # in which words
    deleted: bool = False


@dataclass
class Held:
    """A worker's view of an item that it holds."""

    dispatch: Dispatch
    begun: bool = False
    outcome: Outcome | None = None


@dataclass
class Process:
    """A worker process."""

    worker: Worker
    held: list[Held] = field(default_factory=list[Held])


def _kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without what time alone changes."""
    return {**row, "lease_seconds": 0}


def _is_held(held: Held) -> bool:
    return True


def _waits(held: Held) -> bool:
    return not held.begun


def _is_on_the_wire(held: Held) -> bool:
    return held.begun and held.outcome is None


def _has_begun(held: Held) -> bool:
    return held.begun


def _is_answered(held: Held) -> bool:
    return held.outcome is not None


class Ground:
    """One loop and one database for all examples; each begins with an empty queue."""

    def __init__(self, runner: asyncio.Runner, queue: Queue, admin: Any, account_id: str) -> None:
        self.run = runner.run
        self.queue = queue
        self.admin = admin
        self.account_id = account_id


class Machine(RuleBasedStateMachine):
    ground: Ground

    def __init__(self) -> None:
        super().__init__()
        self.queue = self.ground.queue
        self.known: dict[str, Known] = {}
        self.workers = [Process(self.queue.worker()) for _ in range(WORKERS)]
        self.allowed: tuple[Move, ...] = ()
        self.is_patient = False
        self.disconnects = self.requests = 1  # that are left: more of either, and there would be little else
        self.do(self._empty)
        for resends in (True, False):
            self._schedule(resends=resends, days=3)

    def do(self, act: Callable[[], Awaitable[Result]], *allowed: Move) -> Result:
        """Act, once more if the database was away: what reached it not at all may be repeated."""
        self.allowed = allowed

        async def acting() -> Result:
            for _ in range(TURNS_MAX):
                try:
                    return await act()
                except AWAY:
                    continue
            raise AssertionError("the database stays away")

        return self.ground.run(acting())

    # the clients --------------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.known) < ITEMS_MAX)
    @rule(resends=st.booleans(), days=st.sampled_from([0.01, 3]))
    def schedule(self, *, resends: bool, days: float) -> None:
        self._schedule(resends=resends, days=days)

    def _schedule(self, *, resends: bool, days: float) -> None:
        item_id = self.do(lambda: self.queue.schedule(f"person{len(self.known)}@example.com")).item_id
        self.do(
            lambda: self.queue.execute(
                """update queue_item set attempts_max = $2, resend_after_seconds = $3,
                     not_after = now() + make_interval(secs => $4::float8) where item_id = $1""",
                item_id, ATTEMPTS_MAX, 600 if resends else None, days * 86_400.0,
            )
        )  # fmt: skip
        self.known[item_id] = Known(self._rows()[item_id])

    @initialize(is_patient=st.booleans())
    def clients(self, *, is_patient: bool) -> None:
        """Patient ones keep their wishes until something is being sent."""
        self.is_patient = is_patient

    @precondition(lambda self: self.requests and (not self.is_patient or self._any(Item.SENDING)))
    @rule(data=st.data(), request=st.sampled_from(["cancel", "edit", "delete"]))
    def client(self, data: st.DataObject, request: str) -> None:
        self.requests -= 1
        being_sent = [name for name in sorted(self.known) if self.known[name].row["status"] == Item.SENDING]
        item_id = data.draw(st.sampled_from(being_sent or sorted(self.known)))
        if request == "cancel":
            self._cancel(item_id)
        elif request == "delete":
            self._delete(item_id)
        else:
            self._edit(item_id, data.draw(st.integers(-5, 300)))

    def _cancel(self, item_id: str) -> None:
        answer = self._change(item_id, QueueItemUpdate(status_id=5), statuses.CANCEL)
        status = self.known[item_id].row["status"]
        if self.known[item_id].deleted:
            assert isinstance(answer, errors.NotFound), "it is deleted"
        elif status in {Item.SCHEDULED, Item.CLAIMED}:
            assert isinstance(answer, str), "it was not begun"
            self.known[item_id].promised = COPY_NOTE not in answer
        elif status != Item.ABORTED:
            wanted = service.InDispatch if status == Item.SENDING else service.ItemClosed
            assert isinstance(answer, wanted), "INV4: it had begun"

    def _edit(self, item_id: str, minutes: int) -> None:
        row = self.known[item_id].row
        moment = Moment(row["send_time"] + timedelta(minutes=minutes), row["send_offset_minutes"])
        answer = self._change(item_id, QueueItemUpdate(send_time=moment), statuses.EDIT)
        if minutes and row["status"] != Item.SCHEDULED:
            assert isinstance(answer, errors.Refusal)

    def _delete(self, item_id: str) -> None:
        async def act() -> errors.Refusal | None:
            try:
                async with db.transaction(self.queue.pool) as database:
                    await service.delete(database, caller=self.queue.house.caller, item_id=item_id)
            except (errors.Conflict, errors.NotFound) as refusal:
                return refusal
            return None

        if self.do(act, statuses.CANCEL, statuses.DELETE) is None:
            self.known[item_id].promised = self.known[item_id].deleted = True

    @precondition(lambda self: any(known.row["status"] == Item.UNCERTAIN for known in self.known.values()))
    @rule()
    def resolve(self) -> None:
        """A person looked, and knows."""
        item_id = next(name for name, known in self.known.items() if known.row["status"] == Item.UNCERTAIN)

        async def act() -> None:
            async with db.transaction(self.queue.pool) as database:
                await service.resolve(
                    database, caller=self.queue.house.caller, item_id=item_id,
                    is_sent=self.known[item_id].accepted > 0,
                )  # fmt: skip

        self.do(act, statuses.RESOLVE)

    # the workers --------------------------------------------------------------------------------------------------

    @precondition(lambda self: self._any(Item.SCHEDULED))
    @rule(w=st.integers(0, WORKERS - 1), count=st.integers(1, ITEMS_MAX))
    def claim(self, w: int, count: int) -> None:
        process, before = self.workers[w], {item_id: known.row["attempts"] for item_id, known in self.known.items()}
        dispatches = self.do(lambda: process.worker.claim(count), statuses.CLAIM, statuses.SKIP, statuses.HOLD)
        process.held += [Held(dispatch) for dispatch in dispatches]
        for item in (dispatch.item for dispatch in dispatches):
            assert item.attempts == before[item.item_id] + 1, "INV7: counted at claim"

    @precondition(lambda self: self._able(_waits))
    @rule(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self._begin(data.draw(st.sampled_from(self._able(_waits))))

    def _begin(self, process: Process) -> None:
        waiting = [held for held in process.held if _waits(held)]
        if not waiting:
            return
        expected = {held.dispatch.item.lease_key for held in waiting if self._is_held(held, Item.CLAIMED)}
        begun = self.do(lambda: process.worker.begin(*(held.dispatch for held in waiting)), statuses.BEGIN)
        found = {dispatch.item.lease_key for dispatch in begun}
        assert expected == found, "begin"
        rows = self._rows()
        for item_id in {held.dispatch.item.item_id for held in waiting} - {item_id for _, item_id, _ in expected}:
            assert _kept(self.known[item_id].row) == _kept(rows[item_id]), "a fenced worker began"
        for held in waiting:
            held.begun = held.dispatch.item.lease_key in found
        process.held = [held for held in process.held if held.begun]

    @precondition(lambda self: self._able(_is_on_the_wire))
    @rule(data=st.data(), answer=st.sampled_from(sorted(ANSWERS)))
    def wire(self, data: st.DataObject, answer: str) -> None:
        process = data.draw(st.sampled_from(self._able(_is_on_the_wire)))
        self._wire(next(held for held in process.held if _is_on_the_wire(held)), answer)

    def _wire(self, held: Held, answer: str) -> None:
        held.outcome, accepted = ANSWERS[answer]
        self.known[held.dispatch.item.item_id].accepted += accepted

    @precondition(lambda self: self._able(_is_answered))
    @rule(data=st.data(), again=st.booleans())
    def settle(self, data: st.DataObject, *, again: bool) -> None:
        """The answer to a settlement may be lost; then it is repeated."""
        self._settle(data.draw(st.sampled_from(self._able(_is_answered))), again=again)

    def _settle(self, process: Process, *, again: bool) -> None:
        for held in [one for one in process.held if one.outcome is not None]:
            outcome, item = held.outcome, held.dispatch.item
            assert outcome is not None
            is_ours = self._is_held(held, Item.SENDING, margin=float("-inf"))
            before = self.known[item.item_id].row
            for _ in range(1 + again):
                self.do(
                    lambda outcome=outcome, held=held: process.worker.settle(outcome, held.dispatch, waits=Waits(1.0)),
                    *SETTLES,
                )
            process.held.remove(held)
            if not is_ours and not isinstance(outcome, Sent):
                after = self._rows()[item.item_id]
                assert _kept(before) == _kept(after), "a fenced worker wrote"

    @precondition(lambda self: self._able(_is_held))
    @rule(data=st.data(), turn=st.sampled_from(["renew", "hand back", "crash"]))
    def aside(self, data: st.DataObject, turn: str) -> None:
        process = data.draw(st.sampled_from(self._able(_is_held)))
        if turn == "renew":
            self._renew(process)
        elif turn == "hand back":
            self._hand_back(process)
        else:  # a new process knows of nothing
            process.worker, process.held = self.queue.worker(), []

    def _hand_back(self, process: Process) -> None:
        held = [one for one in process.held if _waits(one)]
        self.do(lambda: process.worker.hand_back(*(one.dispatch for one in held)), statuses.RELEASE)
        process.held = [one for one in process.held if one.begun]

    def _renew(self, process: Process) -> None:
        kept = self.do(lambda: process.worker.renew(*(one.dispatch for one in process.held)), statuses.RENEW)
        live = (Item.CLAIMED, Item.SENDING)
        expected = sum(any(self._is_held(one, at, margin=0.0) for at in live) for one in process.held)
        assert kept == expected, "INV9: renew"

    # the world ----------------------------------------------------------------------------------------------------

    @precondition(lambda self: self._any(Item.SCHEDULED, Item.CLAIMED, Item.SENDING))
    @rule(seconds=st.sampled_from([58, 61, 700, 5_000]))
    def time_passes(self, seconds: int) -> None:
        self.do(lambda: self.queue.shift(timedelta(seconds=seconds)))
        self._look()
        self._reap()

    @precondition(lambda self: not self._any(Item.SCHEDULED, Item.CLAIMED, Item.SENDING))
    @rule()
    def all_is_done(self) -> None:
        """The reaper turns all the same, and finds nothing."""
        self._reap()

    def _reap(self) -> None:
        self.do(self.queue.reap, statuses.REAP_CLAIMED, statuses.REAP_SENDING)

    @precondition(lambda self: self._able(_is_held))
    @rule()
    def pause(self) -> None:
        """All sleep for longer than their leases, and will go on as if nothing had happened; retries are due."""
        self.do(lambda: self.queue.shift(timedelta(seconds=61)))
        self._look()
        self.do(self.queue.reap, statuses.REAP_CLAIMED, statuses.REAP_SENDING)
        allowed = self.allowed
        self.lease_keys()
        self.do(lambda: self.queue.shift(timedelta(seconds=700)))
        self.allowed = allowed

    @precondition(lambda self: self._able(_has_begun))
    @rule(data=st.data(), answer=st.sampled_from(sorted(ANSWERS)), then=st.sampled_from(sorted(ANSWERS)))
    def overtaken(self, data: st.DataObject, answer: str, then: str) -> None:
        """A worker sleeps while it sends; another one takes over, and only then the first hears its answer."""
        process = data.draw(st.sampled_from(self._able(_has_begun)))
        other = next(one for one in self.workers if one is not process)
        self._step(self.pause)
        self._step(lambda: self.claim(self.workers.index(other), ITEMS_MAX))
        self._step(lambda: self._begin(other))
        for one, its_answer in ((process, answer), (other, then)):
            for held in one.held:
                if _is_on_the_wire(held):
                    self._wire(held, its_answer)
            self._step(lambda one=one: self._settle(one, again=False))

    @precondition(lambda self: any(known.accepted for known in self.known.values()))
    @rule(data=st.data(), kind=st.sampled_from(["accepted", "delivered", "bounced"]))
    def callback(self, data: st.DataObject, kind: Kind) -> None:
        """A provider tells of a message of which we do not know, or not yet, that it left."""
        item_id = data.draw(st.sampled_from(sorted(name for name, known in self.known.items() if known.accepted)))
        self._callback(item_id, kind)

    @precondition(lambda self: self._able(_is_on_the_wire))
    @rule(data=st.data(), answer=st.sampled_from(sorted(ANSWERS)))
    def reported_first(self, data: st.DataObject, answer: str) -> None:
        """The provider is faster than the worker's own answer, which is lost with the worker, or is another one."""
        process = data.draw(st.sampled_from(self._able(_is_on_the_wire)))
        held = next(held for held in process.held if _is_on_the_wire(held))
        item_id = held.dispatch.item.item_id
        self.known[item_id].accepted += ANSWERS[answer][1] == 0
        self._wire(held, answer)
        self._step(lambda: self._callback(item_id, "delivered"))
        if data.draw(st.booleans()):
            self._settle(process, again=False)
        else:
            self.pause()

    @precondition(lambda self: self._able(_is_on_the_wire))
    @rule(data=st.data(), kind=st.sampled_from(["accepted", "delivered"]))
    def told_afterwards(self, data: st.DataObject, kind: Kind) -> None:
        """The host took it, its answer is lost and written down as that; only then the provider tells."""
        process = data.draw(st.sampled_from(self._able(_is_on_the_wire)))
        held = next(held for held in process.held if _is_on_the_wire(held))
        self._wire(held, "250, answer lost")
        self._step(lambda: self._settle(process, again=False))
        self._callback(held.dispatch.item.item_id, kind)

    def _callback(self, item_id: str, kind: Kind) -> None:
        known = self.known[item_id]
        row, outcomes = known.row, known.row["outcomes"]

        report = Report(kind=kind, item_id=item_id)
        told = self.do(
            lambda: self.queue.take(report, account_id=self.ground.account_id),
            statuses.LATE_ACCEPTANCE,
            statuses.LATE_ACCEPTANCE_NOTED,
        )
        # Of what its host refused, though a report says that it left, further reports are not heard.
        may_have_left = any(outcome in {None, "accepted", "accepted_late", "unknown"} for outcome in outcomes)
        assert told == (kind not in known.said and may_have_left), "a report counts once"
        if not told:
            return
        known.said |= {kind}
        known.proven = True
        is_corrected = (
            told
            and "unknown" in outcomes
            and not {"accepted", "accepted_late"} & set(outcomes)
            and not known.deleted
            and (
                row["status"] in {Item.SCHEDULED, Item.CLAIMED, Item.UNCERTAIN}
                or (row["status"] == Item.FAILED and row["reason"] == "outcome_unknown")
            )
        )
        expected = Item.SENT if is_corrected else row["status"]
        assert expected == self._rows()[item_id]["status"], "TRUTH: what a report proves"

    @precondition(lambda self: self.disconnects)
    @rule()
    def disconnect(self) -> None:
        """The server ends every connection of ours, as a restart does."""
        self.disconnects -= 1

        async def act() -> None:
            await self.ground.admin.execute(
                """select pg_terminate_backend(pid) from pg_stat_activity
               where usename = current_user and datname = $1""",
                await self.queue.value("select current_database()"),
            )
            await asyncio.sleep(0)

        self.do(act)

    # what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def lease_keys(self) -> None:
        before = {item_id: known.row for item_id, known in self.known.items()}
        self._look()
        for item_id, known in self.known.items():
            row, old = known.row, before[item_id]
            arc = (Item(old["status"]), Item(row["status"]))
            assert arc[0] == arc[1] or any(arc in arcs for arcs in self._arcs()), (arc, self.allowed)
            assert row["epoch"] >= old["epoch"], "INV9: epoch"
            if row["owner"] != old["owner"] and row["owner"] is not None:
                assert row["epoch"] > old["epoch"], "INV9: every holder has its epoch"
            self._check(known)
        self.allowed = ()

    def _check(self, known: Known) -> None:
        row, accepted = known.row, known.accepted
        doubtful = sum(outcome in {"unknown", "accepted_late"} for outcome in row["outcomes"])
        open_ones = row["outcomes"].count(None)
        is_terminal = row["status"] in ITEM_TERMINAL
        assert accepted <= 1 + doubtful + open_ones, "INV1"
        assert row["resend_after_seconds"] is not None or accepted <= 1, "INV2"
        assert row["status"] != Item.SENT or accepted, "INV3"
        assert not known.promised or not accepted, "INV4"
        assert row["status"] != Item.FAILED or not accepted or doubtful, "INV5"
        assert row["told"] == int(is_terminal), "INV6"
        assert 0 <= row["attempts"] <= ATTEMPTS_MAX, "INV7"
        assert not row["stale"], "INV8"
        assert open_ones == (row["status"] == Item.SENDING), "INV9: one attempt is open while it is sent"
        assert (row["owner"] is not None) == (row["status"] in {Item.CLAIMED, Item.SENDING}), "INV9: lease"
        if "accepted_late" in row["outcomes"]:
            assert row["status"] not in {Item.SCHEDULED, Item.CLAIMED}, "TRUTH: what arrived waits to be sent again"
        assert not known.proven or row["status"] not in {Item.SCHEDULED, Item.CLAIMED}, "TRUTH: forgotten"

    def teardown(self) -> None:
        """LIVE1: without further crashes everything comes to its end."""
        first = self.workers[0]
        for _ in range(TURNS_MAX * ATTEMPTS_MAX):
            if not any(known.row["status"] not in ITEM_TERMINAL for known in self.known.values()):
                return
            self._step(lambda: self.time_passes(90_000))
            self._step(self._reap)
            self._step(lambda: self.claim(0, ITEMS_MAX))
            self._step(lambda: self._begin(first))
            for held in first.held:
                if _is_on_the_wire(held):
                    self._wire(held, "250")
            self._step(lambda: self._settle(first, again=False))
        raise AssertionError("LIVE1")

    # how ----------------------------------------------------------------------------------------------------------

    def _arcs(self) -> list[set[tuple[Item, Item]]]:
        """The arcs of each allowed move, and those of two in one transaction."""
        arcs = [set(move.arcs) for move in self.allowed]
        joined = {(a, d) for one in arcs for a, b in one for other in arcs for c, d in other if b == c}
        return [*arcs, joined]

    def _step(self, act: Callable[[], None]) -> None:
        act()
        self.lease_keys()

    def _any(self, *status: Item) -> bool:
        return any(known.row["status"] in status for known in self.known.values())

    def _able(self, test: Callable[[Held], bool]) -> list[Process]:
        return [process for process in self.workers if any(test(held) for held in process.held)]

    def _is_held(self, held: Held, status: Item, *, margin: float = MARGIN_SECONDS) -> bool:
        """Whether the database still grants the hold, as far as the dictionary knows."""
        row = self.known[held.dispatch.item.item_id].row
        if (row["status"], row["epoch"]) != (status, held.dispatch.item.epoch):
            return False
        return row["lease_seconds"] > margin

    def _change(self, item_id: str, change: QueueItemUpdate, move: Move) -> str | errors.Refusal:
        """The result that is told, or the refusal."""

        async def act() -> str | errors.Refusal:
            try:
                async with db.transaction(self.queue.pool) as database:
                    item = await service.change(
                        database, caller=self.queue.house.caller, item_id=item_id, change=change,
                        secret=self.queue.secret,
                    )  # fmt: skip
            except (errors.Conflict, errors.NotFound) as refusal:
                return refusal
            return item.result or ""

        return self.do(act, move)

    def _look(self) -> None:
        rows = self._rows()
        self.known = {item_id: replace(known, row=rows[item_id]) for item_id, known in self.known.items()}

    def _rows(self) -> dict[str, dict[str, Any]]:
        async def act() -> list[dict[str, Any]]:
            rows = await self.queue.fetch(
                """select q.item_id, q.status, q.epoch, q.owner, q.attempts, q.resend_after_seconds, q.reason,
                     q.send_time, q.send_offset_minutes,
                     extract(epoch from q.lease_until - now())::float8 as lease_seconds,
                     array(select a.outcome from attempt a where a.organization_id = q.organization_id
                       and a.item_id = q.item_id order by a.epoch) as outcomes,
                     (select count(*) from event e where e.organization_id = q.organization_id
                       and e.subject_id = q.item_id and e.is_terminal) as told,
                     exists (select from attempt x join attempt y using (organization_id, item_id)
                       where x.organization_id = q.organization_id and x.item_id = q.item_id and x.epoch < y.epoch
                         and x.finish_time > y.begin_time and x.outcome not in ('unknown', 'accepted_late')) as stale
                   from queue_item q"""
            )
            return [dict(row) for row in rows]

        allowed = self.allowed
        rows = self.do(act)
        self.allowed = allowed
        return {row["item_id"]: row for row in rows}

    async def _empty(self) -> None:
        async with db.transaction(self.queue.pool) as database:
            for table in TABLES:
                await database._connection.execute(f"delete from {table}")


@pytest.fixture(scope="module")
def ground(server_url: str) -> Iterator[Ground]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def set_up() -> Ground:
            url = await stack.enter_async_context(fresh_database(server_url))
            pool = await stack.enter_async_context(await db.open_pool(url, size_max=2))
            house = await build_house(pool, domain="demo")
            admin: Any = await asyncpg.connect(server_url)
            stack.push_async_callback(admin.close)
            queue = Queue(pool, house, house.pipeline_id)
            return Ground(runner, queue, admin, await queue.account_id())

        Machine.ground = runner.run(set_up())
        try:
            yield Machine.ground
        finally:
            runner.run(stack.aclose())


def walk(examples: int, steps: int, **chosen: Any) -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
            print_blob=True,
            **chosen,
        ),
    )


@pytest.mark.usefixtures("ground")
def test_walk(tell: Tell) -> None:
    walk(EXAMPLES, STEPS)
    tell(f"state machine: {EXAMPLES} examples of at most {STEPS} steps on PostgreSQL: violations 0")


@pytest.mark.usefixtures("ground")
@pytest.mark.parametrize("mutant", mutants.MUTANTS if FULL else one_of(HARDEST))
def test_teeth(mutant: str, tell: Tell) -> None:
    """The walk, always the same one, fails when the guard is broken."""
    with mutants.broken(mutant), pytest.raises((AssertionError, errors.Refusal, Flaky)) as raised:
        walk(
            EXAMPLES_TEETH,
            STEPS_TEETH,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            report_multiple_bugs=False,
        )
    print(repr(raised.value))  # noqa: T201
    tell("state machine: {count} mutants killed", count=1)
