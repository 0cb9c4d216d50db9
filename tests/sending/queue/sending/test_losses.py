"""A worker did it, and a promoted server does not know: nothing, or recorded again, or gone."""

import msgspec
import pytest

from afterword.kit.transport.base import Outcome, Refused, Retry, Sent, Unknown
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.queue.sending import losses
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.losses import Loss, Memory
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.service import Result
from tests.promotions import Standby
from tests.sending.queue.conftest import OK, SMS, Queue, Worker
from tests.sending.queue.test_moves import ABORTED, CLAIMED, FAILED, SCHEDULED, SENDING, SENT, UNCERTAIN

NEW = 1 << 32  # above it, epochs of the second timeline begin
UNKNOWN = Unknown("no answer")


@pytest.fixture
def standby(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Standby:
    return Standby(database_url, monkeypatch)


async def remember(queue: Queue, memory: Memory, outcome: Outcome, *dispatches: Dispatch) -> None:
    for dispatch in dispatches:
        memory.end(Result(dispatch, outcome, Waits()), now=await queue.now())


async def compare(queue: Queue, worker: Worker, memory: Memory) -> Loss:
    loss = Loss()
    await losses.compare(queue.pool, memory=memory, lease=worker.lease, loss=loss)
    return loss


class TestNothingIsMissing:
    async def test_nothing_is_remembered(self, queue: Queue) -> None:
        assert Loss() == await compare(queue, queue.worker(), Memory())

    async def test_all_is_there(self, queue: Queue) -> None:
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        await remember(queue, memory, OK, *await worker.send(OK))

        assert Loss() == await compare(queue, worker, memory)

        assert ["accepted"] == await queue.attempts(item)
        assert ["created", "sent!"] == await queue.told(item)

    async def test_a_send_under_way(self, queue: Queue) -> None:
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        [dispatch] = await worker.begin(*await worker.claim())
        memory.begin(dispatch)

        assert Loss() == await compare(queue, worker, memory)

        assert SENDING == await queue.status(item)


class TestGone:
    @pytest.mark.parametrize(("outcome", "is_told"), [(OK, True), (UNKNOWN, True), (Refused("no such user"), False)])
    async def test_an_item(self, queue: Queue, standby: Standby, outcome: Outcome, *, is_told: bool) -> None:
        """It is told where a message may have left."""
        await standby.follow()
        await queue.schedule()
        worker, memory = queue.worker(), Memory()
        [dispatch] = await worker.send(outcome)
        await remember(queue, memory, outcome, dispatch)
        await standby.promote()

        loss = await compare(queue, worker, memory)

        assert Loss(0, {dispatch.item.lease_key} if is_told else set()) == loss

    async def test_an_item_that_is_under_way(self, queue: Queue, standby: Standby) -> None:
        await standby.follow()
        await queue.schedule()
        worker, memory = queue.worker(), Memory()
        [dispatch] = await worker.begin(*await worker.claim())
        memory.begin(dispatch)
        await standby.promote()

        assert {dispatch.item.lease_key} == (await compare(queue, worker, memory)).gone


class TestRecordedAgain:
    @pytest.mark.parametrize("moment", ["scheduled", "claimed", "begun"])
    async def test_accepted(self, queue: Queue, standby: Standby, moment: str) -> None:
        """Whatever the standby had received: the item is sent, its link leads somewhere, and its person is known."""
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        dispatch = await self.sent(queue, standby, worker, moment)
        await remember(queue, memory, OK, dispatch)
        await standby.promote()

        assert Loss(1) == await compare(queue, worker, memory)

        assert ["accepted_late"] == await queue.attempts(item)
        assert "sent!" == (await queue.told(item))[-1]
        row = await queue.row(item)
        assert (SENT, 1, dispatch.instance.instance_id) == (
            row["status"], row["attempts"], row["questionnaire_instance_id"],
        )  # fmt: skip
        found = await queue.value(
            """select i.sent_time is not null and a.unsubscribe_id = $1 from questionnaire_instance i
               join responder r using (organization_id, responder_id)
               join responder_address a using (organization_id, responder_id) where i.instance_id = $2""",
            dispatch.responder.unsubscribe_id,
            dispatch.instance.instance_id,
        )
        assert found
        assert [] == await queue.worker().claim()
        assert Loss() == await compare(queue, worker, memory), "the second time nothing is missing"

    async def sent(self, queue: Queue, standby: Standby, worker: Worker, moment: str) -> Dispatch:
        """Items were sent, of which the standby received no more than this."""
        if moment == "scheduled":
            await standby.follow()
        [dispatch] = await worker.claim()
        if moment == "claimed":
            await standby.follow()
        await worker.begin(dispatch)
        if moment == "begun":
            await standby.follow()
        await worker.settle(OK, dispatch)
        return dispatch

    @pytest.mark.parametrize(
        ("outcome", "status", "kept"),
        [
            (UNKNOWN, SCHEDULED, "unknown"),
            (Retry("recipient", "later"), SCHEDULED, "retry"),
            (Refused("no such user"), FAILED, "refused"),
        ],
    )
    async def test_another_outcome(
        self, queue: Queue, standby: Standby, outcome: Outcome, status: int, kept: str
    ) -> None:
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        await standby.follow()
        await remember(queue, memory, outcome, *await worker.send(outcome))
        await standby.promote()

        assert Loss(1) == await compare(queue, worker, memory)

        assert (status, [kept]) == (await queue.status(item), await queue.attempts(item))

    async def test_a_channel_that_must_not_repeat(self, queue: Queue, standby: Standby) -> None:
        sms = await queue.pipeline(channel_id=SMS)
        item, worker, memory = await sms.schedule("+306912345678"), sms.worker(), Memory()
        await standby.follow()
        await remember(queue, memory, UNKNOWN, *await worker.send(UNKNOWN))
        await standby.promote()

        await compare(queue, worker, memory)

        assert UNCERTAIN == await queue.status(item)

    async def test_two_attempts(self, queue: Queue, standby: Standby) -> None:
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        await standby.follow()
        await remember(queue, memory, UNKNOWN, *await worker.send(UNKNOWN))
        await queue.execute("update queue_item set due_time = now()")
        await remember(queue, memory, OK, *await worker.send(OK))
        await standby.promote()

        assert Loss(2) == await compare(queue, worker, memory)

        assert (SENT, ["unknown", "accepted_late"]) == (await queue.status(item), await queue.attempts(item))
        assert 2 == (await queue.row(item))["attempts"]

    async def test_the_attempt_before_was_another_workers(self, queue: Queue, standby: Standby) -> None:
        """The standby has it open: its end is lost, and unknown here."""
        item, worker, memory, other = await queue.schedule(), queue.worker(), Memory(), queue.worker()
        [theirs] = await other.begin(*await other.claim())
        await standby.follow()
        await other.settle(Retry("recipient", "later"), theirs)
        await queue.execute("update queue_item set due_time = now()")
        await remember(queue, memory, OK, *await worker.send(OK))
        await standby.promote()

        assert Loss(1) == await compare(queue, worker, memory)

        assert (SENT, ["unknown", "accepted_late"]) == (await queue.status(item), await queue.attempts(item))

    async def test_a_send_under_way_ends_well(self, queue: Queue, standby: Standby) -> None:
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        await standby.follow()
        [dispatch] = await worker.begin(*await worker.claim())
        memory.begin(dispatch)
        await standby.promote()

        assert Loss(1) == await compare(queue, worker, memory)

        assert (SENDING, [None]) == (await queue.status(item), await queue.attempts(item))
        assert 1 == await worker.renew(dispatch)
        await worker.settle(OK, dispatch)
        assert (SENT, ["accepted"]) == (await queue.status(item), await queue.attempts(item))

    async def test_a_version_that_is_gone_too(self, queue: Queue, standby: Standby) -> None:
        """The instance cannot be made again; the outcome is recorded all the same."""
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        await standby.follow()
        [dispatch] = await worker.send(OK)
        gone = msgspec.structs.replace(dispatch.instance, version_id="0" * 22)
        await remember(queue, memory, OK, msgspec.structs.replace(dispatch, instance=gone))
        await standby.promote()

        assert Loss(1) == await compare(queue, worker, memory)

        assert (SENT, ["accepted_late"]) == (await queue.status(item), await queue.attempts(item))


class TestMovedOn:
    """Others acted on the new server before this worker had compared: its acceptance is on record all the same."""

    async def test_cancelled(self, queue: Queue, standby: Standby) -> None:
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        await standby.follow()
        await remember(queue, memory, OK, *await worker.send(OK))
        await standby.promote()
        await queue.cancel(item)

        await compare(queue, worker, memory)

        assert (ABORTED, ["accepted_late"]) == (await queue.status(item), await queue.attempts(item))

    async def test_claimed_by_another(self, queue: Queue, standby: Standby) -> None:
        """It is sent, and the other is fenced."""
        item, worker, memory, other = await queue.schedule(), queue.worker(), Memory(), queue.worker()
        await standby.follow()
        await remember(queue, memory, OK, *await worker.send(OK))
        await standby.promote()
        [theirs] = await other.claim()
        assert theirs.item.epoch > NEW

        await compare(queue, worker, memory)

        assert (SENT, ["accepted_late"]) == (await queue.status(item), await queue.attempts(item))
        assert [] == await other.begin(theirs)

    async def test_sent_by_another(self, queue: Queue, standby: Standby) -> None:
        """Both are on record."""
        item, worker, memory = await queue.schedule(), queue.worker(), Memory()
        await standby.follow()
        await remember(queue, memory, OK, *await worker.send(OK))
        await standby.promote()
        await queue.worker().send(OK)

        await compare(queue, worker, memory)

        assert (SENT, ["accepted_late", "accepted"]) == (await queue.status(item), await queue.attempts(item))

    async def test_refused_and_claimed_by_another(self, queue: Queue, standby: Standby) -> None:
        """Nothing left: there is nothing to record."""
        item, worker, memory, other = await queue.schedule(), queue.worker(), Memory(), queue.worker()
        await standby.follow()
        refused = Refused("no such user")
        await remember(queue, memory, refused, *await worker.send(refused))
        await standby.promote()
        await other.claim()

        await compare(queue, worker, memory)

        assert (CLAIMED, []) == (await queue.status(item), await queue.attempts(item))


class TestEpochs:
    async def test_a_holder_of_the_old_server(self, queue: Queue, standby: Standby) -> None:
        """Its claim is gone, and so it begins nothing, whoever claims there."""
        await queue.schedule()
        await standby.follow()
        worker = queue.worker()
        claimed = await worker.claim()
        await standby.promote()
        [again] = await queue.worker().claim()

        assert [] == await worker.begin(*claimed)
        assert again.item.epoch > NEW


class TestMemory:
    async def test_it_has_bounds(self, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(losses, "MEMORY_OUTCOMES_MAX", 2)
        memory = Memory()
        items = [await queue.schedule(f"p{number}@example.com") for number in range(3)]
        for dispatch in await queue.worker().claim():
            memory.begin(dispatch)
            assert memory.since is None
            await remember(queue, memory, OK, dispatch)
            memory.drop(dispatch.item.lease_key)

        assert [item.item_id for item in items[1:]] == [key[1] for key in memory.all()]
        assert memory.since is not None

    async def test_the_last_minute(self, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(losses, "MEMORY_SECONDS", 0.0)
        memory = Memory()
        for number in range(2):
            await queue.schedule(f"p{number}@example.com")
            await remember(queue, memory, Sent(), *await queue.worker().claim())

        assert 1 == len(memory.all())

    async def test_batches(self, queue: Queue, standby: Standby, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(losses, "BATCH_ITEMS_MAX", 2)
        items: list[QueueItemRecord] = [await queue.schedule(f"p{number}@example.com") for number in range(5)]
        worker, memory = queue.worker(), Memory()
        await standby.follow()
        await remember(queue, memory, OK, *await worker.send(OK))
        await standby.promote()

        assert Loss(5) == await compare(queue, worker, memory)

        assert {SENT} == {await queue.status(item) for item in items}
