"""SQL of the links to reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`application_ids`: those that its maker reached; none: all."""

    organization_id: str
    share_id: str
    report_id: str
    application_ids: list[str]
    expires_time: datetime
    created_time: datetime
    created_by: str | None


_COLUMNS: Final[LiteralString] = """organization_id, share_id, report_id, application_ids, expires_time, created_time,
  created_by"""


async def insert_share(
    db: Database,
    *,
    organization_id: str,
    share_id: str,
    report_id: str,
    digest: bytes,
    application_ids: Sequence[str],
    expires_time: datetime,
    now: datetime,
    by: str,
) -> Share:
    row = await db.fetch_one(
        f"""insert into report_share (organization_id, share_id, report_id, digest, application_ids, expires_time,
             created_time, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8) returning {_COLUMNS}""",
        *(organization_id, share_id, report_id, digest, list(application_ids), expires_time, now, by),
    )
    return Share(**row)


async def get_share(db: Database, *, organization_id: str, digest: bytes) -> Share | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from report_share where organization_id = $1 and digest = $2", organization_id, digest
    )
    return Share(**row) if row else None


async def list_shares(db: Database, *, organization_id: str, report_id: str, limit: int) -> list[Share]:
    rows = await db.fetch(
        f"""select {_COLUMNS} from report_share where organization_id = $1 and report_id = $2
           order by created_time desc, share_id limit $3""",
        *(organization_id, report_id, limit),
    )
    return [Share(**row) for row in rows]


async def delete_share(db: Database, *, organization_id: str, report_id: str, share_id: str) -> int:
    return await db.execute(
        "delete from report_share where organization_id = $1 and report_id = $2 and share_id = $3",
        *(organization_id, report_id, share_id),
    )
