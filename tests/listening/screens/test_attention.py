"""All that needs somebody on the overview: accounts, pipelines, silence, credits; and what waits, with links."""

from datetime import datetime, timedelta

from afterword.kit import db
from tests.listening.reports.conftest import NPS, House
from tests.listening.screens.test_overview import page_of


async def execute(house: House, statement: str, *values: object) -> None:
    async with db.transaction(house.pool) as database:
        await database._connection.execute(statement, *values)


async def test_nothing(owner: House) -> None:
    assert "Needs you" not in await page_of(owner)  # before the first response the next steps are enough
    async with db.connection(owner.pool) as database:
        await owner.respond({NPS: 9}, now=database.clock.now())
    page = await page_of(owner)
    assert "Nothing needs you." in page
    assert "What waits and why" not in page


async def test_sending_silence_and_credits(owner: House, now: datetime) -> None:
    for day in range(10, 16):
        await owner.respond({NPS: 9}, now=now - timedelta(days=day))
    await owner.respond({}, now=now - timedelta(days=1), complete=False)
    organization_id = owner.caller.organization_id
    await execute(
        owner,
        """insert into plan (organization_id, plan_id, title, kind, credits, remaining_credits, start_time)
           values ($1, $1, 'Pack', 'once', 1000, 40, now() - interval '1 day')""",
        organization_id,
    )
    page = await page_of(owner)
    for text in ("had answers regularly, and none for a week", "are low: "):
        assert text in page, text
    assert "Nothing needs you." not in page
