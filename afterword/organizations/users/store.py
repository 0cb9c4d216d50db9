"""SQL of users. A removed user is invisible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database
from afterword.db.columns import columns_of


@dataclass(frozen=True, slots=True)
class User:
    organization_id: str
    user_id: str
    email: str | None
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    display_name: str | None
    locale: str | None
    time_zone: str | None
    role: str
    application_ids: list[str]
    active: bool
    invited_time: datetime
    last_login_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    service: bool = False
    """A service account: no person, so without an address and a login."""


@dataclass(frozen=True, slots=True)
class ReachedApplication:
    application_id: str
    display_name: str


_COLUMNS: Final = columns_of(User)


async def insert_user(
    db: Database,
    *,
    organization_id: str,
    user_id: str,
    document: Mapping[str, object],
    now: datetime,
    created_by: str | None,
) -> User:
    """`document`: its keys are columns. Raises Taken if the organization has a user with this e-mail address."""
    row = await db.fetch_one(
        f"""insert into organization_user (organization_id, user_id, email, role, application_ids, active, first_name,
             middle_name, last_name, display_name, locale, time_zone, invited_time, created_time, updated_time,
             created_by, updated_by, service)
           select $1, $2, d.email, d.role, d.application_ids, d.active, d.first_name, d.middle_name, d.last_name,
             d.display_name, d.locale, d.time_zone, $4, $4, $4, $5, $5, d.service
           from jsonb_populate_record(null::organization_user, $3) d
           returning {_COLUMNS}""",
        *(organization_id, user_id, document, now, created_by),
    )
    return User(**row)


async def get_user(db: Database, *, organization_id: str, user_id: str, is_locked: bool = False) -> User | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    row = await db.fetch_row(
        f"""select {_COLUMNS} from organization_user
           where organization_id = $1 and user_id = $2 and removed_time is null {lock}""",
        *(organization_id, user_id),
    )
    return User(**row) if row else None


async def get_user_by_email(db: Database, *, organization_id: str, email: str) -> User | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from organization_user
           where organization_id = $1 and lower(email) = lower($2) and removed_time is null""",
        *(organization_id, email),
    )
    return User(**row) if row else None


async def list_users(db: Database, *, organization_id: str, page: Page, with_service: bool) -> Rows[User]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from organization_user
           where organization_id = $1 and removed_time is null and ($2 or not service)""",
        *(organization_id, with_service),
        page=page,
    )
    return rows.map(lambda row: User(**row))


async def list_applications_reached(
    db: Database, *, organization_id: str, among: Sequence[str]
) -> list[ReachedApplication]:
    rows = await db.fetch(
        """select application_id, display_name from application
           where organization_id = $1 and (cardinality($2::text[]) = 0 or application_id = any($2))
           order by display_name, application_id limit 500""",
        *(organization_id, list(among)),
    )
    return [ReachedApplication(**row) for row in rows]


async def claim_owners(db: Database, *, organization_id: str) -> set[str]:
    """Lock the active owners in one order, so that two removals at the same time see each other."""
    rows = await db.fetch(
        """select user_id from organization_user
           where organization_id = $1 and role = 'owner' and active and removed_time is null
           order by user_id for no key update""",
        organization_id,
    )
    return {row["user_id"] for row in rows}


async def update_user(
    db: Database,
    *,
    organization_id: str,
    user_id: str,
    changes: Mapping[str, object],
    now: datetime,
    updated_by: str | None,
) -> User:
    row = await db.fetch_one(
        f"""update organization_user u
           set (first_name, middle_name, last_name, display_name, locale, time_zone, role, application_ids, active)
               = (select s.first_name, s.middle_name, s.last_name, s.display_name, s.locale, s.time_zone, s.role,
                    s.application_ids, s.active
                  from jsonb_populate_record(u, $3) s),
             version = version + 1, updated_time = greatest($4, updated_time), updated_by = $5
           where organization_id = $1 and user_id = $2 and removed_time is null
           returning {_COLUMNS}""",
        *(organization_id, user_id, changes, now, updated_by),
    )
    return User(**row)


async def delete_user(
    db: Database, *, organization_id: str, user_id: str, now: datetime, updated_by: str | None
) -> User:
    """Mark the user as removed; rows that name the user keep their reference."""
    row = await db.fetch_one(
        f"""update organization_user
           set removed_time = $3, active = false, version = version + 1, updated_time = greatest($3, updated_time),
             updated_by = $4
           where organization_id = $1 and user_id = $2 and removed_time is null
           returning {_COLUMNS}""",
        *(organization_id, user_id, now, updated_by),
    )
    return User(**row)
