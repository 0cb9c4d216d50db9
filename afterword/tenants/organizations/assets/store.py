"""The SQL of assets, and of the places that use one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.questionnaires.visuals import FINGERPRINT_CHARACTERS, Picture, suffix_of
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.tenants.organizations.assets.encoding import Encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A picture without its content."""

    organization_id: str
    asset_id: str
    title: str | None
    media_type: str
    width: int
    height: int
    content_hash: bytes
    bytes: int
    created_time: datetime
    created_by: str | None

    @property
    def path(self) -> str:
        """The address without the host, as visuals name it."""
        fingerprint = self.content_hash.hex()[:FINGERPRINT_CHARACTERS]
        return Picture(self.asset_id, fingerprint, self.width, self.height, suffix_of(self.media_type)).address


_COLUMNS: Final[LiteralString] = """organization_id, asset_id, title, media_type, width, height, bytes, content_hash,
  created_time, created_by"""


async def list_assets(db: Database, *, organization_id: str, page: Page) -> Rows[Asset]:
    rows = await db.fetch_list(f"select {_COLUMNS} from asset where organization_id = $1", organization_id, page=page)
    return rows.map(lambda row: Asset(**row))


async def get_asset(db: Database, *, organization_id: str, asset_id: str, is_locked: bool = False) -> Asset | None:
    """Locked, nobody deletes it before the transaction ends, and nobody begins to use it where that deletes it."""
    lock: LiteralString = "for no key update" if is_locked else ""
    row = await db.fetch_row(
        f"select {_COLUMNS} from asset where organization_id = $1 and asset_id = $2 {lock}", organization_id, asset_id
    )
    return Asset(**row) if row else None


async def list_asset_ids(db: Database, *, organization_id: str, asset_ids: Sequence[str]) -> set[str]:
    rows = await db.fetch(
        "select asset_id from asset where organization_id = $1 and asset_id = any($2::text[])",
        *(organization_id, asset_ids),
    )
    return {row["asset_id"] for row in rows}


async def list_asset_paths(db: Database, *, organization_id: str, asset_ids: Sequence[str]) -> set[str]:
    rows = await db.fetch(
        f"select {_COLUMNS} from asset where organization_id = $1 and asset_id = any($2::text[])",
        *(organization_id, asset_ids),
    )
    return {Asset(**row).path for row in rows}


async def get_asset_by_hash(db: Database, *, organization_id: str, content_hash: bytes) -> Asset | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from asset where organization_id = $1 and content_hash = $2", organization_id, content_hash
    )
    return Asset(**row) if row else None


async def get_content(  # any tenant: public by its address
    db: Database, *, asset_id: str
) -> tuple[Asset, bytes] | None:
    row = await db.fetch_row(f"select {_COLUMNS}, content from asset where asset_id = $1", asset_id)
    if row is None:
        return None
    columns = dict(row)
    content = columns.pop("content")
    return Asset(**columns), content


async def get_total_locked(db: Database, *, organization_id: str) -> tuple[int, int]:
    """The number of pictures, and their bytes. The organization is locked: one transaction at a time adds to them."""
    await db.execute("select from organization where organization_id = $1 for no key update", organization_id)
    row = await db.fetch_one(
        "select count(*) as count, coalesce(sum(bytes), 0)::bigint as bytes from asset where organization_id = $1",
        organization_id,
    )
    return row["count"], row["bytes"]


async def insert_asset(
    db: Database,
    *,
    organization_id: str,
    asset_id: str,
    title: str | None,
    picture: Encoded,
    content_hash: bytes,
    now: datetime,
    by: str | None,
) -> Asset:
    row = await db.fetch_one(
        f"""insert into asset (organization_id, asset_id, title, media_type, width, height, bytes, content_hash,
             content, created_time, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning {_COLUMNS}""",
        organization_id,
        asset_id,
        title,
        picture.media_type,
        picture.width,
        picture.height,
        len(picture.content),
        content_hash,
        picture.content,
        now,
        by,
    )
    return Asset(**row)


async def delete_asset(db: Database, *, organization_id: str, asset_id: str) -> None:
    await db.execute("delete from asset where organization_id = $1 and asset_id = $2", organization_id, asset_id)


async def list_uses(db: Database, *, organization_id: str, path: str, limit: int) -> list[str]:
    """Names of the organization, applications and questionnaires that show the picture."""
    rows = await db.fetch(
        """select distinct q.display_name from questionnaire_visual v
             join questionnaire q on q.organization_id = v.organization_id and q.questionnaire_id = v.questionnaire_id
           where v.organization_id = $1 and v.configuration ->> 'logo' = $2
           union all select display_name from application where organization_id = $1 and brand ->> 'logo' = $2
           union all select display_name from organization where organization_id = $1 and brand ->> 'logo' = $2
           union all select q.display_name from questionnaire q where q.organization_id = $1 and exists (
             select from questionnaire_version w where w.organization_id = $1 and w.version_id = q.published_version_id
               and strpos(w.definition::text, $2) > 0
             union all select from questionnaire_draft d where d.organization_id = $1
               and d.questionnaire_id = q.questionnaire_id and strpos(d.definition::text, $2) > 0)
           limit $3""",
        *(organization_id, path, limit),
    )
    return [row["display_name"] for row in rows]
