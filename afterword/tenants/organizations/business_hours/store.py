"""SQL of the business hours of organizations."""

from collections.abc import Collection
from datetime import date
from typing import Any

from afterword.core.scheduling import decisions, holidays
from afterword.core.scheduling.holidays import DaysOff
from afterword.core.scheduling.windows import WEEKDAYS_ALL, Calendar
from afterword.core.wire.times import zone_of
from afterword.kit.db import Database


async def list_calendars(  # any tenant: a batch of events serves many organizations
    db: Database, *, organization_ids: Collection[str]
) -> dict[str, Calendar]:
    rows = await db.fetch(
        """select o.organization_id, o.time_zone, s.weekdays, s.start_time, s.end_time, s.closed_on_holidays,
             p.holiday_country, p.holidays
           from organization o
             left join alert_settings s on s.organization_id = o.organization_id
             left join contact_policy p on p.organization_id = o.organization_id and s.closed_on_holidays
           where o.organization_id = any($1)""",
        sorted(organization_ids),
    )
    return {row["organization_id"]: _calendar(row) for row in rows}


def _calendar(row: Any) -> Calendar:
    days: list[date] = row["holidays"] or []
    return Calendar(
        zone_of(row["time_zone"]),
        decisions.hours_of(row["start_time"], row["end_time"]),
        frozenset(row["weekdays"] or WEEKDAYS_ALL),
        holidays=DaysOff(row["holiday_country"], frozenset(days)) if row["closed_on_holidays"] else holidays.NONE,
    )
