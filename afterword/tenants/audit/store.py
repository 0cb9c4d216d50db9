"""SQL of the audit log. Changes of settings are written by triggers (migration 0041), the rest by `record`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class Entry:
    """`actor_name` and `thing_name` are those of today; of a person who was asked there is none."""

    entry_id: str
    created_time: datetime
    actor_kind: str
    actor_id: str | None
    actor_name: str | None
    actor_role: str | None
    action: str
    thing_kind: str
    thing_id: str | None
    thing_name: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    device: str | None
    network: str | None


@dataclass(frozen=True, slots=True)
class LogIn:
    created_time: datetime
    action: str
    device: str | None
    network: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    actor_kind: str
    actor_id: str | None = None
    actor_role: str | None = None
    action: str
    thing_kind: str
    thing_id: str | None = None
    thing_name: str | None = None
    after: Mapping[str, Any] | None = None
    device: str | None = None
    network: str | None = None


async def insert_entry(
    db: Database, *, organization_id: str, entry: NewEntry, now: datetime, unless_since: datetime | None = None
) -> None:
    """`unless_since`: no second entry of the same act of the same actor after that time."""
    await db.execute(
        """insert into audit_entry (organization_id, created_time, actor_kind, actor_id, actor_role, action, thing_kind,
             thing_id, thing_name, after, device, network)
           select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
           where $13::timestamptz is null or not exists (
             select from audit_entry e where e.organization_id = $1 and e.thing_kind = $7 and e.thing_id = $8
               and e.created_time > $13 and e.action = $6 and e.actor_kind = $3 and e.actor_id = $4)""",
        *(organization_id, now, entry.actor_kind, entry.actor_id, entry.actor_role, entry.action, entry.thing_kind),
        *(entry.thing_id, entry.thing_name, entry.after, entry.device, entry.network, unless_since),
    )


async def insert_login_entries(  # any tenant: a login belongs to a person
    db: Database,
    *,
    login_id: str,
    action: str,
    now: datetime,
    organization_id: str | None = None,
    device: str | None = None,
    network: str | None = None,
) -> None:
    """One entry in this organization; None: in each that the person works for."""
    await db.execute(
        """insert into audit_entry (organization_id, created_time, actor_kind, actor_id, actor_role, action, thing_kind,
             thing_id, device, network)
           select organization_id, $5, 'user', user_id, role, $2, 'login', user_id, $3, $4 from organization_user
           where removed_time is null and (organization_id, user_id) in (
               select u.organization_id, u.user_id from organization_user u where u.login_id = $1
               union all
               select i.organization_id, i.user_id from login_identity i where i.login_id = $1)
             and ($6::text is null or organization_id = $6)""",
        *(login_id, action, device, network, now, organization_id),
    )


async def list_entries(
    db: Database, *, organization_id: str, page: Page, thing_kinds: Sequence[str] = (), actions: Sequence[str] = ()
) -> Rows[Entry]:
    """`thing_kinds`, `actions`: empty for all."""
    rows = await db.fetch_list(
        """select e.entry_id, e.created_time, e.actor_kind, e.actor_id, e.actor_role, e.action, e.thing_kind,
             e.thing_id, e.before, e.after, e.device, e.network,
             case e.actor_kind
               when 'user' then (select coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''),
                 u.email) from organization_user u where u.organization_id = $1 and u.user_id = e.actor_id)
               when 'token' then (select t.title from token t where t.organization_id = $1 and t.token_id = e.actor_id)
             end as actor_name,
             case when e.thing_name is not null then e.thing_name
               when e.thing_kind in ('user', 'login') then (
                 select coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email)
                 from organization_user u where u.organization_id = $1 and u.user_id = e.thing_id)
               when e.thing_kind = 'questionnaire' then (select q.display_name from questionnaire q
                 where q.organization_id = $1 and q.questionnaire_id = e.thing_id)
               when e.thing_kind = 'alert_instance' then (select a.title from alert_instance i
                 join alert a on a.organization_id = i.organization_id and a.alert_id = i.alert_id
                 where i.organization_id = $1 and i.alert_instance_id = e.thing_id)
             end as thing_name
           from audit_entry e
           where e.organization_id = $1 and (cardinality($2::text[]) = 0 or e.thing_kind = any($2))
             and (cardinality($3::text[]) = 0 or e.action = any($3))""",
        *(organization_id, list(thing_kinds), list(actions)),
        page=page,
    )
    return rows.map(lambda row: Entry(**row))


async def list_logins(db: Database, *, organization_id: str, user_id: str, limit: int) -> list[LogIn]:
    """A person's last ones, the newest first, refused ones too."""
    rows = await db.fetch(
        """select created_time, action, device, network from audit_entry
           where organization_id = $1 and actor_id = $2 and thing_kind = 'login'
             and action in ('logged_in', 'logged_in_anew', 'login_failed')
           order by created_time desc, entry_id limit $3""",
        *(organization_id, user_id, limit),
    )
    return [LogIn(**row) for row in rows]


async def prune_entries(db: Database, *, before: datetime, limit: int) -> int:  # any tenant: retention
    return await db.fetch_value("select prune_audit_entries($1, $2)", before, limit)
