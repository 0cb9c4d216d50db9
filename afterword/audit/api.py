"""The HTTP route of the audit log."""

from typing import Any, Final, Literal

from afterword.audit import store
from afterword.core.wire.lists import Rows
from afterword.db import Database
from afterword.web import fields
from afterword.web.operations import Call, Routes

routes = Routes(tag="Audit")


class AuditEntry(fields.Resource):
    """An act. Names are those of today; `before` and `after` have what changed, long and secret values as a dash."""

    entry_id: fields.Id
    created_time: fields.DateTime
    actor_kind: Literal["user", "token", "system", "command"]
    actor_id: fields.Id | None
    actor_name: fields.Computed[str | None]
    actor_role: str | None
    action: str
    thing_kind: str
    thing_id: str | None
    thing_name: fields.Computed[str | None]
    before: fields.Computed[dict[str, Any] | None]
    after: fields.Computed[dict[str, Any] | None]
    device: str | None
    network: str | None


ENTRIES: Final = fields.listing_of(AuditEntry)


@routes.list(
    "/audit",
    scope="Audit.Read",
    answer=AuditEntry,
    listing=ENTRIES,
    summary="Get the audit log",
    description="Newest first: changes with their author, log-ins and failed ones, readings of a person, downloads. "
    "Filter by `ActorId`, `Action`, `ThingKind`, `ThingId`, `CreatedTime`. Kept two years; entries cannot be changed.",
)
async def list_audit_entries(call: Call[None], db: Database) -> Rows[store.Entry]:
    call.caller.require_whole()
    call.caller.require_real()
    return await store.list_entries(db, organization_id=call.caller.organization_id, page=call.page)
