"""Deleting an alert status: its alerts and cases move to another one."""

from datetime import datetime
from typing import Any

from afterword import errors
from afterword.alerts.cases import service as cases
from afterword.alerts.rules import service as rules
from afterword.alerts.statuses import service as statuses
from afterword.alerts.statuses import store as statuses_store
from afterword.alerts.statuses.store import Status
from afterword.core.messaging.alerts import STATUS_NEW
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.errors import FieldError


async def delete_status(
    db: Database, *, caller: Caller, status_id: int, move_to: int | None, now: datetime, expect: errors.Expect
) -> None:
    """Raises SystemStatus, StatusInUse, Invalid (`move_to` is unknown, the same, or of another application)."""
    status = await statuses.get_own_locked(db, caller=caller, status_id=status_id, expect=expect)
    key: dict[str, Any] = {"organization_id": caller.organization_id, "status_id": status_id}
    if move_to is not None:
        target = await _target(db, caller=caller, status=status, move_to=move_to)
        # Cases before alerts, the order of locks everywhere.
        await cases.move_status(db, caller=caller, status=status, target=target, now=now)
        await rules.move_status(db, **key, move_to=move_to)
    elif await statuses_store.get_is_used(db, **key):
        raise statuses.StatusInUse("Alerts or cases have this status; name another one for them in move_to.")
    await rules.move_status(db, **key, move_to=STATUS_NEW, deleted_only=True)
    await statuses.delete(db, **key)


async def _target(db: Database, *, caller: Caller, status: Status, move_to: int) -> Status:
    target = await statuses_store.get_status(db, **caller.part, status_id=move_to)
    fits = target is not None and target.application_id in {None, status.application_id}
    if target is None or not fits or move_to == status.status_id:
        message = "Another status is expected, one that all alerts and cases with this one may have."
        raise errors.Invalid.of(FieldError("unknown_id", message, parameter="move_to"))
    return target
