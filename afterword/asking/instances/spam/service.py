"""Judges responses that were held back: accepted ones count, rejected ones do not; each can be reversed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from afterword import errors
from afterword.asking.instances import store as instances_store
from afterword.asking.instances.answers import service as answers
from afterword.asking.instances.spam import store
from afterword.asking.instances.store import Instance
from afterword.core.organizations.access import Caller
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.tenants.organizations.plans import service as plans

JUDGED_MAX: Final = 100  # at once: each that is accepted is read whole, for its event

Decision = Literal["accepted", "rejected"]


async def judge(db: Database, *, caller: Caller, instance_ids: Sequence[str], decision: Decision, now: datetime) -> int:
    """The number of newly judged ones; those never held back stay as they are. Raises Invalid for ids out of reach."""
    reached = {
        instance_id: await instances_store.get_instance(db, **caller.reach, instance_id=instance_id, is_locked=True)
        for instance_id in sorted(set(instance_ids))  # in this order, so that two who judge at once do not wait in turn
    }
    errors.check(
        [
            FieldError("unknown_id", "There is no such instance.", pointer=f"/instance_ids/{index}")
            for index, instance_id in enumerate(instance_ids)
            if reached[instance_id] is None
        ]
    )
    count = 0
    for instance in reached.values():
        if instance is None or instance.judgement in {None, decision} or instance.answered_time is None:
            continue
        change = _accept if decision == "accepted" else _reject
        await change(db, caller=caller, before=instance, now=now)
        count += 1
    return count


async def _accept(db: Database, *, caller: Caller, before: Instance, now: datetime) -> None:
    """Record the events that the response would have had: rules and webhooks follow them as always."""
    after = await store.update_accepted(db, **_key(caller, before, now))
    assert after is not None  # noqa: S101  it is locked
    context = await answers.context_of(db, instance=after)
    recorded = [after.event("accepted", now=now, caller=caller)]
    recorded += [after.event("viewed", now=now)] if before.viewed_time is None else []
    recorded.append(after.event("submitted", now=now))
    recorded += [answers.completed_event(context, now=now)] if after.finalized else []
    await events.record(db, events=recorded)
    if before.judgement == "held" and context.questionnaire.credits_accountable:
        await plans.use_credit(
            db,
            organization_id=after.organization_id,
            application_id=context.questionnaire.owner_application_id,
            now=now,
        )


async def _reject(db: Database, *, caller: Caller, before: Instance, now: datetime) -> None:
    after = await store.update_rejected(db, **_key(caller, before, now))
    assert after is not None  # noqa: S101  it is locked
    # The event tells the times that it had, by which readers find the day in which they counted it.
    told = msgspec.structs.replace(after, submitted_time=before.submitted_time, completed_time=before.completed_time)
    await events.record(db, events=[told.event("rejected", now=now, caller=caller)])


def _key(caller: Caller, instance: Instance, now: datetime) -> dict[str, Any]:
    return {
        "organization_id": instance.organization_id,
        "instance_id": instance.instance_id,
        "now": now,
        "updated_by": caller.actor_id or None,
    }
