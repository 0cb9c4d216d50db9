"""Tells of cases that are overdue, and escalates those that are open for too long. Both happen once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, LiteralString

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
from afterword.kit.db.columns import arrays
from afterword.kit.db.walks import EPOCH
from afterword.kit.nouns import service as nouns
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import checks

_DUE: Final[LiteralString] = "coalesce(i.due_time, timestamptz '9999-01-01 00:00:00+00')"
Position = tuple[str, datetime, str]  # of an open case: organization, due time or the year 9999, id
START: Final[Position] = ("", EPOCH, "")
LOOKED_MAX: Final = 500  # open cases that one turn passes


async def _list_open(db: Database, *, after: Position) -> list[Any]:  # any tenant: a job serves all of them
    """The next open cases: position, whether this due time was told of, rule, its hours if they count, opening."""
    return await db.fetch_tuples(
        f"""select i.organization_id, i.due_time, i.alert_instance_id, i.is_told, i.alert_id,
             case when i.is_young then a.escalation_hours end as hours, i.created_time
           from (
             select i.organization_id, {_DUE} as due_time, i.alert_instance_id, i.alert_id, i.created_time,
               i.overdue_time is not distinct from i.due_time as is_told,
               i.waiting_since is null and i.escalated_time is null as is_young
             from alert_instance i
             where i.resolved_time is null and (i.organization_id, {_DUE}, i.alert_instance_id) > ($1, $2, $3)
             order by i.organization_id, {_DUE}, i.alert_instance_id limit $4) i
           join alert a on a.organization_id = i.organization_id and a.alert_id = i.alert_id
           order by i.organization_id, i.due_time, i.alert_instance_id""",
        *(*after, LOOKED_MAX),
    )


async def _update_overdue(db: Database, *, keys: Sequence[tuple[str, str]], now: datetime) -> list[Case]:
    # any tenant: a job serves all of them
    """Note that the due times of these open cases are over, each once; those that nobody changes now."""
    return await db.records(Case.of).fetch(
        f"""with held as materialized (
             select i.organization_id, i.alert_instance_id
             from unnest($2::text[], $3::text[]) k (organization_id, alert_instance_id)
             cross join lateral (
               select organization_id, alert_instance_id from alert_instance
               where organization_id = k.organization_id and alert_instance_id = k.alert_instance_id
                 and resolved_time is null and due_time <= $1 and overdue_time is distinct from due_time
               for no key update skip locked) i)
           update alert_instance i
           set overdue_time = i.due_time, version = i.version + 1, updated_time = greatest(i.updated_time, $1)
           from held where i.organization_id = held.organization_id and i.alert_instance_id = held.alert_instance_id
           returning {CASE_COLUMNS_I}""",
        *(now, *arrays(keys, 2)),
    )


async def _list_aged_locked(
    db: Database, *, organization_id: str, alert_instance_ids: Sequence[str], opened_by: datetime
) -> list[Case]:
    """Those of these cases that `count_touched` counts, and that nobody changes now."""
    return await db.records(Case.of).fetch(
        f"""select {CASE_COLUMNS_I} from alert_instance i
           where i.organization_id = $1 and i.alert_instance_id = any($2::text[]) and i.resolved_time is null
             and i.created_time <= $3 and i.waiting_since is null and i.escalated_time is null
           order by i.alert_instance_id for no key update skip locked""",
        *(organization_id, list(alert_instance_ids), opened_by),
    )


async def _update_escalated(
    db: Database, *, organization_id: str, alert_instance_ids: Sequence[str], now: datetime
) -> list[Case]:
    """Raise the severity of locked cases, and give them to the owner whom the rule says, if that one may have them."""
    return await db.records(Case.of).fetch(
        f"""update alert_instance i
           set escalated_time = $3, version = i.version + 1, updated_time = greatest(i.updated_time, $3),
             assigned_user_id = coalesce((
               select u.user_id from organization_user u
               where u.organization_id = a.organization_id and u.user_id = a.escalation_user_id and u.active
                 and not u.service and (cardinality(u.application_ids) = 0 or a.application_id = any(u.application_ids))
                 and (u.only_where is null or (
                   select n.metadata ->> u.only_where from questionnaire_instance n
                   where n.organization_id = i.organization_id and n.instance_id = i.instance_id) = any(u.only_values))
             ), i.assigned_user_id),
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


async def see_to_open(db: Database, *, after: Position, now: datetime) -> tuple[int, Position]:
    """Tell of and escalate the next open cases whose time has come; their count, and the position to go on from."""
    looked = await _list_open(db, after=after)
    late = [(one[0], one[2]) for one in looked if one[1] <= now and not one[3]]
    cases = await _update_overdue(db, keys=late, now=now) if late else []
    await events.record(db, events=[alert_instances.event(case, "overdue", now=now) for case in cases])
    old: dict[tuple[str, str, int], list[str]] = {}
    for organization_id, _, id_, _, alert_id, hours, created_time in looked:
        if hours is not None and created_time <= now - timedelta(hours=hours):
            old.setdefault((organization_id, alert_id, hours), []).append(id_)
    calendars = await checks.list_calendars(db, organization_ids={organization_id for organization_id, _, _ in old})
    done = len(cases)
    for (organization_id, _, hours), alert_instance_ids in sorted(old.items()):
        calendar, age = calendars[organization_id], timedelta(hours=hours)
        key: dict[str, Any] = {"organization_id": organization_id, "alert_instance_ids": alert_instance_ids}
        found = await _list_aged_locked(db, **key, opened_by=windows.before(calendar, now, age))
        aged = [case for case in found if _is_aged(case, calendar=calendar, age=age, now=now)]
        if aged:
            await _escalate(db, cases=aged, now=now)
            done += len(aged)
    return (LOOKED_MAX, looked[-1][:3]) if len(looked) == LOOKED_MAX else (done, START)


async def count_touched(db: Database, *, caller: Caller, alert_id: str, hours: int, now: datetime) -> int:
    """The open cases that this age would escalate at once, up to TOUCHED_MAX. Raises NotFound."""
    alert = await nouns.get(ALERT, db, caller=caller, key=alert_id)
    calendars = await checks.list_calendars(db, organization_ids=[alert.organization_id])
    opened_by = windows.before(calendars[alert.organization_id], now, timedelta(hours=hours))
    return await db.fetch_value(
        """select count(*) from (
             select from alert_instance
             where organization_id = $1 and alert_id = $2 and resolved_time is null and created_time <= $3
               and waiting_since is null and escalated_time is null limit $4) aged""",
        *(alert.organization_id, alert_id, opened_by, TOUCHED_MAX),
    )


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
    "/alert/{alert_id}/escalation",
    scope="Alert.Read",
    query=EscalationQuery,
    answer=AlertEscalation,
    summary="Say how many open cases an escalation touches",
    description=f"Nothing is changed. At most {TOUCHED_MAX:,} are counted; cases that wait are left out.",
)
async def get_alert_escalation(call: Call[None], db: Database) -> Answer:
    query: EscalationQuery = call.query
    alert_id, hours = call.ids["alert_id"], query.escalation_hours
    count = await count_touched(db, caller=call.caller, alert_id=alert_id, hours=hours, now=call.now)
    return Answer(AlertEscalation(alert_id=alert_id, escalation_hours=hours, open_cases=count))
