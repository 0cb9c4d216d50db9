"""The SQL of deliveries."""

from collections.abc import Mapping
from datetime import datetime

from afterword.db import Database


async def settle_delivered(
    db: Database, *, organization_id: str, delivered: Mapping[str, datetime], now: datetime
) -> int:
    """Set `delivered_time` of these instances once; returns the number set."""
    return await db.execute(
        """update questionnaire_instance i
           set delivered_time = b.delivered_time, version = i.version + 1, updated_time = greatest(i.updated_time, $4)
           from unnest($2::text[], $3::timestamptz[]) as b (instance_id, delivered_time)
           where i.organization_id = $1 and i.instance_id = b.instance_id and i.delivered_time is null""",
        organization_id,
        list(delivered),
        list(delivered.values()),
        now,
    )
