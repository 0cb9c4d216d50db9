"""Tells of cases that are overdue, and escalates those that are open for too long. Both happen once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from afterword.cases import history
from afterword.cases.alert_instances import service as alert_instances
from afterword.cases.alert_instances.store import CASE_COLUMNS_I, Case
from afterword.cases.resources import DueHours
from afterword.cases.rules import ALERT
from afterword.core.organizations.access import Caller
from afterword.core.scheduling import windows
from afterword.core.scheduling.windows import Calendar
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import checks


async def _claim_overdue(db: Database, *, now: datetime, limit: int) -> list[Case]:
    """Note that the due times of open cases are over, each once; the new rows."""
    return await db.records(Case.of).fetch(
        f"""with due as materialized (
             select c.organization_id, c.alert_instance_id from organization o
               cross join lateral (
                 select i.organization_id, i.alert_instance_id from alert_instance i
                 where i.organization_id = o.organization_id and i.resolved_time is null
                   and coalesce(i.due_time, timestamptz '9999-01-01 00:00:00+00') <= $1
                   and i.overdue_time is distinct from i.due_time
                 order by coalesce(i.due_time, timestamptz '9999-01-01 00:00:00+00') limit $2) c limit $2),
           held as materialized (
             select i.organization_id, i.alert_instance_id from alert_instance i
               join due using (organization_id, alert_instance_id)
             where i.resolved_time is null and i.due_time <= $1 and i.overdue_time is distinct from i.due_time
             for no key update of i skip locked)
           update alert_instance i
           set overdue_time = i.due_time, version = i.version + 1, updated_time = greatest(i.updated_time, $1)
           from held where i.organization_id = held.organization_id and i.alert_instance_id = held.alert_instance_id
           returning {CASE_COLUMNS_I}""",
        *(now, limit),
    )


async def _list_rules(db: Database) -> list[tuple[str, str, int]]:  # any tenant: a job serves all of them
    """The organization, id and hours of each rule with open cases that escalates them."""
    return await db.fetch_tuples(
        """select organization_id, alert_id, escalation_hours from alert
           where escalation_hours is not null and open_count > 0 order by organization_id, alert_id"""
    )


async def _count_aged(db: Database, *, organization_id: str, alert_id: str, opened_by: datetime) -> int:
    """The open cases of a rule, opened by then, not waiting and not escalated; at most TOUCHED_MAX."""
    return await db.fetch_value(
        """select count(*) from (
             select from alert_instance
             where organization_id = $1 and alert_id = $2 and resolved_time is null and created_time <= $3
               and waiting_since is null and escalated_time is null limit $4) aged""",
        *(organization_id, alert_id, opened_by, TOUCHED_MAX),
    )


async def _list_aged_locked(
    db: Database, *, organization_id: str, alert_id: str, opened_by: datetime, limit: int
) -> list[Case]:
    """As count_aged, those that nobody changes now; cases that waited come last, as their age is less."""
    return await db.records(Case.of).fetch(
        f"""select {CASE_COLUMNS_I} from alert_instance i
           where i.organization_id = $1 and i.alert_id = $2 and i.resolved_time is null and i.created_time <= $3
             and i.waiting_since is null and i.escalated_time is null
           order by i.waited_seconds, i.created_time limit $4 for no key update skip locked""",
        *(organization_id, alert_id, opened_by, limit),
    )


async def _update_escalated(
    db: Database, *, organization_id: str, alert_instance_ids: Sequence[str], now: datetime
) -> list[Case]:
    """Raise the severity and set the owner as the rule says, of cases that the caller has locked."""
    return await db.records(Case.of).fetch(
        f"""update alert_instance i
           set escalated_time = $3, version = i.version + 1, updated_time = greatest(i.updated_time, $3),
             assigned_user_id = coalesce(a.escalation_user_id, i.assigned_user_id),
             severity = case when array_position(array['low', 'normal', 'high', 'critical'], a.escalation_severity)
                 > array_position(array['low', 'normal', 'high', 'critical'], i.severity)
               then a.escalation_severity else i.severity end
           from alert a
           where i.organization_id = $1 and i.alert_instance_id = any($2::text[])
             and a.organization_id = i.organization_id and a.alert_id = i.alert_id
           returning {CASE_COLUMNS_I}""",
        *(organization_id, list(alert_instance_ids), now),
    )


TOUCHED_MAX: Final = 1_000  # counted; of more it is said that there are more


async def tell_overdue(db: Database, *, now: datetime, limit: int) -> int:
    late = await _claim_overdue(db, now=now, limit=limit)
    await events.record(db, events=[alert_instances.event(case, "overdue", now=now) for case in late])
    return len(late)


async def escalate(db: Database, *, now: datetime, limit: int) -> int:
    wanted = await _list_rules(db)
    calendars = await checks.list_calendars(db, organization_ids={organization_id for organization_id, _, _ in wanted})
    done = 0
    for organization_id, alert_id, hours in wanted:
        if done >= limit:
            break
        key = {"organization_id": organization_id, "alert_id": alert_id}
        calendar, age = calendars[organization_id], timedelta(hours=hours)
        opened_by = windows.before(calendar, now, age)
        found = await _list_aged_locked(db, **key, opened_by=opened_by, limit=limit - done)
        aged = [case for case in found if _is_aged(case, calendar=calendar, age=age, now=now)]
        if aged:
            await _escalate(db, cases=aged, now=now)
            done += len(aged)
    return done


async def touched(db: Database, *, caller: Caller, alert_id: str, hours: int, now: datetime) -> int:
    """The open cases that this age would escalate at once, up to TOUCHED_MAX. Raises NotFound."""
    alert = await nouns.get(ALERT, db, caller=caller, key=alert_id)
    calendars = await checks.list_calendars(db, organization_ids=[alert.organization_id])
    opened_by = windows.before(calendars[alert.organization_id], now, timedelta(hours=hours))
    return await _count_aged(db, organization_id=alert.organization_id, alert_id=alert_id, opened_by=opened_by)


def _is_aged(case: Case, *, calendar: Calendar, age: timedelta, now: datetime) -> bool:
    """Whether it is, without the time in which the customer was waited for."""
    if not case.waited_seconds:
        return True
    open_for = windows.between(calendar, case.created_time, now)
    return open_for - timedelta(seconds=case.waited_seconds) >= age


async def _escalate(db: Database, *, cases: list[Case], now: datetime) -> None:
    before = {case.alert_instance_id: case for case in cases}
    after = await _update_escalated(
        db, organization_id=cases[0].organization_id, alert_instance_ids=sorted(before), now=now
    )
    for case in after:
        was = before[case.alert_instance_id]
        await history.record_change(db, before=was, after=case, caller=None, now=now)
        kinds = ("assigned", "escalated") if case.assigned_user_id != was.assigned_user_id else ("escalated",)
        await events.record(db, events=[alert_instances.event(case, kind, now=now) for kind in kinds])


PATH: Final = "/alert/{alert_id}/escalation"

routes = Routes(tag="Alerts")


class EscalationQuery(fields.Request):
    """The age that is tried."""

    escalation_hours: DueHours = 24


class AlertEscalation(fields.Resource):
    """The open cases that this age would escalate at once."""

    alert_id: fields.Id
    escalation_hours: int
    open_cases: int


@routes.get(
    PATH,
    scope="Alert.Read",
    query=EscalationQuery,
    answer=AlertEscalation,
    summary="Say how many open cases an escalation touches",
    description=f"Nothing is changed. At most {TOUCHED_MAX:,} are counted; cases that wait are left out.",
)
async def get_alert_escalation(call: Call[None], db: Database) -> Answer:
    query: EscalationQuery = call.query
    alert_id, hours = call.ids["alert_id"], query.escalation_hours
    count = await touched(db, caller=call.caller, alert_id=alert_id, hours=hours, now=call.now)
    return Answer(AlertEscalation(alert_id=alert_id, escalation_hours=hours, open_cases=count))
