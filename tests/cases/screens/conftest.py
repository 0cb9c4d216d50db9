"""The desk with two cases, and browsers of people who have logged in."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from tests.cases.conftest import Desk
from tests.tenants.logins.conftest import Office, add_staff, browser_of, log_in


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


@pytest.fixture
async def owner(office: Desk | Office) -> AsyncGenerator[httpx2.AsyncClient]:
    async with browser_of(office.pool) as browser:
        await log_in(browser)
        yield browser


@pytest.fixture
async def agent(office: Desk) -> AsyncGenerator[httpx2.AsyncClient]:
    async with browser_of(office.pool) as browser:
        await log_in(browser, email="ben@demo.example")
        yield browser
