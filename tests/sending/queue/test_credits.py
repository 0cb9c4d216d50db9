"""Credits used up, or an application switched off: lanes close, and items wait as they are until sending goes on."""

import random
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword.core.scheduling.lanes import START
from afterword.kit import db
from afterword.sending.queue import lanes as lanes_store
from afterword.sending.queue.lanes import SettingsCache
from afterword.sending.queue.sending import service as sending
from afterword.tenants.organizations import plans
from tests.sending.queue.conftest import OK, Queue
from tests.sending.queue.test_lanes import lanes, noted, tidy

SCHEDULED, IGNORED = 1, 8
MINUTE = timedelta(minutes=1)
ITEMS = "/q/questionnaire/{q}/pipeline/{p}/queue/item"
ITEM = {"responder_channel_identifier": "ann@example.com"}


@pytest.fixture
async def unpaid(queue: Queue) -> Queue:
    """A house whose plan has no credits left."""
    await end_credits(queue)
    return queue


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
    paths = (f"/q/queue/item/{item_id}", f"{ITEMS}/{item_id}", ITEMS)
    found = [(await send(queue, http, path)).json() for path in paths]
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
        query = "filter_by[EQUAL][Result]=waiting_credits"
        found = (await send(unpaid, http, f"{ITEMS}?{query}")).json()
        assert [item.item_id] == [each["item_id"] for each in found]

    async def test_a_new_item_has_no_result(self, unpaid: Queue, http: httpx2.AsyncClient) -> None:
        reply = await send(unpaid, http, ITEMS, ITEM)
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
        await end_credits(queue)
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
        await end_credits(queue)
        await queue.execute("update queue_item set not_after = now() + interval '20 seconds'")
        assert [] == await queue.worker().claim()
        row = await queue.row(item)
        assert (SCHEDULED, "no_credits") == (row["status"], row["reason"])
        assert row["due_time"] < row["not_after"]


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
            (ITEMS, ITEM),
            (f"{ITEMS}/batch", [ITEM]),
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


async def test_credits_open_a_lane(queue: Queue) -> None:
    await queue.schedule()
    await end_credits(queue)
    assert 1 == await tidy(queue)
    assert [(False, True)] == await noted(queue)

    await set_credits(queue, 1)

    assert 1 == len(await lanes(queue))
