"""SQL of alert instances, the cases that alerts open: of their comments, and of the lists that agents work through."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, LiteralString, Unpack, get_args

import msgspec

from afterword.asking.instances.resources import LeafResult
from afterword.cases.resources import Severity
from afterword.core.organizations.access import Reach, Sight, values_of
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, assigned, columns_of, qualified, within
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A case that an alert opened. Its response is null if a daily figure opened it.

    `call_back_number` and `call_back_note`, the customer's words, are null without the scope `Responder.Read`.
    """

    organization_id: Annotated[str, Hidden()]
    alert_instance_id: fields.Id
    alert_id: fields.Id
    questionnaire_id: fields.Id | None
    instance_id: fields.Id | None
    responder_id: fields.Id | None
    status_id: int
    assigned_user_id: fields.Id | None
    severity: str
    due_time: datetime | None
    occurrences: int = 1
    matched: list[dict[str, Any]]
    comments_count: int = 0
    resolved_time: datetime | None
    resolved_by: fields.Id | None = None
    recovery_item_id: fields.Id | None = None
    # Events that were logged before the following columns lack those with a default.
    waiting_since: datetime | None = None
    due_left_seconds: fields.Computed[int | None] = None
    call_back_time: datetime | None = None
    call_back_number: fields.Computed[str | None] = None
    call_back_until_time: datetime | None = None
    call_back_note: fields.Computed[str | None] = None
    call_back_requested_time: datetime | None = None
    cause: str | None = None
    remedy: str | None = None
    waited_seconds: Annotated[int, Hidden()] = 0
    work_seconds: int | None = None
    recovery_instance_id: fields.Id | None = None
    recovery_time: datetime | None = None
    recovered: bool | None = None
    overdue_time: Annotated[datetime | None, Hidden()] = None
    escalated_time: datetime | None = None
    version: Annotated[int, Hidden()] = 1
    created_time: datetime
    updated_time: datetime
    updated_by: fields.Id | None = None

    @classmethod
    def of(cls, row: Row) -> "Case":
        return cls(**{name: row[name] for name in cls.__struct_fields__})

    @property
    def key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "alert_instance_id": self.alert_instance_id}

    @property
    def waiting(self) -> bool:
        return self.waiting_since is not None

    @property
    def in_time(self) -> bool | None:
        """Whether it was closed by its due time; None while it is open, or without one."""
        return None if self.resolved_time is None or self.due_time is None else self.resolved_time <= self.due_time


ALERT_INSTANCE: Final = shown_as(
    "AlertInstance",
    Case,
    types={"severity": Severity, "matched": list[LeafResult]},
    before={"waiting_since": {"waiting": fields.Computed[bool]}, "work_seconds": {"in_time": bool | None}},
)
_CASE_COLUMNS: Final = columns_of(Case)
_SETTABLE: Final[LiteralString] = """status_id, assigned_user_id, severity, due_time, waiting_since, due_left_seconds,
  call_back_time, call_back_number, call_back_until_time, call_back_note, cause, remedy, waited_seconds, work_seconds,
  resolved_time, resolved_by, recovery_item_id, recovery_instance_id, recovery_time, recovered"""
SETTABLE: Final = tuple(name.strip() for name in _SETTABLE.split(","))
CASE_COLUMNS_I: Final = qualified(_CASE_COLUMNS, "i")
_SHOWN: Final[LiteralString] = f"{CASE_COLUMNS_I}, (i.resolved_time <= i.due_time) as in_time"
_VISIBLE: Final[LiteralString] = f"""select {_SHOWN} from alert_instance i
  where i.organization_id = $1 and not $3::boolean and (cardinality($2::text[]) = 0 or exists (
    select from alert a where a.organization_id = i.organization_id and a.alert_id = i.alert_id
      and a.application_id = any($2)))"""
_OWNED: Final[LiteralString] = """exists (select from organization_user u
  where u.organization_id = c.organization_id and u.user_id = c.assigned_user_id and u.active)"""  # else by nobody
# The open cases by how they stand, for the user $4 at $5.
_SUMS: Final[LiteralString] = f"""count(*) as open, count(*) filter (where due_time < $5) as overdue,
    count(*) filter (where not {_OWNED}) as unassigned,
    count(*) filter (where assigned_user_id = $4) as mine, count(waiting_since) as waiting,
    count(call_back_time) as call_back"""
OPEN_COUNTS: Final[LiteralString] = f"select {_SUMS} from ({_VISIBLE} and i.resolved_time is null) c"


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """A comment on a case; `user_id` is null for a token of the organization."""

    organization_id: Annotated[str, Hidden()]
    comment_id: fields.Id
    alert_instance_id: fields.Id
    author_id: Annotated[str, Hidden()]
    user_id: fields.Id | None
    body: str
    version: Annotated[int, Hidden()]
    created_time: datetime
    updated_time: datetime


COMMENT: Final = shown_as("AlertComment", Comment)


_COMMENT_COLUMNS: Final = columns_of(Comment)


async def get_case(
    db: Database, *, alert_instance_id: str, is_locked: bool = False, **sight: Unpack[Sight]
) -> Case | None:
    """Test data have no cases."""
    query: LiteralString = f"{_VISIBLE} and i.alert_instance_id = $4 and {within('i.instance_id', '$5')}"
    return await db.records(Case.of).fetch_row(
        f"{query} for no key update of i" if is_locked else query,
        *(*values_of(sight), sight["test_only"], alert_instance_id, sight["only"]),
    )


async def get_application_id(db: Database, *, organization_id: str, alert_id: str) -> str | None:
    """The application of a case's alert, also of a deleted one."""
    return await db.fetch_value(
        "select application_id from alert where organization_id = $1 and alert_id = $2", organization_id, alert_id
    )


async def list_cases(db: Database, *, page: Page, **reach: Unpack[Reach]) -> Rows[Case]:
    return await db.records(Case.of).fetch_list(_VISIBLE, *values_of(reach), reach["test_only"], page=page)


async def count_cases(db: Database, *, user_id: str | None, now: datetime, **sight: Unpack[Sight]) -> dict[str, int]:
    """The open cases by `open`, `overdue`, `unassigned`, `mine`, `waiting` and `call_back`."""
    row = await db.fetch_one(
        f"select {_SUMS} from ({_VISIBLE} and i.resolved_time is null and {within('i.instance_id', '$6')}) c",
        *(*values_of(sight), sight["test_only"], user_id, now, sight["only"]),
    )
    return dict(row)


async def list_cases_of_alert(
    db: Database, *, organization_id: str, alert_id: str, test_only: bool, page: Page
) -> Rows[Case]:
    return await db.records(Case.of).fetch_list(
        f"select {_SHOWN} from alert_instance i where i.organization_id = $1 and i.alert_id = $2 and not $3",
        *(organization_id, alert_id, test_only),
        page=page,
    )


async def list_open_cases(  # any tenant: a batch of events serves many organizations
    db: Database, *, keys: Sequence[tuple[str, str, str | None]], since: datetime
) -> list[Case]:
    """Lock the newest open case since `since` of each (organization, alert, responder); None: of no responder."""
    return await db.records(Case.of).fetch(
        f"""select {CASE_COLUMNS_I} from alert_instance i
           where (i.organization_id, i.alert_instance_id) in (
             select w.organization_id, newest.alert_instance_id
             from (select distinct * from unnest($1::text[], $2::text[], $3::text[])
                     as w (organization_id, alert_id, responder_id)) w
               cross join lateral (
                 (select c.alert_instance_id from alert_instance c
                  where c.organization_id = w.organization_id and c.alert_id = w.alert_id
                    and c.responder_id = w.responder_id and c.resolved_time is null and c.created_time >= $4
                  order by c.created_time desc limit 1)
                 union all -- "is not distinct from" finds no index
                 (select c.alert_instance_id from alert_instance c
                  where w.responder_id is null and c.organization_id = w.organization_id and c.alert_id = w.alert_id
                    and c.responder_id is null and c.resolved_time is null and c.created_time >= $4
                  order by c.created_time desc limit 1)) newest)
             and i.resolved_time is null
           order by i.organization_id, i.alert_instance_id for no key update of i""",
        *arrays(keys, 3),
        since,
    )


async def count_status_uses(db: Database, *, organization_id: str, status_id: int, limit: int) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from alert_instance where organization_id = $1 and status_id = $2 limit $3) used""",
        *(organization_id, status_id, limit),
    )


_OPENED: Final[LiteralString] = """organization_id, alert_instance_id, alert_id, questionnaire_id, instance_id,
  responder_id, status_id, assigned_user_id, severity, due_time, matched, resolved_time, call_back_time,
  call_back_number, call_back_until_time, call_back_note, call_back_requested_time, created_time"""


async def insert_cases(  # any tenant: a batch of events serves many organizations
    db: Database, *, cases: Sequence[Case]
) -> None:
    """Insert them. Raises Dangling if an alert, status or user was deleted meanwhile."""
    await db.execute(
        f"""insert into alert_instance ({_OPENED}, updated_time)
           select {_OPENED}, created_time from jsonb_populate_recordset(null::alert_instance, $1::jsonb)""",
        cases,
    )


async def update_repeated(  # any tenant: a batch of events serves many organizations
    db: Database, *, repeats: Sequence[tuple[str, str, int]], now: datetime
) -> list[Case]:
    """Add repeats (organization, case, count) to cases that the caller has locked; return the new rows."""
    return await db.records(Case.of).fetch(
        f"""update alert_instance i
           set occurrences = i.occurrences + b.more, version = i.version + 1,
             updated_time = greatest(i.updated_time, $4)
           from unnest($1::text[], $2::text[], $3::integer[]) as b (organization_id, alert_instance_id, more)
           where i.organization_id = b.organization_id and i.alert_instance_id = b.alert_instance_id
           returning {CASE_COLUMNS_I}""",
        *arrays(repeats, 3),
        now,
    )


async def update_case(
    db: Database, *, organization_id: str, alert_instance_id: str, changes: Mapping[str, Any], now: datetime
) -> Case | None:
    """Update a case that the caller has locked with some of SETTABLE, and `updated_by`; None if nothing changes."""
    return await db.records(Case.of).fetch_row(
        f"""update alert_instance i
           set {assigned(_SETTABLE, "d")}, updated_by = d.updated_by, version = i.version + 1,
             updated_time = greatest(i.updated_time, $4)
           from alert_instance o, jsonb_populate_record(o, $3::jsonb) d
           where i.organization_id = $1 and i.alert_instance_id = $2
             and o.organization_id = $1 and o.alert_instance_id = $2
             and ({qualified(_SETTABLE, "i")}) is distinct from ({qualified(_SETTABLE, "d")})
           returning {CASE_COLUMNS_I}""",
        *(organization_id, alert_instance_id, changes, now),
    )


async def get_case_of_call(db: Database, *, organization_id: str, instance_id: str) -> Case | None:
    """The case that the response's wish to be called opened, locked until the transaction ends."""
    return await db.records(Case.of).fetch_row(
        f"""select {CASE_COLUMNS_I} from alert_instance i
           where i.organization_id = $1 and i.instance_id = $2 and i.call_back_requested_time is not null
           order by i.created_time desc limit 1 for no key update""",
        *(organization_id, instance_id),
    )


async def update_status_to(
    db: Database,
    *,
    organization_id: str,
    status_id: int,
    move_to: int,
    is_closing: bool,
    limit: int,
    now: datetime,
    updated_by: str,
) -> list[tuple[Case, bool]]:
    """Move at most `limit` cases to another status; return each new row, and True if it was resolved before."""
    rows = await db.fetch(
        f"""with before as materialized (
             select alert_instance_id, resolved_time is not null as was_resolved from alert_instance
             where organization_id = $1 and status_id = $2
             order by alert_instance_id limit $5 for no key update)
           update alert_instance i
           set status_id = $3, version = i.version + 1, updated_time = greatest(i.updated_time, $6), updated_by = $7,
             resolved_time = case when $4 then coalesce(i.resolved_time, $6) end,
             resolved_by = case when $4 then case when i.resolved_time is null then $7 else i.resolved_by end end
           from before b where i.organization_id = $1 and i.alert_instance_id = b.alert_instance_id
           returning {CASE_COLUMNS_I}, b.was_resolved""",
        *(organization_id, status_id, move_to, is_closing, limit, now, updated_by),
    )
    return [(Case.of(row), row["was_resolved"]) for row in rows]


async def update_matched_to_blank(  # any tenant: a batch of events serves many organizations
    db: Database, *, responses: Sequence[tuple[str, str]], responders: Sequence[tuple[str, str]]
) -> int:
    """Remove the answers from the cases of these responses and responders, pairs with their organization."""
    return await db.execute(
        """update alert_instance i
           set matched = (select coalesce(jsonb_agg(leaf || '{"actual": null}'), '[]')
                          from jsonb_array_elements(i.matched) leaf),
             call_back_number = null, call_back_note = null, version = i.version + 1
           where (i.organization_id, i.alert_instance_id) in (
             select c.organization_id, c.alert_instance_id
             from unnest($1::text[], $2::text[]) as b (organization_id, instance_id)
               join alert_instance c on c.organization_id = b.organization_id and c.instance_id = b.instance_id
             union
             select c.organization_id, c.alert_instance_id
             from unnest($3::text[], $4::text[]) as b (organization_id, responder_id)
               join alert_instance c on c.organization_id = b.organization_id and c.responder_id = b.responder_id)""",
        *arrays(responses, 2),
        *arrays(responders, 2),
    )


async def list_names(db: Database, *, organization_id: str, application_id: str, limit: int) -> dict[str, list[str]]:
    """The names and the address of each active person who may see the application."""
    rows = await db.fetch(
        """select user_id, email, coalesce(display_name, '') as display_name,
             concat_ws(' ', first_name, last_name) as full_name
           from organization_user
           where organization_id = $1 and active and not service
             and (cardinality(application_ids) = 0 or $2 = any(application_ids))
           order by user_id limit $3""",
        *(organization_id, application_id, limit),
    )
    return {row["user_id"]: [row["email"], row["display_name"], row["full_name"]] for row in rows}


async def get_comment(db: Database, *, organization_id: str, alert_instance_id: str, comment_id: str) -> Comment | None:
    return await db.records(Comment).fetch_row(
        f"""select {_COMMENT_COLUMNS} from alert_comment
           where organization_id = $1 and alert_instance_id = $2 and comment_id = $3""",
        *(organization_id, alert_instance_id, comment_id),
    )


async def list_comments(
    db: Database, *, organization_id: str, alert_instance_ids: Sequence[str], page: Page
) -> Rows[Comment]:
    return await db.records(Comment).fetch_list(
        f"select {_COMMENT_COLUMNS} from alert_comment where organization_id = $1 and alert_instance_id = any($2)",
        *(organization_id, list(alert_instance_ids)),
        page=page,
    )


async def insert_comment(db: Database, *, comment: Comment) -> None:  # any tenant: the comment names it
    await db.execute(
        f"""insert into alert_comment ({_COMMENT_COLUMNS})
           select {_COMMENT_COLUMNS} from jsonb_populate_record(null::alert_comment, $1::jsonb)""",
        comment,
    )


async def update_comment(
    db: Database, *, organization_id: str, alert_instance_id: str, comment_id: str, body: str, now: datetime
) -> Comment | None:
    return await db.records(Comment).fetch_row(
        f"""update alert_comment set body = $4, version = version + 1, updated_time = greatest(updated_time, $5)
           where organization_id = $1 and alert_instance_id = $2 and comment_id = $3 and body <> $4
           returning {_COMMENT_COLUMNS}""",
        *(organization_id, alert_instance_id, comment_id, body, now),
    )


async def delete_comment(db: Database, *, organization_id: str, alert_instance_id: str, comment_id: str) -> int:
    return await db.execute(
        "delete from alert_comment where organization_id = $1 and alert_instance_id = $2 and comment_id = $3",
        *(organization_id, alert_instance_id, comment_id),
    )


async def delete_comments_on(  # any tenant: a batch of events serves many organizations
    db: Database, *, responders: Sequence[tuple[str, str]]
) -> int:
    """Delete the comments on cases of these (organization, responder); the counts follow."""
    return await db.execute(
        """with gone as (
             delete from alert_comment c
             using alert_instance i, unnest($1::text[], $2::text[]) as b (organization_id, responder_id)
             where i.organization_id = b.organization_id and i.responder_id = b.responder_id
               and c.organization_id = i.organization_id and c.alert_instance_id = i.alert_instance_id
             returning c.organization_id, c.alert_instance_id)
           update alert_instance i set comments_count = 0, version = i.version + 1
           from (select distinct * from gone) g
           where i.organization_id = g.organization_id and i.alert_instance_id = g.alert_instance_id""",
        *arrays(responders, 2),
    )


async def update_comments_count(
    db: Database, *, organization_id: str, alert_instance_id: str, more: int, now: datetime
) -> Case | None:
    return await db.records(Case.of).fetch_row(
        f"""update alert_instance
           set comments_count = comments_count + $3, version = version + 1, updated_time = greatest(updated_time, $4)
           where organization_id = $1 and alert_instance_id = $2 returning {_CASE_COLUMNS}""",
        *(organization_id, alert_instance_id, more, now),
    )


CLOSED_DAYS: Final = 90  # of the tab of closed cases
NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)


class WorkItem(Case, frozen=True, kw_only=True):
    """A case with the names of its alert, status and owner, an address of the person, and the score of the response."""

    application_id: str
    alert_title: str
    questionnaire_name: str | None
    status_title: str
    owner_name: str | None
    person: str | None
    first_score: int | None
    score_max: int | None
    band: str | None
    comment: str | None
    locale: str | None
    external_reference: str | None
    score_now: int | None


_WORK: Final[LiteralString] = f"""select {qualified(_CASE_COLUMNS, "c")}, a.application_id, a.title as alert_title,
    q.display_name as questionnaire_name, t.title as status_title,
    coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) as owner_name,
    (select r.identifier from responder_address r
     where r.organization_id = c.organization_id and r.responder_id = c.responder_id
     order by r.channel_id limit 1) as person,
    f.score as first_score, f.score_max, f.band, f.comment, f.locale, f.external_reference, n.score as score_now
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
    selection: Selection,
    from_time: datetime,
    to_time: datetime,
    group_by: str | None,
    key: str | None,
    after: tuple[datetime, str] | None,
    limit: int,
    **reach: Unpack[Reach],
) -> list[WorkItem]:
    """The cases behind a figure, the newest first, behind the key `after`; `key`: of the group, None without a value.

    `group_by`: as the figures have it, but no part of the period.
    """
    before, last = after or (NEVER, "")
    return await db.records(WorkItem).fetch(
        f"""{_WORK} and {_SELECTED} and ($7::text is null or $8::text is not distinct from case $7
             when 'status' then c.status_id::text when 'owner' then c.assigned_user_id when 'alert' then c.alert_id
             when 'severity' then c.severity when 'cause' then c.cause when 'remedy' then c.remedy end)
             and (c.created_time < $9 or (c.created_time = $9 and c.alert_instance_id > $10))
           order by c.created_time desc, c.alert_instance_id limit $11""",
        *(*values_of(reach), reach["test_only"], from_time, to_time, selection),
        *(group_by, key, before, last, limit),
    )


async def list_work(
    db: Database,
    *,
    tab: str,
    user_id: str | None,
    now: datetime,
    after: tuple[datetime, str] | None,
    limit: int,
    **sight: Unpack[Sight],
) -> list[WorkItem]:
    """Open cases, the longest due first, behind the key `after`; `tab` chooses some, any other than these all of them.

    The key is the due time, NEVER for none, and the id.
    """
    due, key = after or (datetime.min.replace(tzinfo=UTC), "")
    return await db.records(WorkItem).fetch(
        f"""{_WORK} and c.resolved_time is null and case $4
             when 'overdue' then c.due_time < $5 when 'mine' then c.assigned_user_id = $6
             when 'unassigned' then not {_OWNED} when 'waiting' then c.waiting_since is not null
             when 'call_back' then c.call_back_time is not null else true end
             and ({_DUE}, c.alert_instance_id) > ($7::timestamptz, $8) and {within("c.instance_id", "$10")}
           order by {_DUE}, c.alert_instance_id limit $9""",
        *(*values_of(sight), sight["test_only"], tab, now, user_id, due, key, limit, sight["only"]),
    )


async def list_closed(
    db: Database, *, before: datetime, since: datetime, limit: int, **sight: Unpack[Sight]
) -> list[WorkItem]:
    return await db.records(WorkItem).fetch(
        f"""{_WORK} and c.resolved_time < $4 and c.created_time >= $5 and {within("c.instance_id", "$7")}
           order by c.resolved_time desc, c.alert_instance_id limit $6""",
        *(*values_of(sight), sight["test_only"], before, since, limit, sight["only"]),
    )


async def get_work(db: Database, *, alert_instance_id: str, **sight: Unpack[Sight]) -> WorkItem | None:
    return await db.records(WorkItem).fetch_row(
        f"{_WORK} and c.alert_instance_id = $4 and {within('c.instance_id', '$5')}",
        *(*values_of(sight), sight["test_only"], alert_instance_id, sight["only"]),
    )
