"""Tries the conditions of a rule on the newest responses, before it is saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.alerts.previews import store
from afterword.alerts.rules import service as rules
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import condition_reader, conditions
from afterword.db import Database
from afterword.instances import facts

RESPONSES_MAX: Final = 1_000
SCANNED_MAX: Final = 20_000  # of all applications, for those of this one
BATCH: Final = 250


@dataclass(frozen=True, slots=True)
class Preview:
    """`from_time`: when the oldest response came that was looked at."""

    responses: int
    matched: int
    from_time: datetime | None


async def preview(db: Database, *, caller: Caller, columns: Mapping[str, Any]) -> Preview:
    """Count the newest responses that the conditions match as they are now.

    `columns`: `application_id`, `questionnaire_ids`, `trigger` and `conditions`. Raises Invalid as saving does.
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
    node = condition_reader.read_saved(columns["conditions"])
    matched = 0 if node else len(found)
    for begin in range(0, len(found) if node else 0, BATCH):
        known = await facts.list_facts(
            db,
            organization_id=caller.organization_id,
            instance_ids=[instance_id for instance_id, _ in found[begin : begin + BATCH]],
            condition=node,
        )
        matched += sum(conditions.matches(node, one) for one in known.values())
    return Preview(responses=len(found), matched=matched, from_time=found[-1][1] if found else None)
