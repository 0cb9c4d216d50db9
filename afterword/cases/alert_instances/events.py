"""The events of alert instances, with the row after the change, for handlers to render."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from afterword import ids
from afterword.cases.alert_instances.store import Case
from afterword.core.organizations.access import Caller
from afterword.events.service import NewEvent

_COLUMNS = tuple(Case.__dataclass_fields__)


def event(case: Case, kind: str, *, now: datetime, caller: Caller | None = None, **more: object) -> NewEvent:
    """An event of the caller, or of the worker, without answers and numbers: the log outlives their erasure."""
    data: Mapping[str, Any] = {
        **{name: getattr(case, name) for name in _COLUMNS},
        "matched": [{**leaf, "actual": None} for leaf in case.matched],
        "call_back_number": None,
        "call_back_note": None,
        **more,
    }
    return NewEvent(
        organization_id=case.organization_id,
        event_id=ids.ordered(now),
        type=f"alert_instance.{kind}",
        subject_id=case.alert_instance_id,
        subject_version=case.version,
        questionnaire_id=case.questionnaire_id,
        actor_kind=caller.actor_kind if caller else "worker",
        actor_id=caller.actor_id if caller else None,
        data=data,
    )


def of_update(before: Case, after: Case, *, caller: Caller, now: datetime) -> list[NewEvent]:
    """The events of a change: another assignee, another status, resolved or reopened."""
    kinds: list[str] = []
    if after.assigned_user_id != before.assigned_user_id:
        kinds.append("assigned")
    if after.status_id != before.status_id:
        kinds.append("status_changed")
    kinds += crossing(after, was_resolved=before.resolved_time is not None)
    return [event(after, kind, now=now, caller=caller) for kind in kinds]


def crossing(case: Case, *, was_resolved: bool) -> tuple[str, ...]:
    if (case.resolved_time is not None) == was_resolved:
        return ()
    return ("reopened",) if was_resolved else ("resolved",)
