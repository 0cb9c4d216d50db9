"""SQL of the cases that agents work through: by due time, with the names that a person reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, LiteralString, get_args

from afterword.kit.db import Database

CLOSED_DAYS: Final = 90  # of the tab of closed cases
NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """A case with the names of its alert, status and owner, an address of the person, and the score of the response."""

    alert_instance_id: str
    instance_id: str | None
    responder_id: str | None
    application_id: str
    alert_title: str
    questionnaire_name: str | None
    status_id: int
    status_title: str
    severity: str
    assigned_user_id: str | None
    owner_name: str | None
    person: str | None
    occurrences: int
    comments_count: int
    due_time: datetime | None
    waiting_since: datetime | None
    due_left_seconds: int | None
    call_back_time: datetime | None
    call_back_number: str | None
    call_back_until_time: datetime | None
    call_back_note: str | None
    cause: str | None
    remedy: str | None
    resolved_time: datetime | None
    recovery_item_id: str | None
    recovery_time: datetime | None
    recovered: bool | None
    first_score: int | None
    score_max: int | None
    band: str | None
    comment: str | None
    locale: str | None
    external_reference: str | None
    score_now: int | None
    created_time: datetime
    version: int


_WORK: Final[LiteralString] = """select c.alert_instance_id, c.instance_id, c.responder_id, a.application_id,
    a.title as alert_title, q.display_name as questionnaire_name, c.status_id, t.title as status_title, c.severity,
    c.assigned_user_id,
    coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) as owner_name,
    (select r.identifier from responder_address r
     where r.organization_id = c.organization_id and r.responder_id = c.responder_id
     order by r.channel_id limit 1) as person,
    c.occurrences, c.comments_count, c.due_time, c.waiting_since, c.due_left_seconds, c.call_back_time,
    c.call_back_number, c.call_back_until_time, c.call_back_note, c.cause, c.remedy, c.resolved_time,
    c.recovery_item_id, c.recovery_time, c.recovered, f.score as first_score, f.score_max, f.band,
    f.comment, f.locale, f.external_reference, n.score as score_now,
    c.created_time, c.version
  from alert_instance c
    join alert a on a.organization_id = c.organization_id and a.alert_id = c.alert_id
    join alert_status t on t.organization_id = c.organization_id and t.status_id = c.status_id
    left join questionnaire q on q.organization_id = c.organization_id and q.questionnaire_id = c.questionnaire_id
    left join organization_user u on u.organization_id = c.organization_id and u.user_id = c.assigned_user_id
    left join response f on f.organization_id = c.organization_id and f.instance_id = c.instance_id
    left join response n on n.organization_id = c.organization_id and n.instance_id = c.recovery_instance_id
  where c.organization_id = $1 and not $3::boolean
    and (cardinality($2::text[]) = 0 or a.application_id = any($2))"""
# Cases without a due time come last, as if they were due then.
_DUE: Final[LiteralString] = "coalesce(c.due_time, timestamptz '9999-01-01 00:00:00+00')"

Selection = Literal["opened", "closed", "in_time", "late", "answered", "won_back", "not_won_back"]
SELECTIONS: Final[tuple[Selection, ...]] = get_args(Selection)
_LATELY: Final[LiteralString] = "greatest(c.resolved_time, c.recovery_time) >= $4"
_CLOSED: Final[LiteralString] = f"{_LATELY} and c.resolved_time >= $4 and c.resolved_time < $5"
_ANSWERED: Final[LiteralString] = f"{_LATELY} and c.recovery_time >= $4 and c.recovery_time < $5"
# $6: the selection. PostgreSQL plans with its value, drops the other alternatives, and so can use the index of one.
_SELECTED: Final[LiteralString] = f"""(
    ($6 = 'opened' and c.created_time >= $4 and c.created_time < $5)
    or ($6 = 'closed' and {_CLOSED})
    or ($6 = 'in_time' and {_CLOSED} and c.resolved_time <= c.due_time)
    or ($6 = 'late' and {_CLOSED} and c.resolved_time > c.due_time)
    or ($6 = 'answered' and {_ANSWERED})
    or ($6 = 'won_back' and {_ANSWERED} and c.recovered)
    or ($6 = 'not_won_back' and {_ANSWERED} and not c.recovered))"""


async def list_selected(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    selection: Selection,
    from_time: datetime,
    to_time: datetime,
    group_by: str | None,
    key: str | None,
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[WorkItem]:
    """The cases behind a figure, the newest first, behind the key `after`; `key`: of the group, None without a value.

    `group_by`: as the figures have it, but no part of the period.
    """
    before, last = after or (NEVER, "")
    rows = await db.fetch(
        f"""{_WORK} and {_SELECTED} and ($7::text is null or $8::text is not distinct from case $7
             when 'status' then c.status_id::text when 'owner' then c.assigned_user_id when 'alert' then c.alert_id
             when 'severity' then c.severity when 'cause' then c.cause when 'remedy' then c.remedy end)
             and (c.created_time < $9 or (c.created_time = $9 and c.alert_instance_id > $10))
           order by c.created_time desc, c.alert_instance_id limit $11""",
        *(organization_id, list(application_ids), test_only, from_time, to_time, selection),
        *(group_by, key, before, last, limit),
    )
    return [WorkItem(**row) for row in rows]


async def list_work(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    tab: str,
    user_id: str | None,
    now: datetime,
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[WorkItem]:
    """Open cases, the longest due first, behind the key `after`; `tab` chooses some, any other than these all of them.

    The key is the due time, NEVER for none, and the id.
    """
    due, key = after or (datetime.min.replace(tzinfo=UTC), "")
    rows = await db.fetch(
        f"""{_WORK} and c.resolved_time is null and case $4
             when 'overdue' then c.due_time < $5 when 'mine' then c.assigned_user_id = $6
             when 'unassigned' then c.assigned_user_id is null when 'waiting' then c.waiting_since is not null
             when 'call_back' then c.call_back_time is not null else true end
             and ({_DUE}, c.alert_instance_id) > ($7::timestamptz, $8)
           order by {_DUE}, c.alert_instance_id limit $9""",
        *(organization_id, list(application_ids), test_only, tab, now, user_id, due, key, limit),
    )
    return [WorkItem(**row) for row in rows]


async def list_closed(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    before: datetime,
    since: datetime,
    limit: int,
) -> list[WorkItem]:
    rows = await db.fetch(
        f"""{_WORK} and c.resolved_time < $4 and c.created_time >= $5
           order by c.resolved_time desc, c.alert_instance_id limit $6""",
        *(organization_id, list(application_ids), test_only, before, since, limit),
    )
    return [WorkItem(**row) for row in rows]


async def get_work(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, alert_instance_id: str
) -> WorkItem | None:
    row = await db.fetch_row(
        f"{_WORK} and c.alert_instance_id = $4", *(organization_id, list(application_ids), test_only, alert_instance_id)
    )
    return WorkItem(**row) if row else None
