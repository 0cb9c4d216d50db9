"""Tells of cases that are overdue, and escalates those that are open for too long. Both happen once."""

from datetime import datetime, timedelta
from typing import Final

from afterword.cases.alert_instances import events as case_events
from afterword.cases.alert_instances.store import Case
from afterword.cases.escalation import store
from afterword.cases.history import service as history
from afterword.cases.rules import ALERT
from afterword.core.organizations.access import Caller
from afterword.core.scheduling import working_time
from afterword.core.scheduling.windows import Calendar
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.tenants.organizations.business_hours import store as business_hours

TOUCHED_MAX: Final = 1_000  # counted; of more it is said that there are more


async def tell_overdue(db: Database, *, now: datetime, limit: int) -> int:
    late = await store.claim_overdue(db, now=now, limit=limit)
    await events.record(db, events=[case_events.event(case, "overdue", now=now) for case in late])
    return len(late)


async def escalate(db: Database, *, now: datetime, limit: int) -> int:
    wanted = await store.list_rules(db)
    calendars = await business_hours.list_calendars(db, organization_ids={one.organization_id for one in wanted})
    done = 0
    for rule in wanted:
        if done >= limit:
            break
        key = {"organization_id": rule.organization_id, "alert_id": rule.alert_id}
        calendar, age = calendars[rule.organization_id], timedelta(hours=rule.escalation_hours)
        opened_by = working_time.before(calendar, now, age)
        found = await store.list_aged_locked(db, **key, opened_by=opened_by, limit=limit - done)
        aged = [case for case in found if _is_aged(case, calendar=calendar, age=age, now=now)]
        if aged:
            await _escalate(db, cases=aged, now=now)
            done += len(aged)
    return done


async def touched(db: Database, *, caller: Caller, alert_id: str, hours: int, now: datetime) -> int:
    """The open cases that this age would escalate at once, up to TOUCHED_MAX. Raises NotFound."""
    alert = await nouns.get(ALERT, db, caller=caller, key=alert_id)
    calendars = await business_hours.list_calendars(db, organization_ids=[alert.organization_id])
    opened_by = working_time.before(calendars[alert.organization_id], now, timedelta(hours=hours))
    return await store.count_aged(
        db, organization_id=alert.organization_id, alert_id=alert_id, opened_by=opened_by, limit=TOUCHED_MAX
    )


def _is_aged(case: Case, *, calendar: Calendar, age: timedelta, now: datetime) -> bool:
    """Whether it is, without the time in which the customer was waited for."""
    if not case.waited_seconds:
        return True
    open_for = working_time.between(calendar, case.created_time, now)
    return open_for - timedelta(seconds=case.waited_seconds) >= age


async def _escalate(db: Database, *, cases: list[Case], now: datetime) -> None:
    before = {case.alert_instance_id: case for case in cases}
    after = await store.update_escalated(
        db, organization_id=cases[0].organization_id, alert_instance_ids=sorted(before), now=now
    )
    for case in after:
        was = before[case.alert_instance_id]
        await history.record_change(db, before=was, after=case, caller=None, now=now)
        kinds = ("assigned", "escalated") if case.assigned_user_id != was.assigned_user_id else ("escalated",)
        await events.record(db, events=[case_events.event(case, kind, now=now) for kind in kinds])
