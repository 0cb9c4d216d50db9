"""The SQL of tags. Callers check that the instance exists."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final, LiteralString

import msgspec

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row


class Tag(msgspec.Struct, frozen=True):
    organization_id: str
    instance_id: str
    tag: str
    created_time: datetime
    created_by: str | None


COUNTED_MAX: Final = 10_000
_COLUMNS: Final[LiteralString] = "organization_id, instance_id, tag, created_time, created_by"


async def list_tags(db: Database, *, organization_id: str, instance_id: str, page: Page) -> Rows[Tag]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS}, tag collate "C" as tag_key
           from instance_tag where organization_id = $1 and instance_id = $2""",
        *(organization_id, instance_id),
        page=page,
    )
    return rows.map(_tag)


async def list_tags_of_instances(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[Tag]:
    rows = await db.fetch(
        f"""select {_COLUMNS} from instance_tag
           where organization_id = $1 and instance_id = any($2::text[]) order by instance_id, tag collate "C" """,
        *(organization_id, list(instance_ids)),
    )
    return [_tag(row) for row in rows]


@dataclass(frozen=True, slots=True)
class TagCount:
    """`count`: of responses and other instances, up to COUNTED_MAX; `is_part`: there are more."""

    tag: str
    count: int
    is_part: bool


async def list_words(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[TagCount]:
    """The tags of the instances within reach. Each is found by one look at the index, and counted from there."""
    rows = await db.fetch_list(
        """with recursive word (tag) as (
             (select t.tag from instance_tag t where t.organization_id = $1 order by t.tag limit 1)
             union all
             select (select t.tag from instance_tag t where t.organization_id = $1 and t.tag > w.tag
                     order by t.tag limit 1)
             from word w where w.tag is not null)
           select tag, tag_key, count, is_part from (
             select w.tag, w.tag collate "C" as tag_key, least(c.count, $4) as count, c.count > $4 as is_part
             from word w cross join lateral (select count(*) as count from (
               select from instance_tag t where t.organization_id = $1 and t.tag = w.tag
                 and ((cardinality($2::text[]) = 0 and not $3) or exists (
                   select from questionnaire_instance i
                   join questionnaire q on q.organization_id = $1 and q.questionnaire_id = i.questionnaire_id
                   where i.organization_id = $1 and i.instance_id = t.instance_id and (i.test or not $3)
                     and (cardinality($2) = 0 or q.owner_application_id = any($2))))
               limit $4 + 1) n) c
             where w.tag is not null) w where count > 0""",
        *(organization_id, list(application_ids), test_only, COUNTED_MAX),
        page=page,
    )
    return rows.map(lambda row: TagCount(row["tag"], row["count"], row["is_part"]))


async def list_instance_ids(db: Database, *, organization_id: str, tag: str, limit: int) -> list[str]:
    rows = await db.fetch(
        "select instance_id from instance_tag where organization_id = $1 and tag = $2 order by instance_id limit $3",
        *(organization_id, tag, limit),
    )
    return [row["instance_id"] for row in rows]


async def update_tags(db: Database, *, organization_id: str, tag: str, to: str) -> list[Tag]:
    rows = await db.fetch(
        f"update instance_tag set tag = $3 where organization_id = $1 and tag = $2 returning {_COLUMNS}",
        *(organization_id, tag, to),
    )
    return [_tag(row) for row in rows]


async def get_tag(db: Database, *, organization_id: str, instance_id: str, tag: str) -> Tag | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from instance_tag where organization_id = $1 and instance_id = $2 and tag = $3",
        *(organization_id, instance_id, tag),
    )
    return None if row is None else _tag(row)


async def insert_tags(
    db: Database,
    *,
    organization_id: str,
    instance_ids: Sequence[str],
    tag: str,
    now: datetime,
    created_by: str | None,
    tags_max: int,
) -> list[Tag]:
    """Add the tag to those of these instances that lack it and have fewer tags than `tags_max`; return the new ones.

    The instances are locked, so that no other transaction adds their last allowed tag meanwhile.
    """
    rows = await db.fetch(
        f"""with locked as materialized (
              select i.organization_id, i.instance_id from questionnaire_instance i
              where i.organization_id = $1 and i.instance_id = any($2::text[]) order by i.instance_id for update)
            insert into instance_tag (organization_id, instance_id, tag, created_time, created_by)
            select i.organization_id, i.instance_id, $3, $4, $5 from locked i
            where (select count(*) from instance_tag t where t.organization_id = i.organization_id
                     and t.instance_id = i.instance_id) < $6
            on conflict do nothing returning {_COLUMNS}""",
        *(organization_id, list(instance_ids), tag, now, created_by, tags_max),
    )
    return [_tag(row) for row in rows]


async def delete_tags(db: Database, *, organization_id: str, instance_ids: Sequence[str], tag: str) -> list[Tag]:
    rows = await db.fetch(
        f"""delete from instance_tag where organization_id = $1 and instance_id = any($2::text[]) and tag = $3
            returning {_COLUMNS}""",
        *(organization_id, list(instance_ids), tag),
    )
    return [_tag(row) for row in rows]


_values: Final = itemgetter(*Tag.__struct_fields__)


def _tag(row: Row) -> Tag:
    return Tag(*_values(row))
