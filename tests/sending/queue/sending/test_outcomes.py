"""Effects of an outcome on an item: the move, the next time, the attempt, the one terminal event."""

import pytest

from afterword.events.service import data_of
from afterword.kit import db
from afterword.kit.transport.base import Refused, Retry, Unknown
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits
from tests.sending.queue.conftest import SMS, Queue
from tests.sending.queue.test_moves import DAY, FAILED, IGNORED, LOST, MINUTE, OK, SCHEDULED, SECOND, SENT, UNCERTAIN


class TestSettle:
    async def test_fenced(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.begin(*await worker.claim())
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
        data = await queue.value(f"select {data_of('event')} from event where type = 'queue_item.sent'")
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
        await queue.sent(outcome=Refused("550 5.1.1 unknown", 550, suppress=True))
        again = await queue.schedule("ANN@example.com")

        assert [] == await queue.worker().claim()

        row = await queue.row(again)
        assert (IGNORED, "hard_bounce") == (row["status"], row["reason"])

    async def test_retry(self, queue: Queue) -> None:
        item = await queue.schedule()
        before = await queue.now() - SECOND

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
        before = await queue.now() - SECOND

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
        [dispatch] = await worker.begin(*await worker.claim())

        await worker.settle(Retry("recipient", "busy"), dispatch, waits=Waits(factor=100_000))

        row = await queue.row(item)
        assert (FAILED, "Failed after 1 attempt: busy") == (row["status"], row["result"])

    @pytest.mark.parametrize(
        ("cause", "outcome"), [("throttle", "throttled"), ("account", "retry"), ("connection", "retry")]
    )
    async def test_uncounted(self, queue: Queue, cause: str, outcome: str) -> None:
        item = await queue.schedule()

        await queue.worker().send(Retry(cause, "421 slower", 421))  # pyrefly: ignore[bad-argument-type]

        row = await queue.row(item)
        assert (SCHEDULED, 0, 1) == (row["status"], row["attempts"], row["throttled"])
        assert ("throttled" if cause == "throttle" else cause, "Held: 421 slower") == (row["reason"], row["result"])
        assert [outcome] == await queue.attempts(item)
        assert ["created"] == await queue.told(item)

    async def test_throttled_until_it_is_too_late(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.begin(*await worker.claim())
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
        before = await queue.now() - SECOND

        await queue.worker().send(Unknown("no answer"))

        row = await queue.row(item)
        assert (SCHEDULED, "outcome_unknown") == (row["status"], row["reason"])
        assert before + 10 * MINUTE <= row["due_time"] <= before + 10.1 * MINUTE
        assert ["unknown"] == await queue.attempts(item)
        assert ["created", "retried"] == await queue.told(item)

    async def test_unknown_where_repeating_is_forbidden(self, queue: Queue) -> None:
        sms = await queue.pipeline(channel_id=SMS)
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
