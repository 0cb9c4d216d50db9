"""Statuses of cases in the console: those of the product stay as they are."""

import html

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


async def test_used(office: Office, owner: httpx2.AsyncClient) -> None:
    """An alert that gives the status is counted and linked, and the page has no button that would be refused."""
    assert 303 == (await owner.post(f"{STATUSES}/new", data=FORM)).status_code
    path = f"{STATUSES}/100/removal"
    assert ">Remove the status</button>" in (await owner.get(path)).text
    async with db.transaction(office.pool) as database:
        await database.execute(
            """insert into alert (organization_id, alert_id, application_id, title, trigger, status_id, created_time,
                 updated_time)
               values ($1, $2, $3, 'Unhappy', 'completed', 100, now(), now())""",
            *(office.organization_id, "a" * 22, office.application_id),
        )
    page = (await owner.get(path)).text
    assert ("cannot be removed" in page, ">Remove the status</button>" in page) == (True, False)
    assert '<a href="/console/settings/alerts">Alerts</a>: 1<' in html.unescape(page)
    assert 409 == (await owner.post(path)).status_code
