"""The SQL that finds expired instances by the time when they were sent; a BRIN index covers it."""

from dataclasses import dataclass
from datetime import datetime

from afterword.asking.instances.store import INSTANCE_COLUMNS_I, Instance
from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The position of the search: instances with `valid_days` are done up to this time and id."""

    valid_days: int
    expired_until: datetime
    expired_id: str


async def claim_cursor(db: Database, *, before: datetime) -> Cursor | None:
    """The cursor that is furthest behind, locked; other workers skip it."""
    row = await db.fetch_row(
        """select valid_days, expired_until, expired_id from expiry_cursor where expired_until < $1
           order by expired_until limit 1 for update skip locked""",
        before,
    )
    return None if row is None else Cursor(**dict(row))


async def settle_cursor(db: Database, *, cursor: Cursor) -> None:
    await db.execute(
        "update expiry_cursor set expired_until = $2, expired_id = $3 where valid_days = $1",
        *(cursor.valid_days, cursor.expired_until, cursor.expired_id),
    )


async def insert_cursors(  # any tenant: the job is the installation's
    db: Database, *, after: datetime, until: datetime
) -> None:
    """Insert missing cursors of the `valid_days` of instances sent in this period; they start at `after`."""
    await db.execute(
        """insert into expiry_cursor (valid_days, expired_until)
           select distinct valid_days, $1::timestamptz from questionnaire_instance
           where coalesce(sent_time, created_time) > $1 and coalesce(sent_time, created_time) <= $2 and valid_days > 0
           on conflict do nothing""",
        *(after, until),
    )


async def count_ended(  # any tenant: the job is the installation's
    db: Database, *, valid_days: int, after: datetime, until: datetime, limit: int
) -> int:
    count: int = await db.fetch_value(
        """select count(*) from (
             select from questionnaire_instance
             where coalesce(sent_time, created_time) >= $2 and coalesce(sent_time, created_time) <= $3
               and valid_days = $1 and not finalized and deleted_time is null limit $4) found""",
        *(valid_days, after, until, limit),
    )
    return count


async def list_ended(  # any tenant: the job is the installation's
    db: Database, *, valid_days: int, after: tuple[datetime, str], until: datetime, limit: int
) -> list[Instance]:
    rows = await db.fetch(
        f"""select {INSTANCE_COLUMNS_I} from questionnaire_instance i
           where coalesce(i.sent_time, i.created_time) >= $2 and coalesce(i.sent_time, i.created_time) <= $4
             and (coalesce(i.sent_time, i.created_time), i.instance_id) > ($2, $3)
             and i.valid_days = $1 and not i.finalized and i.full_quota_id is null and i.deleted_time is null
           order by coalesce(i.sent_time, i.created_time), i.instance_id limit $5""",
        valid_days,
        *after,
        until,
        limit,
    )
    return [Instance.of(row) for row in rows]


async def count_open_by_version(
    db: Database, *, organization_id: str, questionnaire_id: str, now: datetime, limit: int
) -> dict[str, int]:
    """The instances by version that can still be answered to the end, of the newest `limit`, without tests."""
    rows = await db.fetch(
        """select version_id, count(*) from (
             select version_id, valid_days, finalized, deleted_time, test,
               coalesce(sent_time, created_time) as begin_time
             from questionnaire_instance where organization_id = $1 and questionnaire_id = $2
             order by created_time desc, instance_id limit $4) i
           where not finalized and deleted_time is null and not test
             and (valid_days = 0 or begin_time + make_interval(days => valid_days) > $3)
           group by version_id""",
        *(organization_id, questionnaire_id, now, limit),
    )
    return {row["version_id"]: row["count"] for row in rows}
