"""Setting how long an organization keeps personal data, and holding data for a court. `privacy/` removes it."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.db import Dangling, Database
from afterword.organizations.checks import CheckVersion
from afterword.organizations.retention import store
from afterword.organizations.retention.store import LegalHold, Periods

HOLDS_MAX: Final = 1_000
STAYS: Final = "A legal hold keeps the data of this person, so it cannot become somebody else's. Lift it first."


class Held(errors.Conflict):
    code_default = "on_hold"


async def get(db: Database, *, caller: Caller, is_locked: bool = False) -> Periods:
    found = await store.get_periods(db, organization_id=caller.organization_id, is_locked=is_locked)
    return errors.found(found, "There is no such organization.")


async def update(
    db: Database, *, caller: Caller, changes: Mapping[str, Any], now: datetime, check_version: CheckVersion
) -> Periods:
    """Change what a PATCH names. Raises Forbidden, Stale. The next run goes by it, at most a day later."""
    before = await get(db, caller=caller, is_locked=True)
    check_version(before.version)
    stored = asdict(before)
    changed = {name: value for name, value in changes.items() if value != stored[name]}
    if not changed:
        return before
    require_reach(caller)
    return await store.update_periods(
        db, organization_id=caller.organization_id, changes=changed, now=now, updated_by=caller.actor_id
    )


async def hold(db: Database, *, caller: Caller, responder_id: str | None, reason: str, now: datetime) -> LegalHold:
    """Keep a person's data, or all data, whatever its age. Raises Forbidden, Invalid."""
    require_reach(caller)
    if await store.count_holds_locked(db, organization_id=caller.organization_id) >= HOLDS_MAX:
        raise errors.Invalid.at("", "too_many", f"There are {HOLDS_MAX} already.")
    document = {
        "hold_id": ids.ordered(now),
        "responder_id": responder_id,
        "reason": reason,
        "created_time": now,
        "created_by": caller.actor_id or None,
    }
    try:
        return await store.insert_hold(db, organization_id=caller.organization_id, hold=document)
    except Dangling as error:
        raise errors.Invalid.at("/responder_id", "unknown_id", "There is no such responder.") from error


async def get_hold(db: Database, *, caller: Caller, hold_id: str) -> LegalHold:
    found = await store.get_hold(db, organization_id=caller.organization_id, hold_id=hold_id)
    if found is None or caller.is_limited:
        raise errors.NotFound("There is no such legal hold.")
    return found


async def lift(db: Database, *, caller: Caller, hold_id: str, check_version: CheckVersion) -> None:
    """End a hold: the next run removes what is too old by now. Raises NotFound, Stale."""
    check_version((await get_hold(db, caller=caller, hold_id=hold_id)).version)
    await store.delete_hold(db, organization_id=caller.organization_id, hold_id=hold_id)


async def require_not_held(
    db: Database, *, organization_id: str, responder_id: str | None, address_key: bytes | None = None
) -> None:
    """Raise Held where a hold keeps the data of the person, or of whoever has the address."""
    if await store.get_is_held(db, organization_id=organization_id, responder_id=responder_id, address_key=address_key):
        raise Held("A legal hold keeps the data of this person. Lift it first.")


async def require_may_move(
    db: Database, *, organization_id: str, responder_id: str | None, address_key: bytes | None = None
) -> None:
    """Raise Held where a person's hold keeps what an edit would make somebody else's. A hold on all keeps it anyway."""
    if await store.list_held_people(db, organization_id=organization_id, people=[(responder_id, address_key)]):
        raise Held(STAYS)


def require_reach(caller: Caller) -> None:
    """Raise Forbidden for a caller that sees a part of the organization, or test data alone."""
    caller.require_whole()
    caller.require_real()
