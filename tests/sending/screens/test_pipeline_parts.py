"""The forms of a pipeline's parts: stored as typed, refused at their field, never over the change of somebody else."""

import re

import httpx2
import pytest

from afterword.kit.transport.base import Sent
from tests.dates import YEAR
from tests.sending.queue.conftest import Client
from tests.sending.screens.conftest import plain
from tests.sending.screens.test_pipelines import path_of, version_of

HOURS = {"weekdays": ["1", "2", "3", "4", "5", "6"], "dispatch_start_time": "09:00", "dispatch_end_time": "20:00",
         "zone_of": "recipient", "time_zone": "", "if_outside": "wait", "on_holidays": "wait"}  # fmt: skip
CASES = {
    "name": ({"title": "Second <b>", "description": ""}, "Second &lt;b&gt;"),
    "delay": ({"delay_cap_days": "2", "delay_cap_hours": "", "delay_cap_minutes": "0"}, "is due after 2 days."),
    "frequency": (
        {"frequency_cap_days": "30", "frequency_cap_hours": "", "frequency_cap_minutes": "", "if_capped": "skip",
         "policy_exempt": "1"},
        "one message in 30 days; further ones are not sent. The contact policy does not apply here.",
    ),
    "hours": (HOURS, "Messages are sent Mon to Sat, 09:00 to 20:00 in the customer's time zone."),
    "reminders": (
        {"days-0": "3", "hours-0": "", "minutes-0": "", "days-1": "7"},
        "2 reminders follow, after 3 days and 7 days, until the first answer.",
    ),
    "sender": (
        {"sender_name": "Shop", "sender_address": "", "reply_to": "help@example.com"},
        "The sender is Shop. Replies go to help@example.com.",
    ),
    "period": ({"start_time": "", "end_time": "2029-12-01T09:00"}, "The pipeline runs until Dec 1, 2029, 9:00"),
    "effort": (
        {"max_retry_attempts": "1", "not_after_days": "5", "priority": "0"},
        "tried 1 time more. A message is not sent later than 5 days after its send time.",
    ),
}  # fmt: skip
WRONG = (
    ("delay", {"delay_cap_days": "366"}, "delay_cap_days"),
    ("frequency", {"frequency_cap_days": "x", "if_capped": "skip"}, "frequency_cap_days"),
    ("hours", {**HOURS, "dispatch_end_time": ""}, "dispatch_end_time"),
    ("hours", {**HOURS, "weekdays": []}, "weekdays"),
    ("hours", {**HOURS, "time_zone": "Moon"}, "time_zone"),
    ("reminders", {"days-1": "400"}, "days-0"),
    ("sender", {"reply_to": "nobody"}, "reply_to"),
    ("period", {"start_time": "2029-12-02T09:00", "end_time": "2029-12-01T09:00"}, "end_time"),
    ("effort", {"max_retry_attempts": "21", "not_after_days": "5", "priority": "0"}, "max_retry_attempts"),
    ("name", {"title": ""}, "title"),
)  # fmt: skip


async def test_saved_and_told(client: Client, browser: httpx2.AsyncClient) -> None:
    path = path_of(client)
    for part, (form, sentence) in CASES.items():
        version = version_of(await browser.get(f"{path}/{part}"))
        saved = await browser.post(f"{path}/{part}", data={**form, "version": version})
        assert 303 == saved.status_code, part
        assert sentence in plain((await browser.get(path)).text).replace("\u202f", " ") or part == "name"
    assert "Second &lt;b&gt;" in (await browser.get(path)).text
    page = (await browser.get(f"{path}/hours")).text
    assert 'value="09:00"' in page
    days = re.findall(r'name="weekdays" value="(\d)"( checked)?', page)
    assert [("7", "")] == [(day, checked) for day, checked in days if not checked]
    assert HOURS["weekdays"] == [day for day, checked in days if checked]
    assert 404 == (await browser.get(f"{path}/target")).status_code
    assert 404 == (await browser.post(f"{path}/nothing", data={"version": "1"})).status_code


async def test_wrong(client: Client, browser: httpx2.AsyncClient) -> None:
    path = path_of(client)
    for part, form, field in WRONG:
        version = version_of(await browser.get(f"{path}/{part}"))
        refused = await browser.post(f"{path}/{part}", data={**form, "version": version})
        assert 422 == refused.status_code, (part, form)
        assert f'href="#{field}"' in refused.text, (part, refused.text[:2000])


async def test_conditions(client: Client, browser: httpx2.AsyncClient) -> None:
    path = path_of(client)
    definition = {
        "name": "store",
        "title": "Store",
        "type": "number",
        "application_id": client.queue.house.application_id,
    }
    await client.ok("POST", "/q/metadata/questionnaire", definition, status=201)
    row = {"group": "any", "subject-0": "questionnaire_metadata:store", "operator-0": "greater", "value-0": "7"}
    page = await browser.get(f"{path}/conditions")
    refused = await browser.post(f"{path}/conditions", data={**row, "value-0": "x", "version": version_of(page)})
    assert 422 == refused.status_code
    assert 'href="#value-0"' in refused.text
    saved = await browser.post(f"{path}/conditions", data={**row, "version": version_of(page)})
    assert 303 == saved.status_code
    assert "Only people are asked for whom “Store” is more than 7." in plain((await browser.get(path)).text)
    pipeline = await client.ok("GET", client.pipeline)
    assert "Only people are asked for whom “store” is more than 7." in pipeline["summary"]


@pytest.mark.parametrize("part", ["delay", "reminders", "conditions"])
async def test_changed_meanwhile(client: Client, part: str, browser: httpx2.AsyncClient) -> None:
    path = path_of(client)
    form = {"delay_cap_days": "9", "days-0": "9", "group": "all"}
    version = version_of(await browser.get(f"{path}/{part}"))
    await client.queue.execute("update pipeline set delay_cap_days = 4, version = version + 1")
    stale = await browser.post(f"{path}/{part}", data={**form, "version": version})
    assert 412 == stale.status_code
    assert "Saved by someone else" in stale.text
    if part == "delay":
        assert "<dd>4</dd>" in stale.text
        assert 'value="9"' in stale.text
    again = await browser.post(f"{path}/{part}", data={**form, "version": version_of(stale)})
    assert 303 == again.status_code


async def test_changed_while_messages_wait(client: Client, browser: httpx2.AsyncClient) -> None:
    """The form says what becomes of them; they follow or stay as it says, and the one under way ends as it began."""
    path, queue = path_of(client), client.queue
    made = await client.send(
        "POST",
        "/q/metadata/questionnaire",
        {"name": "store", "title": "Store", "type": "number", "application_id": queue.house.application_id},
    )
    assert 201 == made.status_code, made.text
    begun = await client.create(responder_channel_identifier="begun@example.com")
    worker = queue.worker()
    dispatches = await worker.begin(*await worker.claim())
    assert [begun["item_id"]] == [one.item.item_id for one in dispatches]
    stores = {"sent": 9, "ignored": 3}
    waiting = {
        name: await client.create(
            responder_channel_identifier=f"{name}@example.com", metadata={"questionnaire": {"store": store}}
        )
        for name, store in stores.items()
    }
    condition = {"group": "all", "subject-0": "questionnaire_metadata:store", "operator-0": "greater", "value-0": "7"}
    changes = {
        "delay": ({"delay_cap_days": "2", "delay_cap_hours": "0", "delay_cap_minutes": "0"}, "keep their time"),
        "effort": ({"max_retry_attempts": "1", "not_after_days": "1", "priority": "0"}, "keep their number of tries"),
        "reminders": ({"days-0": "3"}, "Once they are sent"),
        "conditions": (condition, "2 messages wait. They follow the change"),
    }
    assert "wait" not in (await browser.get(f"{path}/name")).text
    for part, (form, said) in changes.items():
        page = await browser.get(f"{path}/{part}")
        assert said in page.text, part
        assert "that is being sent ends as it began" in page.text
        saved = await browser.post(f"{path}/{part}", data={**form, "version": version_of(page)})
        assert 303 == saved.status_code, (part, saved.text)
    await worker.settle(Sent("reference", 250, "ok"), *dispatches)
    sent = await queue.worker().send(Sent("reference", 250, "ok"))
    assert [waiting["sent"]["item_id"]] == [one.item.item_id for one in sent]
    after = {
        name: await client.ok("GET", f"/q/queue/item/{item['item_id']}")
        for name, item in {"begun": begun, **waiting}.items()
    }
    assert {"begun": 3, "sent": 3, "ignored": 6} == {name: item["status_id"] for name, item in after.items()}
    assert "Ignored: condition not met: store" in after["ignored"]["result"]


async def test_tried_on_the_last_days(client: Client, browser: httpx2.AsyncClient) -> None:
    """The form says what the change would have done with real items; nothing is stored, what is wrong is refused."""
    path, house = path_of(client), client.queue.house
    for name in ("ann", "bob", "eve"):
        await client.create(
            responder_channel_identifier=f"{name}@example.com", metadata={"questionnaire": {"store": name}}
        )
    await client.queue.worker().send(Sent("reference", 250, "ok"))
    row = {"group": "all", "subject-0": "questionnaire_metadata:store", "operator-0": "not_equal", "value-0": "bob"}
    stored = "select version from pipeline where pipeline_id = $1"
    before = await client.queue.value(stored, house.pipeline_id)
    assert "Try it" not in (await browser.get(f"{path}/sender")).text
    page = await browser.get(f"{path}/conditions")
    assert "Try it on the last 30 days" in page.text
    form = {**row, "then": "try", "version": version_of(page)}
    tried = await browser.post(f"{path}/conditions", data=form)
    assert 200 == tried.status_code, tried.text
    text = plain(tried.text)
    assert "3 invitations of the last 30 days, checked again" in text
    assert "1 has a different result." in text
    assert re.search(r"asked 3 2", re.sub(r"<[^>]+>", " ", tried.text.replace("\n", "")).replace("  ", " "))
    assert "not asked: the conditions are not met" in text
    assert 'value="bob"' in tried.text
    wrong = await browser.post(f"{path}/conditions", data={**form, "operator-0": "greater"})
    assert (422, True) == (wrong.status_code, 'href="#operator-0"' in wrong.text)
    assert before == await client.queue.value(stored, house.pipeline_id)
    saved = await browser.post(f"{path}/conditions", data={**form, "then": ""})
    assert 303 == saved.status_code


async def test_counted_from_a_date(client: Client, browser: httpx2.AsyncClient) -> None:
    """Declared dates are the choices; what a form sends beside them is refused at its field, and tried first."""
    path, name = path_of(client), "questionnaire_metadata:order_date"
    application_id = client.queue.house.application_id
    definition = {"name": "order_date", "title": "Order date", "type": "date", "application_id": application_id}
    assert 201 == (await client.send("POST", "/q/metadata/questionnaire", definition)).status_code
    await client.create(metadata={"questionnaire": {"order_date": "2026-01-01"}})
    await client.create(responder_channel_identifier="bob@example.com")
    await client.queue.worker().send(Sent("reference", 250, "ok"))
    form = {"delay_cap_days": "3", "delay_cap_hours": "0", "delay_cap_minutes": "0"}
    page = await browser.get(f"{path}/delay")
    assert f'<option value="{name}">Order date</option>' in page.text
    assert '<option value="questionnaire_metadata:store_id">' not in page.text
    form["version"] = version_of(page)
    refused = await browser.post(f"{path}/delay", data={**form, "delay_from": "questionnaire_metadata:store_id"})
    assert (422, True) == (refused.status_code, 'href="#delay_from"' in refused.text)
    tried = plain((await browser.post(f"{path}/delay", data={**form, "delay_from": name, "then": "try"})).text)
    assert "2 have a different result." in tried
    assert "not asked: the date that the delay counts from is missing" in tried
    assert "not asked: too late to send" in tried
    assert 303 == (await browser.post(f"{path}/delay", data={**form, "delay_from": name})).status_code
    assert "is due 3 days after its “Order date”." in plain((await browser.get(path)).text)
    versions = plain((await browser.get(f"{path}/versions")).text)
    assert "is due 3 days after its “Order date”." in versions
    assert f'value="{name}" selected' in (await browser.get(f"{path}/delay")).text
    item = await client.create(metadata={"questionnaire": {"order_date": f"{YEAR}-06-01"}})
    shown = plain((await browser.get(f"/console/sending/{item['item_id']}")).text)
    assert "(3 days after “Order date”)" in shown
    await client.queue.change_pipeline("delay_from = 'questionnaire_metadata:gone'")
    kept = (await browser.get(f"{path}/delay")).text
    assert '<option value="questionnaire_metadata:gone" selected>gone</option>' in kept
