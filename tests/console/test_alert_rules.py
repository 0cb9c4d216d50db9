"""Alert rules in the console: kept as typed where wrong, tried before they are saved, saved once."""

from tests.alerts.conftest import Desk
from tests.console.test_cases import desk as desk  # noqa: PLC0414  a fixture
from tests.console.test_cases import office as office  # noqa: PLC0414  a fixture
from tests.logins.conftest import browser_of, found, log_in

PATH = "/console/settings/alerts"
FORM = {"title": "Angry", "severity": "high", "active": "1", "due_hours": "8", "escalation_hours": "5",
        "escalation_severity": "critical", "version": "1"}  # fmt: skip


async def test_escalation(office: Desk) -> None:
    rule = (await office.api.get("/alert"))["results"][0]
    path = f"{PATH}/{rule['alert_id']}"
    await found(office.pool, domain="patras", email="pan@patras.example")
    await office.execute("update alert_instance set created_time = now() - interval '6 hours'")
    async with browser_of(office.pool) as client, browser_of(office.pool) as stranger:
        await log_in(stranger, email="pan@patras.example")
        assert 404 == (await stranger.get(path)).status_code
        await log_in(client)
        assert "Unhappy &lt;b&gt;" in (await client.get(PATH)).text
        version = await office.value("select version from alert where alert_id = $1", rule["alert_id"])
        form = {**FORM, "version": str(version)}
        for changes in ({"escalation_hours": "721"}, {"due_hours": "x"}, {"severity": "worst"}, {"title": ""}):
            wrong = await client.post(path, data={**form, "title": "Angry and kept", **changes})
            assert 422 == wrong.status_code, changes
            assert "title" in changes or "Angry and kept" in wrong.text
        tried = await client.post(path, data={**form, "then": "check"})
        assert "It touches 2 open cases now." in tried.text
        assert 'value="5"' in tried.text
        assert (await office.api.get(f"/alert/{rule['alert_id']}"))["escalation_hours"] is None
        assert 303 == (await client.post(path, data=form)).status_code
        assert 412 == (await client.post(path, data={**form, "title": "Other"})).status_code
        assert "escalated after 5 hours" in (await client.get(PATH)).text
    shown = await office.api.get(f"/alert/{rule['alert_id']}")
    assert ("Angry", "high", 8, 5, "critical") == tuple(
        shown[name] for name in ("title", "severity", "due_hours", "escalation_hours", "escalation_severity")
    )
