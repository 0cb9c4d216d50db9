"""Writes entries of the history of cases. They hold ids, times and choices, nothing of the person."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from afterword import ids
from afterword.cases.history import store
from afterword.cases.history.store import NewEntry
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database

KEPT: Final = (
    "status_id", "assigned_user_id", "severity", "due_time", "waiting_since", "call_back_time", "cause", "remedy",
    "resolved_time", "recovery_time", "escalated_time",
)  # fmt: skip


async def record_change(db: Database, *, before: Any, after: Any, caller: Caller | None, now: datetime) -> None:
    """Record the members of a case that changed, from one row to the next; without a caller the worker did it."""
    changes: dict[str, Any] = {}
    for name in KEPT:
        was, became = getattr(before, name), getattr(after, name)
        if was != became:
            changes[name] = {"from": was, "to": became}
    if changes:
        await record(db, case=after, kind="changed", caller=caller, changes=changes, now=now)


async def record(
    db: Database, *, case: Any, kind: str, caller: Caller | None, now: datetime, changes: Mapping[str, Any]
) -> None:
    entry = NewEntry(
        organization_id=case.organization_id,
        alert_instance_id=case.alert_instance_id,
        history_id=ids.ordered(now),
        kind=kind,
        user_id=caller.user_id if caller else None,
        changes=changes,
    )
    await store.insert_entries(db, entries=[entry], now=now)
