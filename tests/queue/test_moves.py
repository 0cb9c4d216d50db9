"""Every move of an item on a real PostgreSQL: its guard, its effect, its one terminal event."""

import pytest

from afterword.channels.base import Refused, Retry, Sent, Unknown
from tests.queue.conftest import Queue

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = range(1, 9)


class TestSent:
    async def test_ok(self, queue: Queue) -> None:
        item = await queue.schedule(metadata={"questionnaire": {"transaction_id": "1042"}})
        worker = queue.worker()

        [dispatch] = await worker.claim()
        assert CLAIMED == await queue.status(item)
        assert [dispatch] == await worker.begin(dispatch)
        assert SENDING == await queue.status(item)
        await worker.settle(Sent("abc", 250, "ok"), dispatch)

        row = await queue.row(item)
        assert (SENT, 1, None, None) == (row["status"], row["attempts"], row["lease_until"], row["owner"])
        assert row["dispatched_time"] is not None
        assert dispatch.instance.instance_id == row["questionnaire_instance_id"]
        assert ["accepted"] == await queue.attempts(item)
        assert ["created", "sent!"] == await queue.told(item)
        assert {"transaction_id": "1042"} == dispatch.instance.metadata
