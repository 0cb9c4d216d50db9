"""The SQL that finds instances whose time has ended: by when they went out, of which a small index knows the blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword.db import Database
from afterword.db.columns import qualified
from afterword.instances.records import INSTANCE_COLUMNS, Instance

_COLUMNS_I: Final = qualified(INSTANCE_COLUMNS, "i")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Instances with these days are told of up to those that ended at `expired_until`, of that moment to the id."""

    valid_days: int
    expired_until: datetime
    expired_id: str


async def claim_cursor(db: Database, *, before: datetime) -> Cursor | None:
    """The cursor that is furthest behind, locked; other workers take other ones."""
    row = await db.fetch_row(
        """select valid_days, expired_until, expired_id from expiry_cursor where expired_until < $1
           order by expired_until limit 1 for update skip locked""",
        before,
    )
    return None if row is None else Cursor(**dict(row))


async def settle_cursor(db: Database, *, cursor: Cursor) -> None:
    """Go on behind there."""
    await db.execute(
        "update expiry_cursor set expired_until = $2, expired_id = $3 where valid_days = $1",
        cursor.valid_days,
        cursor.expired_until,
        cursor.expired_id,
    )


async def insert_cursors(  # any tenant: the job is the installation's
    db: Database, *, valid_days: Sequence[int], since: datetime
) -> int:
    """Look out for instances with these days that end after `since`; how many are new."""
    return await db.execute(
        """insert into expiry_cursor (valid_days, expired_until)
           select unnest($1::integer[]), $2 on conflict do nothing""",
        valid_days,
        since,
    )


async def list_days(  # any tenant: the job is the installation's
    db: Database, *, after: datetime, until: datetime
) -> list[int]:
    """The days of the instances that went out then."""
    rows = await db.fetch(
        """select distinct valid_days from questionnaire_instance
           where coalesce(sent_time, created_time) > $1 and coalesce(sent_time, created_time) <= $2
             and valid_days > 0""",
        after,
        until,
    )
    return [row["valid_days"] for row in rows]


async def count_ended(  # any tenant: the job is the installation's
    db: Database, *, valid_days: int, after: datetime, until: datetime, limit: int
) -> int:
    """How many with these days went out then and were not completed, at most `limit`: it stops there."""
    count: int = await db.fetch_value(
        """select count(*) from (
             select from questionnaire_instance
             where coalesce(sent_time, created_time) >= $2 and coalesce(sent_time, created_time) <= $3
               and valid_days = $1 and not finalized and deleted_time is null limit $4) found""",
        valid_days,
        after,
        until,
        limit,
    )
    return count


async def list_ended(  # any tenant: the job is the installation's
    db: Database, *, valid_days: int, after: tuple[datetime, str], until: datetime, limit: int
) -> list[Instance]:
    """Those with these days that went out then and were not completed, the first first."""
    rows = await db.fetch(
        f"""select {_COLUMNS_I} from questionnaire_instance i
           where coalesce(i.sent_time, i.created_time) >= $2 and coalesce(i.sent_time, i.created_time) <= $4
             and (coalesce(i.sent_time, i.created_time), i.instance_id) > ($2, $3)
             and i.valid_days = $1 and not i.finalized and i.deleted_time is null
           order by coalesce(i.sent_time, i.created_time), i.instance_id limit $5""",
        valid_days,
        *after,
        until,
        limit,
    )
    return [Instance.of(row) for row in rows]
