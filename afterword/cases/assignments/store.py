"""SQL of the users who may take cases, with the cases that each has open."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays

OPEN_CASES_MAX: Final = 1_000  # counted of one user


@dataclass(frozen=True, slots=True)
class Assignee:
    user_id: str
    email: str
    display_name: str | None
    open_cases: int
    created_time: datetime


async def list_assignees(
    db: Database, *, organization_id: str, application_id: str | None, application_ids: Sequence[str], page: Page
) -> Rows[Assignee]:
    """The active people who may see the application (None: any), if it is one of these (none: any)."""
    rows = await db.fetch_list(
        """select u.user_id, u.email, u.display_name, u.created_time,
             (select count(*) from (
                select from alert_instance c
                where c.organization_id = u.organization_id and c.assigned_user_id = u.user_id
                  and c.resolved_time is null limit $4) c)::integer as open_cases
           from organization_user u
           where u.organization_id = $1 and u.active and u.removed_time is null and not u.service
             and (cardinality(u.application_ids) = 0 or $2::text = any(u.application_ids)
               or ($2 is null and (cardinality($3::text[]) = 0 or u.application_ids && $3)))
             and ($2 is null or (cardinality($3) = 0 or $2 = any($3)) and exists (
               select from application a where a.organization_id = $1 and a.application_id = $2))""",
        *(organization_id, application_id, list(application_ids), OPEN_CASES_MAX),
        page=page,
    )
    return rows.map(lambda row: Assignee(**row))


async def list_open_cases(  # any tenant: a batch of events serves many organizations
    db: Database, *, candidates: Sequence[tuple[str, str, str]]
) -> dict[tuple[str, str, str], int]:
    """The open cases of each candidate (organization, application, user); those who may take none are left out."""
    rows = await db.fetch(
        """select b.organization_id, b.application_id, b.user_id,
             (select count(*) from (
                select from alert_instance c
                where c.organization_id = b.organization_id and c.assigned_user_id = b.user_id
                  and c.resolved_time is null limit $4) c)::integer as open_cases
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, application_id, user_id)
             join organization_user u on u.organization_id = b.organization_id and u.user_id = b.user_id
           where u.active and u.removed_time is null and not u.service
             and (cardinality(u.application_ids) = 0 or b.application_id = any(u.application_ids))""",
        *arrays(candidates, 3),
        OPEN_CASES_MAX,
    )
    return {(row["organization_id"], row["application_id"], row["user_id"]): row["open_cases"] for row in rows}
