"""Plans in the console: the credits that are left."""

from afterword.kit import db
from afterword.tenants.organizations import plans
from tests.sending.screens.conftest import plain
from tests.tenants.logins.conftest import Browser, Office

PLAN = "/console/settings/plan"


async def test_credits(office: Office, browser: Browser) -> None:
    assert "No plan" in (await browser.get(PLAN)).text
    async with db.transaction(office.pool) as database:
        now = database.clock.now()
        await plans.add_plan(
            database,
            organization_id=office.organization_id,
            title="Small",
            kind="monthly",
            credits=500,
            start_time=now,
            now=now,
        )
    page = plain((await browser.get(PLAN)).text)
    assert "500 credits are left. New credits come on " in page
