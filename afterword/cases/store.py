"""SQL of matches: one row for each alert and response, or day of a schedule."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword.kit.db import Database
from afterword.kit.db.columns import arrays


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A match of an alert; `cause` is the instance_id, or the day of a schedule."""

    organization_id: str
    alert_id: str
    cause: str
    alert_instance_id: str


async def list_occurrences(  # any tenant: a batch of events serves many organizations
    db: Database, *, keys: Sequence[tuple[str, str, str]]
) -> set[tuple[str, str, str]]:
    """The existing triples (organization, alert, cause) among `keys`."""
    rows = await db.fetch(
        """select o.organization_id, o.alert_id, o.cause
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, alert_id, cause)
             join alert_occurrence o on o.organization_id = b.organization_id and o.alert_id = b.alert_id
               and o.cause = b.cause""",
        *arrays(keys, 3),
    )
    return {(row["organization_id"], row["alert_id"], row["cause"]) for row in rows}


async def insert_occurrences(  # any tenant: a batch of events serves many organizations
    db: Database, *, occurrences: Sequence[Occurrence], now: datetime
) -> None:
    """Insert matches. Raises Taken if one exists already: then the batch must roll back."""
    await db.execute(
        """insert into alert_occurrence (organization_id, alert_id, cause, alert_instance_id, created_time)
           select organization_id, alert_id, cause, alert_instance_id, $2
           from jsonb_populate_recordset(null::alert_occurrence, $1::jsonb)""",
        *(occurrences, now),
    )
