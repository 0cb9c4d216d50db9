"""SQL of the metadata of the newest instances and responders."""

from collections.abc import Sequence
from typing import NamedTuple

from afterword.kit.db import Database


class SeenValue(NamedTuple):
    """A value of a name. `count`: of it; `name_count`, `values_count`: of all values of the name."""

    name: str
    value: str
    count: int
    name_count: int
    values_count: int


async def list_instance_values(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test: bool,
    newest: int,
    values_max: int,
    limit: int,
) -> list[SeenValue]:
    """The values of the newest instances of these applications (none: all), of tests or of all others."""
    rows = await db.fetch(
        """with newest as (
             select i.metadata from questionnaire_instance i
             join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
             where i.organization_id = $1 and i.deleted_time is null and i.test = $6
               and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             order by i.created_time desc, i.instance_id limit $3),
           found as (
             select e.key as name, e.value, count(*) as count,
               sum(count(*)) over (partition by e.key)::bigint as name_count,
               count(*) over (partition by e.key) as values_count,
               row_number() over (partition by e.key order by count(*) desc, e.value) as place
             from newest, jsonb_each_text(metadata) e group by 1, 2)
           select name, value, count, name_count, values_count from found where place <= $4
           order by name, count desc, value limit $5""",
        *(organization_id, list(application_ids), newest, values_max, limit, test),
    )
    return [SeenValue(*row) for row in rows]


async def list_responder_values(
    db: Database, *, organization_id: str, newest: int, values_max: int, limit: int
) -> list[SeenValue]:
    rows = await db.fetch(
        """with newest as (
             select metadata from responder where organization_id = $1
             order by created_time desc, responder_id limit $2),
           found as (
             select e.key as name, e.value, count(*) as count,
               sum(count(*)) over (partition by e.key)::bigint as name_count,
               count(*) over (partition by e.key) as values_count,
               row_number() over (partition by e.key order by count(*) desc, e.value) as place
             from newest, jsonb_each_text(metadata) e group by 1, 2)
           select name, value, count, name_count, values_count from found where place <= $3
           order by name, count desc, value limit $4""",
        *(organization_id, newest, values_max, limit),
    )
    return [SeenValue(*row) for row in rows]
