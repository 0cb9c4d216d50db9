"""The facts of responses with the causes and remedies of their cases, where a condition compares these."""

from collections.abc import Mapping, Sequence

from afterword.asking.instances import facts
from afterword.cases.outcomes import store
from afterword.core.questionnaires.conditions import Facts, Node, leaves_of
from afterword.kit.db import Database


async def list_facts(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], condition: Node
) -> Mapping[str, Facts]:
    known = await facts.list_facts(db, organization_id=organization_id, instance_ids=instance_ids, condition=condition)
    if not any(leaf.subject.startswith("case:") for leaf in leaves_of(condition)):
        return known
    outcomes = await store.list_outcomes(db, organization_id=organization_id, instance_ids=list(known))
    return {**known, **{instance_id: {**known[instance_id], **outcome} for instance_id, outcome in outcomes}}
