"""Writing to the audit log what no trigger sees: readings, searches, downloads, log-ins."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.tenants.audit import store
from afterword.tenants.audit.store import NewEntry

KEPT_DAYS: Final = 730
NAME_CHARACTERS_MAX: Final = 200
record_login: Final = store.insert_login_entries


async def record(
    db: Database,
    *,
    caller: Caller,
    action: str,
    thing_kind: str,
    thing_id: str | None,
    now: datetime,
    thing_name: str | None = None,
    after: Mapping[str, Any] | None = None,
    once_in: timedelta | None = None,
) -> None:
    """Note an act of the caller, such as `read` of a `responder`. `thing_name` and `after` hold nothing of a person.

    Without a transaction, as in the handler of a GET, the entry commits alone. `once_in`: one entry of repeated acts.
    """
    kind = caller.actor_kind
    entry = NewEntry(
        actor_kind="system" if kind == "worker" else kind,
        actor_id=caller.actor_id or None,
        actor_role=caller.role if caller.user_id else None,
        action=action,
        thing_kind=thing_kind,
        thing_id=thing_id,
        thing_name=thing_name and thing_name[:NAME_CHARACTERS_MAX],
        after=after,
    )
    unless_since = now - once_in if once_in else None
    await store.insert_entry(
        db, organization_id=caller.organization_id, entry=entry, now=now, unless_since=unless_since
    )


async def prune(db: Database, *, now: datetime, limit: int) -> int:
    return await store.prune_entries(db, before=now - timedelta(days=KEPT_DAYS), limit=limit)
