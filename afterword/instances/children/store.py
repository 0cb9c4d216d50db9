"""The SQL of an instance's descendants."""

from collections.abc import Sequence

from afterword.db import Database
from afterword.instances.store import INSTANCE_COLUMNS_I, OF_APPLICATIONS, Instance


async def list_descendants(
    db: Database,
    *,
    organization_id: str,
    instance_ids: Sequence[str],
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    depth_max: int,
    children_max: int,
    limit: int,
) -> list[Instance]:
    """The descendants of these instances, of any questionnaire that the caller sees.

    At most `children_max` of each, the oldest first, `depth_max` generations and `limit` in all, the nearest first.
    """
    rows = await db.fetch(
        f"""with recursive tree as (
             select c.*, 1 as depth from unnest($2::text[]) as p (instance_id) cross join lateral (
               select {INSTANCE_COLUMNS_I} from questionnaire_instance i
               where i.organization_id = $1 and i.previous_questionnaire_instance_id = p.instance_id
                 and i.deleted_time is null and (i.test or not $4::boolean) and {OF_APPLICATIONS}
               order by i.created_time, i.instance_id limit $6) c
             union all
             select c.*, t.depth + 1 from tree t cross join lateral (
               select {INSTANCE_COLUMNS_I} from questionnaire_instance i
               where i.organization_id = $1 and i.previous_questionnaire_instance_id = t.instance_id
                 and i.deleted_time is null and (i.test or not $4) and {OF_APPLICATIONS}
               order by i.created_time, i.instance_id limit $6) c
             where t.depth < $5)
           select * from tree limit $7""",  # generation by generation, up to the limit
        *(organization_id, list(instance_ids), list(application_ids), test_only, depth_max, children_max, limit),
    )
    return [Instance.of(row) for row in rows]
