"""Tries the conditions of a rule on the newest responses, before it is saved."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.asking.instances import facts
from afterword.cases import rules
from afterword.cases.assignments import service as assignments
from afterword.cases.previews import store
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.kit.db import Database

RESPONSES_MAX: Final = 1_000
ASSIGNED_MAX: Final = 100
SCANNED_MAX: Final = 20_000  # of all applications, for those of this one
BATCH: Final = 250


@dataclass(frozen=True, slots=True)
class Share:
    """The cases that a user would own; None: nobody."""

    user_id: str | None
    cases: int


@dataclass(frozen=True, slots=True)
class Preview:
    """`from_time`: when the oldest response came that was looked at."""

    responses: int
    matched: int
    from_time: datetime | None
    owners: Sequence[Share] = ()


@dataclass(frozen=True, slots=True)
class _Rule:
    organization_id: str
    application_id: str
    assigned_user_id: str | None
    assignment: Mapping[str, Any] | None


async def preview(db: Database, *, caller: Caller, columns: Mapping[str, Any]) -> Preview:
    """Count the newest responses that the conditions match as they are now, and who would own the newest of them.

    `columns`: `application_id`, `questionnaire_ids`, `trigger`, `conditions`, `assignment` and `assigned_user_id`.
    Raises Invalid as saving does.
    """
    await rules.check(db, caller=caller, columns=columns)
    found = await store.list_newest(
        db,
        organization_id=caller.organization_id,
        application_id=columns["application_id"],
        questionnaire_ids=columns["questionnaire_ids"],
        completed_only=columns["trigger"] == "completed",
        test=caller.test,
        limit=RESPONSES_MAX,
        scanned=SCANNED_MAX,
    )
    node = conditions.read_saved(columns["conditions"])
    ids = [instance_id for instance_id, _ in found]
    matching = [] if node else ids
    for begin in range(0, len(found) if node else 0, BATCH):
        known = await facts.list_facts(
            db, organization_id=caller.organization_id, instance_ids=ids[begin : begin + BATCH], condition=node
        )
        matching += [one for one in ids[begin : begin + BATCH] if one in known and conditions.matches(node, known[one])]
    rule = _Rule(caller.organization_id, columns["application_id"], columns["assigned_user_id"], columns["assignment"])
    return Preview(
        responses=len(found),
        matched=len(matching),
        from_time=found[-1][1] if found else None,
        owners=await _owners(db, rule, matching[:ASSIGNED_MAX]) if rule.assignment else (),
    )


async def _owners(db: Database, rule: _Rule, instance_ids: Sequence[str]) -> list[Share]:
    """The owners of cases of these responses, the most cases first, as if they were opened now, the oldest first."""
    assigner = await assignments.assigner_for(db, alerts=[rule])
    known = await facts.list_facts(db, organization_id=rule.organization_id, instance_ids=instance_ids)
    counts = Counter(assigner.owner_of(rule, known[each]) for each in reversed(instance_ids) if each in known)
    return [Share(user_id, count) for user_id, count in counts.most_common()]
