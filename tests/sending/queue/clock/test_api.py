"""The clock of test items: refusals, and what it moves and leaves where it is."""

import pytest

from afterword.kit.transport.base import Sent
from afterword.sending.queue import clock
from tests.dates import YEAR
from tests.sending.queue.conftest import Client, codes

CLOCK = "/q/queue/clock"
SENT, WAITING = 4, 1


async def move(client: Client, hours: int) -> None:
    response = await client.send("POST", CLOCK, {"hours": hours})
    assert 200 == response.status_code, response.text


async def test_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    await move(client, clock.AHEAD_HOURS_MAX)
    response = await client.send("POST", CLOCK, {"hours": 1})
    assert [("/hours", "out_of_range")] == codes(response)
    await client.create(test=True)
    await client.send("DELETE", CLOCK)
    monkeypatch.setattr(clock, "ITEMS_MAX", 0)
    assert "too_many_items" == (await client.send("POST", CLOCK, {"hours": 1})).json()["code"]


async def test_a_reminder_arrives_at_once(client: Client) -> None:
    """The test's; the reminder of a real item waits on."""
    queue = client.queue
    await queue.change_pipeline("""reminders = '[{"delay_days": 3, "delay_hours": 0, "delay_minutes": 0}]'""")
    real, test = await queue.schedule("ben@example.com"), await queue.schedule(test=True)
    worker = queue.worker()
    assert 2 == len(await worker.send(Sent("captured")))
    await move(client, 71)
    assert [] == await worker.send(Sent("captured"))
    await move(client, 1)
    [reminder] = await worker.send(Sent("captured"))
    assert (test.item_id, "reminder") == (reminder.item.previous_item_id, reminder.item.source)
    waiting = await queue.value("select due_time > now() + interval '71 hours' from queue_item where status = 1")
    assert (True, SENT) == (waiting, await queue.status(real))


async def test_windows_and_times_go_by_it(client: Client) -> None:
    """Today is no day of the pipeline, a day later is one; new items and caps go by the moved clock too."""
    queue = client.queue
    await queue.change_pipeline(
        """time_zone = 'UTC', frequency_cap_hours = 20, if_capped = 'wait',
           weekdays = array[extract(isodow from now() at time zone 'UTC' + interval '1 day')::int]"""
    )
    test, real = await queue.schedule(test=True), await queue.schedule("ben@example.com")
    worker = queue.worker()
    assert [] == await worker.send(Sent("captured"))
    await move(client, 24)
    [sent] = await worker.send(Sent("captured"))
    assert (test.item_id, WAITING) == (sent.item.item_id, await queue.status(real))
    again = await client.create(test=True)  # its address was asked a moment ago, by the moved clock
    assert [] == await worker.send(Sent("captured"))
    assert "frequency_cap" == await queue.value("select reason from queue_item where item_id = $1", again["item_id"])
    await queue.change_pipeline("weekdays = array[1, 2, 3, 4, 5, 6, 7]")
    await queue.execute("update queue_item set due_time = now() where item_id = $1", real.item_id)
    same = await queue.schedule()  # a real item to the address of the tests, which no cap holds
    assert {real.item_id, same.item_id} == {each.item.item_id for each in await worker.send(Sent("ok"))}
    await move(client, 20)
    assert [again["item_id"]] == [each.item.item_id for each in await worker.send(Sent("captured"))]


async def test_expiry_and_back(client: Client) -> None:
    queue = client.queue
    await queue.execute("update questionnaire set valid_days = 2")
    await queue.schedule(test=True)
    later = await client.create(test=True, send_time=f"{YEAR}-05-02T10:00:00+00:00")
    await queue.worker().send(Sent("captured"))
    await move(client, 60)
    aged = "select sent_time < now() - interval '59 hours' from questionnaire_instance"
    assert await queue.value(aged)
    shown = await client.ok("GET", CLOCK)
    assert 60 * 3600 == shown["ahead_seconds"]
    due = "select due_time - send_time from queue_item where item_id = $1"
    assert -60 * 3600 == (await queue.value(due, later["item_id"])).total_seconds()
    assert 204 == (await client.send("DELETE", CLOCK)).status_code
    assert 0 == (await queue.value(due, later["item_id"])).total_seconds()
    assert 0 == (await client.ok("GET", CLOCK))["ahead_seconds"]
