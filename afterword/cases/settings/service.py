"""Changes the settings of cases."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases.settings import store
from afterword.cases.settings.store import Settings
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.windows import Calendar
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.tenants.organizations.business_hours import store as business_hours


async def update(
    db: Database, *, caller: Caller, changes: Mapping[str, Any], now: datetime, expect: errors.Expect = errors.ANY
) -> Settings:
    """Change the named members; due times of cases stay. Raises Forbidden, Invalid, and what `expect` raises."""
    caller.require_whole()
    caller.require_real()
    before = await store.get_settings_locked(db, organization_id=caller.organization_id)
    expect(before.version)
    document = {name: changes.get(name, getattr(before, name)) for name in store.EDITABLE}
    document["weekdays"] = sorted(set(document["weekdays"]))
    for name in ("causes", "remedies"):
        document[name] = list(dict.fromkeys(document[name]))
    wrong = list(_errors(document))
    if document["recovery_questionnaire_id"] not in {None, before.recovery_questionnaire_id}:
        owners = await questionnaires_store.list_owners(
            db,
            organization_id=caller.organization_id,
            questionnaire_ids=[document["recovery_questionnaire_id"]],
            application_ids=[],
            limit=1,
        )
        if not owners:
            message = "There is no such questionnaire."
            wrong.append(FieldError("unknown_id", message, pointer="/recovery_questionnaire_id"))
    errors.check(wrong)
    if document == {name: getattr(before, name) for name in store.EDITABLE}:
        return before
    return await store.update_settings(
        db, organization_id=caller.organization_id, document=document, now=now, updated_by=caller.actor_id
    )


async def calendar_of(db: Database, *, organization_id: str) -> Calendar:
    return (await business_hours.list_calendars(db, organization_ids=[organization_id]))[organization_id]


def _errors(document: Mapping[str, Any]) -> Iterator[FieldError]:
    start, end = document["start_time"], document["end_time"]
    if (start is None) != (end is None):
        missing = "start_time" if start is None else "end_time"
        yield FieldError("required", "Business hours have a start and an end.", pointer=f"/{missing}")
    elif start is not None and start == end:
        yield FieldError("out_of_range", "The end is another time than the start.", pointer="/end_time")
