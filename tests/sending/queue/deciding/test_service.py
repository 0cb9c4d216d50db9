"""The input of a decision, on a real PostgreSQL: held and skipped items, places in the frequency cap."""

import asyncio
from datetime import timedelta

import pytest

from afterword.core.scheduling.decisions import CONTACTS_MAX
from afterword.kit.transport.base import Refused, Retry, Sent, Unknown
from tests.sending.queue.conftest import LEASE_SECONDS, OK, SMS, Queue
from tests.sending.queue.test_credits import expire

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = range(1, 9)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


class TestSkipped:
    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            ("update questionnaire set active = false, version = version + 1", "inactive"),
            ("update questionnaire set archived_time = now(), version = version + 1", "inactive"),
            ("update questionnaire set published_version_id = null", "inactive"),
            ("update pipeline set end_time = now(), version = version + 1", "ended"),
            (
                """update pipeline set version = version + 1, conditions = '{"subject":
                   "questionnaire_metadata:store_id", "operator": "equal", "value": "7"}'""",
                "conditions",
            ),
            ("update queue_item set not_after = now()", "too_late"),
        ],
    )
    async def test_ok(self, queue: Queue, statement: str, reason: str) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        await worker.hand_back(*await worker.claim())  # the settings are remembered, and must not be when they changed
        await queue.execute(statement)

        assert [] == await worker.claim()

        row = await queue.row(item)
        assert (IGNORED, reason, None) == (row["status"], row["reason"], row["lease_until"])
        assert row["result"].startswith("Ignored: ")
        assert not all(check["passed"] for check in row["trace"])
        assert ["created", "ignored!"] == await queue.told(item)

    async def test_all_responses_are_there(self, queue: Queue) -> None:
        await queue.sent("first@example.com")
        await queue.execute("update questionnaire_instance set submitted_time = now()")
        await queue.execute("update questionnaire set responses_max = 1, version = version + 1")
        item = await queue.schedule()

        assert [] == await queue.worker().claim()
        assert "closed" == (await queue.row(item))["reason"]

    @pytest.mark.parametrize("reason", ["unsubscribed", "hard_bounce", "complaint", "blocked", "erased"])
    async def test_suppressed(self, queue: Queue, reason: str) -> None:
        item = await queue.schedule()
        await suppress(queue, reason)

        assert [] == await queue.worker().claim()

        row = await queue.row(item)
        assert (IGNORED, reason) == (row["status"], row["reason"])
        assert 0 == await queue.value("select count(*) from responder")  # nobody is made for nothing

    async def test_suppressed_no_longer(self, queue: Queue) -> None:
        await queue.schedule()
        await suppress(queue, "blocked")
        await queue.execute("update suppression set expires_time = now()")

        assert 1 == len(await queue.worker().claim())

    async def test_suppressed_elsewhere(self, queue: Queue) -> None:
        await queue.schedule()
        await suppress(queue, "unsubscribed")
        await queue.execute("update suppression set channel_id = 2")

        assert 1 == len(await queue.worker().claim())

    async def test_conditions_are_met(self, queue: Queue) -> None:
        tree = {"subject": "questionnaire_metadata:store_pickup", "operator": "equal", "value": True}
        await queue.execute("update pipeline set conditions = $1, version = version + 1", tree)
        await queue.schedule(metadata={"questionnaire": {"store_pickup": "1"}})

        assert 1 == len(await queue.worker().claim())

    async def test_the_instance_was_deleted(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        await worker.hand_back(*await worker.claim())
        await queue.execute("update questionnaire_instance set deleted_time = now()")

        assert [] == await worker.claim()
        row = await queue.row(item)
        assert ("instance_expired", "Ignored: the questionnaire instance was deleted") == (row["reason"], row["result"])


class TestHeld:
    async def test_until_the_pipeline_starts(self, queue: Queue) -> None:
        item = await queue.schedule()
        start_time = await queue.now() + HOUR
        await queue.execute("update pipeline set start_time = $1, version = version + 1", start_time)

        assert [] == await queue.worker().claim()

        row = await queue.row(item)
        assert (SCHEDULED, 0, "not_started", start_time) == (
            row["status"], row["attempts"], row["reason"], row["due_time"],
        )  # fmt: skip
        assert row["result"].startswith("Held: the pipeline starts on ")
        assert ["period"] == [check["rule"] for check in row["trace"] if not check["passed"]]
        assert ["created", "waiting"] == await queue.told(item)

    async def test_until_the_window_opens(self, queue: Queue) -> None:
        """The window stands on the recipient's clock, which is known once they are."""
        await queue.schedule(metadata={"responder": {"first_name": "Ann"}})
        await queue.worker().send(OK)
        await queue.execute("update responder set time_zone = 'Pacific/Kiritimati'")
        now = await queue.now()
        start = (now + 14 * HOUR + HOUR).time().replace(microsecond=0)  # Kiritimati is 14 hours ahead
        end = (now + 14 * HOUR + 3 * HOUR).time().replace(microsecond=0)
        await queue.execute(
            "update pipeline set dispatch_start_time = $1, dispatch_end_time = $2, version = version + 1", start, end
        )
        item = await queue.schedule()
        await queue.execute("update queue_item set due_time = now() where item_id = $1", item.item_id)

        assert [] == await queue.worker().claim()

        row = await queue.row(item)
        assert "outside_window" == row["reason"]
        assert now + HOUR - timedelta(seconds=2) <= row["due_time"] <= now + HOUR + timedelta(minutes=10)
        assert row["result"].endswith("Pacific/Kiritimati: outside the dispatch window")

    async def test_as_a_reminder_until_the_message_before_it_ends(self, queue: Queue) -> None:
        first = await queue.schedule()
        second = await queue.schedule("bob@example.com")
        await queue.execute(
            "update queue_item set previous_item_id = $1, source = 'reminder' where item_id = $2",
            first.item_id,
            second.item_id,
        )
        worker = queue.worker()

        [dispatch] = await worker.claim()
        assert "previous_open" == (await queue.row(second))["reason"]
        await worker.begin(dispatch)
        await worker.settle(OK, dispatch)
        await queue.execute("update queue_item set due_time = now() where item_id = $1", second.item_id)
        [reminder] = await worker.claim()
        assert second.item_id == reminder.item.item_id

    async def test_as_a_reminder_of_what_is_answered(self, queue: Queue) -> None:
        first = await queue.sent()
        await queue.execute("update questionnaire_instance set submitted_time = now()")
        second = await queue.schedule("bob@example.com")
        await queue.execute(
            "update queue_item set previous_item_id = $1, source = 'reminder' where item_id = $2",
            first.item_id,
            second.item_id,
        )

        assert [] == await queue.worker().claim()
        assert "Ignored: already answered" == (await queue.row(second))["result"]


@pytest.fixture
async def capped(queue: Queue) -> Queue:
    """Every address at most once a day."""
    await queue.change_pipeline("frequency_cap_days = 1")
    return queue


class TestFrequencyCap:
    async def test_two_in_one_batch(self, capped: Queue) -> None:
        first, second = await capped.schedule(), await capped.schedule("Ann@EXAMPLE.com")

        [dispatch] = await capped.worker().claim()

        assert first.item_id == dispatch.item.item_id
        row = await capped.row(second)
        assert (IGNORED, "frequency_cap") == (row["status"], row["reason"])
        assert row["result"].startswith("Ignored: asked on ")

    async def test_two_at_once(self, capped: Queue) -> None:
        """Exact: whoever comes second waits for the first and then knows."""
        for _ in range(8):
            await capped.schedule()

        batches = await asyncio.gather(*(capped.worker().claim(2) for _ in range(4)))

        assert 1 == sum(len(batch) for batch in batches)

    async def test_again_after_its_time(self, capped: Queue) -> None:
        await capped.sent()
        [contact] = await capped.fetch("select recent from contact")
        long_ago = [{**entry, "time": (await capped.now() - 2 * DAY).isoformat()} for entry in contact["recent"]]
        await capped.execute("update contact set recent = $1", long_ago)
        await capped.schedule()

        assert 1 == len(await capped.worker().claim())
        assert 2 == await capped.value("select jsonb_array_length(recent) from contact")

    async def test_wait(self, capped: Queue) -> None:
        await capped.change_pipeline("if_capped = 'wait'")
        await capped.sent()
        item = await capped.schedule()

        assert [] == await capped.worker().claim()

        row = await capped.row(item)
        assert (SCHEDULED, "frequency_cap") == (row["status"], row["reason"])
        assert row["due_time"] > await capped.now() + DAY - HOUR

    async def test_its_own_place_is_no_obstacle(self, capped: Queue) -> None:
        await capped.sent(outcome=Retry("recipient", "busy"))
        await capped.shift(HOUR)

        assert 1 == len(await capped.worker().claim())
        assert 1 == await capped.value("select jsonb_array_length(recent) from contact")

    async def test_who_is_skipped_after_an_attempt_gives_the_place_back(self, capped: Queue) -> None:
        item = await capped.sent(outcome=Retry("recipient", "busy"))
        await capped.shift(HOUR)
        await capped.change_pipeline("end_time = now()")

        assert [] == await capped.worker().claim()

        assert IGNORED == await capped.status(item)
        assert 0 == await capped.value("select jsonb_array_length(recent) from contact")

    async def test_the_newest_are_kept_of_those_that_may_count(self, capped: Queue) -> None:
        entries = [
            {"time": time.isoformat(), "pipeline_id": "p", "item_id": str(number), "kind": "invitation"}
            for number in range(CONTACTS_MAX + 50)
            for time in [await capped.now() - (400 * DAY if number < 30 else HOUR)]  # the first are forgotten
        ]
        await capped.sent()
        await capped.execute("update contact set recent = $1", entries)
        await capped.schedule()
        await capped.worker().claim()

        recent = await capped.value("select recent from contact")
        assert CONTACTS_MAX == len(recent)
        assert ["51", str(CONTACTS_MAX + 49)] == [recent[0]["item_id"], recent[-2]["item_id"]]

    @pytest.mark.parametrize(("outcome", "kept"), [(OK, 1), (Refused("550 no"), 0), (Unknown("?"), 1)])
    async def test_after_the_outcome(self, capped: Queue, outcome: Sent | Refused | Unknown, kept: int) -> None:
        await capped.change_pipeline("max_retry_attempts = 0")
        await capped.schedule()

        await capped.worker().send(outcome)

        assert kept == await capped.value("select jsonb_array_length(recent) from contact")

    async def test_cancelled(self, capped: Queue) -> None:
        item = await capped.schedule()
        await capped.worker().claim()

        await capped.cancel(item)

        assert 0 == await capped.value("select jsonb_array_length(recent) from contact")

    async def test_cancelled_after_an_unknown_attempt(self, capped: Queue) -> None:
        item = await capped.sent(outcome=Unknown("?"))

        await capped.cancel(item)

        assert 1 == await capped.value("select jsonb_array_length(recent) from contact")

    async def test_lost_before_sending(self, capped: Queue) -> None:
        await capped.change_pipeline("max_retry_attempts = 0")
        await capped.schedule()
        await capped.worker().claim()
        await capped.shift(timedelta(seconds=LEASE_SECONDS + 1))

        await capped.reap()

        assert 0 == await capped.value("select jsonb_array_length(recent) from contact")


class TestClosedLanes:
    async def test_only_what_is_too_late_ends(self, queue: Queue) -> None:
        old = await queue.schedule()
        await queue.execute("update queue_item set not_after = now()")
        fresh = await queue.schedule("bob@example.com")
        await queue.change_pipeline("paused = true")

        assert 1 == await expire(queue)
        assert [IGNORED, SCHEDULED] == [await queue.status(old), await queue.status(fresh)]
        assert ["created", "ignored!"] == await queue.told(old)


async def suppress(queue: Queue, reason: str) -> None:
    await queue.execute(
        """insert into suppression (organization_id, suppression_id, channel_id, address_key, identifier, reason)
           select organization_id, repeat('s', 22), 1, address_key, responder_channel_identifier, $1 from queue_item""",
        reason,
    )


async def test_sms_windows_follow_the_number(queue: Queue) -> None:
    """A phone number tells the clock of its country before anything else is known."""
    sms = await queue.pipeline(channel_id=SMS)
    now = await queue.now()
    local = now + 9 * HOUR  # Tokyo
    await sms.change_pipeline(
        f"dispatch_start_time = '{(local + HOUR):%H:%M}', dispatch_end_time = '{(local + 2 * HOUR):%H:%M}'"
    )

    item = await sms.schedule("+81312345678")

    assert now + 50 * timedelta(minutes=1) < item.due_time < now + 75 * timedelta(minutes=1)
