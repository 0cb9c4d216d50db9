"""SQL of what alerts matched: one row for each response, or day of a schedule, and alert."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword.db import Database


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An alert matched; `cause` is the instance_id, or the day of a schedule."""

    organization_id: str
    alert_id: str
    cause: str
    alert_instance_id: str


async def list_occurrences(  # any tenant: a batch of events serves many organizations
    db: Database, *, wanted: Sequence[tuple[str, str, str]]
) -> set[tuple[str, str, str]]:
    """Those of the triples (organization, alert, cause) that are there."""
    rows = await db.fetch(
        """select o.organization_id, o.alert_id, o.cause
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, alert_id, cause)
             join alert_occurrence o on o.organization_id = b.organization_id and o.alert_id = b.alert_id
               and o.cause = b.cause""",
        [organization_id for organization_id, _, _ in wanted],
        [alert_id for _, alert_id, _ in wanted],
        [cause for _, _, cause in wanted],
    )
    return {(row["organization_id"], row["alert_id"], row["cause"]) for row in rows}


async def insert_occurrences(  # any tenant: a batch of events serves many organizations
    db: Database, *, occurrences: Sequence[Occurrence], now: datetime
) -> None:
    """Write down what matched. Raises Taken when one is there already: then nothing of this batch may stand."""
    await db.execute(
        """insert into alert_occurrence (organization_id, alert_id, cause, alert_instance_id, created_time)
           select organization_id, alert_id, cause, alert_instance_id, $5
           from unnest($1::text[], $2::text[], $3::text[], $4::text[])
             as b (organization_id, alert_id, cause, alert_instance_id)""",
        [one.organization_id for one in occurrences],
        [one.alert_id for one in occurrences],
        [one.cause for one in occurrences],
        [one.alert_instance_id for one in occurrences],
        now,
    )
