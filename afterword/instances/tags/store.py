"""The SQL of tags. Callers check that the instance exists."""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Final, LiteralString

import msgspec

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row


class Tag(msgspec.Struct, frozen=True):
    organization_id: str
    instance_id: str
    tag: str
    created_time: datetime
    created_by: str | None


_COLUMNS: Final[LiteralString] = "organization_id, instance_id, tag, created_time, created_by"


async def list_tags(db: Database, *, organization_id: str, instance_id: str, page: Page) -> Rows[Tag]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS}, tag collate "C" as tag_key
           from instance_tag where organization_id = $1 and instance_id = $2""",
        organization_id,
        instance_id,
        page=page,
    )
    return rows.map(_tag)


async def list_tags_of_instances(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[Tag]:
    """The tags of these instances, ordered by instance and tag."""
    rows = await db.fetch(
        f"""select {_COLUMNS} from instance_tag
           where organization_id = $1 and instance_id = any($2::text[]) order by instance_id, tag collate "C" """,
        organization_id,
        list(instance_ids),
    )
    return [_tag(row) for row in rows]


async def get_tag(db: Database, *, organization_id: str, instance_id: str, tag: str) -> Tag | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from instance_tag where organization_id = $1 and instance_id = $2 and tag = $3",
        organization_id,
        instance_id,
        tag,
    )
    return None if row is None else _tag(row)


async def count_tags(db: Database, *, organization_id: str, instance_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from instance_tag where organization_id = $1 and instance_id = $2",
        organization_id,
        instance_id,
    )


async def insert_tag(
    db: Database, *, organization_id: str, instance_id: str, tag: str, now: datetime, created_by: str | None
) -> Tag | None:
    """Add the tag; None if it existed."""
    row = await db.fetch_row(
        f"""insert into instance_tag (organization_id, instance_id, tag, created_time, created_by)
           values ($1, $2, $3, $4, $5) on conflict do nothing returning {_COLUMNS}""",
        organization_id,
        instance_id,
        tag,
        now,
        created_by,
    )
    return None if row is None else _tag(row)


async def delete_tag(db: Database, *, organization_id: str, instance_id: str, tag: str) -> Tag | None:
    row = await db.fetch_row(
        f"delete from instance_tag where organization_id = $1 and instance_id = $2 and tag = $3 returning {_COLUMNS}",
        organization_id,
        instance_id,
        tag,
    )
    return None if row is None else _tag(row)


_values: Final = itemgetter(*Tag.__struct_fields__)


def _tag(row: Row) -> Tag:
    return Tag(*_values(row))
