"""Every way in which an item can end: exactly one terminal event each, whatever is reported or asked afterwards."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import pytest

from afterword.core.scheduling.statuses import Item
from afterword.kit.transport.base import Refused, Retry, Sent, Unknown
from afterword.kit.transport.mime import Report
from afterword.people.responders import suppressions
from afterword.people.responders.suppressions import SuppressionRequest
from afterword.sending.intake import references
from afterword.sending.intake.references import Reference
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits
from tests.bar import Tell
from tests.sending.queue.conftest import EMAIL, Queue

SENT: Final = Sent("reference-1", 250, "2.0.0 Ok")
End = Callable[[Queue], Awaitable[QueueItemRecord]]


async def sent(queue: Queue) -> QueueItemRecord:
    return await queue.sent(outcome=SENT)


async def reported(queue: Queue) -> QueueItemRecord:
    item = await retried_after_silence(queue)
    await queue.take(Report(kind="delivered", item_id=item.item_id))
    return item


async def refused(queue: Queue) -> QueueItemRecord:
    return await queue.sent(outcome=Refused("550 5.1.1 no", 550, suppress=True))


async def used_up(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set attempts_max = 1")
    await queue.worker().send(Retry("recipient", "450 busy", 450))
    return item


async def out_of_time(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set not_after = now() + interval '30 seconds'")
    await queue.worker().send(Retry("recipient", "450 busy", 450))
    return item


async def uncertain(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set resend_after_seconds = null")
    await queue.worker().send(Unknown("silence"))
    return item


async def silent_too_often(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set attempts_max = 1, resend_after_seconds = 600")
    await queue.worker().send(Unknown("silence"))
    return item


async def cannot_be_made(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set attempts_max = 1")
    [dispatch] = await queue.worker().claim()
    await queue.run(sending.give_up, item=dispatch.item, cause="no template", waits=Waits(), now=await queue.now())
    return item


async def lost_before_sending(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set attempts_max = 1")
    await queue.worker().claim()
    await queue.shift(timedelta(hours=1))
    await queue.reap()
    return item


async def lost_while_sending(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set attempts_max = 1")
    worker = queue.worker()
    await worker.begin(*await worker.claim())
    await queue.shift(timedelta(hours=1))
    await queue.reap()
    return item


async def cancelled(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.cancel(item)
    await queue.cancel(item)
    return item


async def cancelled_after_silence(queue: Queue) -> QueueItemRecord:
    item = await retried_after_silence(queue)
    await queue.cancel(item)
    return item


async def deleted(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.delete(item)
    return item


async def cancelled_by_reference(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule(external_reference="order-1042")
    reference = Reference(
        caller=queue.house.caller,
        path={"questionnaire_id": queue.house.questionnaire_id, "pipeline_id": queue.pipeline_id},
        external_reference="order-1042",
    )
    await queue.run(references.cancel, reference=reference)
    return item


async def too_late(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set not_after = now() - interval '1 second'")
    await queue.worker().claim()
    return item


async def suppressed(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.run(
        suppressions.add,
        caller=queue.house.caller,
        request=SuppressionRequest(channel_id=EMAIL, identifier="ann@example.com"),
        secret=queue.secret,
        now=await queue.now(),
    )
    await queue.worker().claim()
    return item


async def resolved_as_sent(queue: Queue) -> QueueItemRecord:
    return await resolved(queue, is_sent=True)


async def resolved_as_failed(queue: Queue) -> QueueItemRecord:
    return await resolved(queue, is_sent=False)


ENDS: Final[dict[End, Item]] = {
    sent: Item.SENT,
    reported: Item.SENT,
    refused: Item.FAILED,
    used_up: Item.FAILED,
    out_of_time: Item.FAILED,
    uncertain: Item.UNCERTAIN,
    silent_too_often: Item.FAILED,
    cannot_be_made: Item.FAILED,
    lost_before_sending: Item.FAILED,
    lost_while_sending: Item.FAILED,
    cancelled: Item.ABORTED,
    cancelled_after_silence: Item.ABORTED,
    deleted: Item.ABORTED,
    cancelled_by_reference: Item.ABORTED,
    too_late: Item.IGNORED,
    suppressed: Item.IGNORED,
    resolved_as_sent: Item.SENT,
    resolved_as_failed: Item.FAILED,
}


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
async def test_one_terminal_event(queue: Queue, end: End, tell: Tell) -> None:
    item = await end(queue)
    assert ENDS[end] == await queue.status(item)
    at_first = await terminal(queue, item)
    for kind in ("accepted", "delivered", "bounced", "complained"):  # whatever comes afterwards
        await queue.take(Report(kind=kind, item_id=item.item_id))
    await queue.reap()
    await queue.worker().claim()
    found = await terminal(queue, item)
    tell(
        "{ends} ways of ending: terminal events each {fewest_events} at least, {most_events} at most",
        ends=1, fewest_events=min(at_first, found), most_events=max(at_first, found), whole=len(ENDS),
    )  # fmt: skip
    assert (1, 1) == (at_first, found)
    status = await queue.status(item)
    # Late truth alone may still correct what had been thought of as failed without being known.
    assert status == ENDS[end] or (status, end) in {
        (Item.SENT, uncertain), (Item.SENT, silent_too_often), (Item.SENT, lost_while_sending),
    }  # fmt: skip


async def terminal(queue: Queue, item: QueueItemRecord) -> int:
    return await queue.value("select count(*) from event where subject_id = $1 and is_terminal", item.item_id)


async def retried_after_silence(queue: Queue) -> QueueItemRecord:
    item = await queue.schedule()
    await queue.execute("update queue_item set resend_after_seconds = 600")
    await queue.worker().send(Unknown("silence"))
    assert Item.SCHEDULED == await queue.status(item)
    return item


async def resolved(queue: Queue, *, is_sent: bool) -> QueueItemRecord:
    item = await uncertain(queue)
    await queue.resolve(item, is_sent=is_sent)
    return item


async def test_a_claimed_item_that_was_lost_is_ignored_when_it_is_too_late_by_then(queue: Queue) -> None:
    item = await queue.schedule()
    await queue.worker().claim()
    await queue.shift(timedelta(days=400))
    assert 1 == await queue.reap()
    assert [] == await queue.worker().claim()
    row = await queue.row(item)
    assert (Item.IGNORED, "too_late") == (row["status"], row["reason"])
    assert ["created", "ignored!"] == await queue.told(item)
    assert [] == await queue.attempts(item)
