"""Cases in the console: found, changed by one person at a time, replied to, asked again, closed."""

import html
import re
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from afterword.asking.instances import service as instances
from afterword.cases.history import Entry
from afterword.cases.screens import cases
from afterword.cases.screens.cases import Timeline
from afterword.kit import db
from afterword.kit.texts import texts
from afterword.kit.transport.base import Sent
from afterword.listening.responses import rows
from tests.cases.conftest import Desk
from tests.cases.messages.test_messages import answer, case_of_ann
from tests.cases.previews.test_service import follow
from tests.console.test_undo import undo_of
from tests.contract.alerting import read_all
from tests.sending.queue.conftest import Queue
from tests.tenants.logins.conftest import browser_of, log_in

CASE = re.compile(r'href="(/console/cases/\w{22})"')


def links_of(response: httpx2.Response) -> list[str]:
    return CASE.findall(html.unescape(response.text))


async def path_of(client: httpx2.AsyncClient) -> str:
    return links_of(await client.get("/console/cases"))[0]


def fields_of(page: str, **changed: str) -> dict[str, str]:
    version = re.search(r'name="version" value="(\d+)"', page)
    status = re.search(r'<option value="(\d+)" selected>', page)
    assert version is not None
    assert status is not None
    return {"version": version[1], "status_id": status[1], "assigned_user_id": "", "body": "", **changed}


async def test_closed_without_a_cause(office: Desk, agent: httpx2.AsyncClient) -> None:
    """Nobody has to give one; the page of the closed case proposes those of the settings, each with one click."""
    path = links_of(await agent.get("/console/cases?tab=open"))[0]
    page = html.unescape((await agent.get(path)).text)
    told = "The case is closed without a cause."
    assert told not in page
    closed = await agent.post(path, data={**fields_of(page, status_id="3"), "cause": ""})
    assert f"{path}?done=closed" == closed.headers["location"]
    page = html.unescape((await agent.get(path)).text)
    assert told in page
    [form] = [one for one in re.findall(r"<form.*?</form>", page, re.DOTALL) if told in one]
    cause = re.search(r'<button [^>]*name="cause" value="([^"]+)"', form)
    assert cause is not None
    given = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    chosen = await agent.post(path, data={**given, "cause": cause[1]})
    assert f"{path}?done=closed" == chosen.headers["location"]
    page = html.unescape((await agent.get(path)).text)
    assert told not in page
    assert f'id="cause" name="cause" value="{cause[1]}"' in page


async def test_tabs(office: Desk, owner: httpx2.AsyncClient) -> None:
    counts = {tab: len(links_of(await owner.get(f"/console/cases?tab={tab}"))) for tab in cases.TABS}
    assert dict.fromkeys(cases.TABS, 0) | {"open": 2, "unassigned": 2} == counts
    async with db.transaction(office.pool) as database:
        await database.execute("update alert_instance set due_time = now() - interval '3 days 1 hour'")
    late = await owner.get("/console/cases?tab=overdue")
    assert 2 == len(links_of(late))
    assert "overdue for \u20683 days" in late.text
    assert 200 == (await owner.get("/console/cases?tab=nothing&after=x_y")).status_code
    assert 200 == (await owner.get("/console/cases?after=999999999999999999_" + "z" * 22)).status_code


async def test_pages_by_key(office: Desk, monkeypatch: pytest.MonkeyPatch, owner: httpx2.AsyncClient) -> None:
    """Each case once, those without a due time last."""
    monkeypatch.setattr(cases, "ROWS", 1)
    async with db.transaction(office.pool) as database:
        await database.execute("update alert_instance set due_time = null")
    seen: list[str] = []
    url = "/console/cases?tab=open"
    for _ in range(3):
        response = await owner.get(url)
        seen += links_of(response)
        following = re.search(r'rel="next" href="([^"]+)"', html.unescape(response.text))
        if following is None:
            break
        url = following[1]
    assert 2 == len(seen) == len(set(seen))


async def test_assigned_commented_and_closed(office: Desk, agent: httpx2.AsyncClient) -> None:
    path = await path_of(agent)
    page = (await agent.get(path)).text
    assert "Unhappy &lt;b&gt;" in page
    assert office.definition.questions()[0].title in page
    ben = re.search(r'<option value="(\w{22})">ben@demo.example', page)
    closing = re.search(r'<option value="(\d+)">Closed', page)
    assert ben is not None
    assert closing is not None
    saved = await agent.post(path, data=fields_of(page, assigned_user_id=ben[1], body="I call her."))
    assert f"{path}?done=changed" == saved.headers["location"]
    page = (await agent.get(path)).text
    assert "I call her." in page
    assert 1 == len(links_of(await agent.get("/console/cases?tab=mine")))
    closed = await agent.post(path, data=fields_of(page, assigned_user_id=ben[1], status_id=closing[1]))
    assert f"{path}?done=closed" == closed.headers["location"]
    assert [path] == links_of(await agent.get("/console/cases?tab=closed"))
    assert 1 == len(links_of(await agent.get("/console/cases")))
    assert ["read"] == await noted(office, "responder")
    undo = undo_of((await agent.get(closed.headers["location"])).text)
    opened = await agent.post(undo.action, data=undo.fields)
    assert f"{path}?done=undone" == opened.headers["location"]
    assert [] == links_of(await agent.get("/console/cases?tab=closed"))
    late = await agent.post(undo.action, data=undo.fields)  # the case has another version since
    assert (412, True) == (late.status_code, "Somebody changed this case in the meantime." in late.text)
    same = await agent.post(path, data=fields_of((await agent.get(path)).text, assigned_user_id=ben[1]))
    assert f"{path}?done=saved" == same.headers["location"]
    assert "Undo" not in (await agent.get(same.headers["location"])).text


async def test_taken(office: Desk) -> None:
    """One press gives a new case an owner and begins the work; of two agents who press, the first one has it."""
    async with browser_of(office.pool) as ben, browser_of(office.pool) as owner:
        await log_in(ben, email="ben@demo.example")
        await log_in(owner)
        path = await path_of(ben)
        version = fields_of((await owner.get(path)).text)["version"]
        taken = await ben.post(f"{path}/owner", data={"version": version})
        assert f"{path}?done=assigned" == taken.headers["location"]
        page = (await ben.get(path)).text
        undo = undo_of((await ben.get(taken.headers["location"])).text)
        assert ("", "1") == (undo.fields["assigned_user_id"], undo.fields["status_id"])
        assert "Assign to me" not in page
        assert "Status: \u2068In progress" in page
        assert [path] == links_of(await ben.get("/console/cases?tab=mine"))
        late = await owner.post(f"{path}/owner", data={"version": version})
        assert 412 == late.status_code
        assert "Somebody changed this case in the meantime." in late.text
        assert [] == links_of(await owner.get("/console/cases?tab=mine"))


async def test_words_and_order_of_the_customer(office: Desk, agent: httpx2.AsyncClient) -> None:
    """The list has score and words, the case the order and a way to the response and its message."""
    async with db.transaction(office.pool) as database:
        found = await database.fetch("select instance_id from questionnaire_instance")
        organization_id, ids = office.house.organization_id, [row["instance_id"] for row in found]
        assert await rows.rewrite(database, organization_id=organization_id, instance_ids=ids)
    await office.execute("update response set comment = 'The box was <b>open', external_reference = 'W-1042'")
    await office.execute("""update questionnaire_instance set metadata = '{"store_id": "Old Town"}'""")
    listed = await agent.get("/console/cases")
    assert "The box was &lt;b&gt;open" in listed.text
    assert 2 == listed.text.count('class="score')
    page = (await agent.get(links_of(listed)[0])).text
    assert "W-1042" in page
    assert "<dt>Store</dt>" in page
    response = re.search(r'href="(/console/responses/\w{22})"', html.unescape(page))
    assert response is not None
    shown = (await agent.get(response[1])).text
    assert "<dt>Store</dt>" in shown
    assert "<dt>store_id</dt>" not in shown


async def noted(office: Desk, kind: str) -> list[str]:
    """The acts about things of a kind that stand in the audit log."""
    async with db.connection(office.pool) as database:
        rows = await database.fetch("select action from audit_entry where thing_kind = $1", kind)
    return [row["action"] for row in rows]


async def test_clock_and_call_back(office: Desk, agent: httpx2.AsyncClient) -> None:
    """The case waits, a call is noted and done; each has its tab and its sentence in the story."""
    path = await path_of(agent)
    assert 303 == (await agent.post(f"{path}/waiting", data={"waiting": "true"})).status_code
    assert [path] == links_of(await agent.get("/console/cases?tab=waiting"))
    assert "waiting for the customer since" in (await agent.get(path)).text
    year = (await office.now()).year + 1
    for time, number, said in (
        ("soon", "210 7", "soon"),
        ("2026-01-03T10:00", "210 7", "That time has passed."),
        (f"{year}-01-03T10:00", "ring Ann", "A phone number has digits, and + with the country code in front."),
    ):
        wrong = await agent.post(f"{path}/call-back", data={"call_back_time": time, "call_back_number": number})
        assert 422 == wrong.status_code
        assert all(text in wrong.text for text in (number, said))
    call = {"call_back_time": f"{year}-01-03T10:00", "call_back_number": "210 7"}
    assert 303 == (await agent.post(f"{path}/call-back", data=call)).status_code
    assert [path] == links_of(await agent.get("/console/cases?tab=call_back"))
    assert "done=called" in (await agent.post(f"{path}/call-back")).headers["location"]
    assert "done=goes_on" in (await agent.post(f"{path}/waiting")).headers["location"]
    page = (await agent.get(path)).text
    for said in ("the clock is paused", f"Call back \u2068Jan 3, {year}", "Called back.", "The clock is running"):
        assert said in page, said


async def test_nobody_overwrites_another(office: Desk) -> None:
    async with browser_of(office.pool) as client, browser_of(office.pool) as other:
        await log_in(client)
        await log_in(other, email="ben@demo.example")
        path = await path_of(client)
        seen = (await client.get(path)).text
        ben = re.search(r'<option value="(\w{22})">ben@demo.example', seen)
        assert ben is not None
        assert 303 == (await other.post(path, data=fields_of(seen, assigned_user_id=ben[1]))).status_code
        late = await client.post(path, data=fields_of(seen, body="My text stays."))
        assert 412 == late.status_code
        assert "My text stays." in late.text
        assert "ben@demo.example" in late.text


async def test_wrong_values(office: Desk, owner: httpx2.AsyncClient) -> None:
    path = await path_of(owner)
    for body in ("", "   ", "x" * 5_001):
        assert 422 == (await owner.post(f"{path}/comment", data={"body": body})).status_code
    page = (await owner.get(path)).text
    for too_long in ({"body": "x" * 5_001}, {"cause": "x" * 101}):
        wrong = await owner.post(path, data=fields_of(page, **{"body": "Called.", **too_long}))
        assert (422, True) == (wrong.status_code, "At most" in wrong.text)
    page = (await owner.get(path)).text
    for wrong in ({"status_id": "999999"}, {"status_id": "x"}, {"assigned_user_id": "0" * 22}):
        assert 422 == (await owner.post(path, data=fields_of(page, **wrong))).status_code, wrong


async def test_reply(office: Desk, agent: httpx2.AsyncClient) -> None:
    path = f"/console/cases/{(await case_of_ann(office)).rpartition('/')[2]}"
    body = "Dear {{ customer_name | customer }}, your order {{ order | of late }}: yours {my_name} {{ other }}"
    texts = [{"title": "Sorry", "body": body}]
    await office.api.ok("PATCH", "/alert/settings", {"saved_texts": texts})
    page = (await agent.get(f"{path}?text=0")).text
    assert "Dear Ann, your order of late: yours ben@demo.example {{ other }}</textarea>" in html.unescape(page)
    key = re.search(r'name="key" value="(\w+)"', page)
    assert key is not None
    form = {"key": key[1], "subject": "Your order", "reply": "Dear Ann <b>", "then": "wait"}
    for wrong in ({"reply": ""}, {"subject": "x" * 201}):
        refused = await agent.post(f"{path}/message", data={**form, **wrong})
        assert 422 == refused.status_code
        assert key[1] in refused.text
    for _ in range(2):
        sent = await agent.post(f"{path}/message", data=form)
        assert f"{path}?done=replied_waits" == sent.headers["location"]
    assert 1 == await office.value("select count(*) from alert_message")
    page = (await agent.get(path)).text
    assert "Dear Ann &lt;b&gt;" in page
    assert "It is being sent." in page
    assert 'name="subject" type="text" value="Re: Your order"' in page
    closing = await agent.post(f"{path}/message", data={**form, "key": "other", "then": "close"})
    assert f"{path}?done=replied_closed" == closing.headers["location"]


async def test_nobody_to_write_to(office: Desk, owner: httpx2.AsyncClient) -> None:
    case_id = (await office.cases())[0]["alert_instance_id"]
    page = (await owner.get(f"/console/cases/{case_id}?text=9")).text
    assert "No e-mail address of this customer is known." in page
    refused = await owner.post(f"/console/cases/{case_id}/message", data={"subject": "a", "reply": "Kept text"})
    assert (409, True) == (refused.status_code, ">Kept text</p>" in refused.text)


async def test_an_address_that_must_not_be_written_to(office: Desk, agent: httpx2.AsyncClient) -> None:
    """The reason is said in the reader's language, by no code of the API."""
    path = f"/console/cases/{(await case_of_ann(office)).rpartition('/')[2]}"
    given = {"channel_id": 1, "identifier": "ann@example.com", "reason": "hard_bounce"}
    await office.api.ok("POST", "/suppression", given)
    page = (await agent.get(path, headers={"Accept-Language": "de"})).text
    assert "An diese Adresse darf nicht geschrieben werden: \u2068die Adresse gab es nicht\u2069." in page


async def test_whole_mail(office: Desk, agent: httpx2.AsyncClient) -> None:
    """One click from the case that it belongs to; an answer from elsewhere is marked."""
    case = await case_of_ann(office)
    path = f"/console/cases/{case.rpartition('/')[2]}"
    sent = await office.api.ok(
        "POST", f"{case}/message", {"subject": "Your order", "body": "Dear Ann,\nit was late <b>."}
    )
    whole = "It came.\n\n-----Original Message-----\nDear Ann,\nit was late <b>."
    assert await answer(office, sent["message_id"], sender="eve@example.net", text=whole)
    other = await case_of_ann(office)
    page = (await agent.get(path)).text
    assert "This is not a known address of the customer" in page
    link = re.search(rf'href="({path}/mail/\w+)">Full e-mail', page)
    assert link is not None
    assert "Dear Ann,\nit was late &lt;b&gt;." in (await agent.get(link[1])).text
    for wrong in (f"{path}/mail/{'0' * 22}", link[1].replace(case[-22:], other[-22:])):
        assert 404 == (await agent.get(wrong)).status_code


async def test_won_back(office: Desk, agent: httpx2.AsyncClient) -> None:
    queue = Queue(office.pool, office.house, office.house.pipeline_id)
    path = f"/console/cases/{(await case_of_ann(office)).rpartition('/')[2]}"
    await read_all(office.pool, rows.READER, follow)
    assert f"{path}/recovery" in (await agent.get(path)).text
    reply = await agent.post(f"{path}/message", data={"key": "k", "subject": "Sorry", "reply": "A new parcel."})
    assert f"{path}?done=replied" == reply.headers["location"]
    asking = await agent.get(f"{path}/recovery")
    assert "ann@example.com" in asking.text
    assert 0 == await office.value("select count(*) from queue_item where source = 'recovery'")
    for _ in range(2):
        asked = await agent.post(f"{path}/recovery")
        assert f"{path}?done=asked_again" == asked.headers["location"]
    [item] = await queue.fetch("select * from queue_item where source = 'recovery'")
    page = (await agent.get(path)).text
    assert "The customer is asked again." in page
    assert f"{path}/recovery" not in page
    assert 409 == (await agent.get(f"{path}/recovery")).status_code

    closed = await agent.post(path, data={**fields_of(page, status_id="3"), "cause": "Late", "remedy": "Voucher"})
    assert f"{path}?done=closed" == closed.headers["location"]
    await office.execute("update queue_item set due_time = now() where item_id = $1", item["item_id"])
    await queue.worker().send(Sent("reference", 250, "ok"))
    instance = await office.value(
        "select questionnaire_instance_id from queue_item where item_id = $1", item["item_id"]
    )
    answered = await office.run(instances.get, caller=office.house.caller, instance_id=instance)
    await office.answer(answered, {office.score_id: 5})
    await read_all(office.pool, rows.READER, follow)

    outcome = "1 → 5, won back"
    assert outcome in _plain((await agent.get(path)).text)
    assert outcome in _plain((await agent.get("/console/cases?tab=closed")).text)
    figures = html.unescape((await agent.get("/console/cases/figures?by=cause")).text)
    assert "Late" in figures
    won = re.search(r'href="([^"]*figure=won_back[^"]*key=Late)"', figures)
    assert won is not None
    assert path in html.unescape((await agent.get(won[1])).text)
    late = await agent.get(won[1].replace("won_back", "late"))
    assert path not in html.unescape(late.text)
    shown = await office.api.get(path.replace("/console/cases", "/alert/instance"))
    assert (True, instance, item["item_id"]) == tuple(
        shown[name] for name in ("recovered", "recovery_instance_id", "recovery_item_id")
    )
    assert ["recovery_answered"] == [kind for kind in await office.kinds() if kind.startswith("recovery")]


def _plain(page: str) -> str:
    return page.replace("\u2068", "").replace("\u2069", "")


NOW = datetime(2026, 11, 25, 10, tzinfo=UTC)
LATER = "2026-11-26T11:30:00+00:00"


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ({"assigned_user_id": "b"}, ["Owner: Ben"]),
        ({"assigned_user_id": None}, ["No owner any more."]),
        ({"status_id": 2, "severity": "high"}, ["Status: In progress", "High severity"]),
        ({"due_time": LATER}, ["Due tomorrow 11:30 AM."]),
        ({"due_time": None}, []),
        ({"due_time": None, "waiting_since": LATER}, ["Waiting for the customer; the clock is paused."]),
        ({"due_time": LATER, "waiting_since": None}, ["The clock is running: due tomorrow 11:30 AM."]),
        ({"waiting_since": None}, ["No longer waiting for the customer."]),
        ({"call_back_time": LATER}, ["Call back tomorrow 11:30 AM."]),
        ({"call_back_time": None}, ["Called back."]),
        (
            {"status_id": 3, "cause": "Late", "remedy": None, "resolved_time": LATER},
            ["Status: Closed", "Cause: Late", "The case was closed."],
        ),
        ({"resolved_time": None}, ["The case was opened again."]),
    ],
)
def test_sentences(to: dict[str, Any], expected: list[str]) -> None:
    statuses = {2: "In progress", 3: "Closed"}
    timeline = Timeline(words=texts("console", "en"), now=NOW, zone="UTC", statuses=statuses, outcome="")
    changes = {name: {"from": None, "to": value} for name, value in to.items()}
    entry = Entry(
        history_id="h", alert_instance_id="c", kind="changed", user_id=None, user_name=None, owner_name="Ben",
        body=None, changes=changes, created_time=NOW,
    )  # fmt: skip
    [line] = timeline.lines([entry])
    plain = [sentence.translate({0x2068: None, 0x2069: None, 0x202F: " "}) for sentence in line["sentences"]]
    assert expected == plain
