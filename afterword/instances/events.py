"""The events that a change of an instance records; their data are the row, rendered when delivered."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from afterword import ids
from afterword.core.answers import instances as core_instances
from afterword.core.answers.instances import Edit
from afterword.core.organizations.access import Caller
from afterword.events.service import NewEvent
from afterword.instances.store import Instance

_COLUMNS = Instance.__struct_fields__


def of_update(before: Instance, after: Instance, *, caller: Caller, now: datetime) -> list[NewEvent]:
    """The events of a PATCH: updated, and reopened or expired if its `valid_days` changed that."""
    was_over, is_over = core_instances.is_expired(before, now), core_instances.is_expired(after, now)
    kinds = ["updated"]
    if was_over and not is_over:
        kinds.append("reopened")
    if is_over and not was_over and not after.finalized:
        kinds.append("expired")
    return [event(after, kind, now=now, caller=caller) for kind in kinds]


def event(
    instance: Instance,
    kind: str,
    *,
    now: datetime,
    caller: Caller | None = None,
    response: Mapping[str, object] | None = None,
) -> NewEvent:
    """One event by the caller, else by the responder; `response` holds answers and metadata.

    The store writes the event of a creation together with the row.
    """
    data = {name: getattr(instance, name) for name in _COLUMNS}  # asdict copies deeply, which is slow
    del data["metadata"]
    return NewEvent(
        organization_id=instance.organization_id,
        event_id=ids.ordered(now),
        type=f"questionnaire_instance.{kind}",
        subject_id=instance.instance_id,
        subject_version=instance.version,
        questionnaire_id=instance.questionnaire_id,
        actor_kind=caller.actor_kind if caller else "responder",
        actor_id=caller.actor_id if caller else instance.responder_id,
        data={**data, **(response or {})},
        test=instance.test,
    )


def of_answers(
    before: Instance, after: Instance, edit: Edit, *, now: datetime, responder_metadata: Mapping[str, str]
) -> list[NewEvent]:
    """The events of saved answers, in order; only `completed` contains the response."""
    events: list[NewEvent] = []
    if before.viewed_time is None:
        events.append(event(after, "viewed", now=now))
    if before.submitted_time is None and after.submitted_time is not None:
        events.append(event(after, "submitted", now=now))
    elif not after.finalized:  # a later page or a corrected answer; receivers that count need every change
        events.append(replace(event(after, "updated", now=now), type="answer.changed"))
    if before.finalized:
        events.append(event(after, "updated", now=now))
    elif after.finalized:
        metadata = {"questionnaire": after.metadata, "responder": responder_metadata}
        response = {"answers": core_instances.documents(edit.after), "metadata": metadata}
        events.append(event(after, "completed", now=now, response=response))
    return events
