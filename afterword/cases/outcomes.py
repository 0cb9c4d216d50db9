"""The facts of responses with the causes and remedies of their cases, where a condition compares these."""

from collections.abc import Mapping, Sequence
from typing import Any

from afterword.asking.instances import facts
from afterword.core.questionnaires.conditions import Facts, Node, leaves_of
from afterword.kit.db import Database


async def _list_outcomes(
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


async def list_facts(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], condition: Node
) -> Mapping[str, Facts]:
    known = await facts.list_facts(db, organization_id=organization_id, instance_ids=instance_ids, condition=condition)
    if not any(leaf.subject.startswith("case:") for leaf in leaves_of(condition)):
        return known
    outcomes = await _list_outcomes(db, organization_id=organization_id, instance_ids=list(known))
    return {**known, **{instance_id: {**known[instance_id], **outcome} for instance_id, outcome in outcomes}}
