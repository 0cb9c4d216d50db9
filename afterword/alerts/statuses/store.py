"""SQL of alert statuses: the four of the product, which every organization has, and its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row
from afterword.db.columns import assigned, qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`closing`: a case in it is done. `system`: it belongs to the product."""

    organization_id: str
    status_id: int
    title: str
    description: str | None
    color: str
    closing: bool
    application_id: str | None
    position: int
    system: bool
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


_CHANGEABLE: Final[LiteralString] = "title, description, color, closing, position"
_COLUMNS: Final[LiteralString] = f"""organization_id, status_id, application_id, {_CHANGEABLE}, version,
  created_time, updated_time, created_by, updated_by"""
_COLUMNS_T: Final = qualified(_COLUMNS, "t")
_VISIBLE: Final[LiteralString] = f"""select {_COLUMNS}, status_id < 100 as system from alert_status
  where organization_id = $1 and (application_id is null or cardinality($2::text[]) = 0 or application_id = any($2))"""


async def get_status(
    db: Database, *, organization_id: str, status_id: int, application_ids: Sequence[str] = (), is_locked: bool = False
) -> Status | None:
    """Locked, nothing begins to use it before the transaction ends."""
    query: LiteralString = f"{_VISIBLE} and status_id = $3"
    row = await db.fetch_row(
        f"{query} for update" if is_locked else query, organization_id, list(application_ids), status_id
    )
    return _status(row) if row else None


async def list_statuses(
    db: Database, *, organization_id: str, application_ids: Sequence[str], page: Page
) -> Rows[Status]:
    return (await db.fetch_list(_VISIBLE, organization_id, list(application_ids), page=page)).map(_status)


async def count_statuses(db: Database, *, organization_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from alert_status where organization_id = $1 and status_id >= 100", organization_id
    )


async def get_is_used(db: Database, *, organization_id: str, status_id: int) -> bool:
    return await db.fetch_value(
        """select exists (select from alert where organization_id = $1 and status_id = $2 and deleted_time is null)
             or exists (select from alert_instance where organization_id = $1 and status_id = $2)""",
        *(organization_id, status_id),
    )


async def claim_number(db: Database, *, organization_id: str) -> int:
    """Allocate the next number; other transactions wait until we commit."""
    return await db.fetch_value(
        """insert into alert_status_number as n (organization_id, last_status_id) values ($1, 100)
           on conflict (organization_id) do update set last_status_id = n.last_status_id + 1
           returning last_status_id""",
        organization_id,
    )


async def insert_status(
    db: Database, *, organization_id: str, status_id: int, columns: Mapping[str, Any], now: datetime, by: str
) -> Status:
    """Insert an own status. Raises Dangling for an application that is not the organization's."""
    row = await db.fetch_one(
        f"""insert into alert_status (organization_id, status_id, application_id, {_CHANGEABLE},
             created_time, updated_time, created_by, updated_by)
           select $1, $2, s.application_id, {qualified(_CHANGEABLE, "s")}, $4, $4, $5, $5
           from jsonb_populate_record(null::alert_status, $3::jsonb) s
           returning {_COLUMNS}, status_id < 100 as system""",
        *(organization_id, status_id, dict(columns), now, by),
    )
    return _status(row)


async def update_status(
    db: Database, *, organization_id: str, status_id: int, changes: Mapping[str, Any], now: datetime, by: str
) -> Status | None:
    row = await db.fetch_row(
        f"""update alert_status t
           set {assigned(_CHANGEABLE, "s")}, version = t.version + 1,
             updated_time = greatest(t.updated_time, $4), updated_by = $5
           from alert_status o, jsonb_populate_record(o, $3::jsonb) s
           where t.organization_id = $1 and t.status_id = $2 and o.organization_id = $1 and o.status_id = $2
             and ({qualified(_CHANGEABLE, "t")}) is distinct from ({qualified(_CHANGEABLE, "s")})
           returning {_COLUMNS_T}, t.status_id < 100 as system""",
        *(organization_id, status_id, dict(changes), now, by),
    )
    return _status(row) if row else None


async def delete_status(db: Database, *, organization_id: str, status_id: int) -> int:
    """Delete it. Raises Dangling while an alert or case has it."""
    return await db.execute(
        "delete from alert_status where organization_id = $1 and status_id = $2", organization_id, status_id
    )


def _status(row: Row) -> Status:
    return Status(**dict(row))
