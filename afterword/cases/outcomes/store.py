"""SQL of causes and remedies, by response."""

from collections.abc import Sequence
from typing import Any

from afterword.kit.db import Database


async def list_outcomes(
    db: Database, *, organization_id: str, instance_ids: Sequence[str]
) -> list[tuple[str, dict[str, Any]]]:
    """The cause and the remedy of each response's case that was closed last."""
    rows = await db.fetch(
        """select distinct on (instance_id) instance_id, cause, remedy from alert_instance
           where organization_id = $1 and instance_id = any($2::text[]) and resolved_time is not null
           order by instance_id, resolved_time desc, alert_instance_id""",
        *(organization_id, list(instance_ids)),
    )
    return [(row["instance_id"], {"case:cause": row["cause"], "case:remedy": row["remedy"]}) for row in rows]
