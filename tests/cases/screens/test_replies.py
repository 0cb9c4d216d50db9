"""Replies from the console: a saved text filled in, one mail for one form, waiting and closing."""

import re

from tests.cases.conftest import Desk
from tests.cases.messages.test_messages import answer, case_of_ann
from tests.cases.screens.test_cases import desk as desk  # noqa: PLC0414  a fixture
from tests.cases.screens.test_cases import office as office  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in


async def test_reply(office: Desk) -> None:
    path = f"/console/cases/{(await case_of_ann(office)).rpartition('/')[2]}"
    texts = [{"title": "Sorry", "body": "Dear {customer_name}, yours {my_name}"}]
    await office.api.ok("PATCH", "/alert/settings", {"saved_texts": texts})
    async with browser_of(office.pool) as client:
        await log_in(client, email="ben@demo.example")
        page = (await client.get(f"{path}?text=0")).text
        assert "Dear Ann, yours ben@demo.example</textarea>" in page
        key = re.search(r'name="key" value="(\w+)"', page)
        assert key is not None
        form = {"key": key[1], "subject": "Your order", "reply": "Dear Ann <b>", "then": "wait"}
        for wrong in ({"reply": ""}, {"subject": "x" * 201}):
            refused = await client.post(f"{path}/message", data={**form, **wrong})
            assert 422 == refused.status_code
            assert key[1] in refused.text
        for _ in range(2):
            sent = await client.post(f"{path}/message", data=form)
            assert f"{path}?done=replied_waits" == sent.headers["location"]
        assert 1 == await office.value("select count(*) from alert_message")
        page = (await client.get(path)).text
        assert "Dear Ann &lt;b&gt;" in page
        assert "It is on its way." in page
        closing = await client.post(f"{path}/message", data={**form, "key": "other", "then": "close"})
        assert f"{path}?done=replied_closed" == closing.headers["location"]


async def test_nobody_to_write_to(office: Desk) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        case_id = (await office.cases())[0]["alert_instance_id"]
        page = (await client.get(f"/console/cases/{case_id}?text=9")).text
        assert "No e-mail address of this customer is known." in page
        refused = await client.post(f"/console/cases/{case_id}/message", data={"subject": "a", "reply": "Kept text"})
        assert 409 == refused.status_code


async def test_whole_mail(office: Desk) -> None:
    """One click from the case that it belongs to; an answer from elsewhere is marked."""
    case = await case_of_ann(office)
    path = f"/console/cases/{case.rpartition('/')[2]}"
    sent = await office.api.ok(
        "POST", f"{case}/message", {"subject": "Your order", "body": "Dear Ann,\nit was late <b>."}
    )
    whole = "It came.\n\n-----Original Message-----\nDear Ann,\nit was late <b>."
    assert await answer(office, sent["message_id"], sender="eve@example.net", text=whole)
    other = await case_of_ann(office)
    async with browser_of(office.pool) as client:
        await log_in(client, email="ben@demo.example")
        page = (await client.get(path)).text
        assert "This is not an address of the customer" in page
        link = re.search(rf'href="({path}/mail/\w+)">The whole mail', page)
        assert link is not None
        assert "Dear Ann,\nit was late &lt;b&gt;." in (await client.get(link[1])).text
        for wrong in (f"{path}/mail/{'0' * 22}", link[1].replace(case[-22:], other[-22:])):
            assert 404 == (await client.get(wrong)).status_code
