"""Alert rules in the console: made from rows, tried before they are saved, kept as typed, nobody overwrites another."""

import re

from afterword.listening.responses import rows
from tests.cases.conftest import Desk
from tests.cases.previews.test_service import follow
from tests.cases.screens.test_cases import desk as desk  # noqa: PLC0414  a fixture
from tests.cases.screens.test_cases import office as office  # noqa: PLC0414  a fixture
from tests.contract.alerting import read_all
from tests.tenants.logins.conftest import browser_of, log_in

PATH = "/console/settings/alerts"
FORM = {"title": "Angry", "severity": "high", "active": "1", "due_hours": "8", "escalation_hours": "5",
        "escalation_severity": "critical", "trigger": "completed", "status_id": "1", "group": "all"}  # fmt: skip


def seen(page: str) -> str:
    match = re.search(r'name="seen" value="([^"]*)"', page)
    assert match is not None
    return match[1]


async def test_new(office: Desk) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        page = (await client.get(f"{PATH}/new")).text
        assert f'value="question:{office.score_id}"' in page
        form = {**FORM, "application_id": office.house.application_id, "seen": "", "subject-0": "",
                "subject-1": f"question:{office.score_id}", "operator-1": "less_equal", "value-1": "low"}  # fmt: skip
        wrong = await client.post(f"{PATH}/new", data=form)
        assert 422 == wrong.status_code
        assert 'href="#value-0"' in wrong.text
        assert 'value="low"' in wrong.text
        for changes in ({"document": "{"}, {"document": '{"all": 1}'}, {"application_id": "0" * 22}):
            assert 422 == (await client.post(f"{PATH}/new", data={**form, "value-1": "2", **changes})).status_code
        tried = await client.post(f"{PATH}/new", data={**form, "value-1": "2", "then": "preview"})
        assert "There is no response yet to try it on." in tried.text
        made = await client.post(f"{PATH}/new", data={**form, "value-1": "2"})
        assert 303 == made.status_code
        path = made.headers["location"].split("?")[0]
        rule = await office.api.get(f"/alert/{path.rsplit('/', 1)[1]}")
        assert {"all": [office.low()]} == rule["conditions"]
        page = (await client.get(path)).text
        assert 'value="2"' in page
        nested = {"document": '{"not": {"subject": "tag:vip", "operator": "is_empty"}}'}
        saved = await client.post(path, data={**form, "seen": seen(page), **nested})
        assert 303 == saved.status_code
        assert "tag:vip" in (await client.get(path)).text
        assert 303 == (await client.post(f"{path}/removal")).status_code
        assert 404 == (await client.get(path)).status_code


async def test_change(office: Desk) -> None:
    rule = (await office.api.get("/alert"))["results"][0]
    path = f"{PATH}/{rule['alert_id']}"
    await office.execute("update alert_instance set created_time = now() - interval '6 hours'")
    async with browser_of(office.pool) as client:
        await log_in(client)
        listed = (await client.get(PATH)).text
        assert "Unhappy &lt;b&gt;" in listed
        assert " is at most 2 · Normal severity" in listed
        assert "2 open cases stay" in (await client.get(f"{path}/removal")).text
        form = {**FORM, "seen": seen((await client.get(path)).text)}
        for changes in ({"escalation_hours": "721"}, {"due_hours": "x"}, {"severity": "worst"}, {"title": ""}):
            wrong = await client.post(path, data={**form, "title": "Angry and kept", **changes})
            assert 422 == wrong.status_code, changes
            assert "title" in changes or "Angry and kept" in wrong.text
        tried = await client.post(path, data={**form, "then": "check"})
        assert "It touches 2 open cases now." in tried.text
        assert 'value="5"' in tried.text
        daily = await client.post(path, data={**form, "trigger": "schedule", "then": "preview", "value-0": "80",
                                              "subject-0": "metric:response", "operator-0": "less"})  # fmt: skip
        assert "there is no response to try it on" in daily.text
        assert (await office.api.get(f"/alert/{rule['alert_id']}"))["escalation_hours"] is None
        await office.respond(1)  # a case that opens is no change of the rule
        await office.raise_all()
        await read_all(office.pool, rows.READER, follow)
        ben = (await office.person("carl")).user_id
        tried = await client.post(path, data={**form, "candidate_ids": ben, "then": "preview"})
        assert re.search(r"Opened now, .*would go to: carl@\S+ \d", tried.text)
        assert 303 == (await client.post(path, data=form)).status_code
        late = await client.post(path, data={**form, "title": "Other"})
        assert 412 == late.status_code
        assert "<dt>Title</dt><dd>Angry</dd>" in late.text
        assert 'value="Other"' in late.text
        assert 303 == (await client.post(path, data={**form, "title": "Other", "seen": seen(late.text)})).status_code
        assert "escalated after 5 hours" in (await client.get(PATH)).text
    shown = await office.api.get(f"/alert/{rule['alert_id']}")
    assert ("Other", "high", 8, 5, "critical") == tuple(
        shown[name] for name in ("title", "severity", "due_hours", "escalation_hours", "escalation_severity")
    )
