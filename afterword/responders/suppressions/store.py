"""The SQL that lists and deletes suppressions; `responders/store.py` inserts them."""

from typing import LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database
from afterword.responders.store import SUPPRESSION_COLUMNS, Suppression


async def list_suppressions(db: Database, *, organization_id: str, page: Page) -> Rows[Suppression]:
    """A page of the organization's suppressions, those that have expired included."""
    rows = await db.fetch_list(
        f"select {SUPPRESSION_COLUMNS} from suppression where organization_id = $1", organization_id, page=page
    )
    return rows.map(lambda row: Suppression(**dict(row)))


async def get_suppression(
    db: Database, *, organization_id: str, suppression_id: str, is_locked: bool
) -> Suppression | None:
    lock: LiteralString = "for update" if is_locked else ""
    row = await db.fetch_row(
        f"select {SUPPRESSION_COLUMNS} from suppression where organization_id = $1 and suppression_id = $2 {lock}",
        *(organization_id, suppression_id),
    )
    return Suppression(**dict(row)) if row else None


async def delete_suppression(db: Database, *, organization_id: str, suppression_id: str) -> None:
    await db.execute(
        "delete from suppression where organization_id = $1 and suppression_id = $2", organization_id, suppression_id
    )
