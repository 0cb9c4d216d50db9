"""The SQL of quotas, whose ids are those of endings; ids are unique in the installation."""

from collections.abc import Mapping

from afterword.kit.db import Database


async def count_places(db: Database, *, organization_id: str, limits: Mapping[str, int]) -> dict[str, int]:
    """The complete responses that count toward each quota, without tests and those kept apart, at most its limit."""
    rows = await db.fetch(
        """select q.quota_id, (select count(*) from (
             select 1 from questionnaire_instance
             where organization_id = $1 and quota_ids @> array[q.quota_id] and deleted_time is null and not test
               and coalesce(judgement, 'accepted') = 'accepted'
             limit q.most) response) as count
           from unnest($2::text[], $3::int[]) q (quota_id, most)""",
        organization_id,
        *(list(limits), list(limits.values())),
    )
    return {row["quota_id"]: row["count"] for row in rows}


async def claim_quota(db: Database, *, organization_id: str, quota_id: str) -> None:
    """Let one transaction at a time take a place of this quota; others wait."""
    await db.execute("select pg_advisory_xact_lock(hashtextextended($1, 0))", f"{organization_id}:quota:{quota_id}")
