"""Late information about an attempt whose outcome was unknown."""

from afterword.kit.transport.base import Refused
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.outcomes import Waits
from tests.sending.queue.conftest import SMS, Queue, Worker
from tests.sending.queue.test_moves import ABORTED, FAILED, LOST, OK, SENDING, SENT


class TestLateTruth:
    async def test_scheduled_again(self, queue: Queue) -> None:
        item = await self.fenced(queue)

        assert (SENT, 3) == ((await queue.row(item))["status"], (await queue.row(item))["epoch"])
        assert ["accepted_late"] == await queue.attempts(item)
        assert ["created", "retried", "sent!"] == await queue.told(item)
        assert await queue.value("select sent_time is not null from questionnaire_instance")

    async def test_claimed_again(self, queue: Queue) -> None:
        item, worker, dispatch = await lost(queue)
        other = queue.worker()
        [theirs] = await other.claim()

        await worker.settle(OK, dispatch)

        assert SENT == await queue.status(item)
        assert [] == await other.begin(theirs)
        assert ["created", "retried", "sent!"] == await queue.told(item)

    async def test_sending_again(self, queue: Queue) -> None:
        item, worker, dispatch = await lost(queue)
        other = queue.worker()
        [theirs] = await other.claim()
        await other.begin(theirs)

        await worker.settle(OK, dispatch)
        assert SENDING == await queue.status(item)
        assert ["accepted_late", None] == await queue.attempts(item)
        await other.settle(OK, theirs)

        assert SENT == await queue.status(item)
        assert ["created", "retried", "sent!"] == await queue.told(item)

    async def test_uncertain(self, queue: Queue) -> None:
        sms = await queue.pipeline(channel_id=SMS)
        item = await self.fenced(sms, "+306912345678")

        assert SENT == await queue.status(item)
        assert ["created", "failed!", "sent"] == await queue.told(item)

    async def test_failed_for_an_unknown_outcome(self, queue: Queue) -> None:
        await queue.change_pipeline("max_retry_attempts = 0")
        item = await self.fenced(queue)

        assert (SENT, None) == ((await queue.row(item))["status"], (await queue.row(item))["result"])
        assert ["created", "failed!", "sent"] == await queue.told(item)

    async def test_failed_for_another_reason(self, queue: Queue) -> None:
        item, worker, dispatch = await lost(queue)
        await queue.worker().send(Refused("550 no"))

        await worker.settle(OK, dispatch)

        assert FAILED == await queue.status(item)
        assert ["accepted_late", "refused"] == await queue.attempts(item)

    async def test_aborted_stays_aborted(self, queue: Queue) -> None:
        item, worker, dispatch = await lost(queue)
        cancelled = await queue.cancel(item)

        await worker.settle(OK, dispatch)

        assert ABORTED == await queue.status(item)
        assert cancelled.result == "aborted (an earlier attempt may have delivered a copy)"
        assert ["accepted_late"] == await queue.attempts(item)
        assert ["created", "retried", "aborted!"] == await queue.told(item)

    async def fenced(self, queue: Queue, address: str = "ann@example.com") -> QueueItemRecord:
        """An item whose worker hears 250 after the reaper has taken it."""
        item, worker, dispatch = await lost(queue, address)
        await worker.settle(OK, dispatch)
        return item


async def lost(queue: Queue, address: str = "ann@example.com") -> tuple[QueueItemRecord, Worker, Dispatch]:
    """An item that the reaper took from its worker, due again at once where it is sent again."""
    item = await queue.schedule(address)
    worker = queue.worker()
    [dispatch] = await worker.begin(*await worker.claim())
    await queue.shift(LOST)
    await queue.reap(Waits(factor=0))
    return item, worker, dispatch
