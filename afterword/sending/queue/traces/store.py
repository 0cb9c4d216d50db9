"""The SQL of an item's past: its attempts, and the checks that held or skipped it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.sending.queue.lanes.store import BLOCK_COLUMNS, LaneBlock


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to send; `attempt` counts from 1."""

    attempt: int
    begin_time: datetime
    finish_time: datetime | None
    channel_id: int
    outcome: str | None
    reply_code: int | None
    reply: str | None
    provider_reference: str | None


async def list_attempts(db: Database, *, organization_id: str, item_id: str, page: Page) -> Rows[Attempt]:
    rows = await db.fetch_list(
        """select row_number() over (order by a.epoch) as attempt, a.begin_time, a.finish_time, p.channel_id, a.outcome,
             a.reply_code, a.reply, a.provider_reference, lpad(a.epoch::text, 19, '0') as attempt_id
           from attempt a
           join queue_item i on i.organization_id = a.organization_id and i.item_id = a.item_id
           join pipeline p on p.organization_id = i.organization_id and p.pipeline_id = i.pipeline_id
           where a.organization_id = $1 and a.item_id = $2""",
        *(organization_id, item_id),
        page=page,
    )
    return rows.map(lambda row: Attempt(**{name: row[name] for name in Attempt.__dataclass_fields__}))


async def get_checks(
    db: Database, *, organization_id: str, item_id: str
) -> tuple[list[dict[str, Any]], LaneBlock] | None:
    """The rule results of the last hold or skip, empty if there was none; the block of the lane now."""
    row = await db.fetch_row(
        f"""select i.trace, {BLOCK_COLUMNS}
           from queue_item i
           join pipeline p on p.organization_id = i.organization_id and p.pipeline_id = i.pipeline_id
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           where i.organization_id = $1 and i.item_id = $2""",
        *(organization_id, item_id),
    )
    if row is None:
        return None
    trace, *block = row.values()
    return trace or [], LaneBlock(*block)


async def get_reminder_number(db: Database, *, organization_id: str, item_id: str) -> int | None:
    return await db.fetch_value(
        "select reminder_number from queue_item where organization_id = $1 and item_id = $2", organization_id, item_id
    )
