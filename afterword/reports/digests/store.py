"""SQL of digests of reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.core.figures.digests import Frequency
from afterword.db import Database
from afterword.db.columns import columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """`report_id` None: the overview. `day`: of the week from Monday 1, or of the month."""

    organization_id: str
    digest_id: str
    user_id: str
    report_id: str | None
    frequency: Frequency
    day: int
    hour: int
    locale: str
    due_time: datetime
    sent_time: datetime | None
    created_time: datetime


_COLUMNS: Final = columns_of(Digest)


async def insert_digest(
    db: Database,
    *,
    organization_id: str,
    digest_id: str,
    user_id: str,
    columns: Mapping[str, Any],
    due_time: datetime,
    now: datetime,
) -> Digest:
    row = await db.fetch_one(
        f"""insert into report_digest (organization_id, digest_id, user_id, report_id, frequency, day, hour, locale,
             due_time, created_time)
           select $1, $2, $3, d.report_id, d.frequency, d.day, d.hour, d.locale, $5, $6
           from jsonb_populate_record(null::report_digest, $4::jsonb) d returning {_COLUMNS}""",
        *(organization_id, digest_id, user_id, dict(columns), due_time, now),
    )
    return Digest(**row)


async def get_digest(db: Database, *, organization_id: str, digest_id: str) -> Digest | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from report_digest where organization_id = $1 and digest_id = $2",
        *(organization_id, digest_id),
    )
    return Digest(**row) if row else None


async def list_digests(db: Database, *, organization_id: str, user_id: str, limit: int) -> list[Digest]:
    rows = await db.fetch(
        f"""select {_COLUMNS} from report_digest where organization_id = $1 and user_id = $2
           order by created_time, digest_id limit $3""",
        *(organization_id, user_id, limit),
    )
    return [Digest(**row) for row in rows]


async def update_due_time(db: Database, *, organization_id: str, digest_id: str, due_time: datetime) -> None:
    await db.execute(
        "update report_digest set due_time = $3 where organization_id = $1 and digest_id = $2",
        *(organization_id, digest_id, due_time),
    )


async def delete_digest(db: Database, *, organization_id: str, digest_id: str) -> int:
    return await db.execute(
        "delete from report_digest where organization_id = $1 and digest_id = $2", organization_id, digest_id
    )


async def claim_digests(db: Database, *, now: datetime, limit: int) -> Sequence[Digest]:  # any tenant: one job for all
    """Lock due digests until the transaction ends."""
    rows = await db.fetch(
        f"select {_COLUMNS} from report_digest where due_time <= $1 order by due_time limit $2 for update skip locked",
        *(now, limit),
    )
    return [Digest(**row) for row in rows]


async def settle_digest(
    db: Database, *, organization_id: str, digest_id: str, due_time: datetime, now: datetime
) -> None:
    await db.execute(
        "update report_digest set due_time = $3, sent_time = $4 where organization_id = $1 and digest_id = $2",
        *(organization_id, digest_id, due_time, now),
    )
