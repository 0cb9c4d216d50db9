"""Credits used up: lanes close, what is due waits as it is and says so, and goes out when credits return."""

import random
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword.core.scheduling.lanes import START
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.sending.queue import lanes as lanes_store
from afterword.sending.queue.lanes import SettingsCache
from afterword.sending.queue.sending import service as sending
from afterword.tenants.organizations import plans
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_lanes import lanes

SCHEDULED, IGNORED = 1, 8
OK = Sent("reference", 250, "ok")
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def unpaid(queue: Queue) -> Queue:
    """A house whose plan has no credits left."""
    async with db.transaction(queue.pool) as database:
        now = database.clock.now()
        await plans.add_plan(
            database,
            organization_id=queue.house.organization_id,
            title="Plan",
            kind="once",
            credits=10,
            start_time=now - MINUTE,
            now=now,
        )
    await set_credits(queue, 0)
    return queue


async def set_credits(queue: Queue, remaining: int) -> None:
    await queue.execute("update plan set remaining_credits = $1", remaining)


async def expire(queue: Queue) -> int:
    """Run the worker's job for closed lanes."""
    worker = queue.worker()
    async with db.transaction(queue.pool) as database:
        closed = await lanes_store.list_closed_lanes(database, after=START, limit=10)
        return await sending.claim_expired(
            database,
            closed=closed,
            lease=worker.lease,
            cache=SettingsCache(),
            secret=queue.secret,
            draw=random.random,
            limit=10,
        )


async def shown(queue: Queue, http: httpx2.AsyncClient, item_id: str) -> dict[str, Any]:
    """The item as both addresses and the list show it."""
    list_path = f"/q/questionnaire/{queue.house.questionnaire_id}/pipeline/{queue.pipeline_id}/queue/item"
    found = [
        (await http.get(path, headers=queue.house.headers)).json()
        for path in (f"/q/queue/item/{item_id}", f"{list_path}/{item_id}", list_path)
    ]
    assert found[0] == found[1]
    [listed] = [each for each in found[2] if each["item_id"] == item_id]
    assert found[0] == listed
    return found[0]


class TestClosed:
    async def test_no_row_is_rewritten(self, unpaid: Queue) -> None:
        item = await unpaid.schedule()
        before = await unpaid.row(item)
        assert [] == await lanes(unpaid)
        assert 0 == await expire(unpaid)
        assert before == await unpaid.row(item)

    async def test_it_says_so(self, unpaid: Queue, http: httpx2.AsyncClient) -> None:
        due = await unpaid.schedule(send_time=await unpaid.now())  # by the database's clock, which lists judge by
        later = await unpaid.schedule("bob@example.com", send_time=await unpaid.now() + timedelta(hours=1))
        waiting = await shown(unpaid, http, due.item_id)
        assert (1, "waiting_credits", None) == tuple(waiting[n] for n in ("status_id", "result", "retry_attempts"))
        assert (await shown(unpaid, http, later.item_id))["result"] is None
        await set_credits(unpaid, 1)
        assert (await shown(unpaid, http, due.item_id))["result"] is None

    async def test_filter(self, unpaid: Queue, http: httpx2.AsyncClient) -> None:
        item = await unpaid.schedule(send_time=await unpaid.now())
        path = f"/q/questionnaire/{unpaid.house.questionnaire_id}/pipeline/{unpaid.pipeline_id}/queue/item"
        query = "filter_by[EQUAL][Result]=waiting_credits"
        found = (await http.get(f"{path}?{query}", headers=unpaid.house.headers)).json()
        assert [item.item_id] == [each["item_id"] for each in found]

    async def test_a_new_item_has_no_result(self, unpaid: Queue, http: httpx2.AsyncClient) -> None:
        path = f"/q/questionnaire/{unpaid.house.questionnaire_id}/pipeline/{unpaid.pipeline_id}/queue/item"
        document = {"responder_channel_identifier": "ann@example.com"}
        reply = await http.post(path, headers=unpaid.house.headers, json=document)
        assert (201, 1, None) == (reply.status_code, reply.json()["status_id"], reply.json()["result"])

    async def test_too_late(self, unpaid: Queue) -> None:
        item = await unpaid.schedule()
        await unpaid.execute("update queue_item set not_after = now()")
        assert 1 == await expire(unpaid)
        row = await unpaid.row(item)
        assert (IGNORED, "too_late") == (row["status"], row["reason"])
        assert row["result"].endswith("held by: credits that are used up")
        assert ["created", "ignored!"] == await unpaid.told(item)

    async def test_no_accountable_questionnaire(self, unpaid: Queue) -> None:
        await unpaid.execute("update questionnaire set credits_accountable = false, version = version + 1")
        await unpaid.schedule()
        assert [unpaid.pipeline_id] == [lane.pipeline_id for lane in await lanes(unpaid)]
        assert 1 == len(await unpaid.worker().send(OK))

    @pytest.mark.parametrize(
        "statement",
        [
            "update plan set extra_credits = 1",
            "update plan set remaining_credits = 1",
            "update plan set kind = 'unlimited', credits = null, remaining_credits = null",
            "delete from plan",
        ],
    )
    async def test_credits_return(self, unpaid: Queue, statement: str) -> None:
        await unpaid.schedule()
        assert [] == await lanes(unpaid)
        await unpaid.execute(statement)
        assert 1 == len(await lanes(unpaid))
        assert 1 == len(await unpaid.worker().send(OK))

    async def test_a_plan_of_another_application(self, unpaid: Queue) -> None:
        await unpaid.execute(
            """insert into application (organization_id, application_id, application_type_id, display_name)
               select organization_id, 'other', application_type_id, 'Other' from application"""
        )
        await unpaid.execute("update plan set application_id = 'other'")
        await unpaid.schedule()
        assert 1 == len(await lanes(unpaid))


class TestHeld:
    async def test_what_was_claimed_at_that_moment(self, queue: Queue) -> None:
        """Settings that were remembered do not hide that credits ended."""
        item = await queue.schedule()
        worker = queue.worker()
        await worker.hand_back(*await worker.claim())
        await self.end_credits(queue)
        now = await queue.now()

        assert [] == await worker.claim()

        row = await queue.row(item)
        assert (SCHEDULED, 0, "no_credits", "waiting_credits") == (
            row["status"], row["attempts"], row["reason"], row["result"],
        )  # fmt: skip
        assert now < row["due_time"] < now + 2 * MINUTE
        assert [("credits", False)] == [(c["rule"], c["passed"]) for c in row["trace"] if not c["passed"]]
        assert ["period", "credits", "previous"] == [check["rule"] for check in row["trace"]][:3]
        assert ["created", "waiting"] == await queue.told(item)
        await set_credits(queue, 5)
        await queue.shift(2 * MINUTE)
        assert 1 == len(await worker.send(OK))

    async def test_shortly_before_its_end(self, queue: Queue) -> None:
        """It is not given up while credits may return in time."""
        item = await queue.schedule()
        await self.end_credits(queue)
        await queue.execute("update queue_item set not_after = now() + interval '20 seconds'")
        assert [] == await queue.worker().claim()
        row = await queue.row(item)
        assert (SCHEDULED, "no_credits") == (row["status"], row["reason"])
        assert row["due_time"] < row["not_after"]

    @staticmethod
    async def end_credits(queue: Queue) -> None:
        async with db.transaction(queue.pool) as database:
            now = database.clock.now()
            await plans.add_plan(
                database,
                organization_id=queue.house.organization_id,
                title="Plan",
                kind="once",
                credits=10,
                start_time=now - MINUTE,
                now=now,
            )
        await set_credits(queue, 0)
