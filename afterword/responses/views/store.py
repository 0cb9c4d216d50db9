"""SQL of saved views of responses."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """`query`: of the address of the list."""

    organization_id: str
    view_id: str
    user_id: str
    title: str
    query: str
    shared: bool
    created_time: datetime


_COLUMNS: Final[LiteralString] = "organization_id, view_id, user_id, title, query, shared, created_time"


async def list_views(db: Database, *, organization_id: str, user_id: str, limit: int) -> list[View]:
    """The user's own views and those that others share, by name."""
    rows = await db.fetch(
        f"""select {_COLUMNS} from response_view where organization_id = $1 and (user_id = $2 or shared)
            order by user_id <> $2, lower(title), view_id limit $3""",
        *(organization_id, user_id, limit),
    )
    return [View(**dict(row)) for row in rows]


async def count_views(db: Database, *, organization_id: str, user_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from response_view where organization_id = $1 and user_id = $2", organization_id, user_id
    )


async def get_view(db: Database, *, organization_id: str, view_id: str, user_id: str) -> View | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from response_view
            where organization_id = $1 and view_id = $2 and (user_id = $3 or shared)""",
        *(organization_id, view_id, user_id),
    )
    return View(**dict(row)) if row else None


async def insert_view(
    db: Database, *, organization_id: str, view_id: str, user_id: str, title: str, query: str, shared: bool,
    now: datetime,
) -> View:  # fmt: skip
    row = await db.fetch_one(
        f"""insert into response_view ({_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7) returning {_COLUMNS}""",
        *(organization_id, view_id, user_id, title, query, shared, now),
    )
    return View(**dict(row))


async def delete_view(db: Database, *, organization_id: str, view_id: str) -> None:
    await db.execute("delete from response_view where organization_id = $1 and view_id = $2", organization_id, view_id)
