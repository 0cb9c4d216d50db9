"""Writes entries of the history of cases. They hold ids, times and choices, nothing of the person."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from afterword import ids
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened in a case. `changes`: what changed, each with `from` and `to`; `body`: of a comment."""

    history_id: fields.Id
    alert_instance_id: fields.Id
    kind: str  # opened, changed, commented, message_sent, message_received
    user_id: fields.Id | None
    user_name: Annotated[str | None, Hidden()]  # also of a removed user
    owner_name: Annotated[str | None, Hidden()]  # of the user whom the case was given to, also a removed one
    body: fields.Computed[str | None]
    changes: fields.Computed[dict[str, Any]]  # of a mail its particulars
    created_time: datetime


RESOURCE: Final = shown_as("AlertHistoryEntry", Entry)


async def insert_change(  # any tenant: the case names its own
    db: Database, *, case: Any, caller: Caller | None, changes: Mapping[str, Any], now: datetime
) -> None:
    await db.execute(
        """insert into alert_history (organization_id, alert_instance_id, history_id, kind, user_id, changes,
             created_time)
           values ($1, $2, $3, 'changed', $4, $5, $6)""",
        *(case.organization_id, case.alert_instance_id, ids.ordered(now), caller and caller.user_id, changes, now),
    )


async def list_entries(db: Database, *, organization_id: str, alert_instance_id: str, page: Page) -> Rows[Entry]:
    return await db.records(Entry).fetch_list(
        """select e.history_id, e.alert_instance_id, e.kind, e.user_id, e.body, e.changes, e.created_time,
             coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) as user_name,
             coalesce(w.display_name, nullif(concat_ws(' ', w.first_name, w.last_name), ''), w.email) as owner_name
           from (
             select organization_id, alert_instance_id as history_id, alert_instance_id, 'opened' as kind,
               null as user_id, null as body, '{}'::jsonb as changes, created_time
             from alert_instance where organization_id = $1 and alert_instance_id = $2
             union all
             select organization_id, history_id, alert_instance_id, kind, user_id, null, changes, created_time
             from alert_history where organization_id = $1 and alert_instance_id = $2
             union all
             select organization_id, comment_id, alert_instance_id, 'commented', user_id, body, '{}', created_time
             from alert_comment where organization_id = $1 and alert_instance_id = $2
             union all
             select organization_id, message_id, alert_instance_id,
               case when incoming then 'message_received' else 'message_sent' end, user_id, body,
               jsonb_build_object('subject', subject, 'address', address, 'state', state, 'error', error,
                 'is_cut', whole is not null, 'other_sender', other_sender),
               created_time
             from alert_message where organization_id = $1 and alert_instance_id = $2) e
             left join organization_user u on u.organization_id = e.organization_id and u.user_id = e.user_id
             left join organization_user w on w.organization_id = e.organization_id
               and w.user_id = e.changes -> 'assigned_user_id' ->> 'to'""",
        *(organization_id, alert_instance_id),
        page=page,
    )


KEPT: Final = (
    "status_id", "assigned_user_id", "severity", "due_time", "waiting_since", "call_back_time", "cause", "remedy",
    "resolved_time", "recovery_time", "escalated_time",
)  # fmt: skip


async def record_change(db: Database, *, before: Any, after: Any, caller: Caller | None, now: datetime) -> None:
    """Record the members of a case that changed, from one row to the next; without a caller the worker did it."""
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in KEPT}
    changes = {name: {"from": was, "to": became} for name, (was, became) in pairs.items() if was != became}
    if changes:
        await insert_change(db, case=after, caller=caller, changes=changes, now=now)
