"""Statuses of cases in the console: those of the product stay as they are."""

import html
import re

import httpx2
import pytest

from afterword.kit import db
from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import Office

STATUSES = "/console/settings/statuses"
FORM = {"title": "Waits for parts", "description": "", "color": "#aa5500", "closing": "", "position": "7"}
WRONG = (("title", ""), ("color", "orange"), ("position", "x"))


@pytest.mark.parametrize("number", ["1", "x" * 22, "9" * 30])
async def test_no_own_status(office: Office, number: str, owner: httpx2.AsyncClient) -> None:
    assert "built in" in (await owner.get(STATUSES)).text
    for below in ("", "/removal"):
        assert 404 == (await owner.get(f"{STATUSES}/{number}{below}")).status_code
        assert 404 == (await owner.post(f"{STATUSES}/{number}{below}", data=FORM)).status_code


async def test_used(office: Office, owner: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """An alert that gives the status is counted and linked, and the page asks which one it gives from now on."""
    for title in ("Waits for parts", "Parts came"):
        assert 303 == (await owner.post(f"{STATUSES}/new", data={**FORM, "title": title})).status_code
    path = f"{STATUSES}/100/removal"
    assert "move_to" not in (await owner.get(path)).text
    async with db.transaction(office.pool) as database:
        await database.execute(
            """insert into alert (organization_id, alert_id, application_id, title, trigger, status_id, created_time,
                 updated_time)
               values ($1, $2, $3, 'Unhappy', 'completed', 100, now(), now())""",
            *(office.organization_id, "a" * 22, office.application_id),
        )
    page = html.unescape((await owner.get(path)).text)
    assert '<a href="/console/settings/alerts">Alerts</a>: 1<' in page
    assert ["1", "2", "3", "4", "101"] == re.findall(r'<option value="(\d+)"', page)
    assert ">Closed</option>" in page
    monkeypatch.setattr("afterword.kit.nouns.service.USES_COUNTED_MAX", 1)
    assert '">Alerts</a>: 1+<' in (await owner.get(path)).text
    for wrong, status in (({}, 409), ({"move_to": "100"}, 422), ({"move_to": "x"}, 422)):
        assert status == (await owner.post(path, data=wrong)).status_code
    assert 303 == (await owner.post(path, data={"move_to": "101"})).status_code
    async with db.connection(office.pool) as database:
        assert 101 == await database.fetch_value("select status_id from alert")
    assert 404 == (await owner.get(path)).status_code
