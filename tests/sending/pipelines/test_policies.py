"""The contact policy on a real PostgreSQL: the door, what is counted, who goes first, quiet hours and holidays."""

import asyncio
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from afterword.kit import db
from afterword.kit.transport.base import Refused, Retry
from afterword.sending.queue.records import QueueItemRecord
from tests.sending.queue.conftest import OK, OUTBOX, Client, Queue, codes

SCHEDULED, IGNORED = 1, 8
PATH = "/policy/contact"
ATHENS = ZoneInfo("Europe/Athens")
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
DEFAULTS = {
    "enabled": False, "invitations_max": 1, "window_days": 30, "response_window_days": None, "per_channel": True,
    "count_reminders": False, "if_exceeded": "skip", "quiet_start_time": None, "quiet_end_time": None,
    "holiday_country": None, "holidays": [],
}  # fmt: skip


async def put(client: Client, **wanted: object) -> dict[str, Any]:
    return await client.ok("PUT", PATH, wanted)


class TestGet:
    async def test_never_saved(self, client: Client) -> None:
        response = await client.send("GET", PATH)

        assert 200 == response.status_code
        found = response.json()
        assert DEFAULTS == {name: found[name] for name in DEFAULTS}
        assert client.queue.house.organization_id == found["organization_id"]
        assert found["updated_time"]
        assert found["updated_by"] is None


class TestPut:
    async def test_invalid(self, client: Client) -> None:
        for wanted, wrong in (
            ({"quiet_start_time": "21:00"}, [("/quiet_end_time", "required")]),
            ({"quiet_end_time": "21:00"}, [("/quiet_start_time", "required")]),
            ({"quiet_start_time": "21:00", "quiet_end_time": "21:00"}, [("/quiet_end_time", "out_of_range")]),
            ({"holiday_country": "greece"}, [("/holiday_country", "invalid_format")]),
            ({"holiday_country": "XX"}, [("/holiday_country", "unknown_value")]),
            ({"holiday_country": "GR-99"}, [("/holiday_country", "unknown_value")]),
            ({"holiday_country": "CH"}, [("/holiday_country", "unknown_value")]),  # each canton has its own
        ):
            response = await client.send("PUT", PATH, wanted)

            assert 422 == response.status_code
            assert wrong == codes(response)
            assert 0 == await client.queue.value("select count(*) from contact_policy")

    async def test_hours_that_leave_a_pipeline_no_time(self, client: Client) -> None:
        await client.queue.pipeline(title="Late", dispatch_start_time=time(22), dispatch_end_time=time(23))

        response = await client.send("PUT", PATH, {"quiet_start_time": "21:00", "quiet_end_time": "08:00"})

        assert [("/quiet_start_time", "out_of_range")] == codes(response)
        assert "“Late”" in response.json()["errors"][0]["message"]

    async def test_a_pipeline_that_they_leave_no_time(self, client: Client) -> None:
        await put(client, quiet_start_time="21:00", quiet_end_time="08:00")
        window = {"dispatch_start_time": "22:00", "dispatch_end_time": "23:00"}

        response = await client.send("PATCH", client.pipeline, window)

        assert [("/dispatch_start_time", "out_of_range")] == codes(response)
        assert (
            200 == (await client.send("PATCH", client.pipeline, {**window, "dispatch_end_time": "09:00"})).status_code
        )

    async def test_ok(self, client: Client) -> None:
        wanted = {
            "enabled": True, "invitations_max": 3, "window_days": 90, "response_window_days": 14, "per_channel": False,
            "count_reminders": True, "if_exceeded": "wait", "quiet_start_time": "21:00", "quiet_end_time": "08:30",
            "holiday_country": "DE-BY", "holidays": ["2026-12-24", "2026-01-02", "2026-12-24"],
        }  # fmt: skip
        found = await put(client, **wanted)

        assert {**wanted, "holidays": ["2026-01-02", "2026-12-24"]} == {name: found[name] for name in wanted}
        assert found == await client.ok("GET", PATH)
        assert found["updated_by"] is not None

    async def test_replaces_the_whole(self, client: Client) -> None:
        await put(client, enabled=True, invitations_max=3, holidays=["2026-12-24"])

        found = await put(client, window_days=7)

        assert {**DEFAULTS, "window_days": 7} == {name: found[name] for name in DEFAULTS}

    async def test_the_same_again(self, client: Client) -> None:
        first = await client.send("PUT", PATH, {"enabled": True})
        second = await client.send("PUT", PATH, {"enabled": True}, if_match=first.headers["ETag"])

        assert 200 == second.status_code
        assert first.headers["ETag"] == second.headers["ETag"]


async def decided(queue: Queue, item: QueueItemRecord) -> tuple[int, str | None]:
    row = await queue.row(item)
    return row["status"], row["reason"]


@pytest.fixture
async def other(queue: Queue) -> Queue:
    """A second pipeline of the organization, before the first one where they compete."""
    return await queue.pipeline(title="After delivery", priority=1)


class TestCounting:
    async def test_over_all_pipelines(self, client: Client, other: Queue) -> None:
        queue = client.queue
        await put(client, enabled=True)
        await queue.sent()
        item, elsewhere = await other.schedule("Ann@EXAMPLE.com"), await other.schedule("bob@example.com")

        [going] = await other.worker().claim()

        assert elsewhere.item_id == going.item.item_id
        assert (IGNORED, "contact_policy") == await decided(queue, item)
        result = (await queue.row(item))["result"]
        title = await queue.value("select title from pipeline where pipeline_id = $1", queue.pipeline_id)
        assert result.startswith("Ignored: 1 invitation since ")
        assert result.endswith(f" Europe/Athens, limit 1 in 30 days; the last from “{title}”")

    async def test_switched_off(self, client: Client, other: Queue) -> None:
        await put(client, enabled=False)
        await client.queue.sent()
        await other.schedule()

        assert 1 == len(await other.worker().claim())
        assert 0 == await other.value("select count(*) from contact")

    async def test_what_was_sent_before_it_was_switched_on(self, client: Client, other: Queue) -> None:
        await client.queue.sent()
        await client.queue.sent("old@example.com")
        await client.queue.execute(
            """update questionnaire_instance set sent_time = now() - interval '31 days' where item_id = (
                 select item_id from queue_item where responder_channel_identifier = 'old@example.com')"""
        )
        await put(client, enabled=True)
        item, late = await other.schedule(), await other.schedule("old@example.com")

        [going] = await other.worker().claim()

        assert late.item_id == going.item.item_id
        assert (IGNORED, "contact_policy") == await decided(other, item)

    async def test_what_was_sent_before_there_was_a_cap(self, client: Client) -> None:
        queue = client.queue
        for address in ("ann@example.com", "old@example.com"):
            await queue.sent(address)
        await queue.execute(
            """update questionnaire_instance set sent_time = now() - interval '31 days' where item_id = (
                 select item_id from queue_item where responder_channel_identifier = 'old@example.com')"""
        )
        assert 200 == (await client.send("PATCH", client.pipeline, {"frequency_cap_days": 30})).status_code
        item, late = await queue.schedule("Ann@EXAMPLE.com"), await queue.schedule("old@example.com")

        [going] = await queue.worker().claim()

        assert late.item_id == going.item.item_id
        assert (IGNORED, "frequency_cap") == await decided(queue, item)
        assert 200 == (await client.send("PATCH", client.pipeline, {"frequency_cap_days": 31})).status_code
        since = await queue.value("select capped_time from pipeline where pipeline_id = $1", queue.pipeline_id)
        assert since < await queue.now()  # a longer cap does not begin anew

    async def test_until_a_place_is_free(self, client: Client, other: Queue) -> None:
        queue = client.queue
        await put(client, enabled=True, invitations_max=2, window_days=2, if_exceeded="wait")
        for _ in range(2):
            await queue.sent()
        first = await queue.value(
            "select min((entry ->> 'time')::timestamptz) from contact, jsonb_array_elements(recent) entry"
        )
        item = await other.schedule()

        assert [] == await other.worker().claim()

        row = await other.row(item)
        assert (SCHEDULED, "contact_policy", first + 2 * DAY) == (row["status"], row["reason"], row["due_time"])
        assert row["result"].startswith("Held: 2 invitations since ")

    async def test_exempt_pipelines_send_and_count(self, client: Client, other: Queue) -> None:
        await put(client, enabled=True)
        await other.change_pipeline("policy_exempt = true")
        for _ in range(2):
            await other.schedule()
            assert 1 == len(await other.worker().send(OK))
        item = await client.queue.schedule()

        assert [] == await client.queue.worker().claim()
        assert (IGNORED, "contact_policy") == await decided(client.queue, item)

    async def test_what_was_refused_does_not_count(self, client: Client, other: Queue) -> None:
        await put(client, enabled=True)
        await client.queue.sent(outcome=Refused("550 no"))
        await other.schedule()

        assert 1 == len(await other.worker().claim())

    async def test_a_retry_keeps_its_own_place(self, client: Client) -> None:
        queue = client.queue
        await put(client, enabled=True)
        await queue.sent(outcome=Retry("recipient", "busy"))
        await queue.execute("update queue_item set due_time = now()")

        assert 1 == len(await queue.worker().claim())

    async def test_after_a_response(self, client: Client, other: Queue) -> None:
        queue = client.queue
        await put(client, enabled=True, invitations_max=100, response_window_days=7)
        await queue.sent()
        await other.schedule()
        assert 1 == len(await other.worker().send(OK))  # not answered yet
        await queue.execute("update questionnaire_instance set submitted_time = now() - interval '6 days' where true")
        item = await other.schedule()

        assert [] == await other.worker().claim()
        assert (IGNORED, "contact_policy") == await decided(other, item)
        assert (await other.row(item))["result"].startswith("Ignored: answered on ")

        await queue.execute("update questionnaire_instance set submitted_time = now() - interval '8 days'")
        await other.schedule()
        assert 1 == len(await other.worker().claim())

    @pytest.mark.parametrize(("per_channel", "count"), [(True, 1), (False, 0)])
    async def test_another_address_of_the_person(self, client: Client, *, per_channel: bool, count: int) -> None:
        queue = client.queue
        await put(client, enabled=True, per_channel=per_channel)
        boxed = await queue.pipeline(channel_id=OUTBOX, title="Box")
        await boxed.schedule("ann")
        await boxed.worker().send(Refused("full"))  # known from now on, and not asked
        await queue.sent()
        await queue.execute("update responder_address set responder_id = (select min(responder_id) from responder)")
        await boxed.schedule("ann")

        assert count == len(await boxed.worker().claim())

    async def test_reminders(self, client: Client) -> None:
        queue = client.queue
        await put(client, enabled=True)
        reminder = {"delay_days": 0, "delay_hours": 0, "delay_minutes": 0, "messages": {}}
        await queue.execute("update pipeline set reminders = $1, version = version + 1", [reminder])
        await queue.sent()
        assert 1 == len(await queue.worker().send(OK))  # the reminder: it is not counted, nor counted against

        await put(client, enabled=True, count_reminders=True, invitations_max=2)
        await queue.schedule()
        assert [] == await queue.worker().claim()


class TestRaces:
    async def test_two_workers_one_place(self, client: Client, other: Queue) -> None:
        """Exact over pipelines: whoever comes second waits for the first and then knows."""
        await put(client, enabled=True)
        for _ in range(6):
            await client.queue.schedule()
            await other.schedule()

        batches = await asyncio.gather(
            *(client.queue.worker().claim(2) for _ in range(3)), *(other.worker().claim(2) for _ in range(3))
        )

        assert sum(len(batch) for batch in batches) <= 1
        await client.queue.execute("update queue_item set due_time = now() where status = 1")
        more = await client.queue.worker().claim(10), await other.worker().claim(10)
        assert 1 == sum(len(batch) for batch in (*batches, *more))

    async def test_three_places(self, client: Client, other: Queue) -> None:
        await put(client, enabled=True, invitations_max=3)
        for _ in range(6):
            await client.queue.schedule()
            await other.schedule()
        gone = 0
        while await client.queue.value("select count(*) from queue_item where status = 1"):
            batches = await asyncio.gather(
                *(each.worker().claim(2) for each in (client.queue, other) for _ in range(3))
            )
            gone += sum(len(batch) for batch in batches)
            await client.queue.execute("update queue_item set due_time = now() where status = 1")

        assert 3 == gone


class TestPriority:
    async def test_in_one_batch(self, client: Client, other: Queue) -> None:
        await put(client, enabled=True)
        later, first = await client.queue.schedule(), await other.schedule()

        [going] = await client.queue.worker().claim(shares={client.queue.lane: 5, other.lane: 5})

        assert first.item_id == going.item.item_id
        assert (IGNORED, "contact_policy") == await decided(client.queue, later)
        assert (await other.row(later))["result"].endswith("the last from “After delivery”")

    async def test_who_is_not_claimed_yet(self, client: Client, other: Queue) -> None:
        await put(client, enabled=True)
        later, first = await client.queue.schedule(), await other.schedule()

        assert [] == await client.queue.worker().claim()

        row = await client.queue.row(later)
        assert (SCHEDULED, "contact_policy") == (row["status"], row["reason"])
        assert row["result"].startswith("Held: makes way for “After delivery”, which is due for the same person")
        assert row["due_time"] - await client.queue.now() < timedelta(minutes=6)
        [going] = await other.worker().send(OK)
        assert first.item_id == going.item.item_id
        await client.queue.execute("update queue_item set due_time = now() where status = 1")
        assert [] == await client.queue.worker().claim()
        assert (IGNORED, "contact_policy") == await decided(client.queue, later)

    async def test_alike_in_due_order(self, client: Client, other: Queue) -> None:
        await put(client, enabled=True)
        await other.change_pipeline("priority = 5")
        first, later = await client.queue.schedule(), await other.schedule()
        await other.execute(
            "update queue_item set due_time = now() - interval '1 minute' where item_id = $1", first.item_id
        )

        assert [] == await other.worker().claim()
        assert SCHEDULED == await other.status(later)
        assert 1 == len(await client.queue.worker().claim())

    @pytest.mark.parametrize(
        "statement",
        [
            "update pipeline set paused = true, version = version + 1 where pipeline_id = $1",
            "update pipeline set end_time = now(), version = version + 1 where pipeline_id = $1",
            "update queue_item set due_time = now() + interval '1 hour' where pipeline_id = $1",
            "update queue_item set due_time = now() - interval '2 hours' where pipeline_id = $1",  # who would send it?
            "update queue_item set status = 7 where pipeline_id = $1",
        ],
    )
    async def test_no_way_is_made_for_who_does_not_go(self, client: Client, other: Queue, statement: str) -> None:
        await put(client, enabled=True)
        item, _ = await client.queue.schedule(), await other.schedule()
        await other.execute(statement, other.pipeline_id)

        [going] = await client.queue.worker().claim()
        assert item.item_id == going.item.item_id


async def clock_of(queue: Queue) -> datetime:
    """The time on the organization's wall."""
    return (await queue.now()).astimezone(ATHENS)


class TestQuiet:
    async def test_hours(self, client: Client) -> None:
        queue, now = client.queue, await clock_of(client.queue)
        early = await queue.schedule()
        start, end = now - HOUR, now + HOUR
        await put(client, quiet_start_time=f"{start:%H:%M}", quiet_end_time=f"{end:%H:%M}")

        assert [] == await queue.worker().claim()
        row = await queue.row(early)
        assert (SCHEDULED, "quiet_hours") == (row["status"], row["reason"])
        assert row["result"].startswith("Held until ")
        assert row["result"].endswith(" Europe/Athens: quiet hours")
        fresh = await queue.row(await queue.schedule("bob@example.com"))
        ends = await queue.now() + HOUR - timedelta(minutes=1)
        assert ends <= fresh["due_time"] <= ends + timedelta(minutes=12)  # the same by the creation's own look

    async def test_a_holiday(self, client: Client) -> None:
        queue, now = client.queue, await clock_of(client.queue)
        early = await queue.schedule()
        today = now.date()
        await put(client, holidays=[(today + n * DAY).isoformat() for n in (0, 1)])
        exempt = await queue.pipeline(title="Alarm", on_holidays="send")
        await exempt.schedule("bob@example.com")

        assert [] == await queue.worker().claim()
        row = await queue.row(early)
        assert (SCHEDULED, "holiday") == (row["status"], row["reason"])
        assert today + 2 * DAY == row["due_time"].astimezone(ATHENS).date()
        assert row["result"].endswith(": a holiday")
        fresh = await queue.row(await queue.schedule("cat@example.com"))
        assert fresh["due_time"] > await queue.now() + DAY
        assert 1 == len(await exempt.worker().claim())

    async def test_of_a_country(self, client: Client) -> None:
        await put(client, holiday_country="GR")
        year = (await client.queue.now()).year + 1
        send_time = f"{year}-12-25T12:00:00+02:00"

        item = await client.create(send_time=send_time)

        due_time = await client.queue.value("select due_time from queue_item")
        assert date(year, 12, 27) == due_time.astimezone(ATHENS).date()
        trace = await client.ok("GET", f"/q/queue/item/{item['item_id']}/trace")
        assert "go" == trace["verdict"]
        assert trace["planned_local_time"].startswith(f"{year}-12-27T00:0")


async def test_settings_follow_at_once(client: Client, pool: db.Pool) -> None:
    """A worker that remembers the lane's settings hears of the policy with its next batch."""
    worker = client.queue.worker()
    await client.queue.schedule()
    assert 1 == len(await worker.send(OK))
    await put(client, enabled=True)
    await client.queue.schedule()

    assert [] == await worker.claim()
