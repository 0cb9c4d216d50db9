"""Alert statuses: an organization creates and changes its own."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from afterword import errors
from afterword.alerts.statuses import store
from afterword.alerts.statuses.store import Status
from afterword.core.messaging.alerts import STATUSES_MAX
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.organizations import checks


class SystemStatus(errors.Conflict):
    code_default = "system_status"


class StatusInUse(errors.Conflict):
    code_default = "in_use"


async def get(db: Database, *, caller: Caller, status_id: int, is_locked: bool = False) -> Status:
    status = await store.get_status(db, **caller.part, status_id=status_id, is_locked=is_locked)
    return errors.found(status, "There is no such alert status.")


async def create(db: Database, *, caller: Caller, columns: Mapping[str, Any], now: datetime) -> Status:
    """Create one, with the next number from 100. Raises Invalid (`unknown_id`, `too_many`)."""
    organization_id, application_id = caller.organization_id, columns.get("application_id")
    if application_id is not None:
        errors.check(await checks.reach_errors(db, caller=caller, application_id=application_id))
    elif caller.application_ids:
        message = "Your token is for certain applications; name one of them."
        raise errors.Invalid.at("/application_id", "required", message)
    status_id = await store.claim_number(db, organization_id=organization_id)
    if await store.count_statuses(db, organization_id=organization_id) >= STATUSES_MAX:
        raise errors.Invalid.at("", "too_many", f"An organization has at most {STATUSES_MAX} statuses of its own.")
    return await store.insert_status(
        db, organization_id=organization_id, status_id=status_id, columns=columns, now=now, by=caller.actor_id
    )


async def update(
    db: Database, *, caller: Caller, status_id: int, changes: Mapping[str, Any], now: datetime, expect: errors.Expect
) -> Status:
    """Change the named columns. Raises NotFound, SystemStatus, StatusInUse (`closing` of a used one)."""
    before = await get_own_locked(db, caller=caller, status_id=status_id, expect=expect)
    if changes.get("closing", before.closing) != before.closing and await store.get_is_used(
        db, organization_id=before.organization_id, status_id=status_id
    ):
        raise StatusInUse("Alerts or cases have this status; whether it closes cases can only change while none has.")
    after = await store.update_status(
        db, organization_id=caller.organization_id, status_id=status_id, changes=changes, now=now, by=caller.actor_id
    )
    return after or before


async def delete(db: Database, *, organization_id: str, status_id: int) -> None:
    """Delete an unused status. Raises Dangling while an alert or case has it."""
    await store.delete_status(db, organization_id=organization_id, status_id=status_id)


async def get_own_locked(db: Database, *, caller: Caller, status_id: int, expect: errors.Expect) -> Status:
    """Lock a status that the caller may change. Raises NotFound, SystemStatus, Forbidden, and what `expect` raises."""
    status = await get(db, caller=caller, status_id=status_id, is_locked=True)
    expect(status.version)
    if status.system:
        raise SystemStatus("This status belongs to the product and stays as it is.")
    if caller.application_ids and status.application_id is None:
        raise errors.Forbidden("This status is for the whole organization; your token is for certain applications.")
    return status
