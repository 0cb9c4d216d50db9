"""What is done with alert statuses: an organization makes, changes and removes its own."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from afterword import errors
from afterword.alerts.cases import service as cases
from afterword.alerts.rules import service as rules
from afterword.alerts.statuses import store
from afterword.alerts.statuses.store import Status
from afterword.core.messaging.alerts import STATUS_NEW, STATUSES_MAX
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.errors import FieldError
from afterword.organizations import store as accounts_store

Expect = Callable[[int], None]  # is given the version of a locked row, raises Stale


class SystemStatus(errors.Conflict):
    """The product's own statuses stay as they are."""

    code_default = "system_status"


class StatusInUse(errors.Conflict):
    """Alerts or cases have it."""

    code_default = "in_use"


async def get(db: Database, *, caller: Caller, status_id: int) -> Status:
    """The status as the caller may see it; raises NotFound."""
    status = await store.get_status(
        db, organization_id=caller.organization_id, status_id=status_id, application_ids=caller.application_ids
    )
    if status is None:
        raise errors.NotFound("There is no such alert status.")
    return status


async def create(db: Database, *, caller: Caller, columns: Mapping[str, Any], now: datetime) -> Status:
    """Add one, with the next number from 100. Raises Invalid (`unknown_id`, or `too_many` of them)."""
    organization_id, application_id = caller.organization_id, columns.get("application_id")
    if application_id is not None:
        await _require_application(db, caller=caller, application_id=application_id)
    elif caller.application_ids:
        message = "Your token is for certain applications; name one of them."
        raise errors.Invalid.of(FieldError("required", message, pointer="/application_id"))
    status_id = await store.claim_number(db, organization_id=organization_id)
    if await store.count_statuses(db, organization_id=organization_id) >= STATUSES_MAX:
        message = f"An organization has at most {STATUSES_MAX} statuses of its own."
        raise errors.Invalid.of(FieldError("too_many", message, pointer=""))
    return await store.insert_status(
        db, organization_id=organization_id, status_id=status_id, columns=columns, now=now, by=caller.actor_id
    )


async def update(
    db: Database,
    *,
    caller: Caller,
    status_id: int,
    changes: Mapping[str, Any],
    now: datetime,
    expect: Expect | None = None,
) -> Status:
    """Change what is named. Raises NotFound, SystemStatus, StatusInUse (`closing` of one that cases have)."""
    before = await _owned(db, caller=caller, status_id=status_id, expect=expect)
    if changes.get("closing", before.closing) != before.closing and await _is_used(db, before):
        raise StatusInUse("Alerts or cases have this status; whether it closes cases can only change while none has.")
    after = await store.update_status(
        db, organization_id=caller.organization_id, status_id=status_id, changes=changes, now=now, by=caller.actor_id
    )
    return after or before


async def delete(
    db: Database,
    *,
    caller: Caller,
    status_id: int,
    move_to: int | None,
    now: datetime,
    expect: Expect | None = None,
) -> None:
    """Remove an own one; what has it moves to `move_to`.

    Raises NotFound, SystemStatus, Invalid (`move_to` is unknown, the same, or of another application), StatusInUse.
    """
    status = await _owned(db, caller=caller, status_id=status_id, expect=expect)
    key: dict[str, Any] = {"organization_id": caller.organization_id, "status_id": status_id}
    if move_to is not None:
        target = await _target(db, caller=caller, status=status, move_to=move_to)
        # Cases before alerts, the order in which everybody locks them.
        await cases.move_status(db, caller=caller, status=status, target=target, now=now)
        await rules.move_status(db, **key, move_to=move_to)
    elif await _is_used(db, status):
        raise StatusInUse("Alerts or cases have this status; say with move_to which one they get.")
    await rules.move_status(db, **key, move_to=STATUS_NEW, deleted_only=True)
    await store.delete_status(db, **key)


async def _is_used(db: Database, status: Status) -> bool:
    key: dict[str, Any] = {"organization_id": status.organization_id, "status_id": status.status_id}
    return await rules.is_status_used(db, **key) or await cases.is_status_used(db, **key)


async def _owned(db: Database, *, caller: Caller, status_id: int, expect: Expect | None) -> Status:
    """The status, locked; one that the caller may change."""
    status = await get(db, caller=caller, status_id=status_id)
    if expect is not None:
        expect(status.version)
    if status.system:
        raise SystemStatus("This status belongs to the product and stays as it is.")
    if caller.application_ids and status.application_id is None:
        raise errors.Forbidden("This status is for the whole organization; your token is for certain applications.")
    locked = await store.get_status_locked(db, organization_id=caller.organization_id, status_id=status_id)
    if locked is None:
        raise errors.NotFound("There is no such alert status.")
    if expect is not None:
        expect(locked.version)
    return locked


async def _target(db: Database, *, caller: Caller, status: Status, move_to: int) -> Status:
    target = await store.get_status(
        db, organization_id=caller.organization_id, status_id=move_to, application_ids=caller.application_ids
    )
    fits = target is not None and target.application_id in {None, status.application_id}
    if target is None or not fits or move_to == status.status_id:
        message = "Another status that everything with this one may have is expected."
        raise errors.Invalid.of(FieldError("unknown_id", message, parameter="move_to"))
    return target


async def _require_application(db: Database, *, caller: Caller, application_id: str) -> None:
    application = await accounts_store.get_application(
        db, organization_id=caller.organization_id, application_id=application_id, among=caller.application_ids
    )
    if application is None:
        raise errors.Invalid.of(FieldError("unknown_id", "There is no such application.", pointer="/application_id"))
