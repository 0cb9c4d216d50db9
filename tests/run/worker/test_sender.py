"""A sender with bad items, bad channels, lost answers and lost leases; the moves are in tests/sending/queue."""

import asyncio
import dataclasses
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from afterword import errors
from afterword.kit import db, telemetry
from afterword.kit.transport.base import Begin, Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.run.worker import Pace, sender
from afterword.run.worker.flights import CAUSE_CHARACTERS_MAX, cause_of
from afterword.sending.messages import composing
from afterword.sending.messages.composing import MessageContext
from afterword.sending.queue.sending import dispatches, service as sending, store
from tests.journeys.processes import until
from tests.otlp import receiving
from tests.run.worker.conftest import DEADLINE_SECONDS, RIG, Bench, Logs, accept, held
from tests.sending.channels.conftest import MESSAGE

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = range(1, 9)
PATIENT = replace(RIG, heartbeat_seconds=15)
SHORT = replace(RIG, lease_seconds=3.0, heartbeat_seconds=0.5)


class TestPoison:
    """But for the crashes: what cannot be made ready hurts only itself, and ends with its cause."""

    async def test_rendering(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        compose = composing.compose_mail

        def poisoned(context: MessageContext) -> Message:
            if "poison" in context.recipient:
                raise ZeroDivisionError("about poison@example.com")
            return compose(context)

        monkeypatch.setattr(composing, "compose_mail", poisoned)
        await self.check(bench, "Rendering failed: ZeroDivisionError: about [address]")

    async def test_preparing(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        request = dispatches._issue_input

        def poisoned(item: sending.Claimed, *values: Any) -> Any:
            if "poison" in item.responder_channel_identifier:
                raise KeyError("name")
            return request(item, *values)

        monkeypatch.setattr(dispatches, "_issue_input", poisoned)
        await self.check(bench, "Preparing failed: KeyError: 'name'")

    async def check(self, bench: Bench, cause: str) -> None:
        await bench.queue.change_pipeline("max_retry_attempts = 2")
        bad = await bench.queue.schedule("poison@example.com")
        good = [await bench.queue.schedule(f"ann{n}@example.com") for n in range(8)]

        async with bench.worker():
            await bench.until_done()

        row = await bench.queue.row(bad)
        assert (FAILED, 3, f"Failed after 3 attempts: {cause}") == (row["status"], row["attempts"], row["result"])
        assert ["created", "retried", "retried", "failed!"] == await bench.queue.told(bad)
        assert {item.item_id for item in good} == set(bench.channel.accepted)


class TestSenderDomains:
    async def test_one_that_is_no_longer_allowed(self, bench: Bench) -> None:
        """A mail as somebody else does not leave, also where the list changes while the worker knows the pipeline."""
        house = bench.queue.house
        await bench.queue.change_pipeline("sender_address = 'billing@demo.example'")
        await bench.queue.execute(
            "insert into organization_sender_domain (organization_id, domain) values ($1, 'demo.example')",
            house.organization_id,
        )
        async with bench.worker():
            first = await bench.queue.schedule("ann@example.com")
            await bench.until_done()
            await bench.queue.execute("delete from organization_sender_domain")
            second = await bench.queue.schedule("bob@example.com")
            await bench.until_done()
        rows = [await bench.queue.row(item) for item in (first, second)]
        assert [SENT, FAILED] == [row["status"] for row in rows]
        assert "sender_address: the organization may not send from this domain." in rows[1]["result"]
        assert {first.item_id} == set(bench.channel.accepted)


class TestOutcomes:
    async def test_before_the_beginning(self, bench: Bench) -> None:
        """An answer to RCPT comes before `begin`, and is an attempt all the same."""
        answers: dict[str, Outcome] = {
            "refused@example.com": Refused("550 5.1.1 unknown", 550, suppress=True),
            "later@example.com": Retry("recipient", "450 busy", 450),
        }

        async def answer(message: Message, begin: Begin) -> Outcome:
            if bench.channel.asked[message.item_id] == 1:
                return answers[message.recipient]
            return await accept(message, begin)

        bench.channel.script = answer
        refused, later = [await bench.queue.schedule(address) for address in answers]
        async with bench.worker():
            await bench.until_done()

        assert ["refused"] == await bench.queue.attempts(refused)
        assert ["retry", "accepted"] == await bench.queue.attempts(later)
        assert [FAILED, SENT] == [await bench.queue.status(refused), await bench.queue.status(later)]
        assert 1 == await bench.queue.value("select count(*) from suppression")

    async def test_a_fault_of_ours_counts_no_attempt(self, bench: Bench) -> None:
        async def answer(message: Message, begin: Begin) -> Outcome:
            if bench.channel.asked[message.item_id] < 4:
                return Retry("connection", "nobody there")
            return await accept(message, begin)

        bench.channel.script = answer
        item = await bench.queue.schedule()
        async with bench.worker():
            await bench.until_done()

        row = await bench.queue.row(item)
        assert (SENT, 1) == (row["status"], row["attempts"])
        assert ["accepted"] == await bench.queue.attempts(item)

    async def test_unknown_goes_again(self, bench: Bench) -> None:
        async def answer(message: Message, begin: Begin) -> Outcome:
            await begin()
            return Unknown("no answer") if bench.channel.asked[message.item_id] == 1 else Sent()

        bench.channel.script = answer
        item = await bench.queue.schedule()
        async with bench.worker():
            await bench.until_done()

        assert ["unknown", "accepted"] == await bench.queue.attempts(item)

    async def test_a_channel_that_breaks(self, bench: Bench) -> None:
        """Before the beginning it was not sent; after it, who knows."""

        async def answer(message: Message, begin: Begin) -> Outcome:
            if bench.channel.asked[message.item_id] > 1:
                return await accept(message, begin)
            if message.recipient.startswith("after"):
                await begin()
            raise OSError("broken pipe to ann@example.com")

        bench.channel.script = answer
        before, after = [await bench.queue.schedule(f"{name}@example.com") for name in ("before", "after")]
        async with bench.worker():
            await bench.until_done()

        assert ["retry", "accepted"] == await bench.queue.attempts(before)
        assert ["unknown", "accepted"] == await bench.queue.attempts(after)
        told = "select (item).result from event where subject_id = $1 and type = 'queue_item.retried'"
        assert "Retry: Sending failed: OSError: broken pipe to [address]" == await bench.queue.value(
            told, before.item_id
        )

    async def test_a_channel_that_hangs(self, bench: Bench) -> None:
        never = asyncio.Event()

        async def answer(message: Message, begin: Begin) -> Outcome:
            await begin()
            if bench.channel.asked[message.item_id] == 1:
                await never.wait()
            return Sent()

        bench.channel.script = answer
        item = await bench.queue.schedule()
        async with bench.worker(replace(RIG, send_seconds_max=2.0)):
            await bench.until_done()

        assert ["unknown", "accepted"] == await bench.queue.attempts(item)

    async def test_time_is_up_while_it_begins(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whether it began is asked before anything is written, so nothing that stayed in the house is unknown."""
        releases: list[asyncio.Task[None]] = []

        async def answer(message: Message, begin: Begin) -> Outcome:
            if not releases:
                locked = asyncio.Event()
                releases.append(asyncio.create_task(lease_key(message.item_id, locked)))
                await locked.wait()
            await begin()
            return Sent()

        async def lease_key(item_id: str, locked: asyncio.Event) -> None:
            async with db.transaction(bench.queue.pool) as database:
                await database._connection.execute("select from queue_item where item_id = $1 for update", item_id)
                locked.set()
                await asyncio.sleep(2.5)  # longer than it may take, shorter than a lock is waited for

        bench.channel.script = answer
        monkeypatch.setattr(db, "LOCK_TIMEOUT_SECONDS", 4)  # of the worker's pool
        item = await bench.queue.schedule()
        async with bench.worker(replace(RIG, send_seconds_max=2.0)):
            await bench.until_done()

        assert 4 == await bench.queue.status(item)
        assert "unknown" not in await bench.queue.attempts(item)


class TestLeases:
    async def test_a_blocked_loop_is_not_death(self, bench: Bench) -> None:
        """A channel that blocks the whole loop for longer than the lease loses nothing."""

        async def block(message: Message, begin: Begin) -> Outcome:
            await begin()
            if message.recipient.startswith("slow"):
                time.sleep(SHORT.lease_seconds + 1)  # noqa: ASYNC251  a bad library does just that
            return Sent()

        bench.channel.script = block
        for name in ("slow", "a", "b"):
            await bench.queue.schedule(f"{name}@example.com")
        async with bench.worker(SHORT):
            await bench.until_done()

        assert {1} == set(bench.channel.accepted.values())
        assert 3 == await bench.queue.value("select count(*) from attempt where outcome = 'accepted'")
        assert 0 == await bench.queue.value("select count(*) from attempt where outcome <> 'accepted'")

    async def test_long_sends_keep_their_lease(self, bench: Bench) -> None:
        go = asyncio.Event()
        bench.channel.script = held(go)
        item = await bench.queue.schedule()
        async with bench.worker(SHORT):
            await bench.until("select exists (select from queue_item where status = 3)")
            lease_until = (await bench.queue.row(item))["lease_until"]
            await bench.until("select clock_timestamp() > $1", lease_until)
            go.set()
            await bench.until_done()

        assert ["accepted"] == await bench.queue.attempts(item)

    async def test_a_lost_lease_stops_what_has_not_begun(self, bench: Bench) -> None:
        cancelled = asyncio.Event()

        async def connect_forever(message: Message, begin: Begin) -> Outcome:
            if bench.channel.asked[message.item_id] > 1:
                return await accept(message, begin)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return Sent()

        bench.channel.script = connect_forever
        item = await bench.queue.schedule()
        async with bench.worker():
            await bench.until("select exists (select from queue_item where status = 2)")
            # As if this worker had been asleep and another had reaped it.
            await bench.queue.execute(
                "update queue_item set epoch = epoch + 1, status = 1, owner = null, lease_until = null"
            )
            await asyncio.wait_for(cancelled.wait(), DEADLINE_SECONDS)
            await bench.until_done()

        assert {item.item_id: 1} == bench.channel.accepted

    async def test_late_truth(self, bench: Bench) -> None:
        """The reaper takes what a sleeper has begun; its 250, heard afterwards, settles the item all the same."""
        go = asyncio.Event()
        bench.channel.script = held(go)
        item = await bench.queue.schedule()
        async with bench.worker():
            await bench.until("select exists (select from queue_item where status = 3)")
            await bench.queue.execute("update queue_item set lease_until = now() - interval '1 second'")
            await bench.until("select exists (select from attempt where outcome = 'unknown')")
            go.set()
            await bench.until_done()

        assert SENT == await bench.queue.status(item)
        assert "accepted_late" == (await bench.queue.attempts(item))[0]
        assert ["created", "retried", "sent!"] == await bench.queue.told(item)


class TestLostAnswers:
    """The commit happened, its answer did not arrive."""

    @pytest.mark.parametrize("statement", ["update_items_to_sending", "settle_items"])
    async def test_once(self, bench: Bench, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
        item = await bench.queue.schedule()
        lose_once(monkeypatch, statement)

        async with bench.worker(PATIENT):
            await bench.until_done()

        assert ["accepted"] == await bench.queue.attempts(item)
        assert 1 == bench.channel.asked[item.item_id]
        assert ["created", "sent!"] == await bench.queue.told(item)


def lose_once(monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """Commit the first transaction that sends this statement with rows, and say that the database was away."""
    real_transaction, real = db.transaction, getattr(sending.store, statement)
    marked: set[int] = set()
    lost = False

    async def marking(database: db.Database, **values: Any) -> Any:
        found = await real(database, **values)
        if found:
            marked.add(id(database))
        return found

    @asynccontextmanager
    async def losing(pool: db.Pool) -> AsyncGenerator[db.Database]:
        nonlocal lost
        async with real_transaction(pool) as database:
            yield database
        if id(database) in marked and not lost:
            lost = True
            raise errors.Unavailable("the answer was lost")

    monkeypatch.setattr(sending.store, statement, marking)
    monkeypatch.setattr(db, "transaction", losing)


def test_the_defaults_hold() -> None:
    assert Pace().heartbeat_seconds * 3 + Pace().margin_seconds < Pace().lease_seconds


async def test_traces(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message that goes out is a span, which does not say to whom."""
    with receiving(monkeypatch) as collector, telemetry.started("worker", os.environ, version="1"):
        item = await bench.queue.schedule("ann@example.com")
        async with bench.worker():
            await bench.until_done()
    expected = {"afterword.organization_id": bench.queue.house.organization_id, "afterword.item_id": item.item_id}
    assert {**expected, "afterword.channel_id": 1} == collector.attributes_of("send")
    assert "ann@" not in repr(collector.spans)


REFUSALS = 5


@dataclass
class Outage:
    """While `is_on`, no transaction begins; and how many tried."""

    is_on: bool = False
    refused: int = 0


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    """The database goes away as the first item cannot be rendered, and stays away until the test says otherwise."""
    found, real = Outage(), db.transaction

    @asynccontextmanager
    async def transaction(pool: db.Pool) -> AsyncGenerator[db.Database]:
        if found.is_on:
            found.refused += 1
            raise errors.Unavailable("away")
        async with real(pool) as database:
            yield database

    monkeypatch.setattr(db, "transaction", transaction)
    return found


def break_rendering(monkeypatch: pytest.MonkeyPatch, outage: Outage, *, times: int = 1_000) -> None:
    compose, left = composing.compose_mail, [times]

    def broken(context: MessageContext) -> Any:
        if not left[0]:
            return compose(context)
        left[0] -= 1
        outage.is_on = True
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr(composing, "compose_mail", broken)


async def refused(outage: Outage, times: int) -> None:
    await until(lambda: outage.refused >= times)


class TestGivingUp:
    """The database is away while an item cannot be made ready."""

    async def test_it_is_written_when_the_database_is_back(
        self, bench: Bench, outage: Outage, monkeypatch: pytest.MonkeyPatch, logs: Logs
    ) -> None:
        item = await bench.queue.schedule()
        await bench.queue.execute("update queue_item set attempts_max = 1")
        break_rendering(monkeypatch, outage)
        async with bench.worker(PATIENT):
            await refused(outage, REFUSALS)
            row = await bench.queue.row(item)
            assert (2, 1) == (row["status"], row["attempts"])
            outage.is_on = False
            await bench.until_done()
        row = await bench.queue.row(item)
        assert FAILED == row["status"]
        assert "Rendering failed: ZeroDivisionError: no such thing" in row["result"]
        assert ["created", "failed!"] == await bench.queue.told(item)
        assert {} == bench.channel.accepted
        assert "an outcome was lost" not in logs.events

    async def test_its_answer_is_lost(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """It was written, nobody heard, and it is written again: once."""
        item = await bench.queue.schedule()
        await bench.queue.execute("update queue_item set attempts_max = 1")
        break_rendering(monkeypatch, Outage())
        real, calls = sending.give_up, list[int]()

        async def losing(database: db.Database, **values: Any) -> None:
            await real(database, **values)
            calls.append(1)
            if len(calls) == 1:
                await database._connection.execute("commit")
                raise errors.Unavailable("the answer was lost")

        monkeypatch.setattr(sending, "give_up", losing)
        async with bench.worker(PATIENT):
            await bench.until_done()
            await until(lambda: len(calls) >= 2)
        assert FAILED == await bench.queue.status(item)
        assert ["created", "failed!"] == await bench.queue.told(item)

    async def test_another_has_it_by_then(self, bench: Bench, outage: Outage, monkeypatch: pytest.MonkeyPatch) -> None:
        """The lease runs out during the outage; what the first one says afterwards changes nothing."""
        item = await bench.queue.schedule()
        break_rendering(monkeypatch, outage, times=1)
        moved: list[int] = []
        real = store.settle_claimed_items

        async def counting(database: db.Database, **values: Any) -> Any:
            found = await real(database, **values)
            moved.append(len(found))
            return found

        monkeypatch.setattr(store, "settle_claimed_items", counting)
        async with bench.worker():
            await refused(outage, REFUSALS)
            await bench.queue.execute(  # as the reaper of another worker does
                """update queue_item set epoch = epoch + 1, status = 1, owner = null, lease_until = null,
                     due_time = now()"""
            )
            outage.is_on = False
            await bench.until_done()
            await until(lambda: moved)
        assert [0] == moved
        assert SENT == await bench.queue.status(item)
        assert {item.item_id: 1} == bench.channel.accepted

    async def test_it_stays_away(
        self, bench: Bench, outage: Outage, monkeypatch: pytest.MonkeyPatch, logs: Logs
    ) -> None:
        """Nobody waits for ever: the item is left to the reaper, and the log says so."""
        await bench.queue.schedule()
        break_rendering(monkeypatch, outage)
        pace = replace(RIG, send_seconds_max=0.3)
        async with bench.worker(pace):
            await refused(outage, 2)
            await until(lambda: "an outcome was lost" in logs.events)
            outage.is_on = False
        assert 1 == await bench.queue.value("select count(*) from queue_item where status < 4")


class TestFairness:
    async def test_a_single_item_does_not_wait_behind_a_backlog(self, bench: Bench, neighbour: Any) -> None:
        """While one organization has far more than there are slots, another's item is next."""
        started: list[str] = []

        async def answer(message: Message, begin: Begin) -> Outcome:
            started.append(message.organization_id)
            return await accept(message, begin)

        bench.channel.script = answer
        for number in range(60):
            await bench.queue.schedule(f"a{number}@example.com")
        theirs = dataclasses.replace(bench.queue, house=neighbour, pipeline_id=neighbour.pipeline_id)
        await theirs.schedule()
        async with bench.worker(replace(RIG, slots=4)):
            await bench.until_done()

        assert started.index(neighbour.organization_id) < 12


async def test_an_answer_to_a_claim_that_is_lost(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows of the claim: the lease runs out, and the item goes again."""
    item = await bench.queue.schedule()
    lose_once(monkeypatch, "claim_items")

    async with bench.worker():
        await bench.until("select exists (select from queue_item where status = 2)")
        await bench.queue.execute("update queue_item set lease_until = now() - interval '1 second'")
        await bench.until_done()

    assert (SENT, 2) == ((await bench.queue.row(item))["status"], (await bench.queue.row(item))["attempts"])
    assert 1 == bench.channel.asked[item.item_id]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ZeroDivisionError(), "Rendering failed: ZeroDivisionError"),
        (OSError("pipe to ann@example.com"), "Rendering failed: OSError: pipe to [address]"),
        (ValueError("for ANN-1"), "Rendering failed: ValueError: for [address]"),
        (ValueError("x" * 999), "Rendering failed: ValueError: " + "x" * CAUSE_CHARACTERS_MAX),
    ],
)
def test_cause(error: Exception, text: str) -> None:
    assert text == cause_of("Rendering failed", error, "ANN-1")


def test_failed() -> None:
    def compose() -> Message:
        raise ValueError("no ann@example.com")

    with pytest.raises(sender.Failed, match=r"ValueError: no \[address\]"):
        sender.read(sender.written(compose, "ann@example.com"))


def test_the_same_message() -> None:
    assert MESSAGE == sender.read(sender.written(lambda: MESSAGE))


class TestPace:
    @pytest.mark.parametrize(
        "values", [{"lease_seconds": 50.0}, {"heartbeat_seconds": 19.0}, {"slots": 0}, {"slots": 201}]
    )
    def test_limits_that_depend_on_each_other(self, values: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"A (lease|worker)"):
            Pace(**values)
