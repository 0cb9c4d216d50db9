"""Every move that a worker makes, on a real PostgreSQL: its guard, its effect, its one terminal event."""

import asyncio
from datetime import timedelta

import pytest

from afterword.kit import db
from afterword.kit.transport.base import Retry, Sent
from afterword.people.responders import service as responders, store as responders_store
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits
from tests.sending.queue.conftest import LEASE_SECONDS, SMS, Queue

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = range(1, 9)
SECOND = timedelta(seconds=1)  # what may lie between the clock of the product and that of the database, and more
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
LOST = timedelta(seconds=LEASE_SECONDS + 1)
OK = Sent("reference", 250, "2.0.0 ok")


class TestClaim:
    async def test_not_due(self, queue: Queue) -> None:
        item = await queue.schedule(send_time=await queue.now() + MINUTE)

        assert [] == await queue.worker().claim()
        assert SCHEDULED == await queue.status(item)

    async def test_of_another_lane(self, queue: Queue) -> None:
        await queue.schedule()
        other = await queue.pipeline()

        assert [] == await other.worker().claim()

    async def test_ok(self, queue: Queue) -> None:
        item = await queue.schedule(locale="el", metadata={"questionnaire": {"transaction_id": "1042"}})

        [dispatch] = await queue.worker().claim()

        row = await queue.row(item)
        assert (CLAIMED, 1, 1, 1) == (row["status"], row["epoch"], row["attempts"], row["version"])
        assert row["lease_until"] > await queue.now() + timedelta(seconds=LEASE_SECONDS - 5)
        assert (None, None) == (row["questionnaire_instance_id"], row["responder_id"])
        assert "el" == dispatch.instance.locale
        assert {"transaction_id": "1042"} == dispatch.instance.metadata
        assert "ann@example.com" == dispatch.responder.address
        assert ["created"] == await queue.told(item)

    async def test_share_and_order(self, queue: Queue) -> None:
        now = await queue.now()
        late = await queue.schedule("c@example.com", send_time=now - MINUTE)
        first = await queue.schedule("a@example.com", send_time=now - 3 * MINUTE)
        second = await queue.schedule("b@example.com", send_time=now - 2 * MINUTE)
        await queue.shift(timedelta(0))
        for item, minutes in ((first, 3), (second, 2), (late, 1)):
            await queue.execute(
                "update queue_item set due_time = $2 where item_id = $1", item.item_id, now - minutes * MINUTE
            )

        dispatches = await queue.worker().claim(2)

        assert [first.item_id, second.item_id] == [dispatch.item.item_id for dispatch in dispatches]

    async def test_two_at_once_share_without_waiting(self, queue: Queue) -> None:
        for number in range(30):
            await queue.schedule(f"a{number}@example.com")

        batches = await asyncio.gather(*(queue.worker().claim(10) for _ in range(3)))

        claimed = [dispatch.item.item_id for batch in batches for dispatch in batch]
        assert len(claimed) == len(set(claimed))
        while more := await queue.worker().claim(10):
            claimed += [dispatch.item.item_id for dispatch in more]
        assert 30 == len(set(claimed)) == len(claimed)

    async def test_again_gives_the_same_instance_and_responder(self, queue: Queue) -> None:
        await queue.schedule()
        worker = queue.worker()
        [first] = await worker.claim()
        await worker.hand_back(first)

        [second] = await worker.claim()

        assert first.instance.instance_id == second.instance.instance_id
        assert first.responder.responder_id == second.responder.responder_id
        assert 2 == second.item.epoch

    async def test_a_responder_is_known_by_the_address(self, queue: Queue) -> None:
        await queue.schedule("Ann@Example.com")
        await queue.schedule("ann@example.com", metadata={"responder": {"first_name": "Ann"}})

        first, second = await queue.worker().claim()

        assert first.responder.responder_id == second.responder.responder_id
        assert first.instance.instance_id != second.instance.instance_id


class TestHandBack:
    async def test_ok(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()

        await worker.hand_back(dispatch)

        row = await queue.row(item)
        assert (SCHEDULED, 0, 1, 1) == (row["status"], row["attempts"], row["epoch"], row["version"])
        assert (None, None, None) == (row["owner"], row["lease_until"], row["result"])
        assert item.updated_time == row["updated_time"]
        assert ["created"] == await queue.told(item)


class TestBegin:
    async def test_fenced_by_another_claim(self, queue: Queue) -> None:
        await queue.schedule()
        worker, other = queue.worker(), queue.worker()
        [dispatch] = await worker.claim()
        await queue.shift(LOST)
        await queue.reap()
        [theirs] = await other.claim()

        assert [] == await worker.begin(dispatch)
        assert [theirs] == await other.begin(theirs)

    async def test_no_margin_left(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await queue.shift(timedelta(seconds=LEASE_SECONDS - 4))

        assert [] == await worker.begin(dispatch)
        assert CLAIMED == await queue.status(item)

    async def test_suppressed_since_it_was_claimed(self, queue: Queue) -> None:
        """Nothing leaves once somebody has read that it will not; the next claim says why."""
        item, other = await queue.schedule(), await queue.schedule("bob@example.com")
        worker = queue.worker()
        one, two = await worker.claim()
        async with db.transaction(queue.pool) as database:
            address = await responders_store.get_address_by_unsubscribe_id(
                database, unsubscribe_id=one.responder.unsubscribe_id or ""
            )
            assert address is not None
            await responders.unsubscribe(database, address=address, now=database.clock.now())

        assert [two] == await worker.begin(one, two)

        row = await queue.row(item)
        assert (SCHEDULED, 0, None) == (row["status"], row["attempts"], row["lease_until"])
        assert [] == await queue.attempts(item)
        assert [] == await worker.claim()
        row = await queue.row(item)
        assert (IGNORED, "unsubscribed") == (row["status"], row["reason"])
        assert SENDING == await queue.status(other)

    async def test_twice(self, queue: Queue) -> None:
        await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.begin(*await worker.claim())

        assert [] == await worker.begin(dispatch)

    async def test_some_of_a_batch(self, queue: Queue) -> None:
        for number in range(3):
            await queue.schedule(f"a{number}@example.com")
        worker = queue.worker()
        one, two, three = await worker.claim()
        await worker.hand_back(two)

        assert [one, three] == await worker.begin(one, two, three)

    async def test_ok(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()

        assert [dispatch] == await worker.begin(dispatch)

        row = await queue.row(item)
        assert SENDING == row["status"]
        assert dispatch.instance.instance_id == row["questionnaire_instance_id"]
        assert dispatch.responder.responder_id == row["responder_id"]
        assert [None] == await queue.attempts(item)

    async def test_lost_answer(self, queue: Queue) -> None:
        """Begun items count, others begin now, and those of another worker do neither."""
        for number in range(3):
            await queue.schedule(f"a{number}@example.com")
        worker = queue.worker()
        begun, not_begun, gone = dispatches = await worker.claim()
        await worker.begin(begun)
        await worker.hand_back(gone)

        lease_keys = await queue.run(sending.begin_again, dispatches=dispatches, lease=worker.lease)

        assert {begun.item.lease_key, not_begun.item.lease_key} == lease_keys


class TestRelease:
    @pytest.mark.parametrize("cause", ["throttle", "account", "connection"])
    async def test_ok(self, queue: Queue, cause: str) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()

        async with db.transaction(queue.pool) as database:
            result = sending.Result(dispatch, Retry(cause, "nobody there"), Waits())  # pyrefly: ignore[bad-argument-type]
            await sending.release(database, results=[result], now=database.clock.now())

        row = await queue.row(item)
        assert (SCHEDULED, 0, "Held: nobody there") == (row["status"], row["attempts"], row["result"])
        assert row["due_time"] > await queue.now()
        assert [] == await queue.attempts(item)


class TestGiveUp:
    async def test_later_again(self, queue: Queue) -> None:
        item = await queue.schedule()

        await self.give_up(queue)

        row = await queue.row(item)
        assert (SCHEDULED, 1, "Retry: Rendering failed") == (row["status"], row["attempts"], row["result"])
        assert ["created", "retried"] == await queue.told(item)

    async def test_used_up(self, queue: Queue) -> None:
        await queue.change_pipeline("max_retry_attempts = 0")
        item = await queue.schedule()

        await self.give_up(queue)

        row = await queue.row(item)
        assert (FAILED, "Failed after 1 attempt: Rendering failed") == (row["status"], row["result"])
        assert ["created", "failed!"] == await queue.told(item)

    async def give_up(self, queue: Queue) -> None:
        [dispatch] = await queue.worker().claim()
        await queue.run(
            sending.give_up, item=dispatch.item, cause="Rendering failed", waits=Waits(), now=await queue.now()
        )


class TestRenew:
    async def test_run_out(self, queue: Queue) -> None:
        await queue.schedule()
        worker = queue.worker()
        dispatches = await worker.claim()
        await queue.shift(LOST)

        assert 0 == await worker.renew(*dispatches)

    async def test_somebody_elses(self, queue: Queue) -> None:
        await queue.schedule()
        worker = queue.worker()
        dispatches = await worker.claim()
        await queue.shift(LOST)
        await queue.reap()
        await queue.worker().claim()

        assert 0 == await worker.renew(*dispatches)

    async def test_settled(self, queue: Queue) -> None:
        await queue.schedule()
        worker = queue.worker()

        assert 0 == await worker.renew(*await worker.send(OK))

    async def test_ok(self, queue: Queue) -> None:
        for number in range(2):
            await queue.schedule(f"a{number}@example.com")
        worker = queue.worker()
        one, two = await worker.claim()
        await worker.begin(two)
        await queue.shift(timedelta(seconds=LEASE_SECONDS / 2))

        assert 2 == await worker.renew(one, two)
        await queue.shift(timedelta(seconds=LEASE_SECONDS / 2))
        assert 0 == await queue.reap()

    async def test_locked_by_somebody(self, queue: Queue) -> None:
        """It waits for nobody: the others are prolonged, and the locked one is not taken for lost."""
        await queue.schedule("locked@example.com")
        await queue.schedule("free@example.com")
        worker = queue.worker()
        locked, free = await worker.claim()
        await worker.begin(free)
        await queue.shift(timedelta(seconds=LEASE_SECONDS / 2))

        async with db.transaction(queue.pool) as database:
            select = "select item_id from queue_item where item_id = $1 for update"
            assert locked.item.item_id == await database.fetch_value(select, locked.item.item_id)
            assert 2 == await worker.renew(locked, free)
        await queue.shift(timedelta(seconds=LEASE_SECONDS / 2))
        assert 1 == await queue.reap()
        assert 1 == await worker.renew(locked, free)


class TestReap:
    async def test_a_live_lease(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.worker().claim()

        assert 0 == await queue.reap()

    async def test_claimed(self, queue: Queue) -> None:
        item = await queue.schedule()
        await queue.worker().claim()
        await queue.shift(LOST)

        assert 1 == await queue.reap()

        row = await queue.row(item)
        assert (SCHEDULED, 2, 1, "worker_lost") == (row["status"], row["epoch"], row["attempts"], row["reason"])
        assert row["due_time"] <= await queue.now() + SECOND
        assert [] == await queue.attempts(item)
        assert ["created"] == await queue.told(item)

    async def test_claimed_and_used_up(self, queue: Queue) -> None:
        await queue.change_pipeline("max_retry_attempts = 1")
        item = await queue.schedule()
        for _ in range(2):
            await queue.worker().claim()
            await queue.shift(LOST)
            await queue.reap()

        row = await queue.row(item)
        assert (FAILED, "Worker lost 2 times before sending") == (row["status"], row["result"])
        assert ["created", "failed!"] == await queue.told(item)

    async def test_sending(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        await worker.begin(*await worker.claim())
        await queue.shift(LOST)
        before = await queue.now() - SECOND

        await queue.reap()

        row = await queue.row(item)
        assert (SCHEDULED, 2, "outcome_unknown") == (row["status"], row["epoch"], row["reason"])
        assert row["due_time"] >= before + 10 * MINUTE
        assert ["unknown"] == await queue.attempts(item)
        assert ["created", "retried"] == await queue.told(item)

    async def test_sending_where_repeating_is_forbidden(self, queue: Queue) -> None:
        sms = await queue.pipeline(channel_id=SMS)
        item = await sms.schedule("+306912345678")
        worker = sms.worker()
        await worker.begin(*await worker.claim())
        await queue.shift(LOST)

        await queue.reap()

        assert UNCERTAIN == await queue.status(item)
        assert ["created", "failed!"] == await queue.told(item)

    async def test_past_its_time_it_is_not_sent_again(self, queue: Queue) -> None:
        item = await queue.schedule()
        await queue.worker().claim()
        await queue.shift(4 * DAY)
        await queue.reap()

        assert [] == await queue.worker().claim()

        assert (IGNORED, "too_late") == ((await queue.row(item))["status"], (await queue.row(item))["reason"])
        assert ["created", "ignored!"] == await queue.told(item)

    async def test_what_another_transaction_holds_is_left_to_it(self, queue: Queue) -> None:
        for number in range(2):
            await queue.schedule(f"a{number}@example.com")
        one, _ = await queue.worker().claim()
        await queue.shift(LOST)

        async with db.transaction(queue.pool) as database:
            await database._connection.execute("select from queue_item where item_id = $1 for update", one.item.item_id)
            assert 1 == await queue.reap()
        assert 1 == await queue.reap()
