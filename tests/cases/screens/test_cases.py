"""Cases in the console: found by due time, changed by one person at a time, closed."""

import html
import re

import httpx2
import pytest

from afterword.cases.screens import cases
from afterword.kit import db
from afterword.listening.responses import rows as responses_rows
from tests.cases.conftest import Desk
from tests.cases.conftest import desk as desk  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import add_staff, browser_of, log_in

CASE = re.compile(r'href="(/console/cases/\w{22})"')


@pytest.fixture
async def office(desk: Desk) -> Desk:
    """The desk with two cases, and an owner and an agent who can log in."""
    await add_staff(desk.pool, desk.house.organization_id)
    await desk.alert(title="Unhappy <b>", conditions=desk.low())
    for score in (1, 2):
        await desk.respond(score)
    await desk.raise_all()
    await desk.execute("update alert_instance set due_time = now() + interval '1 hour'")
    return desk


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


async def test_tabs(office: Desk) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        counts = {tab: len(links_of(await client.get(f"/console/cases?tab={tab}"))) for tab in cases.TABS}
        assert {
            "open": 2,
            "overdue": 0,
            "mine": 0,
            "unassigned": 2,
            "waiting": 0,
            "call_back": 0,
            "closed": 0,
        } == counts
        async with db.transaction(office.pool) as database:
            await database.execute("update alert_instance set due_time = now() - interval '3 days 1 hour'")
        late = await client.get("/console/cases?tab=overdue")
        assert 2 == len(links_of(late))
        assert "overdue for \u20683 days" in late.text
        assert 200 == (await client.get("/console/cases?tab=nothing&after=x_y")).status_code
        assert 200 == (await client.get("/console/cases?after=999999999999999999_" + "z" * 22)).status_code


async def test_pages_by_key(office: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each case once, those without a due time last."""
    monkeypatch.setattr(cases, "ROWS", 1)
    async with db.transaction(office.pool) as database:
        await database.execute("update alert_instance set due_time = null")
    async with browser_of(office.pool) as client:
        await log_in(client)
        seen: list[str] = []
        url = "/console/cases?tab=open"
        for _ in range(3):
            response = await client.get(url)
            seen += links_of(response)
            following = re.search(r'rel="next" href="([^"]+)"', html.unescape(response.text))
            if following is None:
                break
            url = following[1]
    assert 2 == len(seen) == len(set(seen))


async def test_assigned_commented_and_closed(office: Desk) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client, email="ben@demo.example")
        path = await path_of(client)
        page = (await client.get(path)).text
        assert "Unhappy &lt;b&gt;" in page
        assert office.definition.questions()[0].title in page
        ben = re.search(r'<option value="(\w{22})">ben@demo.example', page)
        closing = re.search(r'<option value="(\d+)">Closed', page)
        assert ben is not None
        assert closing is not None
        saved = await client.post(path, data=fields_of(page, assigned_user_id=ben[1], body="I call her."))
        assert f"{path}?done=saved" == saved.headers["location"]
        page = (await client.get(path)).text
        assert "I call her." in page
        assert 1 == len(links_of(await client.get("/console/cases?tab=mine")))
        closed = await client.post(path, data=fields_of(page, assigned_user_id=ben[1], status_id=closing[1]))
        assert f"{path}?done=closed" == closed.headers["location"]
        assert [path] == links_of(await client.get("/console/cases?tab=closed"))
        assert 1 == len(links_of(await client.get("/console/cases")))
    assert ["read"] == await noted(office, "responder")


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
        assert "Take the case" not in page
        assert "Status: \u2068In progress" in page
        assert [path] == links_of(await ben.get("/console/cases?tab=mine"))
        late = await owner.post(f"{path}/owner", data={"version": version})
        assert 412 == late.status_code
        assert "Somebody changed this case in the meantime." in late.text
        assert [] == links_of(await owner.get("/console/cases?tab=mine"))


async def test_words_and_order_of_the_customer(office: Desk) -> None:
    """The list has score and words, the case the order and a way to the response and its message."""
    async with db.transaction(office.pool) as database:
        found = await database.fetch("select instance_id from questionnaire_instance")
        organization_id, ids = office.house.organization_id, [row["instance_id"] for row in found]
        assert await responses_rows.rewrite(database, organization_id=organization_id, instance_ids=ids)
    await office.execute("update response set comment = 'The box was <b>open', external_reference = 'W-1042'")
    await office.execute("""update questionnaire_instance set metadata = '{"store_id": "Old Town"}'""")
    async with browser_of(office.pool) as client:
        await log_in(client, email="ben@demo.example")
        listed = await client.get("/console/cases")
        assert "The box was &lt;b&gt;open" in listed.text
        assert 2 == listed.text.count('class="score')
        page = (await client.get(links_of(listed)[0])).text
        assert "W-1042" in page
        assert "<dt>Store</dt>" in page
        response = re.search(r'href="(/console/responses/\w{22})"', html.unescape(page))
        assert response is not None
        shown = (await client.get(response[1])).text
        assert "<dt>Store</dt>" in shown
        assert "<dt>store_id</dt>" not in shown


async def noted(office: Desk, kind: str) -> list[str]:
    """The acts about things of a kind that stand in the audit log."""
    async with db.connection(office.pool) as database:
        rows = await database.fetch("select action from audit_entry where thing_kind = $1", kind)
    return [row["action"] for row in rows]


async def test_clock_and_call_back(office: Desk) -> None:
    """The case waits, a call is noted and done; each has its tab and its sentence in the story."""
    async with browser_of(office.pool) as client:
        await log_in(client, email="ben@demo.example")
        path = await path_of(client)
        assert 303 == (await client.post(f"{path}/waiting", data={"waiting": "true"})).status_code
        assert [path] == links_of(await client.get("/console/cases?tab=waiting"))
        assert "waits for the customer since" in (await client.get(path)).text
        wrong = await client.post(f"{path}/call-back", data={"call_back_time": "soon", "call_back_number": "210 7"})
        assert 422 == wrong.status_code
        assert "210 7" in wrong.text
        call = {"call_back_time": "2027-01-03T10:00", "call_back_number": "210 7"}
        assert 303 == (await client.post(f"{path}/call-back", data=call)).status_code
        assert [path] == links_of(await client.get("/console/cases?tab=call_back"))
        assert "done=called" in (await client.post(f"{path}/call-back")).headers["location"]
        assert "done=goes_on" in (await client.post(f"{path}/waiting")).headers["location"]
        page = (await client.get(path)).text
        for said in ("the clock stands still", "Call back \u2068Jan 3, 2027", "Called back.", "The clock goes on"):
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


@pytest.mark.parametrize("body", ["", "   ", "x" * 5_001])
async def test_comment_within_limits(office: Desk, body: str) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        path = await path_of(client)
        assert 422 == (await client.post(f"{path}/comment", data={"body": body})).status_code


async def test_unknown_status_and_owner(office: Desk) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        path = await path_of(client)
        page = (await client.get(path)).text
        for wrong in ({"status_id": "999999"}, {"status_id": "x"}, {"assigned_user_id": "0" * 22}):
            assert 422 == (await client.post(path, data=fields_of(page, **wrong))).status_code, wrong
