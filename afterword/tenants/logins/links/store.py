"""SQL of links that work once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class Link:
    """`purpose` is setup, invitation, reset or address; the ids are those that it needs."""

    purpose: str
    organization_id: str | None
    user_id: str | None
    login_id: str | None
    email: str | None


_COLUMNS: Final[LiteralString] = "purpose, organization_id, user_id, login_id, email"


async def insert_link(  # any tenant: a login belongs to a person
    db: Database, *, digest: bytes, link: Link, now: datetime, expires_time: datetime
) -> None:
    await db.execute(
        f"""insert into login_link (digest, {_COLUMNS}, created_time, expires_time)
           values ($1, $2, $3, $4, $5, $6, $7, $8)""",
        *(digest, link.purpose, link.organization_id, link.user_id, link.login_id, link.email, now, expires_time),
    )


async def get_link(  # any tenant: the link says which
    db: Database, *, digest: bytes, purpose: str, now: datetime
) -> Link | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from login_link where digest = $1 and purpose = $2 and expires_time > $3",
        *(digest, purpose, now),
    )
    return Link(**row) if row else None


async def delete_link(  # any tenant: the link says which
    db: Database, *, digest: bytes, purpose: str, now: datetime
) -> Link | None:
    """Use it up. Of those who come at the same time one gets it."""
    row = await db.fetch_row(
        f"delete from login_link where digest = $1 and purpose = $2 and expires_time > $3 returning {_COLUMNS}",
        *(digest, purpose, now),
    )
    return Link(**row) if row else None


async def delete_links(  # any tenant: a login belongs to a person
    db: Database,
    *,
    purpose: str,
    organization_id: str | None = None,
    login_id: str | None = None,
    user_id: str | None = None,
) -> None:
    await db.execute(
        """delete from login_link where purpose = $1 and login_id is not distinct from $2
             and user_id is not distinct from $3 and organization_id is not distinct from $4""",
        *(purpose, login_id, user_id, organization_id),
    )


async def count_links(  # any tenant: a login belongs to a person
    db: Database, *, purpose: str, login_id: str, after: datetime
) -> int:
    return await db.fetch_value(
        "select count(*) from login_link where purpose = $1 and login_id = $2 and created_time > $3",
        *(purpose, login_id, after),
    )
