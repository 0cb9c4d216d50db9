"""An application that is switched off: nothing is added, and what is queued waits until it is on again."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword.kit.transport.base import Sent
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_credits import expire
from tests.sending.queue.test_lanes import lanes

SCHEDULED, IGNORED = 1, 8
OK = Sent("reference", 250, "ok")
MINUTE = timedelta(minutes=1)
ITEM = {"responder_channel_identifier": "ann@example.com"}


async def set_active(queue: Queue, *, active: bool) -> None:
    await queue.execute("update application set active = $1, version = version + 1", active)


async def send(queue: Queue, http: httpx2.AsyncClient, path: str, body: Any = None) -> httpx2.Response:
    path = path.format(q=queue.house.questionnaire_id, p=queue.pipeline_id)
    method = "GET" if body is None else "POST"
    return await http.request(method, path, headers=queue.house.headers, json=body)


class TestRefused:
    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/q/questionnaire/{q}/pipeline/{p}/queue/item", ITEM),
            ("/q/questionnaire/{q}/pipeline/{p}/queue/item/batch", [ITEM]),
            ("/q/questionnaire/{q}/instance", {}),
        ],
    )
    async def test_what_is_new(self, queue: Queue, http: httpx2.AsyncClient, path: str, body: Any) -> None:
        await set_active(queue, active=False)
        refused = await send(queue, http, path, body)
        assert (409, "application_inactive") == (refused.status_code, refused.json()["code"])
        assert 0 == await queue.value("select (select count(*) from queue_item) + count(*) from questionnaire_instance")
        await set_active(queue, active=True)
        assert (await send(queue, http, path, body)).is_success


class TestWaits:
    async def test_no_row_is_rewritten(self, queue: Queue) -> None:
        item = await queue.schedule()
        before = await queue.row(item)
        await set_active(queue, active=False)
        assert [] == await lanes(queue)
        assert 0 == await expire(queue)
        assert before == await queue.row(item)
        await set_active(queue, active=True)
        assert 1 == len(await lanes(queue))
        assert 1 == len(await queue.worker().send(OK))

    async def test_what_was_claimed_at_that_moment(self, queue: Queue) -> None:
        """Settings that were remembered do not hide it."""
        item, worker = await queue.schedule(), queue.worker()
        await worker.hand_back(*await worker.claim())
        await set_active(queue, active=False)
        now = await queue.now()
        assert [] == await worker.claim()
        row = await queue.row(item)
        expected = (SCHEDULED, 0, "application_inactive", "Held: the application is not active")
        assert expected == (row["status"], row["attempts"], row["reason"], row["result"])
        assert now < row["due_time"] < now + 2 * MINUTE
        await set_active(queue, active=True)
        await queue.shift(2 * MINUTE)
        assert 1 == len(await worker.send(OK))

    async def test_it_says_so(self, queue: Queue, http: httpx2.AsyncClient) -> None:
        item = await queue.schedule()
        await set_active(queue, active=False)
        trace = (await send(queue, http, f"/q/queue/item/{item.item_id}/trace")).json()
        assert ("hold", "application_inactive") == (trace["verdict"], trace["reason"])

    async def test_not_for_ever(self, queue: Queue) -> None:
        item = await queue.schedule()
        await set_active(queue, active=False)
        await queue.execute("update queue_item set not_after = now()")
        assert 1 == await expire(queue)
        row = await queue.row(item)
        assert (IGNORED, "too_late") == (row["status"], row["reason"])
        assert row["result"].endswith("held by: an application that is not active")
