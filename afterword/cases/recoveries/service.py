"""Notes in cases that their customers are asked again, and who of them is won back."""

from collections.abc import Sequence
from datetime import datetime

from afterword.cases.alert_instances import events as case_events
from afterword.cases.alert_instances.store import Case
from afterword.cases.history import service as history
from afterword.cases.recoveries import store
from afterword.core.messaging import alerts as core_alerts
from afterword.core.organizations.access import Caller
from afterword.events import service as events
from afterword.kit.db import Database


async def record_recoveries(db: Database, *, recoveries: Sequence[tuple[str, str, str]], now: datetime) -> None:
    """Set the recovery item in the open cases of responses (organization, instance, item); a first one stays."""
    if recoveries:
        for case in await store.update_recovered(db, recoveries=recoveries, now=now):
            await _record_recovery(db, case=case, caller=None, now=now)


async def ask_again(db: Database, *, caller: Caller, case: Case, item_id: str, now: datetime) -> Case:
    after = await store.update_recovery_item(
        db,
        organization_id=case.organization_id,
        alert_instance_id=case.alert_instance_id,
        item_id=item_id,
        now=now,
        updated_by=caller.actor_id or None,
    )
    await _record_recovery(db, case=after, caller=caller, now=now)
    return after


async def record_recovery_answers(db: Database, *, keys: Sequence[tuple[str, str]], now: datetime) -> None:
    """Note which of these responses (organization, instance) answer recovery items, and who is won back."""
    for one in await store.list_recovery_answers(db, keys=keys):
        after = await store.update_recovery_answer(
            db,
            organization_id=one.case.organization_id,
            alert_instance_id=one.case.alert_instance_id,
            instance_id=one.instance_id,
            submitted_time=one.submitted_time,
            recovered=core_alerts.is_recovered(core_alerts.score_of(*one.before), core_alerts.score_of(*one.after)),
            now=now,
        )
        if after is not None and one.case.recovery_instance_id is None:
            await history.record_change(db, before=one.case, after=after, caller=None, now=now)
            await events.record(db, events=[case_events.event(after, "recovery_answered", now=now)])


async def _record_recovery(db: Database, *, case: Case, caller: Caller | None, now: datetime) -> None:
    changes = {"recovery_item_id": {"from": None, "to": case.recovery_item_id}}
    await history.record(db, case=case, kind="changed", caller=caller, changes=changes, now=now)
