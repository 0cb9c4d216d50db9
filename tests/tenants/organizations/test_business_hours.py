"""The business hours of an organization, in its zone, with and without settings and holidays."""

from datetime import date, time

from afterword.core.scheduling.windows import WEEKDAYS_ALL, Hours
from afterword.kit import db
from afterword.tenants.organizations import checks
from tests.conftest import House


async def test_calendars(pool: db.Pool, house: House) -> None:
    key = house.organization_id
    async with db.transaction(pool) as database:
        unset = (await checks.list_calendars(database, organization_ids=[key, "nobody"]))[key]
        assert (None, WEEKDAYS_ALL, "Europe/Athens") == (unset.window, unset.weekdays, str(unset.zone))
        await database.execute(
            """insert into alert_settings (organization_id, weekdays, start_time, end_time, closed_on_holidays)
               values ($1, '{1,2}', '08:00', '16:00', true)""",
            key,
        )
        await database.execute(
            """insert into contact_policy (organization_id, holidays) values ($1, '{2026-12-25}')
               on conflict (organization_id) do update set holidays = excluded.holidays""",
            key,
        )
        found = (await checks.list_calendars(database, organization_ids=[key]))[key]
    assert (Hours(time(8), time(16)), {1, 2}) == (found.window, found.weekdays)
    assert date(2026, 12, 25) in found.holidays
