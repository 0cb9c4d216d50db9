"""SQL of alert rules. A deleted one is invisible; its cases stay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row
from afterword.db.columns import arrays, assigned, qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    organization_id: str
    alert_id: str
    application_id: str
    title: str
    description: str | None
    questionnaire_ids: list[str]
    trigger: str
    conditions: dict[str, Any] | None
    severity: str
    active: bool
    status_id: int
    assigned_user_id: str | None
    due_hours: int | None
    fold_hours: int
    subscriber_user_ids: list[str]
    escalation_hours: int | None
    escalation_severity: str | None
    escalation_user_id: str | None
    assignment: dict[str, Any] | None
    open_count: int
    last_triggered_time: datetime | None
    since_time: datetime
    evaluated_time: datetime | None
    deleted_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None

    @property
    def chat_urls(self) -> list[str]:
        """Always empty: nothing is sent to chats."""
        return []


_CHANGEABLE: Final[LiteralString] = """title, description, questionnaire_ids, trigger, conditions, severity, active,
  status_id, assigned_user_id, due_hours, fold_hours, subscriber_user_ids, escalation_hours, escalation_severity,
  escalation_user_id, assignment"""
_COLUMNS: Final[LiteralString] = f"""organization_id, alert_id, application_id, {_CHANGEABLE}, open_count,
  last_triggered_time, since_time, evaluated_time, deleted_time, version, created_time, updated_time, created_by,
  updated_by"""
_COLUMNS_A: Final = qualified(_COLUMNS, "a")
_COLUMNS_T: Final = qualified(_COLUMNS, "t")


@dataclass(frozen=True, slots=True)
class ActiveAlert:
    """An active alert and one of its questionnaires; `opens_closed`: its initial status is a closing one."""

    questionnaire_id: str
    alert: Alert
    opens_closed: bool


async def get_closes(db: Database, *, organization_id: str, status_id: int, application_id: str) -> bool | None:
    """Whether a case with this status is closed; None where the application has no such status."""
    return await db.fetch_value(
        """select closing from alert_status
           where organization_id = $1 and status_id = $2 and (application_id is null or application_id = $3)""",
        *(organization_id, status_id, application_id),
    )


async def get_alert(
    db: Database, *, organization_id: str, alert_id: str, application_ids: Sequence[str] = (), is_locked: bool = False
) -> Alert | None:
    query: LiteralString = f"""select {_COLUMNS} from alert
      where organization_id = $1 and alert_id = $2 and deleted_time is null
        and (cardinality($3::text[]) = 0 or application_id = any($3))"""
    row = await db.fetch_row(
        f"{query} for no key update" if is_locked else query, organization_id, alert_id, list(application_ids)
    )
    return _alert(row) if row else None


async def list_alerts(db: Database, *, organization_id: str, application_ids: Sequence[str], page: Page) -> Rows[Alert]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from alert
           where organization_id = $1 and deleted_time is null
             and (cardinality($2::text[]) = 0 or application_id = any($2))""",
        *(organization_id, list(application_ids)),
        page=page,
    )
    return rows.map(_alert)


async def list_active_alerts(  # any tenant: a batch of events serves many organizations
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[ActiveAlert]:
    rows = await db.fetch(
        f"""select q.questionnaire_id as of_questionnaire_id, s.closing as status_closing, {_COLUMNS_A}
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
             join questionnaire q on q.organization_id = b.organization_id and q.questionnaire_id = b.questionnaire_id
             join alert a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id
             join alert_status s on s.organization_id = a.organization_id and s.status_id = a.status_id
           where a.active and a.deleted_time is null and a.trigger <> 'schedule'
             and (cardinality(a.questionnaire_ids) = 0 or q.questionnaire_id = any(a.questionnaire_ids))
           order by a.organization_id, a.alert_id""",
        *arrays(questionnaires, 2),
    )
    return [ActiveAlert(row["of_questionnaire_id"], _alert(row), row["status_closing"]) for row in rows]


async def list_question_versions(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    questionnaire_ids: Sequence[str],
    question_ids: Sequence[str],
) -> list[str]:
    """The published versions of these questionnaires (none: all of the application) with one of the questions."""
    rows = await db.fetch(
        """select v.version_id
           from questionnaire q
             join questionnaire_version v on v.organization_id = q.organization_id
               and v.version_id = q.published_version_id
           where q.organization_id = $1 and q.owner_application_id = $2
             and (cardinality($3::text[]) = 0 or q.questionnaire_id = any($3))
             and exists (
               select from jsonb_path_query(v.definition, '$.groups[*].questions[*].question_id') i
               where i #>> '{}' = any($4::text[]))""",
        *(organization_id, application_id, list(questionnaire_ids), list(question_ids)),
    )
    return [row["version_id"] for row in rows]


async def list_user_ids(db: Database, *, organization_id: str, application_id: str, among: Sequence[str]) -> set[str]:
    """The active people who may see the application among `among`."""
    rows = await db.fetch(
        """select user_id from organization_user
           where organization_id = $1 and user_id = any($3::text[]) and active and not service
             and (cardinality(application_ids) = 0 or $2 = any(application_ids))""",
        *(organization_id, application_id, list(among)),
    )
    return {row["user_id"] for row in rows}


async def get_call_back_alert_locked(db: Database, *, organization_id: str, application_id: str) -> Alert | None:
    """The application's oldest rule for calls without conditions, on or off; others wait until the transaction ends."""
    await db.execute(
        "select pg_advisory_xact_lock(hashtextextended('call_back:' || $1 || $2, 0))", organization_id, application_id
    )
    row = await db.fetch_row(
        f"""select {_COLUMNS} from alert
           where organization_id = $1 and application_id = $2 and trigger = 'call_back' and conditions is null
             and cardinality(questionnaire_ids) = 0 and deleted_time is null
           order by alert_id limit 1""",
        *(organization_id, application_id),
    )
    return _alert(row) if row else None


async def insert_alert(
    db: Database, *, organization_id: str, alert_id: str, columns: Mapping[str, Any], now: datetime, by: str | None
) -> Alert:
    """Insert a rule. Raises Dangling for an application, status or user that is not the organization's."""
    row = await db.fetch_one(
        f"""insert into alert (organization_id, alert_id, application_id, {_CHANGEABLE},
             created_time, updated_time, created_by, updated_by)
           select $1, $2, s.application_id, {qualified(_CHANGEABLE, "s")}, $4, $4, $5, $5
           from jsonb_populate_record(null::alert, $3::jsonb) s returning {_COLUMNS}""",
        *(organization_id, alert_id, dict(columns), now, by),
    )
    return _alert(row)


async def update_alert(
    db: Database, *, organization_id: str, alert_id: str, changes: Mapping[str, Any], now: datetime, by: str
) -> Alert | None:
    row = await db.fetch_row(
        f"""update alert t
           set {assigned(_CHANGEABLE, "s")}, version = t.version + 1,
             updated_time = greatest(t.updated_time, $4), updated_by = $5
           from alert o, jsonb_populate_record(o, $3::jsonb) s
           where t.organization_id = $1 and t.alert_id = $2 and o.organization_id = $1 and o.alert_id = $2
             and ({qualified(_CHANGEABLE, "t")}) is distinct from ({qualified(_CHANGEABLE, "s")})
           returning {_COLUMNS_T}""",
        *(organization_id, alert_id, dict(changes), now, by),
    )
    return _alert(row) if row else None


async def update_status_to(
    db: Database, *, organization_id: str, status_id: int, move_to: int, deleted_only: bool
) -> int:
    return await db.execute(
        """update alert set status_id = $3, version = version + 1
           where organization_id = $1 and status_id = $2 and (deleted_time is not null or not $4)""",
        *(organization_id, status_id, move_to, deleted_only),
    )


async def delete_alert(db: Database, *, organization_id: str, alert_id: str, now: datetime, by: str) -> int:
    return await db.execute(
        """update alert
           set deleted_time = $3, active = false, version = version + 1, updated_time = greatest(updated_time, $3),
             updated_by = $4
           where organization_id = $1 and alert_id = $2 and deleted_time is null""",
        *(organization_id, alert_id, now, by),
    )


async def settle_counts(
    db: Database, *, counts: Sequence[tuple[str, str, int]], triggered_time: datetime | None
) -> None:
    """Add to the counts of open cases (organization, alert, difference), and set the time of the last match."""
    # Rows are locked in key order first, so that two batches for the same alerts do not deadlock.
    await db.execute(
        """with b as materialized (
             select organization_id, alert_id, sum(more)::integer as more
             from unnest($1::text[], $2::text[], $3::integer[]) as b (organization_id, alert_id, more) group by 1, 2),
           held as materialized (
             select a.organization_id, a.alert_id, b.more from alert a
               join b on b.organization_id = a.organization_id and b.alert_id = a.alert_id
             order by a.organization_id, a.alert_id for no key update of a)
           update alert a
           set open_count = a.open_count + h.more, version = a.version + 1,
             last_triggered_time = greatest(a.last_triggered_time, $4)
           from held h where a.organization_id = h.organization_id and a.alert_id = h.alert_id""",
        *arrays(counts, 3),
        triggered_time,
    )


async def claim_scheduled_alerts(  # any tenant: a daily job serves all of them
    db: Database, *, before: datetime, now: datetime, limit: int
) -> list[Alert]:
    rows = await db.fetch(
        f"""with due as materialized (
             select organization_id, alert_id from alert
             where active and deleted_time is null and trigger = 'schedule'
               and (evaluated_time is null or evaluated_time < $1)
             order by evaluated_time nulls first limit $3 for no key update skip locked)
           update alert a set evaluated_time = $2 from due
           where a.organization_id = due.organization_id and a.alert_id = due.alert_id returning {_COLUMNS_A}""",
        *(before, now, limit),
    )
    return [_alert(row) for row in rows]


def _alert(row: Row) -> Alert:
    return Alert(**{name: row[name] for name in Alert.__dataclass_fields__})
