"""Every move that a worker makes, on a real PostgreSQL: its guard, its effect, its one terminal event."""

import asyncio
from datetime import timedelta

import pytest

from afterword import db
from afterword.channels.base import Refused, Retry, Sent, Unknown
from afterword.queue.sending import service as sending
from afterword.queue.sending.outcomes import Waits
from afterword.queue.store import QueueItem
from afterword.responders import service as responders
from afterword.responders import store as responders_store
from tests.queue.conftest import LEASE_SECONDS, SMS, Queue

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = range(1, 9)
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
        other = await queue.pipeline(questionnaire_id=queue.house.questionnaire_id, channel_id=1, title="Other")

        assert [] == await other.worker().claim()

    async def test_claimed_already(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.worker().claim()

        assert [] == await queue.worker().claim()

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
    async def test_begun(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)

        await worker.hand_back(dispatch)

        assert SENDING == await queue.status(item)

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
    async def test_fenced_by_the_reaper(self, queue: Queue) -> None:
        await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await queue.shift(LOST)
        await queue.reap()

        assert [] == await worker.begin(dispatch)

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
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)

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
        """What has begun counts, what has not begins now, what is somebody else's does neither."""
        for number in range(3):
            await queue.schedule(f"a{number}@example.com")
        worker = queue.worker()
        begun, not_begun, gone = dispatches = await worker.claim()
        await worker.begin(begun)
        await worker.hand_back(gone)

        async with db.transaction(queue.pool) as database:
            lease_keys = await sending.begin_again(database, dispatches=dispatches, lease=worker.lease)

        assert {begun.item.lease_key, not_begun.item.lease_key} == lease_keys


class TestSettle:
    async def test_not_begun(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()

        await worker.settle(OK, dispatch)

        assert CLAIMED == await queue.status(item)

    async def test_fenced(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)
        await queue.shift(LOST)
        await queue.reap()

        await worker.settle(Refused("550 no"), dispatch)

        assert SCHEDULED == await queue.status(item)
        assert ["unknown"] == await queue.attempts(item)

    async def test_sent(self, queue: Queue) -> None:
        item = await queue.schedule()

        [dispatch] = await queue.worker().send(OK)

        row = await queue.row(item)
        assert (SENT, 1, None, None, None) == (
            row["status"], row["attempts"], row["result"], row["lease_until"], row["owner"],
        )  # fmt: skip
        assert row["dispatched_time"] is not None
        assert ["accepted"] == await queue.attempts(item)
        [attempt] = await queue.fetch("select * from attempt")
        assert (250, "2.0.0 ok", "reference") == (
            attempt["reply_code"], attempt["reply"], attempt["provider_reference"],
        )  # fmt: skip
        assert ["created", "sent!"] == await queue.told(item)
        sent_time = "select sent_time is not null from questionnaire_instance where instance_id = $1"
        assert await queue.value(sent_time, dispatch.instance.instance_id)
        data = await queue.value("select data from event where type = 'queue_item.sent'")
        assert (4, dispatch.instance.instance_id) == (data["status"], data["questionnaire_instance_id"])
        assert not {"address_key", "metadata", "trace", "owner", "lease_until"} & data.keys()

    async def test_repeated(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.send(OK)
        before = await queue.row(item)

        await worker.settle(OK, dispatch)

        assert before == await queue.row(item)
        assert ["created", "sent!"] == await queue.told(item)

    async def test_refused(self, queue: Queue) -> None:
        item = await queue.schedule()

        await queue.worker().send(Refused("552 5.2.2 full", 552))

        row = await queue.row(item)
        assert (FAILED, "Failed: 552 5.2.2 full", "refused") == (row["status"], row["result"], row["reason"])
        assert ["refused"] == await queue.attempts(item)
        assert ["created", "failed!"] == await queue.told(item)
        assert 0 == await queue.value("select count(*) from suppression")

    async def test_refused_for_an_address_that_does_not_exist(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.worker().send(Refused("550 5.1.1 unknown", 550, suppress=True))
        again = await queue.schedule("ANN@example.com")

        assert [] == await queue.worker().claim()

        row = await queue.row(again)
        assert (IGNORED, "hard_bounce") == (row["status"], row["reason"])

    async def test_retry(self, queue: Queue) -> None:
        item = await queue.schedule()
        before = await queue.now()

        await queue.worker().send(Retry("recipient", "451 4.3.0 busy", 451))

        row = await queue.row(item)
        assert (SCHEDULED, 1, "retry", "Retry: 451 4.3.0 busy") == (
            row["status"], row["attempts"], row["reason"], row["result"],
        )  # fmt: skip
        assert before + MINUTE <= row["due_time"] <= before + 1.1 * MINUTE
        assert ["retry"] == await queue.attempts(item)
        assert ["created", "retried"] == await queue.told(item)

    async def test_retry_not_before_the_other_side_said(self, queue: Queue) -> None:
        item = await queue.schedule()
        before = await queue.now()

        await queue.worker().send(Retry("recipient", "450 greylisted", 450, after_seconds=300))

        assert (await queue.row(item))["due_time"] >= before + 5 * MINUTE

    async def test_retry_used_up(self, queue: Queue) -> None:
        await queue.change_pipeline("max_retry_attempts = 1")
        item = await queue.schedule()
        worker = queue.worker()
        await worker.send(Retry("recipient", "busy"))
        await queue.shift(2 * MINUTE)

        await worker.send(Retry("recipient", "still busy"))

        row = await queue.row(item)
        assert (FAILED, 2, "Failed after 2 attempts: still busy") == (row["status"], row["attempts"], row["result"])
        assert ["created", "retried", "failed!"] == await queue.told(item)

    async def test_retry_beyond_its_time(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)

        await worker.settle(Retry("recipient", "busy"), dispatch, waits=Waits(factor=100_000))

        row = await queue.row(item)
        assert (FAILED, "Failed after 1 attempt: busy") == (row["status"], row["result"])

    @pytest.mark.parametrize(
        ("cause", "outcome"), [("throttle", "throttled"), ("account", "retry"), ("connection", "retry")]
    )
    async def test_uncounted(self, queue: Queue, cause: str, outcome: str) -> None:
        item = await queue.schedule()

        await queue.worker().send(Retry(cause, "421 slower", 421))  # pyright: ignore[reportArgumentType]

        row = await queue.row(item)
        assert (SCHEDULED, 0, 1) == (row["status"], row["attempts"], row["throttled"])
        assert ("throttled" if cause == "throttle" else cause, "Held: 421 slower") == (row["reason"], row["result"])
        assert [outcome] == await queue.attempts(item)
        assert ["created"] == await queue.told(item)

    async def test_throttled_until_it_is_too_late(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)
        await worker.settle(Retry("throttle", "slower"), dispatch, waits=Waits(factor=1_000_000))
        row = await queue.row(item)
        assert row["not_after"] == row["due_time"]
        await queue.shift(4 * DAY)

        assert [] == await worker.claim()

        row = await queue.row(item)
        assert (IGNORED, "too_late") == (row["status"], row["reason"])
        assert row["result"].endswith("held by: a provider that takes no more for now")

    async def test_unknown(self, queue: Queue) -> None:
        item = await queue.schedule()
        before = await queue.now()

        await queue.worker().send(Unknown("no answer"))

        row = await queue.row(item)
        assert (SCHEDULED, "outcome_unknown") == (row["status"], row["reason"])
        assert before + 10 * MINUTE <= row["due_time"] <= before + 10.1 * MINUTE
        assert ["unknown"] == await queue.attempts(item)
        assert ["created", "retried"] == await queue.told(item)

    async def test_unknown_where_repeating_is_forbidden(self, queue: Queue) -> None:
        sms = await queue.pipeline(questionnaire_id=queue.house.questionnaire_id, channel_id=SMS, title="SMS")
        item = await sms.schedule("+306912345678")

        await sms.worker().send(Unknown("no answer"))

        row = await sms.row(item)
        assert (UNCERTAIN, "Outcome unknown, not sent again: no answer") == (row["status"], row["result"])
        assert ["created", "failed!"] == await sms.told(item)

    async def test_unknown_used_up(self, queue: Queue) -> None:
        await queue.change_pipeline("max_retry_attempts = 0")
        item = await queue.schedule()

        await queue.worker().send(Unknown("no answer"))

        row = await queue.row(item)
        assert (FAILED, "outcome_unknown") == (row["status"], row["reason"])
        assert "Failed after 1 attempt: outcome unknown: no answer" == row["result"]

    async def test_each_of_a_batch_has_its_own(self, queue: Queue) -> None:
        items = [await queue.schedule(f"a{number}@example.com") for number in range(3)]
        worker = queue.worker()
        one, two, three = await worker.claim()
        await worker.begin(one, two, three)

        async with db.transaction(queue.pool) as database:
            outcomes = [OK, Refused("no"), Unknown("?")]
            results = [
                sending.Result(dispatch, outcome, Waits())
                for dispatch, outcome in zip((one, two, three), outcomes, strict=True)
            ]
            await sending.settle(database, results=results, now=database.clock.now())

        assert [SENT, FAILED, SCHEDULED] == [await queue.status(item) for item in items]

    async def test_long_texts_are_cut(self, queue: Queue) -> None:
        item = await queue.schedule()

        await queue.worker().send(Refused("x" * 5000))

        assert 500 == len((await queue.row(item))["result"])
        assert 500 == await queue.value("select length(reply) from attempt")


class TestRelease:
    @pytest.mark.parametrize("cause", ["throttle", "account", "connection"])
    async def test_ok(self, queue: Queue, cause: str) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()

        async with db.transaction(queue.pool) as database:
            result = sending.Result(dispatch, Retry(cause, "nobody there"), Waits())  # pyright: ignore[reportArgumentType]
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
        async with db.transaction(queue.pool) as database:
            await sending.give_up(
                database, item=dispatch.item, cause="Rendering failed", waits=Waits(), now=database.clock.now()
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
        assert row["due_time"] <= await queue.now()
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
        before = await queue.now()

        await queue.reap()

        row = await queue.row(item)
        assert (SCHEDULED, 2, "outcome_unknown") == (row["status"], row["epoch"], row["reason"])
        assert row["due_time"] >= before + 10 * MINUTE
        assert ["unknown"] == await queue.attempts(item)
        assert ["created", "retried"] == await queue.told(item)

    async def test_sending_where_repeating_is_forbidden(self, queue: Queue) -> None:
        sms = await queue.pipeline(questionnaire_id=queue.house.questionnaire_id, channel_id=SMS, title="SMS")
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


class TestLateTruth:
    async def test_scheduled_again(self, queue: Queue) -> None:
        item = await self.fenced(queue)

        assert (SENT, 3) == ((await queue.row(item))["status"], (await queue.row(item))["epoch"])
        assert ["accepted_late"] == await queue.attempts(item)
        assert ["created", "retried", "sent!"] == await queue.told(item)
        assert await queue.value("select sent_time is not null from questionnaire_instance")

    async def test_claimed_again(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker, other = queue.worker(), queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)
        await queue.shift(LOST)
        await queue.reap(Waits(factor=0))
        [theirs] = await other.claim()

        await worker.settle(OK, dispatch)

        assert SENT == await queue.status(item)
        assert [] == await other.begin(theirs)
        assert ["created", "retried", "sent!"] == await queue.told(item)

    async def test_sending_again(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker, other = queue.worker(), queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)
        await queue.shift(LOST)
        await queue.reap(Waits(factor=0))
        [theirs] = await other.claim()
        await other.begin(theirs)

        await worker.settle(OK, dispatch)
        assert SENDING == await queue.status(item)
        assert ["accepted_late", None] == await queue.attempts(item)
        await other.settle(OK, theirs)

        assert SENT == await queue.status(item)
        assert ["created", "retried", "sent!"] == await queue.told(item)

    async def test_uncertain(self, queue: Queue) -> None:
        sms = await queue.pipeline(questionnaire_id=queue.house.questionnaire_id, channel_id=SMS, title="SMS")
        item = await self.fenced(sms, "+306912345678")

        assert SENT == await queue.status(item)
        assert ["created", "failed!", "sent"] == await queue.told(item)

    async def test_failed_for_an_unknown_outcome(self, queue: Queue) -> None:
        await queue.change_pipeline("max_retry_attempts = 0")
        item = await self.fenced(queue)

        assert (SENT, None) == ((await queue.row(item))["status"], (await queue.row(item))["result"])
        assert ["created", "failed!", "sent"] == await queue.told(item)

    async def test_failed_for_another_reason(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)
        await queue.shift(LOST)
        await queue.reap(Waits(factor=0))
        await queue.worker().send(Refused("550 no"))

        await worker.settle(OK, dispatch)

        assert FAILED == await queue.status(item)
        assert ["accepted_late", "refused"] == await queue.attempts(item)

    async def test_aborted_stays_aborted(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)
        await queue.shift(LOST)
        await queue.reap()
        cancelled = await queue.cancel(item)

        await worker.settle(OK, dispatch)

        assert ABORTED == await queue.status(item)
        assert cancelled.result == "aborted (an earlier attempt may have delivered a copy)"
        assert ["accepted_late"] == await queue.attempts(item)
        assert ["created", "retried", "aborted!"] == await queue.told(item)

    async def fenced(self, queue: Queue, address: str = "ann@example.com") -> QueueItem:
        """An item whose worker hears 250 after the reaper has taken it."""
        item = await queue.schedule(address)
        worker = queue.worker()
        [dispatch] = await worker.claim()
        await worker.begin(dispatch)
        await queue.shift(LOST)
        await queue.reap()
        await worker.settle(OK, dispatch)
        return item
