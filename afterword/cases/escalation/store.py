"""SQL of cases that are overdue, or open for too long."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword.cases.alert_instances.store import CASE_COLUMNS_I, Case
from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    organization_id: str
    alert_id: str
    escalation_hours: int


async def claim_overdue(db: Database, *, now: datetime, limit: int) -> list[Case]:
    """Note that the due times of open cases are over, each once; the new rows."""
    rows = await db.fetch(
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
    return [Case.of(row) for row in rows]


async def list_rules(db: Database) -> list[Rule]:  # any tenant: a job serves all of them
    rows = await db.fetch(
        """select organization_id, alert_id, escalation_hours from alert
           where escalation_hours is not null and open_count > 0 order by organization_id, alert_id"""
    )
    return [Rule(**row) for row in rows]


async def count_aged(db: Database, *, organization_id: str, alert_id: str, opened_by: datetime, limit: int) -> int:
    """The open cases of a rule that were opened by then, are not waiting and were not escalated; at most `limit`."""
    return await db.fetch_value(
        """select count(*) from (
             select from alert_instance
             where organization_id = $1 and alert_id = $2 and resolved_time is null and created_time <= $3
               and waiting_since is null and escalated_time is null limit $4) aged""",
        *(organization_id, alert_id, opened_by, limit),
    )


async def list_aged_locked(
    db: Database, *, organization_id: str, alert_id: str, opened_by: datetime, limit: int
) -> list[Case]:
    """As count_aged, those that nobody changes now; cases that waited come last, as their age is less."""
    rows = await db.fetch(
        f"""select {CASE_COLUMNS_I} from alert_instance i
           where i.organization_id = $1 and i.alert_id = $2 and i.resolved_time is null and i.created_time <= $3
             and i.waiting_since is null and i.escalated_time is null
           order by i.waited_seconds, i.created_time limit $4 for no key update skip locked""",
        *(organization_id, alert_id, opened_by, limit),
    )
    return [Case.of(row) for row in rows]


async def update_escalated(
    db: Database, *, organization_id: str, alert_instance_ids: Sequence[str], now: datetime
) -> list[Case]:
    """Raise the severity and set the owner as the rule says, of cases that the caller has locked."""
    rows = await db.fetch(
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
    return [Case.of(row) for row in rows]
