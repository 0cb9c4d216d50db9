"""SQL of alert instances, the cases that alerts open, and of their comments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, LiteralString

import msgspec

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, assigned, columns_of, qualified
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    organization_id: str
    alert_instance_id: str
    alert_id: str
    questionnaire_id: str | None
    instance_id: str | None
    responder_id: str | None
    status_id: int
    assigned_user_id: str | None
    severity: str
    due_time: datetime | None
    occurrences: int
    matched: list[dict[str, Any]]
    comments_count: int
    resolved_time: datetime | None
    resolved_by: str | None
    recovery_item_id: str | None
    version: int
    created_time: datetime
    updated_time: datetime
    updated_by: str | None
    # Events that were logged before these columns lack them.
    waiting_since: datetime | None = None
    due_left_seconds: int | None = None
    call_back_time: datetime | None = None
    call_back_number: str | None = None
    call_back_until_time: datetime | None = None
    call_back_note: str | None = None
    call_back_requested_time: datetime | None = None
    cause: str | None = None
    remedy: str | None = None
    waited_seconds: int = 0
    work_seconds: int | None = None
    recovery_instance_id: str | None = None
    recovery_time: datetime | None = None
    recovered: bool | None = None
    overdue_time: datetime | None = None
    escalated_time: datetime | None = None

    @classmethod
    def of(cls, row: Row) -> "Case":
        return cls(**{name: row[name] for name in cls.__dataclass_fields__})

    @property
    def waiting(self) -> bool:
        return self.waiting_since is not None

    @property
    def in_time(self) -> bool | None:
        """Whether it was closed by its due time; None while it is open, or without one."""
        return None if self.resolved_time is None or self.due_time is None else self.resolved_time <= self.due_time


_CASE_COLUMNS: Final = columns_of(Case)
_SETTABLE: Final[LiteralString] = """status_id, assigned_user_id, severity, due_time, waiting_since, due_left_seconds,
  call_back_time, call_back_number, call_back_until_time, cause, remedy, waited_seconds, work_seconds"""
_CALL: Final[LiteralString] = "call_back_time, call_back_number, call_back_until_time, call_back_note, due_time"
SETTABLE: Final = tuple(name.strip() for name in _SETTABLE.split(","))
CASE_COLUMNS_I: Final = qualified(_CASE_COLUMNS, "i")
_SHOWN: Final[LiteralString] = f"{CASE_COLUMNS_I}, (i.resolved_time <= i.due_time) as in_time"
_VISIBLE: Final[LiteralString] = f"""select {_SHOWN} from alert_instance i
  where i.organization_id = $1 and not $3::boolean and (cardinality($2::text[]) = 0 or exists (
    select from alert a where a.organization_id = i.organization_id and a.alert_id = i.alert_id
      and a.application_id = any($2)))"""
# The open cases by how they stand, for the user $4 at $5.
OPEN_COUNTS: Final[LiteralString] = f"""select count(*) as open, count(*) filter (where due_time < $5) as overdue,
    count(*) filter (where assigned_user_id is null) as unassigned,
    count(*) filter (where assigned_user_id = $4) as mine, count(waiting_since) as waiting,
    count(call_back_time) as call_back
  from ({_VISIBLE} and i.resolved_time is null) c"""


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
    db: Database,
    *,
    organization_id: str,
    alert_instance_id: str,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    is_locked: bool = False,
) -> Case | None:
    """Test data have no cases."""
    query: LiteralString = f"{_VISIBLE} and i.alert_instance_id = $4"
    row = await db.fetch_row(
        f"{query} for no key update of i" if is_locked else query,
        *(organization_id, list(application_ids), test_only, alert_instance_id),
    )
    return Case.of(row) if row else None


async def get_application_id(db: Database, *, organization_id: str, alert_id: str) -> str | None:
    """The application of a case's alert, also of a deleted one."""
    return await db.fetch_value(
        "select application_id from alert where organization_id = $1 and alert_id = $2", organization_id, alert_id
    )


async def list_cases(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[Case]:
    rows = await db.fetch_list(_VISIBLE, organization_id, list(application_ids), test_only, page=page)
    return rows.map(Case.of)


async def count_cases(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    user_id: str | None,
    now: datetime,
) -> dict[str, int]:
    """The open cases by `open`, `overdue`, `unassigned`, `mine`, `waiting` and `call_back`."""
    row = await db.fetch_one(OPEN_COUNTS, *(organization_id, list(application_ids), test_only, user_id, now))
    return dict(row)


async def list_cases_of_alert(
    db: Database, *, organization_id: str, alert_id: str, test_only: bool, page: Page
) -> Rows[Case]:
    rows = await db.fetch_list(
        f"select {_SHOWN} from alert_instance i where i.organization_id = $1 and i.alert_id = $2 and not $3",
        *(organization_id, alert_id, test_only),
        page=page,
    )
    return rows.map(Case.of)


async def list_open_cases(  # any tenant: a batch of events serves many organizations
    db: Database, *, keys: Sequence[tuple[str, str, str | None]], since: datetime
) -> list[Case]:
    """Lock the newest open case since `since` of each (organization, alert, responder); None: of no responder."""
    rows = await db.fetch(
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
    return [Case.of(row) for row in rows]


async def count_status_uses(db: Database, *, organization_id: str, status_id: int, limit: int) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from alert_instance where organization_id = $1 and status_id = $2 limit $3) used""",
        *(organization_id, status_id, limit),
    )


async def insert_cases(  # any tenant: a batch of events serves many organizations
    db: Database, *, cases: Sequence[Case]
) -> None:
    """Insert them. Raises Dangling if an alert, status or user was deleted meanwhile."""
    await db.execute(
        """insert into alert_instance (organization_id, alert_instance_id, alert_id, questionnaire_id, instance_id,
             responder_id, status_id, assigned_user_id, severity, due_time, matched, resolved_time, call_back_time,
             call_back_number, call_back_until_time, call_back_note, call_back_requested_time, created_time,
             updated_time)
           select organization_id, alert_instance_id, alert_id, questionnaire_id, instance_id, responder_id, status_id,
             assigned_user_id, severity, due_time, matched, resolved_time, call_back_time, call_back_number,
             call_back_until_time, call_back_note, call_back_requested_time, created_time, created_time
           from jsonb_populate_recordset(null::alert_instance, $1::jsonb)""",
        cases,
    )


async def update_repeated(  # any tenant: a batch of events serves many organizations
    db: Database, *, repeats: Sequence[tuple[str, str, int]], now: datetime
) -> list[Case]:
    """Add repeats (organization, case, count) to cases that the caller has locked; return the new rows."""
    rows = await db.fetch(
        f"""update alert_instance i
           set occurrences = i.occurrences + b.more, version = i.version + 1,
             updated_time = greatest(i.updated_time, $4)
           from unnest($1::text[], $2::text[], $3::integer[]) as b (organization_id, alert_instance_id, more)
           where i.organization_id = b.organization_id and i.alert_instance_id = b.alert_instance_id
           returning {CASE_COLUMNS_I}""",
        *arrays(repeats, 3),
        now,
    )
    return [Case.of(row) for row in rows]


async def update_case(
    db: Database,
    *,
    organization_id: str,
    alert_instance_id: str,
    changes: Mapping[str, Any],
    resolved_time: datetime | None,
    resolved_by: str | None,
    now: datetime,
    updated_by: str | None,
) -> Case | None:
    """Update a case that the caller has locked with all of SETTABLE; None if none of them changes."""
    row = await db.fetch_row(
        f"""update alert_instance i
           set {assigned(_SETTABLE, "d")}, resolved_time = $4, resolved_by = $5, version = i.version + 1,
             updated_time = greatest(i.updated_time, $6), updated_by = $7
           from jsonb_populate_record(null::alert_instance, $3::jsonb) d
           where i.organization_id = $1 and i.alert_instance_id = $2
             and ({qualified(_SETTABLE, "i")}) is distinct from ({qualified(_SETTABLE, "d")})
           returning {CASE_COLUMNS_I}""",
        *(organization_id, alert_instance_id, changes, resolved_time, resolved_by, now, updated_by),
    )
    return Case.of(row) if row else None


async def get_case_of_call(db: Database, *, organization_id: str, instance_id: str) -> Case | None:
    """The case that the response's wish to be called opened, locked until the transaction ends."""
    row = await db.fetch_row(
        f"""select {CASE_COLUMNS_I} from alert_instance i
           where i.organization_id = $1 and i.instance_id = $2 and i.call_back_requested_time is not null
           order by i.created_time desc limit 1 for no key update""",
        *(organization_id, instance_id),
    )
    return Case.of(row) if row else None


async def update_call(
    db: Database, *, organization_id: str, alert_instance_id: str, changes: Mapping[str, Any], now: datetime
) -> Case:
    """Change the number, times, note and due time of a case that the caller has locked."""
    row = await db.fetch_one(
        f"""update alert_instance i
           set {assigned(_CALL, "d")}, version = i.version + 1, updated_time = greatest(i.updated_time, $4)
           from jsonb_populate_record(null::alert_instance, $3::jsonb) d
           where i.organization_id = $1 and i.alert_instance_id = $2 returning {CASE_COLUMNS_I}""",
        *(organization_id, alert_instance_id, changes, now),
    )
    return Case.of(row)


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
    row = await db.fetch_row(
        f"""select {_COMMENT_COLUMNS} from alert_comment
           where organization_id = $1 and alert_instance_id = $2 and comment_id = $3""",
        *(organization_id, alert_instance_id, comment_id),
    )
    return Comment(**dict(row)) if row else None


async def list_comments(
    db: Database, *, organization_id: str, alert_instance_ids: Sequence[str], page: Page
) -> Rows[Comment]:
    rows = await db.fetch_list(
        f"select {_COMMENT_COLUMNS} from alert_comment where organization_id = $1 and alert_instance_id = any($2)",
        *(organization_id, list(alert_instance_ids)),
        page=page,
    )
    return rows.map(lambda row: Comment(**dict(row)))


async def insert_comment(db: Database, *, comment: Comment) -> None:  # any tenant: the comment names it
    await db.execute(
        """insert into alert_comment (organization_id, comment_id, alert_instance_id, author_id, user_id, body,
             created_time, updated_time) values ($1, $2, $3, $4, $5, $6, $7, $7)""",
        comment.organization_id,
        comment.comment_id,
        comment.alert_instance_id,
        comment.author_id,
        comment.user_id,
        comment.body,
        comment.created_time,
    )


async def update_comment(
    db: Database, *, organization_id: str, alert_instance_id: str, comment_id: str, body: str, now: datetime
) -> Comment | None:
    row = await db.fetch_row(
        f"""update alert_comment set body = $4, version = version + 1, updated_time = greatest(updated_time, $5)
           where organization_id = $1 and alert_instance_id = $2 and comment_id = $3 and body <> $4
           returning {_COMMENT_COLUMNS}""",
        *(organization_id, alert_instance_id, comment_id, body, now),
    )
    return Comment(**dict(row)) if row else None


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
    row = await db.fetch_row(
        f"""update alert_instance
           set comments_count = comments_count + $3, version = version + 1, updated_time = greatest(updated_time, $4)
           where organization_id = $1 and alert_instance_id = $2 returning {_CASE_COLUMNS}""",
        *(organization_id, alert_instance_id, more, now),
    )
    return Case.of(row) if row else None
